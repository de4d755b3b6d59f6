// The memory of one device while a plan is made task by task: bytes whose end is not known yet, and
// bytes that are given back at a known time.
//
// What is given back stands in a B+ tree over its time; a node knows how many bytes end below each
// of its children, so that "from when on is there room for good" takes O(log n) however much is
// given back after that time. What nobody has asked about yet waits in a list: a device that is
// never full costs an append a buffer. Times in ticks, sizes in bytes. Not synchronised.
#ifndef AUTOPAR_COMPILER_PLANNING_LISTS_MEMORYLEDGER_H
#define AUTOPAR_COMPILER_PLANNING_LISTS_MEMORYLEDGER_H

#include <cstdint>
#include <limits>
#include <vector>

namespace autopar::planning {

class MemoryLedger {
public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  explicit MemoryLedger(uint64_t limitBytes) : limit(limitBytes) {}

  /// The time from which on `bytes` are free for good; kNever if too much is held without an end.
  int64_t freeFrom(uint64_t bytes);
  /// Takes `bytes`, until further notice.
  void hold(uint64_t bytes) { held += bytes; }
  /// `bytes` of what is held end at `time`.
  void giveBack(uint64_t bytes, int64_t time);

private:
  using Index = uint32_t; // into nodes
  static constexpr uint32_t kWidth = 32;

  /// Ascending times: of entries in a leaf, of the first entry below each child elsewhere.
  struct Node {
    uint32_t count = 0;
    int64_t time[kWidth];
    uint64_t bytes[kWidth];
    Index child[kWidth] = {}; // not in leaves
  };
  struct Entry {
    int64_t time;
    uint64_t bytes;
  };

  void insert(const Entry &entry);
  void splitChild(Index node, uint32_t at);
  uint64_t sumOf(Index node) const;

  uint64_t limit;
  uint64_t held = 0;
  uint64_t givenBack = 0;       // of the tree and the waiting ones
  std::vector<Entry> waiting;   // not in the tree yet
  std::vector<Node> nodes;      // empty: no tree
  Index root = 0;
  uint32_t height = 0; // of the root; 0: it is a leaf
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_LISTS_MEMORYLEDGER_H
