#include "compiler/planning/ListScheduler.h"

#include <algorithm>

namespace autopar::planning {

namespace {

double meanDuration(const Problem &problem, TaskId task, MeanCost mean) {
  double sum = 0, inverse = 0;
  size_t count = 0;
  for (size_t device = 0; device < problem.machine.deviceCount(); ++device) {
    int64_t duration = problem.table.duration(task, DeviceId(device));
    if (duration < 0)
      continue;
    ++count;
    sum += double(duration);
    inverse += 1.0 / double(duration); // durations are at least one tick
  }
  double ticks = mean == MeanCost::Harmonic ? double(count) / inverse : sum / double(count);
  return ticks / double(1ull << problem.table.shift());
}

/// Which device each co-location group has been put on.
class GroupDevices {
public:
  explicit GroupDevices(const TaskGraph &graph) : graph(graph) {}
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
  std::vector<DeviceId> devices;
};

} // namespace

std::vector<double> upwardRanks(const Problem &problem, MeanCost mean) {
  const TaskGraph &graph = problem.graph;
  std::vector<double> ranks(graph.taskCount());
  std::span<const TaskId> order = graph.topologicalOrder();
  for (size_t position = order.size(); position-- > 0;) {
    TaskId task = order[position];
    double longest = 0;
    for (ValueId id : graph.produced(task)) {
      const Value &value = graph.value(id);
      double transfer = value.needsTransfer() ? problem.machine.meanTransferNs(value.bytes) : 0;
      for (const ProgramResult &result : graph.resultsOf(id))
        if (problem.machine.destination(result).valid())
          longest = std::max(longest, transfer);
      for (TaskId user : graph.users(id))
        longest = std::max(longest, transfer + ranks[user.index()]);
    }
    ranks[task.index()] = meanDuration(problem, task, mean) + longest;
  }
  return ranks;
}

std::vector<TaskId> orderByRank(const TaskGraph &graph, const std::vector<double> &ranks) {
  std::vector<TaskId> order(graph.topologicalOrder().begin(), graph.topologicalOrder().end());
  std::stable_sort(order.begin(), order.end(),
                   [&](TaskId a, TaskId b) { return ranks[a.index()] > ranks[b.index()]; });
  return order;
}

std::optional<Plan> scheduleEarliestFinish(const Problem &problem, const std::vector<TaskId> &order,
                                           ScheduleBuilder::Mode mode) {
  ScheduleBuilder builder(problem.graph, problem.machine, problem.table, mode);
  GroupDevices groups(problem.graph);
  for (TaskId task : order) {
    DeviceId best, fixed = groups.find(task);
    int64_t bestTime = ScheduleBuilder::kNoLimit;
    auto consider = [&](DeviceId device) {
      if (problem.table.duration(task, device) < 0 || (fixed.valid() && device != fixed))
        return;
      // A lower device wins a tie, whatever the order in which they are tried.
      int64_t limit = !best.valid() || device < best ? bestTime : bestTime - 1;
      int64_t time = builder.estimate(task, device, limit).returned;
      if (time == ScheduleBuilder::kUnreachable || time > limit)
        return;
      best = device;
      bestTime = time;
    };
    // Most often the best device is where the latest operand is; then the others are soon given up.
    DeviceId likely = builder.deviceOfLatestOperand(task);
    if (likely.valid())
      consider(likely);
    for (size_t device = 0; device < problem.machine.deviceCount(); ++device)
      if (DeviceId(device) != likely)
        consider(DeviceId(device));
    if (!best.valid() || !builder.place(task, best))
      return std::nullopt;
    groups.set(task, best);
  }
  return builder.finish();
}

std::optional<Plan> scheduleOn(const Problem &problem, const std::vector<TaskId> &order,
                               const std::vector<DeviceId> &devices, ScheduleBuilder::Mode mode) {
  ScheduleBuilder builder(problem.graph, problem.machine, problem.table, mode);
  for (TaskId task : order)
    if (!builder.place(task, devices[task.index()]))
      return std::nullopt;
  return builder.finish();
}

std::optional<Plan> planHeft(const Problem &problem, MeanCost mean) {
  return scheduleEarliestFinish(problem, orderByRank(problem.graph, upwardRanks(problem, mean)),
                                ScheduleBuilder::Mode::Insert);
}

std::vector<DeviceId> devicesAround(const Problem &problem, DeviceId device) {
  GroupDevices groups(problem.graph);
  std::vector<DeviceId> devices(problem.graph.taskCount());
  for (TaskId task : problem.graph.topologicalOrder()) {
    DeviceId chosen = groups.find(task);
    if (!chosen.valid() && problem.table.duration(task, device) >= 0)
      chosen = device;
    if (!chosen.valid()) {
      for (size_t index = 0; index < problem.machine.deviceCount(); ++index) {
        int64_t duration = problem.table.duration(task, DeviceId(index));
        if (duration >= 0 && (!chosen.valid() || duration < problem.table.duration(task, chosen)))
          chosen = DeviceId(index);
      }
    }
    devices[task.index()] = chosen;
    groups.set(task, chosen);
  }
  return devices;
}

// ---- reverse
// ---------------------------------------------------------------------------------------------------

namespace {

/// The graph with every edge turned round. An edge becomes a value of its own: copies that several
/// users on one device share are counted once per user, which the forward timing puts right.
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

} // namespace

std::optional<Plan> planReverseHeft(const Problem &problem, MeanCost mean) {
  TaskGraph reversed = reverseGraph(problem);
  Machine machine = problem.machine.description();
  for (Link &link : machine.links)
    std::swap(link.from, link.to);
  MachineModel model(machine, /*maxStreams=*/0);
  TaskTable table;
  // Whatever is wrong with the reversed problem only means that this planner has no plan.
  if (!reversed.finalize().ok() || !TaskTable::create(reversed, model, table).ok())
    return std::nullopt;
  std::optional<Plan> mirrored = planHeft({reversed, model, table}, mean);
  if (!mirrored)
    return std::nullopt;
  std::vector<TaskId> order(problem.graph.topologicalOrder().begin(),
                            problem.graph.topologicalOrder().end());
  std::stable_sort(order.begin(), order.end(), [&](TaskId a, TaskId b) {
    return mirrored->tasks[a.index()].finishNs > mirrored->tasks[b.index()].finishNs;
  });
  std::vector<DeviceId> devices;
  for (const TaskPlacement &place : mirrored->tasks)
    devices.push_back(place.device);
  return scheduleOn(problem, order, devices, ScheduleBuilder::Mode::Insert);
}

} // namespace autopar::planning
