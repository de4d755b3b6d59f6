#include "compiler/planning/Planner.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/planning/Effort.h"
#include "compiler/planning/Portfolio.h"
#include "compiler/planning/RespectMemory.h"
#include "compiler/planning/explain/Reachability.h"
#include "compiler/planning/lists/ListScheduler.h"

namespace autopar::planning {

namespace {

constexpr char kOneDevice[] = "one-device";

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
                                  BestPlan &best) {
  std::vector<DeviceId> shortest;
  for (Placement &placement : placementsByLength(problem)) {
    if ((placement.serialTicks >> problem.table.shift()) >= best.makespanNs())
      break; // it cannot be shorter, nor can those that follow
    ScheduleBuilder builder(problem.graph, problem.machine, problem.table,
                            ScheduleBuilder::Mode::OneAtATime);
    if (placeOn(order, placement.devices, builder) && best.offer(builder, kOneDevice))
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

/// Offers the plan on `devices` in which tasks may run side by side.
void offerSideBySide(const Problem &problem, const std::vector<TaskId> &order,
                     const std::vector<DeviceId> &devices, BestPlan &best) {
  if (best.isEnough() || !canOverlap(problem, devices))
    return;
  ScheduleBuilder builder(problem.graph, problem.machine, problem.table,
                          ScheduleBuilder::Mode::Insert);
  if (placeOn(order, devices, builder))
    best.offer(builder, kOneDevice);
}

/// The plan of one planner; nothing if it has none that is as short as `serialNs` (0: unknown).
std::optional<Plan> planByName(const Problem &problem, std::string_view name, int64_t serialNs) {
  BestPlan named(/*enoughNs=*/0);
  named.setSerial(serialNs);
  Portfolio(problem).run(name, named);
  if (named.empty() || (serialNs > 0 && named.makespanNs() > serialNs))
    return std::nullopt;
  return named.take();
}

/// Whether memory speaks for `plan`, and then its length.
bool isBetter(const Problem &problem, const Plan &plan, const Plan &than) {
  const bool fits = fitsMemory(problem, plan);
  if (fits != fitsMemory(problem, than))
    return fits;
  return plan.makespanNs < than.makespanNs;
}

/// Climbs to `effort`. What memory makes of the best plan may be a little longer than what it made
/// of the one before: that one stays then, so that more effort is never worse. Where the best plan
/// does not fit, each step looks harder for one that does, though the best plan is the old one.
std::optional<Plan> planByEffort(const Problem &problem, int effort, BestPlan &best) {
  std::optional<Plan> plan;
  best.keepRunnersUp(effort >= 2);
  Climb climb(problem, best);
  int64_t seenNs = -1;
  for (int step = 0; step <= effort; ++step) {
    climb.step(step);
    if (best.empty() || (best.makespanNs() == seenNs && fitsMemory(problem, best.plan())))
      continue;
    Plan next = respectMemory(problem, best.plan(), step, best.enough());
    if (next.makespanNs < best.makespanNs())
      best.offer(next);
    seenNs = best.makespanNs();
    if (!plan || isBetter(problem, next, *plan))
      plan = std::move(next);
  }
  if (plan)
    plan->provedOptimal = best.plan().provedOptimal && plan->makespanNs == best.makespanNs();
  return plan;
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
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> names(Portfolio::names().begin(), Portfolio::names().end());
    names.insert(names.begin(), "auto");
    names.push_back(kOneDevice);
    return names;
  }();
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
  const Problem problem{graph, model, table};

  // At equal length the earlier offer wins: the fewer devices and streams, the better.
  const std::vector<TaskId> order = orderByRank(graph, upwardRanks(problem, MeanCost::Harmonic));
  BestPlan best(enoughNs(problem, options.effort));
  const std::vector<DeviceId> devices = offerSerial(problem, order, best);
  const int64_t serialNs = best.empty() ? 0 : best.makespanNs();
  best.setSerial(serialNs);

  if (options.plannerName == "auto" || options.plannerName == kOneDevice)
    offerSideBySide(problem, order, devices, best);
  std::optional<Plan> plan;
  if (options.plannerName == "auto")
    plan = planByEffort(problem, options.effort, best);
  else if (options.plannerName != kOneDevice)
    plan = planByName(problem, options.plannerName, serialNs);
  if (!plan && !best.empty())
    plan = best.take();
  if (!plan)
    return absl::InvalidArgumentError(absl::StrCat("no plan was found: ", whatCannotReach(problem),
                                                   "; add links to the machine or remove pins"));
  return *std::move(plan);
}

} // namespace autopar::planning
