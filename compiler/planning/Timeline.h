// The used share of a device (or of a copy engine, which is used wholly or not at all) over time,
// with first-fit search.
//
// A balanced tree of segments of constant use; each node knows the largest and smallest use and the
// longest idle segment below it, so that a search costs O(log n) where a list of gaps would be
// walked from the ready time to the frontier. Exclusive requests get the exact first fit; requests
// for a share look at a bounded number of places, then take the first idle segment that is long
// enough. Deterministic. Not synchronised.
#ifndef AUTOPAR_COMPILER_PLANNING_TIMELINE_H
#define AUTOPAR_COMPILER_PLANNING_TIMELINE_H

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
  using Index = uint32_t; // into nodes; 0: none
  struct Node {
    int64_t start = 0, length = 0;
    int64_t longestIdle = 0;              // in the subtree
    uint32_t used = 0;                    // of this segment
    uint32_t mostUsed = 0, leastUsed = 0; // in the subtree
    uint32_t priority = 0;
    Index left = 0, right = 0;
  };

  void pull(Index node);
  Index newNode(int64_t start, int64_t length, uint32_t used);
  void split(Index node, int64_t key, Index &before, Index &from);
  Index merge(Index left, Index right);
  Index leftmost(Index node) const;
  Index rightmost(Index node) const;
  void popLeftmost(Index &tree, Node &out);
  void popRightmost(Index &tree, Node &out);
  template <class NodeTest, class TreeTest, class HereTest>
  Index firstStartingFrom(int64_t key, NodeTest nodeTest, TreeTest treeTest,
                          HereTest hereTest) const;
  int64_t firstIdle(int64_t ready, int64_t duration) const;
  int64_t endOfLastAbove(uint32_t level) const;
  bool extendSegmentBefore(int64_t start, int64_t finish, uint32_t share);
  void addToAll(Index tree, uint32_t share);
  Index append(Index tree, Node segment);

  uint32_t capacity;
  int64_t shortestUse;
  int64_t idleFrom = 0;
  Index root = 0;
  std::vector<Node> nodes;
  std::vector<Index> freeNodes;
  mutable std::vector<Index> path;
  uint64_t randomState = 0x9e3779b97f4a7c15ull;
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_TIMELINE_H
