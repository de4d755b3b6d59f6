#include "compiler/planning/search/MemoryDescent.h"

#include <algorithm>
#include <optional>

#include "compiler/planning/lists/MemoryScheduler.h"
#include "compiler/planning/model/MemoryUse.h"
#include "compiler/planning/search/SearchState.h"

namespace autopar::planning {

namespace {

class Descent {
public:
  Descent(const Problem &problem, Plan plan, std::vector<TaskId> order,
          std::span<const uint64_t> limits)
      : problem(problem), graph(problem.graph), limits(limits), plan(std::move(plan)),
        order(std::move(order)), random(/*seed=*/1) {
    for (const TaskPlacement &place : this->plan.tasks)
      devices.push_back(place.device);
    for (size_t task = 0; task < graph.taskCount(); ++task)
      if (const uint32_t group = graph.task(TaskId(task)).colocationGroup; group != kNoGroup) {
        if (group >= groups.size())
          groups.resize(group + 1);
        groups[group].push_back(TaskId(task));
      }
  }

  void run(int64_t enoughNs, uint64_t evaluations) {
    for (; evaluations > 0 && plan.makespanNs > enoughNs; --evaluations) {
      std::vector<TaskId> oldOrder = order;
      std::vector<DeviceId> oldDevices = devices;
      const uint32_t kind = random.below(4); // which moves: one of both, or both
      bool moved = false;
      if (kind != 0)
        moved |= moveInOrder();
      if (kind < 2)
        moved |= moveToDevice();
      if (moved && evaluate())
        continue;
      order = std::move(oldOrder);
      devices = std::move(oldDevices);
    }
  }
  Plan take() { return std::move(plan); }

private:
  /// Somewhere between the last of its producers and the first of its users.
  bool moveInOrder() {
    const size_t from = random.below(order.size());
    const TaskId task = order[from];
    size_t least = from, most = from;
    while (least > 0 && !isProducerOf(order[least - 1], task) && from - least < kFarthest)
      --least;
    while (most + 1 < order.size() && !isProducerOf(task, order[most + 1]) &&
           most - from < kFarthest)
      ++most;
    if (least == most)
      return false;
    size_t to = least + random.below(most - least); // not `from`
    to += to >= from;
    if (to < from)
      std::rotate(order.begin() + to, order.begin() + from, order.begin() + from + 1);
    else
      std::rotate(order.begin() + from, order.begin() + from + 1, order.begin() + to + 1);
    return true;
  }

  bool isProducerOf(TaskId task, TaskId user) const {
    std::span<const ValueId> operands = graph.operands(user);
    return std::any_of(operands.begin(), operands.end(), [&](ValueId operand) {
      return graph.value(operand).producer == task;
    });
  }

  bool moveToDevice() {
    const TaskId task(size_t{random.below(order.size())});
    const DeviceId device(size_t{random.below(problem.machine.deviceCount())});
    if (device == devices[task.index()] || problem.table.duration(task, device) < 0)
      return false;
    devices[task.index()] = device;
    if (const uint32_t group = graph.task(task).colocationGroup; group != kNoGroup)
      for (TaskId member : groups[group])
        devices[member.index()] = device;
    return true;
  }

  /// Takes the order and the devices if their plan fits and is no longer.
  bool evaluate() {
    std::optional<Plan> next =
        scheduleWithinMemory(problem, order, devices, limits, plan.makespanNs);
    if (!next ||
        !fitsMemory(problem.machine, peakBytes(problem.graph, problem.machine, *next)))
      return false;
    plan = *std::move(next);
    return true;
  }

  static constexpr size_t kFarthest = 1000; // places in the order

  const Problem &problem;
  const TaskGraph &graph;
  std::span<const uint64_t> limits;
  Plan plan;
  std::vector<TaskId> order;
  std::vector<DeviceId> devices;           // by task
  std::vector<std::vector<TaskId>> groups; // tasks by co-location group
  SearchRandom random;
};

} // namespace

Plan improveWithinMemory(const Problem &problem, Plan plan, std::vector<TaskId> order,
                         std::span<const uint64_t> limits, int64_t enoughNs,
                         const MemoryDescentOptions &options) {
  if (order.empty())
    return plan;
  const uint64_t evaluations = std::min(options.evaluations, options.placements / order.size());
  Descent descent(problem, std::move(plan), std::move(order), limits);
  descent.run(enoughNs, evaluations);
  return descent.take();
}

} // namespace autopar::planning
