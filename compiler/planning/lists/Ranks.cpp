#include "compiler/planning/lists/Ranks.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace autopar::planning {

double meanDurationNs(const Problem &problem, TaskId task, MeanCost mean) {
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

namespace {

double meanTransferNs(const Problem &problem, const Value &value) {
  return value.needsTransfer() ? problem.machine.meanTransferNs(value.bytes) : 0;
}

} // namespace

std::vector<double> upwardRanks(const Problem &problem, MeanCost mean,
                                std::span<const uint32_t> clusterOf) {
  const TaskGraph &graph = problem.graph;
  std::vector<double> ranks(graph.taskCount());
  std::span<const TaskId> order = graph.topologicalOrder();
  for (size_t position = order.size(); position-- > 0;) {
    TaskId task = order[position];
    double longest = 0;
    for (ValueId id : graph.produced(task)) {
      const Value &value = graph.value(id);
      const double transfer = meanTransferNs(problem, value);
      for (const ProgramResult &result : graph.resultsOf(id))
        if (problem.machine.destination(result).valid())
          longest = std::max(longest, transfer);
      for (TaskId user : graph.users(id)) {
        bool inside = !clusterOf.empty() && clusterOf[task.index()] == clusterOf[user.index()];
        longest = std::max(longest, (inside ? 0 : transfer) + ranks[user.index()]);
      }
    }
    ranks[task.index()] = meanDurationNs(problem, task, mean) + longest;
  }
  return ranks;
}

std::vector<double> downwardRanks(const Problem &problem, MeanCost mean) {
  const TaskGraph &graph = problem.graph;
  std::vector<double> ranks(graph.taskCount(), 0);
  for (TaskId task : graph.topologicalOrder()) {
    const double finish = ranks[task.index()] + meanDurationNs(problem, task, mean);
    for (ValueId id : graph.produced(task)) {
      const double arrival = finish + meanTransferNs(problem, graph.value(id));
      for (TaskId user : graph.users(id))
        ranks[user.index()] = std::max(ranks[user.index()], arrival);
    }
  }
  return ranks;
}

std::vector<int64_t> optimisticCosts(const Problem &problem) {
  const TaskGraph &graph = problem.graph;
  const size_t numDevices = problem.machine.deviceCount();
  const double ticksPerNs = double(1ull << problem.table.shift());
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;
  std::vector<int64_t> costs(graph.taskCount() * numDevices, 0);
  std::span<const TaskId> order = graph.topologicalOrder();
  for (size_t position = order.size(); position-- > 0;) {
    TaskId task = order[position];
    int64_t *own = &costs[task.index() * numDevices];
    for (ValueId id : graph.produced(task)) {
      const Value &value = graph.value(id);
      const int64_t transfer = int64_t(meanTransferNs(problem, value) * ticksPerNs);
      for (const ProgramResult &result : graph.resultsOf(id))
        if (DeviceId home = problem.machine.destination(result); home.valid())
          for (size_t device = 0; device < numDevices; ++device)
            if (DeviceId(device) != home)
              own[device] = std::max(own[device], transfer);
      for (TaskId user : graph.users(id)) {
        // From another device the least of all, after the transfer; from its own without it.
        auto onward = [&](size_t device) {
          int64_t duration = problem.table.duration(user, DeviceId(device));
          return duration < 0 ? kNever : duration + costs[user.index() * numDevices + device];
        };
        int64_t least = kNever;
        for (size_t device = 0; device < numDevices; ++device)
          least = std::min(least, onward(device));
        for (size_t device = 0; device < numDevices; ++device)
          own[device] = std::max(own[device], std::min(onward(device), least + transfer));
      }
    }
  }
  return costs;
}

std::vector<TaskId> orderByRank(const TaskGraph &graph, const std::vector<double> &ranks) {
  std::vector<TaskId> order(graph.topologicalOrder().begin(), graph.topologicalOrder().end());
  std::stable_sort(order.begin(), order.end(),
                   [&](TaskId a, TaskId b) { return ranks[a.index()] > ranks[b.index()]; });
  return order;
}

std::vector<TaskId> orderByPriority(const TaskGraph &graph, const std::vector<double> &priorities) {
  std::vector<uint32_t> missing(graph.taskCount(), 0);
  auto later = [&](TaskId a, TaskId b) {
    double pa = priorities[a.index()], pb = priorities[b.index()];
    return pa != pb ? pa < pb : a > b;
  };
  std::priority_queue<TaskId, std::vector<TaskId>, decltype(later)> ready(later);
  for (size_t task = 0; task < graph.taskCount(); ++task) {
    for (ValueId operand : graph.operands(TaskId(task)))
      missing[task] += graph.value(operand).producer.valid();
    if (missing[task] == 0)
      ready.push(TaskId(task));
  }
  std::vector<TaskId> order;
  order.reserve(graph.taskCount());
  while (!ready.empty()) {
    TaskId task = ready.top();
    ready.pop();
    order.push_back(task);
    for (ValueId value : graph.produced(task))
      for (TaskId user : graph.users(value))
        if (--missing[user.index()] == 0)
          ready.push(user);
  }
  return order;
}

} // namespace autopar::planning
