// The problem that the exact search solves: scheduling where transfers never queue and every task
// has its device to itself. Plain numbers, so that the search touches nothing else.
//
// Then only three things remain of a graph on a machine: how long a task takes on a device, how
// long after one task's finish on a device another may start on a device, and how much time
// passes before a task (operands from elsewhere) and after it (results going home). This form is
// symmetric in time: turned round, it is a problem of the same kind with the same optimum.
//
// Tasks are numbered in topological order. Times are TaskTable's ticks. Constant once made.
#ifndef AUTOPAR_COMPILER_PLANNING_EXACT_EXACTPROBLEM_H
#define AUTOPAR_COMPILER_PLANNING_EXACT_EXACTPROBLEM_H

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/planning/lists/ListScheduler.h"

namespace autopar::planning {

template <class Word> uint32_t lowestBit(Word set) { return uint32_t(std::countr_zero(set)); }

class ExactProblem {
public:
  static constexpr size_t kMostTasks = 64;   ///< Sets of tasks are the bits of a word.
  static constexpr size_t kMostDevices = 32; ///< So are sets of devices.
  /// Later than any time of a plan; a few of them can be added up.
  static constexpr int64_t kNever = int64_t{1} << 60;
  static constexpr uint32_t kNone = 0xffffffffu;

  /// All values that flow from one task to another.
  struct Edge {
    uint32_t from, to;
    uint32_t delays;      ///< Number of its table of delays; equal tables are shared.
    int64_t uniformDelay; ///< Between any two different devices; -1: see delay().
  };

  /// The model must hold: exactSearchApplies().
  static ExactProblem create(const Problem &problem);
  /// The same problem with time turned round: task i becomes task taskCount() - 1 - i.
  ExactProblem reversed() const;

  size_t taskCount() const { return numTasks; }
  size_t deviceCount() const { return numDevices; }
  uint32_t mirror(uint32_t task) const { return uint32_t(numTasks - 1) - task; }

  /// kNever where the task cannot run.
  int64_t duration(uint32_t task, uint32_t device) const { return durations[at(task, device)]; }
  /// Earliest start: when operands that no task makes are there.
  int64_t release(uint32_t task, uint32_t device) const { return releases[at(task, device)]; }
  /// From the task's finish until its results are home.
  int64_t tail(uint32_t task, uint32_t device) const { return tails[at(task, device)]; }
  /// From the finish of the edge's source to the earliest start of its target. kNever: no way.
  int64_t delay(const Edge &edge, uint32_t fromDevice, uint32_t toDevice) const {
    return delayTables[(edge.delays * numDevices + fromDevice) * numDevices + toDevice];
  }
  const Edge &edge(uint32_t index) const { return edges[index]; }
  /// Edges into a task, by source; all edges are numbered in this order.
  std::span<const Edge> incoming(uint32_t task) const {
    return {edges.data() + inBegin[task], edges.data() + inBegin[task + 1]};
  }
  /// Numbers of the edges out of a task, by target.
  std::span<const uint32_t> outgoing(uint32_t task) const {
    return {outEdges.data() + outBegin[task], outEdges.data() + outBegin[task + 1]};
  }
  size_t edgeCount() const { return edges.size(); }
  size_t sourceCount() const;

  /// Equal for tasks that must share a device.
  uint32_t cluster(uint32_t task) const { return clusters[task]; }
  /// The last task before this one that it could change places with in every plan; kNone.
  uint32_t twinBefore(uint32_t task) const { return twins[task]; }
  /// Equal for devices that could change places in every plan: the lowest device of the class.
  uint32_t deviceClass(uint32_t device) const { return classes[device]; }

  /// No plan ends before this: inputs that are results elsewhere.
  int64_t floorTicks() const { return floor; }
  unsigned shift() const { return tickShift; }
  /// The task of the graph.
  TaskId original(uint32_t task) const { return originals[task]; }

private:
  size_t at(uint32_t task, uint32_t device) const { return task * numDevices + device; }
  void addTasks(const Problem &problem);
  void addEdges(const Problem &problem);
  void finish(std::vector<Edge> edgeList);
  bool areTwins(uint32_t a, uint32_t b) const;
  bool areAlike(uint32_t a, uint32_t b) const;

  size_t numTasks = 0, numDevices = 0;
  unsigned tickShift = 0;
  int64_t floor = 0;
  std::vector<int64_t> durations, releases, tails; // [task][device]
  std::vector<int64_t> delayTables;                // [table][from device][to device]
  std::vector<Edge> edges;
  std::vector<uint32_t> inBegin, outBegin, outEdges;
  std::vector<uint32_t> clusters, twins, classes;
  std::vector<TaskId> originals;
};

/// Start of each task when they are placed in `order` (topological), each as early as possible
/// after what its device did before.
std::vector<int64_t> startsInOrder(const ExactProblem &problem, std::span<const uint32_t> order,
                                   std::span<const uint32_t> devices);
/// End of the plan with these starts, results home.
int64_t endOf(const ExactProblem &problem, std::span<const int64_t> starts,
              std::span<const uint32_t> devices);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_EXACT_EXACTPROBLEM_H
