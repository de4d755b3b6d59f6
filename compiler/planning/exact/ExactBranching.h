// The search tree of the exact search: is there a plan that ends by a target?
//
// Tasks are placed in the order of their starts, each as early as its operands and its device
// allow. Every plan in which nothing can be moved forward is built this way, so nothing is lost;
// and since what follows starts no earlier, all devices' free times rise to the last start, which
// makes bounds strong and leaves one order where many would give the same plan. A branch ends when
//  - some open task no longer fits: earliest starts are recomputed in every node (joinedArrival)
//    against the tails that the target allows (ExactBounds);
//  - a closer look (ExactBranchingDeduction.cpp) finds that the open tasks contradict the target;
//  - open work, weighted with prices, exceeds what is left of the devices before some tail;
//  - the child would start after the latest start of another open task;
//  - an equal state was refuted before: a hash of what the future can see of the past;
//  - it is the mirror image of another: tasks that are alike in the order of their numbers, one
//    empty device per class of devices that are alike, equal starts in the order of the tasks.
#ifndef AUTOPAR_COMPILER_PLANNING_EXACT_EXACTBRANCHING_H
#define AUTOPAR_COMPILER_PLANNING_EXACT_EXACTBRANCHING_H

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/planning/exact/ExactBounds.h"
#include "compiler/planning/exact/ExactPacking.h"
#include "compiler/planning/exact/ExactProblem.h"
#include "compiler/planning/exact/SeenStates.h"

namespace autopar::planning {

class ExactBranching {
public:
  enum class Outcome { Refuted, Found, OutOfNodes };

  /// Keeps a reference.
  explicit ExactBranching(const ExactProblem &problem);

  /// Looks for a plan that ends by the target for which `root` was propagated, in at most
  /// `maxNodes` nodes.
  Outcome run(const ExactBounds &root, int64_t target, uint64_t maxNodes);

  /// Nodes of the last run.
  uint64_t nodes() const { return nodeCount; }
  /// After Found: the tasks in the order of their starts, and their devices by task.
  const std::vector<uint32_t> &order() const { return placedOrder; }
  const std::vector<uint32_t> &devices() const { return deviceOf; }

private:
  static constexpr int64_t kNever = ExactProblem::kNever;
  static constexpr uint32_t kNone = ExactProblem::kNone;

  static constexpr size_t kTasks = ExactProblem::kMostTasks;
  static constexpr size_t kDevices = ExactProblem::kMostDevices;
  /// With fewer open tasks a closer look costs more than it saves.
  static constexpr int kFewestToDeduce = 5;

  struct Child {
    int64_t start, urgency;
    uint32_t task, device;
  };
  /// What undo() puts back.
  struct Placed {
    int64_t idleFrom, lastStart;
    uint64_t passedOver;
    uint32_t lastTask;
    bool fixedCluster;
  };

  size_t at(uint32_t task, uint32_t device) const { return task * numDevices + device; }
  void reset(const ExactBounds &root);
  void gatherClusters(const ExactBounds &root);
  void findFreeTasks();
  void compareSuccessors();
  bool yieldsTo(uint32_t before, uint32_t after, uint32_t device, int64_t start) const;
  bool node();
  void listDevices();
  bool closed(uint32_t task, uint32_t device) const;
  uint32_t usable(uint32_t task) const;
  bool blockClusters();
  bool findHeads();
  bool findHeadsOf(uint32_t task);
  int64_t remoteArrival(const ExactProblem::Edge &edge, uint32_t device) const;
  void findFirstUses();
  bool workFits();
  bool seenBefore();
  bool deduce();
  bool startDeduction();
  void findSoonest(uint32_t task);
  bool narrow(uint32_t group, uint32_t left);
  bool unite(uint32_t a, uint32_t b);
  bool joinGroups();
  bool testGroups();
  int64_t turnsEnd(uint64_t tasks, const std::vector<int64_t> &times, uint32_t device) const;
  bool raiseHeads();
  bool raiseTails();
  bool isEndGame() const;
  bool packRest();
  ExactPacking::Outcome pack(uint64_t rest, uint32_t lastDevice);
  void setWindows(uint32_t task, size_t row, uint32_t lastDevice);
  void collectChildren();
  Placed place(const Child &child);
  void undo(const Child &child, const Placed &before);

