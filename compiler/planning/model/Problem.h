// What is to be planned: a graph, a machine and their durations, passed around together.
#ifndef AUTOPAR_COMPILER_PLANNING_MODEL_PROBLEM_H
#define AUTOPAR_COMPILER_PLANNING_MODEL_PROBLEM_H

#include <algorithm>
#include <vector>

#include "compiler/planning/model/ScheduleBuilder.h"

namespace autopar::planning {

/// References only: the three outlive every planner that looks at them.
struct Problem {
  const TaskGraph &graph;
  const MachineModel &machine;
  const TaskTable &table;
};

/// Time for the program results among what `task` makes on `device` to get home, alone on the
/// machine.
inline int64_t homeTicks(const Problem &problem, TaskId task, DeviceId device) {
  int64_t longest = 0;
  if (problem.graph.programResults().empty())
    return longest;
  for (ValueId value : problem.graph.produced(task))
    for (const ProgramResult &result : problem.graph.resultsOf(value)) {
      DeviceId to = problem.machine.destination(result);
      if (to.valid() && problem.graph.value(value).needsTransfer())
        longest = std::max(longest,
                           problem.machine.routeNs(device, to, problem.graph.value(value).bytes));
    }
  return longest << problem.table.shift();
}

/// Which device each co-location group has been put on while tasks are placed one by one.
class GroupDevices {
public:
  explicit GroupDevices(const TaskGraph &graph) : graph(graph) {}
  /// Invalid: the task has no group, or none of its tasks has been placed.
  DeviceId find(TaskId task) const {
    uint32_t group = graph.task(task).colocationGroup;
    return group < devices.size() ? devices[group] : DeviceId();
  }
  void set(TaskId task, DeviceId device) {
    uint32_t group = graph.task(task).colocationGroup;
    if (group == kNoGroup)
      return;
    if (group >= devices.size())
      devices.resize(group + 1);
    devices[group] = device;
  }

private:
  const TaskGraph &graph;
  std::vector<DeviceId> devices; // by group
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_MODEL_PROBLEM_H
