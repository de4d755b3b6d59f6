// A set of 64-bit keys, each the hash of a state of a search, of bounded size: once full, old keys
// give way to new ones. Two states with one key are taken for equal; with good hashes that happens
// once in about 2^63 / n^2 searches of n states.
#ifndef AUTOPAR_COMPILER_PLANNING_EXACT_SEENSTATES_H
#define AUTOPAR_COMPILER_PLANNING_EXACT_SEENSTATES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace autopar::planning {

/// Scatters the bits of a number: the finaliser of SplitMix64.
inline uint64_t mixBits(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

class SeenStates {
public:
  /// Whether `key` was there; afterwards it is.
  bool insert(uint64_t key) {
    key |= uint64_t{key == 0}; // 0 stands for an empty slot
    if (2 * count >= keys.size() && keys.size() < kMost)
      grow();
    bool replaced = false;
    const bool known = insertInto(keys, key, replaced);
    count += !known && !replaced;
    return known;
  }

private:
  static constexpr size_t kFewest = 1 << 10, kMost = 1 << 22; // keys: 8 KiB to 32 MiB
  static constexpr size_t kProbes = 8;

  static bool insertInto(std::vector<uint64_t> &table, uint64_t key, bool &replaced) {
    const size_t mask = table.size() - 1;
    for (size_t probe = 0; probe < kProbes; ++probe) {
      uint64_t &slot = table[(key + probe) & mask];
      if (slot == key)
        return true;
      if (slot == 0) {
        slot = key;
        return false;
      }
    }
    replaced = true;
    table[(key + (key >> 61)) & mask] = key;
    return false;
  }
  void grow() {
    std::vector<uint64_t> bigger(2 * keys.size(), 0);
    bool replaced = false;
    for (uint64_t key : keys)
      if (key != 0)
        insertInto(bigger, key, replaced);
    keys = std::move(bigger);
  }

  std::vector<uint64_t> keys = std::vector<uint64_t>(kFewest, 0);
  size_t count = 0;
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_EXACT_SEENSTATES_H
