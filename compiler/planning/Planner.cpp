#include "compiler/planning/Planner.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/planning/ListScheduler.h"
#include "compiler/planning/LowerBound.h"
#include "compiler/planning/MemoryScheduler.h"

namespace autopar::planning {

namespace {

/// Keeps the shortest plan; of equal ones the first.
class Best {
public:
  void offer(std::optional<Plan> plan, const char *name) {
    if (!plan || (best && plan->makespanNs >= best->makespanNs))
      return;
    best = std::move(plan);
    best->planner = name;
  }
  bool empty() const { return !best; }
  int64_t makespanNs() const {
    return best ? best->makespanNs : std::numeric_limits<int64_t>::max();
  }
  Plan take() { return *std::move(best); }

private:
  std::optional<Plan> best;
};

/// One way to put everything around one device.
struct Placement {
  int64_t serialTicks = 0; // all tasks one after the other, no transfers
  std::vector<DeviceId> devices;
};

std::vector<Placement> placementsByLength(const Problem &problem) {
  std::vector<Placement> placements;
  for (size_t device = 0; device < problem.machine.deviceCount(); ++device) {
    Placement placement;
    placement.devices = devicesAround(problem, DeviceId(device));
    for (size_t task = 0; task < placement.devices.size(); ++task)
      placement.serialTicks += problem.table.duration(TaskId(task), placement.devices[task]);
    placements.push_back(std::move(placement));
  }
  std::stable_sort(
      placements.begin(), placements.end(),
      [](const Placement &a, const Placement &b) { return a.serialTicks < b.serialTicks; });
  return placements;
}

/// Offers everything around one device, one task at a time, for each device that can be the best.
/// Returns the devices of the best of these; empty if there is no way to run everything so.
std::vector<DeviceId> offerSerial(const Problem &problem, const std::vector<TaskId> &order,
                                  Best &best) {
  std::vector<DeviceId> shortest;
  for (Placement &placement : placementsByLength(problem)) {
    if ((placement.serialTicks >> problem.table.shift()) >= best.makespanNs())
      break; // it cannot be shorter, nor can those that follow
    int64_t before = best.makespanNs();
    best.offer(scheduleOn(problem, order, placement.devices, ScheduleBuilder::Mode::OneAtATime),
               "one-device");
    if (best.makespanNs() < before)
      shortest = std::move(placement.devices);
  }
  return shortest;
}

/// Whether running side by side on `devices` can differ from one at a time.
bool canOverlap(const Problem &problem, const std::vector<DeviceId> &devices) {
  for (size_t task = 0; task < devices.size(); ++task)
    if (devices[task] != devices[0] ||
        problem.table.share(TaskId(task), devices[task]) < kFullOccupancy)
      return true;
  return false;
}

absl::Status checkOptions(const PlannerOptions &options) {
  const std::vector<std::string_view> &names = plannerNames();
  if (std::find(names.begin(), names.end(), options.plannerName) == names.end())
    return absl::InvalidArgumentError(
        absl::StrCat("unknown planner '", options.plannerName, "'; there are ",
                     absl::StrJoin(names, ", ", [](std::string *out, std::string_view name) {
                       out->append(name);
                     })));
  if (options.effort < 0 || options.effort > 3)
    return absl::InvalidArgumentError(
        absl::StrCat("effort is ", options.effort, "; it must be 0, 1, 2 or 3"));
  return absl::OkStatus();
}

} // namespace

const std::vector<std::string_view> &plannerNames() {
  static const std::vector<std::string_view> names = {"auto", "heft", "reverse-heft", "one-device"};
  return names;
}

absl::StatusOr<Plan> planGraph(const TaskGraph &graph, const Machine &machine,
                               const PlannerOptions &options) {
  if (absl::Status status = checkOptions(options); !status.ok())
    return status;
  if (graph.deviceCount() != machine.devices.size() || machine.devices.empty())
    return absl::InvalidArgumentError(absl::StrCat("the task graph is for ", graph.deviceCount(),
                                                   " devices, but the machine has ",
                                                   machine.devices.size()));
  MachineModel model(machine, options.maxStreams);
  TaskTable table;
  if (absl::Status status = TaskTable::create(graph, model, table); !status.ok())
    return status;
  Problem problem{graph, model, table};
  const bool automatic = options.plannerName == "auto";

  // At equal length the earlier offer wins: the fewer devices and streams, the better.
  std::vector<TaskId> order = orderByRank(graph, upwardRanks(problem, MeanCost::Harmonic));
  Best best;
  std::vector<DeviceId> devices = offerSerial(problem, order, best);
  const int64_t serialNs = best.empty() ? 0 : best.makespanNs();

  // Nothing is better than a plan at the bound; at effort 0 a big plan near it is good enough.
  int64_t enough = lowerBound(graph, machine).ns;
  constexpr size_t kBig = 20'000;
  if (options.effort == 0 && graph.taskCount() > kBig)
    enough += enough / 10;
  auto wanted = [&](std::string_view name, int effort) {
    return options.plannerName == name ||
           (automatic && options.effort >= effort && best.makespanNs() > enough);
  };
  if (wanted("one-device", 0) && canOverlap(problem, devices))
    best.offer(scheduleOn(problem, order, devices, ScheduleBuilder::Mode::Insert), "one-device");
  if (wanted("", 0))
    best.offer(scheduleEarliestFinish(problem, order, ScheduleBuilder::Mode::Insert), "heft");
  if (wanted("heft", 1))
    best.offer(planHeft(problem, MeanCost::Arithmetic), "heft");
  if (wanted("reverse-heft", 0))
    best.offer(planReverseHeft(problem, MeanCost::Harmonic), "reverse-heft");
  if (wanted("", 1))
    best.offer(planReverseHeft(problem, MeanCost::Arithmetic), "reverse-heft");
  if (best.empty())
    return absl::InvalidArgumentError(
        "no plan was found: some value cannot reach a device that needs it, since no link and no "
        "way over the host device leads there; add links to the machine or remove pins");
  Plan plan = best.take();
  plan.serialNs = serialNs;
  return automatic ? respectMemory(problem, std::move(plan)) : plan;
}

} // namespace autopar::planning
