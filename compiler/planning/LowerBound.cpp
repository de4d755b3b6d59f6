#include "compiler/planning/LowerBound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"

namespace autopar::planning {

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;

int64_t durationNs(const TaskGraph &graph, const MachineModel &machine, TaskId task,
                   DeviceId device) {
  return graph.mayRunOn(task, device)
             ? graph.costNs(task, device) + machine.device(device).launch_ns
             : kCannotRun;
}

/// A bound computed in floating point, rounded up to the whole nanoseconds of a makespan without
/// going above it.
int64_t roundUpSafely(double ns) {
  return static_cast<int64_t>(std::max(0.0, std::ceil(ns * (1 - 1e-9) - 1e-3)));
}

/// Earliest times at which things can be on each device when nothing queues.
class EarliestTimes {
public:
  EarliestTimes(const TaskGraph &graph, const MachineModel &machine)
      : graph(graph), machine(machine), numDevices(machine.deviceCount()),
        finish(graph.taskCount() * numDevices, kNever),
        arrival(graph.valueCount() * numDevices, kNever) {
    // Quadratic in the devices for each value; on big problems the transfers are left out, which
    // stays a bound.
    constexpr double kMostRoutes = 2e7;
    withTransfers = double(graph.valueCount()) * double(numDevices * numDevices) <= kMostRoutes;
  }

  int64_t run() {
    int64_t longest = 0;
    for (size_t value = 0; value < graph.valueCount(); ++value)
      if (!graph.value(ValueId(value)).producer.valid())
        arriveInput(ValueId(value));
    for (TaskId task : graph.topologicalOrder()) {
      int64_t earliest = kNever;
      for (size_t device = 0; device < numDevices; ++device) {
        int64_t duration = durationNs(graph, machine, task, DeviceId(device));
        if (duration < 0)
          continue;
        int64_t ready = 0;
        for (ValueId operand : graph.operands(task))
          ready = std::max(ready, arrival[operand.index() * numDevices + device]);
        finish[task.index() * numDevices + device] = std::min(kNever, ready + duration);
        earliest = std::min(earliest, ready + duration);
      }
      longest = std::max(longest, earliest);
      for (ValueId value : graph.produced(task))
        arrive(value, &finish[task.index() * numDevices]);
    }
    for (const ProgramResult &result : graph.programResults())
      if (DeviceId to = machine.destination(result); to.valid())
        longest = std::max(longest, returned(result.value, to));
    return longest >= kNever ? 0 : longest;
  }

private:
  int64_t crossing(const Value &value, DeviceId from, DeviceId to) const {
    if (from == to)
      return 0;
    if (!withTransfers)
      return 0;
    int64_t route = value.needsTransfer() ? machine.routeNs(from, to, value.bytes) : 0;
    return route < 0 ? kNever : route + machine.device(to).wait_ns;
  }

  void arriveInput(ValueId id) {
    const Value &value = graph.value(id);
    for (size_t to = 0; to < numDevices; ++to) {
      int64_t &time = arrival[id.index() * numDevices + to];
      time = !value.residentDevice.valid() || !value.needsTransfer()
                 ? 0
                 : crossing(value, value.residentDevice, DeviceId(to));
    }
  }

  void arrive(ValueId id, const int64_t *made) {
    const Value &value = graph.value(id);
    for (size_t to = 0; to < numDevices; ++to) {
      int64_t &time = arrival[id.index() * numDevices + to];
      for (size_t from = 0; from < numDevices; ++from)
        if (made[from] < kNever)
          time = std::min(time, made[from] + crossing(value, DeviceId(from), DeviceId(to)));
    }
  }

  /// Nobody waits for what only lands on `to`, so wait_ns does not count.
  int64_t returned(ValueId id, DeviceId to) const {
    const Value &value = graph.value(id);
    if (!value.needsTransfer())
      return 0;
    if (!value.producer.valid()) {
      DeviceId from = value.residentDevice.valid() ? value.residentDevice : to;
      return withTransfers ? std::max<int64_t>(0, machine.routeNs(from, to, value.bytes)) : 0;
    }
    int64_t time = kNever;
    for (size_t from = 0; from < numDevices; ++from) {
      int64_t made = finish[value.producer.index() * numDevices + from];
      int64_t route = from == to.index() || !withTransfers
                          ? 0
                          : machine.routeNs(DeviceId(from), to, value.bytes);
      if (made < kNever && route >= 0)
        time = std::min(time, made + route);
    }
    return time;
  }

  const TaskGraph &graph;
  const MachineModel &machine;
  size_t numDevices;
  bool withTransfers;
  std::vector<int64_t> finish;  // [task][device]
  std::vector<int64_t> arrival; // [value][device]
};

} // namespace

LowerBound criticalPathBound(const TaskGraph &graph, const MachineModel &machine) {
  return {"critical path", EarliestTimes(graph, machine).run()};
}

