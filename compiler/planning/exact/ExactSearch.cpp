#include "compiler/planning/exact/ExactSearch.h"

#include <algorithm>
#include <numeric>

#include "compiler/planning/exact/ExactBounds.h"
#include "compiler/planning/exact/ExactBranching.h"
#include "compiler/planning/exact/ExactProblem.h"

namespace autopar::planning {

namespace {

bool tasksFillTheirDevices(const Problem &problem) {
  for (size_t task = 0; task < problem.graph.taskCount(); ++task)
    for (size_t device = 0; device < problem.machine.deviceCount(); ++device)
      if (problem.table.duration(TaskId(task), DeviceId(device)) >= 0 &&
          problem.table.share(TaskId(task), DeviceId(device)) != kFullOccupancy)
        return false;
  return true;
}

bool canQueue(const MachineModel &machine, DeviceId from, DeviceId to) {
  if (from == to)
    return false;
  const Route &route = machine.route(from, to);
  for (LinkId link : {route.first, route.second})
    if (link.valid() && !machine.link(link).engines.empty())
      return true;
  return false;
}

/// Whether some value of the graph may have to travel where transfers queue.
bool transfersCanQueue(const Problem &problem) {
  const TaskGraph &graph = problem.graph;
  const size_t count = problem.machine.deviceCount();
  auto runsOn = [&](TaskId task) {
    uint64_t devices = 0;
    for (size_t device = 0; device < count; ++device)
      devices |= uint64_t{problem.table.duration(task, DeviceId(device)) >= 0} << device;
    return devices;
  };
  for (size_t index = 0; index < graph.valueCount(); ++index) {
    const Value &value = graph.value(ValueId(index));
    if (!value.needsTransfer() || (!value.producer.valid() && !value.residentDevice.valid()))
      continue;
    const uint64_t sources = value.producer.valid() ? runsOn(value.producer)
                                                    : uint64_t{1} << value.residentDevice.index();
    uint64_t targets = 0;
    for (TaskId user : graph.users(ValueId(index)))
      targets |= runsOn(user);
    for (const ProgramResult &result : graph.resultsOf(ValueId(index)))
      if (DeviceId to = problem.machine.destination(result); to.valid())
        targets |= uint64_t{1} << to.index();
    for (size_t from = 0; from < count; ++from)
      for (size_t to = 0; to < count; ++to)
        if ((sources >> from & 1) != 0 && (targets >> to & 1) != 0 &&
            canQueue(problem.machine, DeviceId(from), DeviceId(to)))
          return true;
  }
  return false;
}

/// Tasks by start, topologically where starts are equal.
std::vector<uint32_t> orderByStart(const std::vector<int64_t> &starts) {
  std::vector<uint32_t> order(starts.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return starts[a] < starts[b]; });
  return order;
}

/// What a branching on the reversed problem found, in the numbers of the problem itself.
struct Found {
  std::vector<uint32_t> order, devices;
};

Found mirrored(const ExactProblem &problem, const Found &found) {
  Found result;
  for (auto task = found.order.rbegin(); task != found.order.rend(); ++task)
    result.order.push_back(problem.mirror(*task));
  for (uint32_t task = 0; task < problem.taskCount(); ++task)
    result.devices.push_back(found.devices[problem.mirror(task)]);
  return result;
}

} // namespace

bool exactSearchApplies(const Problem &problem) {
  return problem.graph.taskCount() <= ExactProblem::kMostTasks &&
         problem.machine.deviceCount() <= ExactProblem::kMostDevices &&
         tasksFillTheirDevices(problem) && !transfersCanQueue(problem);
}

ExactResult searchExactly(const Problem &problem, const Plan &best, int64_t lowerBoundNs,
                          uint64_t maxNodes) {
  ExactResult result;
  result.proved = best.makespanNs <= lowerBoundNs;
  if (result.proved || !exactSearchApplies(problem))
    return result;
  const ExactProblem forward = ExactProblem::create(problem), backward = forward.reversed();
  const bool turned = backward.sourceCount() < forward.sourceCount();
  const ExactProblem &branched = turned ? backward : forward;
  ExactBounds bounds(branched, turned ? forward : backward);
  ExactBranching branching(branched);

  int64_t bestNs = best.makespanNs;
  std::optional<Found> shortest;
  while (!result.proved) {
    const int64_t target = (bestNs << forward.shift()) - 1;
    if (!bounds.propagate(target)) {
      result.proved = true;
      break;
    }
    ExactBranching::Outcome outcome = branching.run(bounds, target, maxNodes - result.nodes);
    result.nodes += branching.nodes();
    if (outcome == ExactBranching::Outcome::Found) {
      shortest = Found{branching.order(), branching.devices()};
      if (turned)
        shortest = mirrored(forward, *shortest);
      bestNs = endOf(forward, startsInOrder(forward, shortest->order, shortest->devices),
                     shortest->devices) >>
               forward.shift();
    } else {
      result.proved = outcome == ExactBranching::Outcome::Refuted;
      break;
    }
    result.proved = bestNs <= lowerBoundNs;
  }
  if (!shortest)
    return result;

  std::vector<TaskId> order;
  std::vector<DeviceId> devices(problem.graph.taskCount());
  for (uint32_t task : orderByStart(startsInOrder(forward, shortest->order, shortest->devices))) {
    order.push_back(forward.original(task));
    devices[forward.original(task).index()] = DeviceId(shortest->devices[task]);
  }
  result.plan = scheduleOn(problem, order, devices, ScheduleBuilder::Mode::Append);
  return result;
}

} // namespace autopar::planning
