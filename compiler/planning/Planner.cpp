#include "compiler/planning/Planner.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/planning/ListScheduler.h"

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

/// Everything around one device, one task at a time; then, on the best such device, side by side.
void offerOneDevice(const Problem &problem, const std::vector<TaskId> &order, bool sideBySide,
                    Best &best) {
  std::vector<Placement> placements = placementsByLength(problem);
  const Placement *shortest = nullptr;
  for (const Placement &placement : placements) {
    if ((placement.serialTicks >> problem.table.shift()) >= best.makespanNs())
      break; // it cannot be shorter, nor can those that follow
    int64_t before = best.makespanNs();
    best.offer(scheduleOn(problem, order, placement.devices, ScheduleBuilder::Mode::OneAtATime),
               "one-device");
    if (best.makespanNs() < before)
      shortest = &placement;
  }
  if (sideBySide && shortest)
    best.offer(scheduleOn(problem, order, shortest->devices, ScheduleBuilder::Mode::Insert),
               "one-device");
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

  std::vector<TaskId> order = orderByRank(graph, upwardRanks(problem, MeanCost::Harmonic));
  Best serial;
  offerOneDevice(problem, order, /*sideBySide=*/false, serial);
  int64_t serialNs = serial.empty() ? 0 : serial.makespanNs();

  // At equal length the earlier offer wins: the fewer devices and streams, the better.
  Best best;
  if (!serial.empty())
    best.offer(serial.take(), "one-device");
  if (automatic || options.plannerName == "one-device") {
    Best parallel;
    offerOneDevice(problem, order, /*sideBySide=*/true, parallel);
    if (!parallel.empty())
      best.offer(parallel.take(), "one-device");
  }
  if (automatic)
    best.offer(scheduleEarliestFinish(problem, order, ScheduleBuilder::Mode::Insert), "heft");
  if (options.plannerName == "heft" || (automatic && options.effort >= 1))
    best.offer(planHeft(problem, MeanCost::Arithmetic), "heft");
  if (automatic || options.plannerName == "reverse-heft")
    best.offer(planReverseHeft(problem, MeanCost::Harmonic), "reverse-heft");
  if (automatic && options.effort >= 1)
    best.offer(planReverseHeft(problem, MeanCost::Arithmetic), "reverse-heft");
  if (best.empty())
    return absl::InvalidArgumentError(
        "no plan was found: some value cannot reach a device that needs it, since no link and no "
        "way over the host device leads there; add links to the machine or remove pins");
  Plan plan = best.take();
  plan.serialNs = serialNs;
  return plan;
}

} // namespace autopar::planning