  const ExactProblem &problem;
  const size_t numTasks, numDevices;
  int64_t target = 0;
  uint64_t nodeCount = 0, nodeLimit = 0;
  uint64_t pairsLooked = 0; // by deduce(), not yet counted as a node
  bool outOfNodes = false;

  // Constant: see yieldsTo(). By task: bit per task.
  std::vector<uint64_t> outrankedBy, equals;
  std::vector<uint64_t> ancestors, descendants; // by task: bit per task

  // From the root, constant during a run.
  std::vector<uint32_t> allowed, clusters;       // by task
  std::vector<int64_t> rootHeads, tails;         // [task][device]
  std::vector<uint32_t> byTail;                  // tasks by decreasing least tail
  std::vector<int64_t> leastTail;                // by task
  std::vector<int64_t> prices, shortest;         // by device
  std::vector<uint32_t> sizes;                   // by cluster: tasks
  std::vector<uint32_t> sharedClusters;          // those of several tasks
  std::vector<int64_t> clusterWork, clusterTail; // [cluster][device]
  uint64_t freeTasks = 0;                        // bit per task
  uint32_t lastOfAll = ExactProblem::kNone;      // waits for all others
  std::vector<int64_t> looseTails;               // [task][device], of free tasks
  std::vector<int64_t> grains;                   // by device: divides all durations
  uint64_t salt = 0;                             // of this run's keys

  // The partial plan.
  uint64_t open = 0, ready = 0; // bit per task: not placed; and all operands made
  uint32_t used = 0;            // bit per device
  int64_t lastStart = 0;
  uint32_t lastTask = 0;
  std::vector<uint32_t> missing;       // by task: open predecessors
  std::vector<int64_t> arrival;        // [task][device]: of what has been made
  std::vector<int64_t> idleFrom;       // by device
  std::vector<uint64_t> passedOver;    // by device: bit per task that cannot come next there
  std::vector<uint32_t> clusterDevice; // by cluster, kNone: open
  std::vector<uint32_t> placedOrder, deviceOf;
  std::vector<int64_t> savedArrivals; // stack
  std::vector<Child> children;        // stack
  SeenStates seen;
  ExactPacking packing;

  // Of the current node, overwritten by the next.
  uint32_t considered = 0, branchable = 0; // bit per device; see listDevices()
  std::array<int64_t, kDevices> copies;    // how many devices stand behind a considered one
  std::array<int64_t, kDevices> raised;    // by device: idle from here, nothing starts earlier
  std::array<int64_t, kDevices> firstUse;  // by device: earliest start of an open task
  /// By device: the earliest starts of the devices that stand behind it, in order.
  std::array<std::array<int64_t, kDevices>, kDevices> firstUses;
  std::array<int64_t, kDevices> lastUse; // by device: latest finish of an open task
  std::array<uint32_t, kTasks> feasible; // by task: bit per device
  std::array<uint32_t, kTasks> blocked;  // by cluster: bit per device
  std::vector<int64_t> heads, finishes;  // [task][device]
  struct Soonest {
    int64_t first, second; // earliest finishes on two different devices
    uint32_t device;       // of the first
  };
  std::array<Soonest, kTasks> soonest; // by task

  // Of a closer look at the current node; see deduce().
  bool deduced = false;                 // something new in this round
  std::vector<int64_t> openTails;       // [task][device]
  std::array<uint32_t, kTasks> groups;  // by open task: the first of its group
  std::array<uint64_t, kTasks> members; // by first task: bit per task
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_EXACT_EXACTBRANCHING_H
