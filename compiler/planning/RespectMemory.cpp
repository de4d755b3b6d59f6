#include "compiler/planning/RespectMemory.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "compiler/planning/lists/LeanOrder.h"
#include "compiler/planning/lists/ListScheduler.h"
#include "compiler/planning/lists/MemoryScheduler.h"
#include "compiler/planning/model/MemoryUse.h"
#include "compiler/planning/search/MemoryDescent.h"

namespace autopar::planning {

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

/// What may be used of each device's memory.
std::vector<uint64_t> limitsAt(const MachineModel &machine, double fullness) {
  std::vector<uint64_t> limits;
  for (size_t device = 0; device < machine.deviceCount(); ++device) {
    uint64_t bytes = machine.device(DeviceId(device)).memory_bytes;
    limits.push_back(bytes == 0 ? kUnlimitedBytes
                                : static_cast<uint64_t>(static_cast<double>(bytes) * fullness));
  }
  return limits;
}

std::vector<DeviceId> devicesOf(const Plan &plan) {
  std::vector<DeviceId> devices;
  devices.reserve(plan.tasks.size());
  for (const TaskPlacement &place : plan.tasks)
    devices.push_back(place.device);
  return devices;
}

// ---- plans that fit
// ---------------------------------------------------------------------------------------------

/// The order of `plan`'s starts; topological.
std::vector<TaskId> orderOf(const Problem &problem, const Plan &plan) {
  std::vector<TaskId> order(problem.graph.topologicalOrder().begin(),
                            problem.graph.topologicalOrder().end());
  std::stable_sort(order.begin(), order.end(), [&](TaskId a, TaskId b) {
    return plan.tasks[a.index()].startNs < plan.tasks[b.index()].startNs;
  });
  return order;
}

/// Topological if `a` and `b` are: by the weighted sum of the places in both.
std::vector<TaskId> blend(const std::vector<TaskId> &a, const std::vector<TaskId> &b,
                          uint64_t weightOfA, uint64_t weightOfB) {
  std::vector<uint64_t> place(a.size());
  for (size_t at = 0; at < a.size(); ++at) {
    place[a[at].index()] += weightOfA * at;
    place[b[at].index()] += weightOfB * at;
  }
  std::vector<TaskId> order = a;
  std::stable_sort(order.begin(), order.end(), [&](TaskId x, TaskId y) {
    return place[x.index()] < place[y.index()];
  });
  return order;
}

/// Tries orders and devices within given limits and keeps the shortest plan that really fits.
class Fitting {
public:
  Fitting(const Problem &problem, std::vector<uint64_t> limits, int64_t enoughNs)
      : problem(problem), limits(std::move(limits)), enoughNs(enoughNs) {}

  void attempt(const std::vector<TaskId> &order, const std::vector<DeviceId> &devices) {
    if (best && best->makespanNs <= enoughNs)
      return;
    std::optional<Plan> found = scheduleWithinMemory(problem, order, devices, limits,
                                                     best ? best->makespanNs - 1 : kNever);
    if (!found || !fitsMemory(problem, *found))
      return;
    best = std::move(found);
    bestOrder = order;
  }

  void descend(const MemoryDescentOptions &options) {
    if (best)
      best = improveWithinMemory(problem, *std::move(best), std::move(bestOrder), limits, enoughNs,
                                 options);
  }

  std::optional<Plan> take() { return std::move(best); }
  bool empty() const { return !best; }

private:
  const Problem &problem;
  std::vector<uint64_t> limits;
  int64_t enoughNs;
  std::optional<Plan> best;
  std::vector<TaskId> bestOrder; // that gave `best`
};

/// Orders and devices to try, cheapest in makespan first.
std::optional<Plan> findFitting(const Problem &problem, const Plan &plan, double fullness,
                                int effort, int64_t enoughNs) {
  constexpr size_t kMostTasks = 100'000; // for more than the four basic attempts
  const bool tryMore = effort > 0 && problem.graph.taskCount() <= kMostTasks;
  Fitting fitting(problem, limitsAt(problem.machine, fullness), enoughNs);
  const std::vector<DeviceId> planned = devicesOf(plan), any;
  const std::vector<TaskId> byStart = orderOf(problem, plan), lean = leanOrder(problem.graph);
  for (const std::vector<TaskId> *order : {&byStart, &lean})
    for (const std::vector<DeviceId> *devices : {&planned, &any})
      fitting.attempt(*order, *devices);
  if (tryMore) {
    // Between what is soon done and what soon gives its memory back.
    const std::vector<TaskId> byRank =
        orderByRank(problem.graph, upwardRanks(problem, MeanCost::Harmonic));
    fitting.attempt(byRank, planned);
    fitting.attempt(byRank, any);
    for (uint64_t weight : {1, 2, 3})
      for (const std::vector<TaskId> *order : {&byStart, &byRank}) {
        const std::vector<TaskId> mixed = blend(*order, lean, weight, 4 - weight);
        fitting.attempt(mixed, planned);
        fitting.attempt(mixed, any);
      }
  }
  if (tryMore || fitting.empty())
    for (size_t device = 0; device < problem.machine.deviceCount(); ++device)
      fitting.attempt(lean, devicesAround(problem, DeviceId(device)));
  if (tryMore && effort > 1)
    fitting.descend({.placements = effort == 2 ? 300'000u : 3'000'000u,
                     .evaluations = effort == 2 ? 2'000u : 20'000u});
  return fitting.take();
}

// ---- plans that need less
// ---------------------------------------------------------------------------------------

uint64_t sum(const std::vector<uint64_t> &bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), uint64_t{0});
}

