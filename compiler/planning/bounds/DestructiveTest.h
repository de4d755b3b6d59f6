// Tries to show that no plan ends within a given time: what must hold of every such plan is deduced
// until something cannot hold. (Klein, Scholl, "Computing lower bounds by destructive improvement",
// EJOR 112, 1999, name the principle.)
//
// Deductions, for a limit T:
//  - A device class is out for a task if head + duration + tail there exceeds T.
//  - An edge whose transfer would end after T must stay on one device: its tasks form a cluster,
//  and
//    so do co-location groups and tasks that only one device can run.
//  - The tasks of a cluster take turns: what comes before a task in its own cluster delays it, in
//    addition to the join rule (HeadsAndTails.h), which is applied again with what is known.
//  - A device class is out for a cluster that would not end within T there (OneMachine.h).
//  - Two clusters that would not end within T on one device are on different ones.
//  - In no interval can the devices do more than its length times their number (energetic
//  reasoning:
//    each task does part of its work there at least).
#ifndef AUTOPAR_COMPILER_PLANNING_BOUNDS_DESTRUCTIVETEST_H
#define AUTOPAR_COMPILER_PLANNING_BOUNDS_DESTRUCTIVETEST_H

#include <cstdint>
#include <vector>

#include "compiler/planning/bounds/BoundModel.h"
#include "compiler/planning/bounds/EnergyTest.h"
#include "compiler/planning/bounds/HeadsAndTails.h"
#include "compiler/planning/bounds/OneMachine.h"
#include "compiler/planning/bounds/WorkBounds.h"

namespace autopar::planning {

class DestructiveTest {
public:
  /// Above this the sets of ancestors (tasks² bits) and the time do not pay.
  static constexpr size_t kMostTasks = 600;
  static bool isSensible(const BoundModel &model);

  /// Keeps references to `model` and `times`. `prices`: those at which intervals are looked at.
  DestructiveTest(const BoundModel &model, const HeadsAndTails &times, std::vector<Prices> prices);
  DestructiveTest(const DestructiveTest &) = delete;
  DestructiveTest &operator=(const DestructiveTest &) = delete;

  /// True: every plan is longer than `limitNs`. False says nothing. `shave`: also suppose each
  /// cluster on each of its classes in turn, which shows more and takes about that many times as
  /// long.
  bool refutes(int64_t limitNs, bool shave);
  /// Work done so far, in arbitrary units of about a nanosecond.
  uint64_t steps() const { return stepCount + energy.steps(); }

private:
  using Word = uint64_t;
  struct Edge {
    uint32_t from, to;
  };

  // ---- the graph
  void collectEdges();
  void collectAncestors();
  int64_t crossing(size_t edge, size_t from, size_t to) const {
    return crossings[(edge * count + from) * count + to];
  }

  // ---- what is known
  void reset();
  uint64_t allowed(size_t task) const { return allowedOf[cluster[task]]; }
  bool exclude(size_t task, size_t at); ///< False: nothing is left.
  bool unite(size_t a, size_t b);       ///< False: no class is allowed for both.
  bool uniteForced();
  template <bool Forward> bool pass();
  template <bool Forward> int64_t join(size_t task, size_t at);
  template <bool Forward> int64_t remoteTime(size_t edge, size_t other, size_t at) const;
  template <bool Forward> int64_t completion(const std::vector<Word> &set, size_t at);
  bool linkEdges();
  bool testClusters();
  int64_t lengthOf(const Word *set, size_t at);
  bool isOverfull();
  bool deduce(); ///< All of the above but intervals, until nothing new follows; false: refuted.
  bool shaveAll();

  const BoundModel &model;
  const HeadsAndTails &times;
  const size_t taskCount, count, words; // count: classes
  std::vector<Prices> prices;
  std::vector<uint32_t> order; // topological
  std::vector<Edge> edges;     // one for each pair of tasks
  std::vector<uint32_t> inBegin, inEdges, outBegin, outEdges;
  std::vector<int64_t> crossings;   // [edge][from][to]
  std::vector<Word> earlier, later; // [task][word]: ancestors, descendants

  int64_t limit = 0;
  bool changed = false;
  struct State {
    std::vector<int64_t> head, tail; // [task][class]
    std::vector<uint32_t> cluster;   // by task: the first task of its cluster
    std::vector<Word> members;       // [task][word]: of the cluster that begins with it
    std::vector<uint64_t> allowedOf; // by cluster: set of classes
  };
  State known;
  std::vector<int64_t> &head = known.head, &tail = known.tail;
  std::vector<uint32_t> &cluster = known.cluster;
  std::vector<Word> &members = known.members;
  std::vector<uint64_t> &allowedOf = known.allowedOf;

  struct Entry {
    uint32_t task;
    bool canBeLocal;
    int64_t remote;
  };
  std::vector<Entry> entries;
  std::vector<Word> set, base;
  OneMachine oneMachine;
  EnergyTest energy;

  uint64_t stepCount = 0;
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_BOUNDS_DESTRUCTIVETEST_H
