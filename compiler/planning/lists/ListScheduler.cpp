#include "compiler/planning/lists/ListScheduler.h"

#include <algorithm>
#include <limits>

#include "compiler/planning/lists/Prices.h"

namespace autopar::planning {

bool placeByEarliestFinish(const Problem &problem, std::span<const TaskId> order,
                           ScheduleBuilder &builder, std::span<const int64_t> extraTicks) {
  const size_t numDevices = problem.machine.deviceCount();
  GroupDevices groups(problem.graph);
  for (TaskId task : order) {
    DeviceId best, fixed = groups.find(task);
    int64_t bestTime = ScheduleBuilder::kNoLimit;
    auto consider = [&](DeviceId device, bool evenIfAvoided) {
      if (problem.table.duration(task, device) < 0 || (fixed.valid() && device != fixed))
        return;
      int64_t extra =
          extraTicks.empty() ? 0 : extraTicks[task.index() * numDevices + device.index()];
      if (extra == kAvoid && !evenIfAvoided)
        return;
      extra = std::max<int64_t>(extra, 0);
      // A lower device wins a tie, whatever the order in which they are tried.
      int64_t limit = !best.valid() || device < best ? bestTime : bestTime - 1;
      ScheduleBuilder::Estimate estimate = builder.estimate(task, device, limit - extra);
      if (estimate.returned == ScheduleBuilder::kUnreachable)
        return;
      int64_t time = std::max(estimate.returned, estimate.finish + extra);
      if (time > limit)
        return;
      best = device;
      bestTime = time;
    };
    // Most often the best device is where the latest operand is; then the others are soon given up.
    DeviceId likely = builder.deviceOfLatestOperand(task);
    for (bool evenIfAvoided : {false, true}) {
      if (best.valid())
        break;
      if (likely.valid())
        consider(likely, evenIfAvoided);
      for (size_t device = 0; device < numDevices; ++device)
        if (DeviceId(device) != likely)
          consider(DeviceId(device), evenIfAvoided);
    }
    if (!best.valid() || !builder.place(task, best))
      return false;
    groups.set(task, best);
  }
  return true;
}

bool placeOn(std::span<const TaskId> order, std::span<const DeviceId> devices,
             ScheduleBuilder &builder) {
  for (TaskId task : order)
    if (!builder.place(task, devices[task.index()]))
      return false;
  return true;
}

std::optional<Plan> scheduleOn(const Problem &problem, const std::vector<TaskId> &order,
                               const std::vector<DeviceId> &devices, ScheduleBuilder::Mode mode) {
  ScheduleBuilder builder(problem.graph, problem.machine, problem.table, mode);
  if (!placeOn(order, devices, builder))
    return std::nullopt;
  return builder.finish();
}

bool placeHeft(const Problem &problem, MeanCost mean, ScheduleBuilder &builder) {
  return placeByEarliestFinish(problem, orderByRank(problem.graph, upwardRanks(problem, mean)),
                               builder);
}

// ---- CPOP
// -----------------------------------------------------------------------------------------------------

namespace {

/// The tasks of one longest path, by upward and downward ranks; of equally long ways the one over
/// the lowest task.
std::vector<TaskId> criticalPath(const Problem &problem, const std::vector<double> &priorities) {
  const TaskGraph &graph = problem.graph;
  std::vector<TaskId> path;
  auto isEntry = [&](TaskId task) {
    return std::none_of(graph.operands(task).begin(), graph.operands(task).end(),
                        [&](ValueId operand) { return graph.value(operand).producer.valid(); });
  };
  // Sums of floating-point numbers in two orders: equal priorities may differ by rounding.
  auto better = [&](TaskId task, TaskId than) {
    if (!than.valid())
      return true;
    const double a = priorities[task.index()], b = priorities[than.index()];
    const double rounding = 1e-9 * std::max(a, b);
    return a > b + rounding || (a >= b - rounding && task < than);
  };
  TaskId next;
  for (TaskId task : graph.topologicalOrder())
    if (isEntry(task) && better(task, next))
      next = task;
  while (next.valid()) {
    path.push_back(next);
    next = TaskId();
    for (ValueId value : graph.produced(path.back()))
      for (TaskId user : graph.users(value))
        if (better(user, next))
          next = user;
  }
  return path;
}

/// The device that can run most tasks of `path`; of those the one where they take the least time.
DeviceId fastestFor(const Problem &problem, const std::vector<TaskId> &path) {
  DeviceId best;
  std::pair<size_t, int64_t> least;
  for (size_t device = 0; device < problem.machine.deviceCount(); ++device) {
    std::pair<size_t, int64_t> cost; // tasks that cannot run there, time of the others
    for (TaskId task : path) {
      int64_t duration = problem.table.duration(task, DeviceId(device));
      cost.first += duration < 0;
      cost.second += std::max<int64_t>(duration, 0);
    }
    if (!best.valid() || cost < least) {
      best = DeviceId(device);
      least = cost;
    }
  }
  return best;
}

} // namespace

bool placeCpop(const Problem &problem, ScheduleBuilder &builder) {
  std::vector<double> priorities = upwardRanks(problem, MeanCost::Arithmetic);
  const std::vector<double> down = downwardRanks(problem, MeanCost::Arithmetic);
  for (size_t task = 0; task < priorities.size(); ++task)
    priorities[task] += down[task];
  const std::vector<TaskId> path = criticalPath(problem, priorities);
  const DeviceId fastest = fastestFor(problem, path);
  const size_t numDevices = problem.machine.deviceCount();
  std::vector<int64_t> extra(priorities.size() * numDevices, 0);
  for (TaskId task : path)
    for (size_t device = 0; device < numDevices; ++device)
      if (DeviceId(device) != fastest)
        extra[task.index() * numDevices + device] = kAvoid;
  return placeByEarliestFinish(problem, orderByPriority(problem.graph, priorities), builder, extra);
}

// ---- PEFT
// -----------------------------------------------------------------------------------------------------

bool placePeft(const Problem &problem, ScheduleBuilder &builder) {
  const std::vector<int64_t> optimistic = optimisticCosts(problem);
  const size_t numDevices = problem.machine.deviceCount();
  std::vector<double> priorities(problem.graph.taskCount());
  for (size_t task = 0; task < priorities.size(); ++task) {
    double sum = 0;
    size_t count = 0;
    for (size_t device = 0; device < numDevices; ++device)
      if (problem.table.duration(TaskId(task), DeviceId(device)) >= 0) {
        sum += double(optimistic[task * numDevices + device]);
        ++count;
      }
    priorities[task] = sum / double(count);
  }
  return placeByEarliestFinish(problem, orderByPriority(problem.graph, priorities), builder,
                               optimistic);
}

// ---- devices by price
// -----------------------------------------------------------------------------------------

bool placePriced(const Problem &problem, ScheduleBuilder &builder) {
  const size_t numDevices = problem.machine.deviceCount();
  const std::vector<double> prices = areaPrices(problem);
  // Devices this much dearer than the cheapest one are left out.
  constexpr double kTolerance = 1.1;
  std::vector<int64_t> extra(problem.graph.taskCount() * numDevices, 0);
  bool tellsApart = false;
  for (size_t task = 0; task < problem.graph.taskCount(); ++task) {
    auto price = [&](size_t device) {
      int64_t duration = problem.table.duration(TaskId(task), DeviceId(device));
      return double(duration) * double(problem.table.share(TaskId(task), DeviceId(device))) *
             prices[device];
    };
    double cheapest = std::numeric_limits<double>::infinity();
    for (size_t device = 0; device < numDevices; ++device)
      if (problem.table.duration(TaskId(task), DeviceId(device)) >= 0)
        cheapest = std::min(cheapest, price(device));
    for (size_t device = 0; device < numDevices; ++device)
      if (problem.table.duration(TaskId(task), DeviceId(device)) >= 0 &&
          price(device) > cheapest * kTolerance) {
        extra[task * numDevices + device] = kAvoid;
        tellsApart = true;
      }
  }
  return tellsApart &&
         placeByEarliestFinish(problem,
                               orderByRank(problem.graph, upwardRanks(problem, MeanCost::Harmonic)),
                               builder, extra);
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

} // namespace autopar::planning