/// How much longer a plan that needs `leanBytes` in all may be, as a share of the makespan.
double toleratedShare(const MachineModel &machine, const std::vector<uint64_t> &peaks,
                      uint64_t leanBytes) {
  constexpr uint64_t kMuch = uint64_t{64} << 20, kVeryMuch = uint64_t{1} << 30;
  bool much = false, scarce = false;
  for (size_t device = 0; device < peaks.size(); ++device) {
    uint64_t limit = machine.device(DeviceId(device)).memory_bytes;
    much |= peaks[device] > kMuch;
    scarce |= peaks[device] > (limit == 0 ? kVeryMuch : limit / 8);
  }
  if (scarce)
    return leanBytes <= sum(peaks) / 4 ? 0.08 : 0.02;
  return much && leanBytes <= sum(peaks) / 2 ? 0.02 : 0;
}

/// A plan that needs at least an eighth less than `plan`, whose peaks are `peaks`, and is not
/// longer, or no longer than that much memory is worth.
std::optional<Plan> findLeaner(const Problem &problem, const Plan &plan,
                               const std::vector<uint64_t> &peaks) {
  const MachineModel &machine = problem.machine;
  constexpr size_t kManyTasks = 20'000; // from here on only where it matters
  const double mostShare = toleratedShare(machine, peaks, 0);
  if (mostShare == 0 && problem.graph.taskCount() > kManyTasks)
    return std::nullopt;
  uint64_t least = sum(peaks) - sum(peaks) / 8;
  // Inputs and results stay, whatever the plan.
  if (sum(fixedBytes(problem.graph, machine)) >= least)
    return std::nullopt;
  auto extraNs = [&](double share) { return share * double(plan.makespanNs); };
  const int64_t latestNs =
      std::min(plan.serialNs, plan.makespanNs + int64_t(extraNs(mostShare)) + 1);
  auto isWorth = [&](int64_t makespanNs, uint64_t bytes) {
    return makespanNs <= plan.serialNs &&
           double(makespanNs - plan.makespanNs) <= extraNs(toleratedShare(machine, peaks, bytes));
  };
  constexpr int kMostHalvings = 12;
  const std::vector<TaskId> order = leanOrder(problem.graph);
  const std::vector<DeviceId> planned = devicesOf(plan), any;
  std::optional<Plan> best;
  for (const std::vector<DeviceId> *devices : {&planned, &any}) {
    // Half the room again and again: what runs ahead of its users has to wait for them.
    std::vector<uint64_t> limits = limitsAt(machine, 1.0);
    for (int halvings = 0; halvings < kMostHalvings; ++halvings) {
      std::optional<Plan> lean = scheduleWithinMemory(problem, order, *devices, limits, latestNs);
      if (!lean)
        break;
      const std::vector<uint64_t> leanPeaks = peakBytes(problem.graph, machine, *lean);
      if (!isWorth(lean->makespanNs, sum(leanPeaks)))
        break;
      for (size_t device = 0; device < limits.size(); ++device)
        limits[device] = leanPeaks[device] / 2;
      if (fitsMemory(machine, leanPeaks) && sum(leanPeaks) < least) {
        least = sum(leanPeaks);
        best = std::move(lean);
      }
    }
  }
  return best;
}

} // namespace

bool fitsMemory(const Problem &problem, const Plan &plan) {
  return fitsMemory(problem.machine, peakBytes(problem.graph, problem.machine, plan));
}

Plan respectMemory(const Problem &problem, Plan plan, int effort, int64_t enoughNs) {
  std::vector<uint64_t> peaks = peakBytes(problem.graph, problem.machine, plan);
  auto replaceBy = [&](std::optional<Plan> other, const char *name) {
    other->planner = plan.planner + "+" + name;
    other->serialNs = plan.serialNs;
    plan = *std::move(other);
  };
  if (!fitsMemory(problem.machine, peaks)) {
    // Gaps between buffers cost some of the room: first try to leave a tenth.
    std::optional<Plan> fitting = findFitting(problem, plan, 0.9, effort, enoughNs);
    if (!fitting)
      fitting = findFitting(problem, plan, 1.0, effort, enoughNs);
    if (!fitting)
      return plan;
    replaceBy(std::move(fitting), "memory");
    peaks = peakBytes(problem.graph, problem.machine, plan);
  }
  if (std::optional<Plan> leaner = findLeaner(problem, plan, peaks))
    replaceBy(std::move(leaner), "lean");
  return plan;
}

} // namespace autopar::planning