LowerBound areaBound(const TaskGraph &graph, const MachineModel &machine) {
  const size_t numDevices = machine.deviceCount();
  std::vector<double> work(graph.taskCount() * numDevices, -1);
  std::vector<double> onlyHere(numDevices, 0);
  for (size_t task = 0; task < graph.taskCount(); ++task) {
    size_t choices = 0, only = 0;
    for (size_t device = 0; device < numDevices; ++device) {
      int64_t duration = durationNs(graph, machine, TaskId(task), DeviceId(device));
      if (duration < 0)
        continue;
      double share = double(graph.occupancy(TaskId(task), DeviceId(device))) / kFullOccupancy;
      // At most `streams` tasks at once, so that none takes less than that part of the device.
      share = std::max(share,
                       double(kFullOccupancy / machine.streams(DeviceId(device))) / kFullOccupancy);
      work[task * numDevices + device] = double(duration) * share;
      ++choices;
      only = device;
    }
    if (choices == 1)
      onlyHere[only] += work[task * numDevices + only];
  }
  LowerBound best{"area", 0};
  for (size_t device = 0; device < numDevices; ++device)
    if (int64_t ns = roundUpSafely(onlyHere[device]); ns > best.ns)
      best = {absl::StrCat("area of device '", machine.device(DeviceId(device)).name, "'"), ns};

  // Prices of device time by multiplicative weights; for any prices that sum to 1 the priced work
  // is a bound.
  constexpr int kRounds = 40;
  std::vector<double> price(numDevices, 1.0 / double(numDevices)), load(numDevices);
  for (int round = 0; round < kRounds; ++round) {
    std::fill(load.begin(), load.end(), 0);
    double total = 0;
    for (size_t task = 0; task < graph.taskCount(); ++task) {
      double cheapest = std::numeric_limits<double>::infinity();
      size_t chosen = 0;
      for (size_t device = 0; device < numDevices; ++device) {
        double w = work[task * numDevices + device];
        if (w >= 0 && w * price[device] < cheapest) {
          cheapest = w * price[device];
          chosen = device;
        }
      }
      if (graph.taskCount() > 0 && std::isfinite(cheapest)) {
        total += cheapest;
        load[chosen] += work[task * numDevices + chosen];
      }
    }
    if (int64_t ns = roundUpSafely(total); ns > best.ns)
      best = {"area", ns};
    double most = *std::max_element(load.begin(), load.end());
    if (most <= 0)
      break;
    double sum = 0;
    const double step = 2.0 / (2.0 + round);
    for (size_t device = 0; device < numDevices; ++device)
      sum += price[device] *= 1 + step * load[device] / most;
    for (double &p : price)
      p /= sum;
  }
  return best;
}

LowerBound linkTrafficBound(const TaskGraph &graph, const MachineModel &machine) {
  const Machine &description = machine.description();
  LowerBound best{"link traffic", 0};
  // Per task the only device that may run it, if there is just one.
  std::vector<DeviceId> only(graph.taskCount());
  for (size_t task = 0; task < graph.taskCount(); ++task) {
    size_t choices = 0;
    for (size_t device = 0; device < machine.deviceCount(); ++device)
      if (graph.mayRunOn(TaskId(task), DeviceId(device))) {
        only[task] = DeviceId(device);
        ++choices;
      }
    if (choices != 1)
      only[task] = DeviceId();
  }
  // An engine that all links into (out of) a device share carries everything that must get in
  // (out).
  for (bool incoming : {true, false}) {
    std::vector<std::vector<LinkId>> links(machine.deviceCount());
    for (size_t link = 0; link < description.links.size(); ++link)
      links[(incoming ? description.links[link].to : description.links[link].from).index()]
          .push_back(LinkId(link));
    std::vector<uint32_t> engine(machine.deviceCount(), std::numeric_limits<uint32_t>::max());
    for (size_t device = 0; device < links.size(); ++device)
      for (uint32_t candidate :
           links[device].empty() ? std::vector<uint32_t>() : machine.link(links[device][0]).engines)
        if (std::all_of(links[device].begin(), links[device].end(), [&](LinkId link) {
              const auto &engines = machine.link(link).engines;
              return std::find(engines.begin(), engines.end(), candidate) != engines.end();
            }))
          engine[device] = candidate;
    std::vector<int64_t> traffic(machine.deviceCount(), 0);
    std::vector<DeviceId> needed;
    for (size_t index = 0; index < graph.valueCount(); ++index) {
      const Value &value = graph.value(ValueId(index));
      DeviceId home = value.producer.valid() ? only[value.producer.index()] : value.residentDevice;
      if (!value.needsTransfer() || !home.valid())
        continue;
      needed.clear();
      for (TaskId user : graph.users(ValueId(index)))
        if (DeviceId device = only[user.index()]; device.valid() && device != home)
          needed.push_back(device);
      for (const ProgramResult &result : graph.resultsOf(ValueId(index)))
        if (DeviceId to = machine.destination(result); to.valid() && to != home)
          needed.push_back(to);
      std::sort(needed.begin(), needed.end());
      needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
      if (!incoming && !needed.empty())
        needed.assign(1, home); // leaves once at least
      for (DeviceId device : needed) {
        int64_t fastest = kNever;
        for (LinkId link : links[device.index()])
          fastest = std::min(fastest, TransferNs(machine.link(link), value.bytes));
        if (fastest < kNever)
          traffic[device.index()] += fastest;
      }
    }
    for (size_t device = 0; device < traffic.size(); ++device)
      if (engine[device] < description.engines.size() && traffic[device] > best.ns)
        best = {absl::StrCat("link traffic of engine '", description.engines[engine[device]], "'"),
                traffic[device]};
  }
  return best;
}

std::vector<LowerBound> lowerBounds(const TaskGraph &graph, const Machine &machine) {
  MachineModel model(machine, /*maxStreams=*/0);
  return {criticalPathBound(graph, model), areaBound(graph, model), linkTrafficBound(graph, model)};
}

LowerBound lowerBound(const TaskGraph &graph, const Machine &machine) {
  LowerBound best;
  for (LowerBound &bound : lowerBounds(graph, machine))
    if (best.name.empty() || bound.ns > best.ns)
      best = std::move(bound);
  return best;
}

} // namespace autopar::planning
