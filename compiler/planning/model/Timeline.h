// The used share of a device (or of a copy engine, which is used wholly or not at all) over time,
// with first-fit search.
//
// A B+ tree of segments of constant use; a node knows the largest and smallest use and the longest
// idle segment below each of its children, so that a search costs O(log n) where a list of gaps
// would be walked from the ready time to the frontier, and a few wide nodes where a binary tree
// would miss the cache at every level. Exclusive requests get the exact first fit; requests for a
// share look at a bounded number of places, then take the first idle segment that is long enough.
// Searches begin at the leaf where the last one ended, if that is the right one. Deterministic. Not
// synchronised: firstFit() moves that finger.
#ifndef AUTOPAR_COMPILER_PLANNING_MODEL_TIMELINE_H
#define AUTOPAR_COMPILER_PLANNING_MODEL_TIMELINE_H

#include <cstdint>
#include <vector>

namespace autopar::planning {

class Timeline {
public:
  /// `shortestUse`: idle segments shorter than this can never be used again and are forgotten.
  explicit Timeline(uint32_t capacity, int64_t shortestUse = 1);

  /// Earliest time >= `ready` at which `share` is free for `duration` > 0.
  int64_t firstFit(int64_t ready, int64_t duration, uint32_t share) const;
  /// Takes `share` on [start, finish), where it is free.
  void reserve(int64_t start, int64_t finish, uint32_t share);
  /// From here on nothing is used.
  int64_t frontier() const { return idleFrom; }

private:
  using Index = uint32_t; // into leaves or inners
  static constexpr uint32_t kWidth = 32;
  static constexpr uint32_t kMostHeight = 8; // at least half full: 16^8 segments

  /// Segment i is [start[i], start[i + 1]); the last one of the last leaf is idle and endless.
  struct Leaf {
    uint32_t count = 0;
    uint32_t used[kWidth];
    int64_t start[kWidth + 1];
  };
  struct Inner {
    uint32_t count = 0;
    Index child[kWidth]; // leaves if the node's height is 1
    int64_t start[kWidth];
    // Of all that is below the child.
    int64_t longestIdle[kWidth];
    uint32_t mostUsed[kWidth], leastUsed[kWidth];
  };
  struct Summary {
    int64_t longestIdle;
    uint32_t mostUsed, leastUsed;
  };
  /// The way from the root to a segment: per height the node and which of its children. Height 0
  /// is the leaf and which of its segments.
  struct Place {
    Index node[kMostHeight];
    uint32_t at[kMostHeight];
  };

  Place find(int64_t time) const;
  void seek(int64_t time) const;
  const Leaf &leafOf(const Place &place) const { return leaves[place.node[0]]; }
  bool next(Place &place) const;
  template <class SegmentTest, class TreeTest>
  bool firstFrom(Place &place, SegmentTest segmentTest, TreeTest treeTest) const;
  int64_t firstIdle(int64_t ready, int64_t duration) const;
  int64_t endOfLastAbove(uint32_t level) const;

  static Summary summaryOf(const Leaf &leaf);
  static Summary summaryOf(const Inner &inner);
  void reserveWithin(const Place &place, int64_t start, int64_t finish, uint32_t share);
  void updateAbove(const Place &place, Summary summary);
  bool isFull(Index node, uint32_t level) const;
  void setChild(Inner &inner, uint32_t at, Index child, uint32_t level);
  void splitChild(Index node, uint32_t at, uint32_t level);
  const Place &makeRoom(int64_t time);

  uint32_t capacity;
  int64_t shortestUse;
  int64_t idleFrom = 0;
  uint32_t height = 0; // of the root; 0: it is a leaf
  Index root = 0;
  mutable Place finger; // where the last search or reservation ended: the next one is often near
  std::vector<Leaf> leaves;
  std::vector<Inner> inners;
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_MODEL_TIMELINE_H
