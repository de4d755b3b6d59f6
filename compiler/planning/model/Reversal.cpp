#include "compiler/planning/model/Reversal.h"

#include <algorithm>

namespace autopar::planning {

namespace {

TaskGraph reverseGraph(const Problem &problem) {
  const TaskGraph &graph = problem.graph;
  TaskGraph reversed(graph.deviceCount());
  std::vector<int64_t> costs(graph.deviceCount());
  for (size_t index = 0; index < graph.taskCount(); ++index) {
    TaskId task(index);
    for (size_t at = 0; at < costs.size(); ++at)
      costs[at] = problem.table.duration(task, DeviceId(at)) < 0 ? kCannotRun
                                                                 : graph.costNs(task, DeviceId(at));
    TaskId copy = reversed.addTask(std::string(), costs);
    for (size_t at = 0; at < costs.size(); ++at)
      if (uint32_t share = graph.occupancy(task, DeviceId(at)); share != kFullOccupancy)
        reversed.setOccupancy(copy, DeviceId(at), share);
    reversed.colocate(copy, graph.task(task).colocationGroup);
  }
  for (size_t index = 0; index < graph.valueCount(); ++index) {
    const Value &value = graph.value(ValueId(index));
    for (TaskId user : graph.users(ValueId(index))) {
      if (value.producer.valid()) {
        ValueId back =
            value.isToken ? reversed.addToken(user) : reversed.addValue(user, value.bytes);
        reversed.addOperand(value.producer, back);
      } else if (value.residentDevice.valid()) {
        reversed.markProgramResult(reversed.addValue(user, value.bytes), value.residentDevice);
      }
    }
    if (value.producer.valid())
      for (const ProgramResult &result : graph.resultsOf(ValueId(index)))
        if (DeviceId wanted = problem.machine.destination(result); wanted.valid())
          reversed.addOperand(value.producer, reversed.addInput(wanted, value.bytes));
  }
  return reversed;
}

Machine reverseMachine(const MachineModel &model) {
  Machine machine = model.description();
  for (Link &link : machine.links)
    std::swap(link.from, link.to);
  for (size_t device = 0; device < machine.devices.size(); ++device)
    machine.devices[device].streams = model.streams(DeviceId(device));
  return machine;
}

} // namespace

ReversedProblem::ReversedProblem(TaskGraph graph, Machine machine)
    : graph(std::move(graph)), machine(std::move(machine)), model(this->machine, /*maxStreams=*/0) {
}

std::unique_ptr<ReversedProblem> ReversedProblem::create(const Problem &problem) {
  std::unique_ptr<ReversedProblem> reversed(
      new ReversedProblem(reverseGraph(problem), reverseMachine(problem.machine)));
  if (!reversed->graph.finalize().ok() ||
      !TaskTable::create(reversed->graph, reversed->model, reversed->table).ok())
    return nullptr;
  return reversed;
}

std::vector<TaskId> mirroredOrder(const TaskGraph &graph, const ScheduleBuilder &planned) {
  // Stable: tasks that end together in the reversed plan keep their topological order.
  std::vector<TaskId> order(graph.topologicalOrder().begin(), graph.topologicalOrder().end());
  std::stable_sort(order.begin(), order.end(),
                   [&](TaskId a, TaskId b) { return planned.finishOf(a) > planned.finishOf(b); });
  return order;
}

} // namespace autopar::planning
