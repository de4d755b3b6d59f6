// A generator of random numbers that are the same on every platform and with every standard library
// (std:: distributions are not). SplitMix64: Steele, Lea, Flood, OOPSLA 2014.
#ifndef AUTOPAR_TEST_COMPILER_PLANNING_GRAPHS_RANDOM_H
#define AUTOPAR_TEST_COMPILER_PLANNING_GRAPHS_RANDOM_H

#include <cstdint>

namespace autopar::planning {

class Random {
public:
  /// Consecutive seeds give unrelated sequences.
  explicit Random(uint64_t seed) : state(mix(seed * kStep + 1)) {}

  uint64_t next() { return mix(state += kStep); }
  /// In [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + int64_t(next() % uint64_t(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }

private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15ull;
  static constexpr uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  uint64_t state;
};

} // namespace autopar::planning

#endif // AUTOPAR_TEST_COMPILER_PLANNING_GRAPHS_RANDOM_H
