#include "compiler/planning/bounds/BoundModel.h"

#include <algorithm>

namespace autopar::planning {

BoundModel::BoundModel(const TaskGraph &graph, const MachineModel &machine)
    : taskGraph(graph), machineModel(machine) {
  findClasses();
  fillTasks();
  fillWays();
  fillGates();
}

BoundModel::BoundModel(const BoundModel &whole, TaskId anchor)
    : taskGraph(whole.taskGraph), machineModel(whole.machineModel), coarse(whole.coarse),
      someGate(whole.someGate), rates(whole.rates), rateCount(whole.rateCount),
      byteTimes(whole.byteTimes), leastLatencyNs(whole.leastLatencyNs) {
  std::vector<size_t> old; // by new class
  std::vector<uint8_t> isRest;
  for (size_t at = 0; at < whole.classCount(); ++at) {
    DeviceClass entry = whole.classes[at];
    for (bool rest : {false, true}) {
      if (rest && entry.count == 1)
        continue;
      old.push_back(at);
      isRest.push_back(rest);
      classes.push_back({entry.device, rest ? entry.count - 1 : 1});
      waits.push_back(whole.waits[at]);
      gates.insert(gates.end(), {whole.gates[2 * at], whole.gates[2 * at + 1]});
    }
  }
  const size_t count = old.size(), oldCount = whole.classCount();
  for (uint32_t at : whole.classIndex) // only devices alone in their class are asked for
    classIndex.push_back(uint32_t(std::find(old.begin(), old.end(), at) - old.begin()));
  auto copyRows = [&](const std::vector<int64_t> &from, std::vector<int64_t> &to) {
    to.resize(from.size() / oldCount * count);
    for (size_t row = 0; row < from.size() / oldCount; ++row)
      for (size_t at = 0; at < count; ++at)
        to[row * count + at] = from[row * oldCount + old[at]];
  };
  copyRows(whole.durations, durations);
  copyRows(whole.works, works);
  for (size_t at = 0; at < count; ++at)
    if (isRest[at]) {
      durations[anchor.index() * count + at] = kCannotRun;
      if (!works.empty())
        works[anchor.index() * count + at] = kCannotRun;
    }
  if (!coarse)
    for (size_t from = 0; from < count; ++from)
      for (size_t to = 0; to < count; ++to)
        ways.push_back(whole.ways[old[from] * oldCount + old[to]]);
}

// ---- classes

bool BoundModel::columnsEqual(size_t a, size_t b) const {
  const DeviceId first(a), second(b);
  const Device &one = machineModel.device(first), &two = machineModel.device(second);
  if (one.launch_ns != two.launch_ns || one.wait_ns != two.wait_ns ||
      machineModel.streams(first) != machineModel.streams(second))
    return false;
  for (size_t index = 0; index < taskGraph.taskCount(); ++index) {
    const TaskId task(index);
    const bool allowed = taskGraph.mayRunOn(task, first);
    if (allowed != taskGraph.mayRunOn(task, second))
      return false;
    if (allowed && (taskGraph.costNs(task, first) != taskGraph.costNs(task, second) ||
                    taskGraph.occupancy(task, first) != taskGraph.occupancy(task, second)))
      return false;
  }
  return true;
}

bool BoundModel::linksEqual(size_t a, size_t b) const {
  auto sameLink = [&](LinkId x, LinkId y) {
    if (!x.valid() || !y.valid())
      return x.valid() == y.valid();
    return machineModel.link(x).bytes_per_s == machineModel.link(y).bytes_per_s &&
           machineModel.link(x).latency_ns == machineModel.link(y).latency_ns;
  };
  auto sameRoute = [&](size_t from, size_t to, size_t otherFrom, size_t otherTo) {
    const Route &x = machineModel.route(DeviceId(from), DeviceId(to));
    const Route &y = machineModel.route(DeviceId(otherFrom), DeviceId(otherTo));
    return sameLink(x.first, y.first) && sameLink(x.second, y.second);
  };
  for (size_t other = 0; other < machineModel.deviceCount(); ++other)
    if (other != a && other != b &&
        (!sameRoute(a, other, b, other) || !sameRoute(other, a, other, b)))
      return false;
  return sameRoute(a, b, b, a);
}

void BoundModel::findClasses() {
  const size_t devices = machineModel.deviceCount();
  std::vector<uint8_t> isAlone(devices, 0);
  for (size_t index = 0; index < taskGraph.valueCount(); ++index)
    if (const Value &value = taskGraph.value(ValueId(index));
        !value.producer.valid() && value.residentDevice.valid())
      isAlone[value.residentDevice.index()] = 1;
  for (const ProgramResult &result : taskGraph.programResults())
    if (DeviceId to = machineModel.destination(result); to.valid())
      isAlone[to.index()] = 1;
  constexpr size_t kMostDevices = 64; // of which equal ones are looked for: devices squared links
  classIndex.resize(devices);
  for (size_t device = 0; device < devices; ++device) {
    size_t found = classes.size();
    for (size_t at = 0; at < classes.size() && found == classes.size(); ++at) {
      const size_t other = classes[at].device.index();
      if (devices <= kMostDevices && !isAlone[device] && !isAlone[other] &&
          linksEqual(other, device) && columnsEqual(other, device))
        found = at;
    }
    if (found == classes.size())
      classes.push_back({DeviceId(device), 0});
    ++classes[found].count;
    classIndex[device] = uint32_t(found);
  }
  for (const DeviceClass &entry : classes)
    waits.push_back(machineModel.device(entry.device).wait_ns);
}

// ---- tasks

void BoundModel::fillTasks() {
  const size_t tasks = taskGraph.taskCount(), count = classes.size();
  durations.resize(tasks * count);
  bool someShare = false;
  for (size_t index = 0; index < tasks; ++index)
    for (size_t at = 0; at < count; ++at) {
      const TaskId task(index);
      const DeviceId device = classes[at].device;
      durations[index * count + at] =
          taskGraph.mayRunOn(task, device)
              ? taskGraph.costNs(task, device) + machineModel.device(device).launch_ns
              : kCannotRun;
      someShare |= taskGraph.occupancy(task, device) != kFullOccupancy;
    }
  if (!someShare)
    return;
  works.resize(durations.size());
  for (size_t at = 0; at < count; ++at) {
    const DeviceId device = classes[at].device;
    const int64_t streams = machineModel.streams(device);
    double byShare = 0, byStreams = 0;
    for (size_t index = 0; index < tasks; ++index) {
      const int64_t duration = durations[index * count + at];
      if (duration < 0)
        continue;
      byShare += double(duration) * taskGraph.occupancy(TaskId(index), device) / kFullOccupancy;
      byStreams += double(duration) / double(streams);
    }
    for (size_t index = 0; index < tasks; ++index) {
      const int64_t duration = durations[index * count + at];
      const int64_t share = taskGraph.occupancy(TaskId(index), device), full = kFullOccupancy;
      works[index * count + at] = duration < 0 ? kCannotRun
                                  : byShare >= byStreams
                                      ? duration / full * share + duration % full * share / full
                                      : duration / streams;
    }
  }
}

// ---- transfers

void BoundModel::fillWays() {
  const size_t count = classes.size();
  const double pairs = double(count) * double(count);
  double edges = double(taskGraph.valueCount());
  for (size_t task = 0; task < taskGraph.taskCount(); ++task)
    edges += double(taskGraph.operands(TaskId(task)).size());
  constexpr double kMostSteps = 2e7;
  coarse = edges * pairs > kMostSteps || pairs > kMostSteps / 100;
  leastLatencyNs = kNever;
  for (const Link &link : machineModel.description().links) {
    rates.push_back(link.bytes_per_s);
    leastLatencyNs = std::min(leastLatencyNs, link.latency_ns);
  }
  std::sort(rates.begin(), rates.end());
  rates.erase(std::unique(rates.begin(), rates.end()), rates.end());
  // As many columns as links are only sensible on few values.
  if (!rates.empty() &&
      (coarse || double(rates.size()) * double(taskGraph.valueCount()) > kMostSteps))
    rates = {rates.back()};
  rateCount = rates.size();
  byteTimes.resize(taskGraph.valueCount() * rateCount);
  Link pure;
  for (size_t value = 0; value < taskGraph.valueCount(); ++value)
    for (size_t rate = 0; rate < rateCount; ++rate) {
      const uint64_t bytes = taskGraph.value(ValueId(value)).bytes;
      pure.bytes_per_s = rates[rate];
      byteTimes[value * rateCount + rate] = rates[rate] == 1'000'000'000 && bytes < uint64_t(kNever)
                                                ? int64_t(bytes)
                                                : std::min(kNever, TransferNs(pure, bytes));
    }
  if (coarse)
    return;
  ways.resize(count * count);
  for (size_t from = 0; from < machineModel.deviceCount(); ++from)
    for (size_t to = 0; to < machineModel.deviceCount(); ++to) {
      const Route &route = machineModel.route(DeviceId(from), DeviceId(to));
      if (from == to || !route.exists())
        continue;
      Way &way = ways[classIndex[from] * count + classIndex[to]];
      way.latencyNs = machineModel.link(route.first).latency_ns;
      way.firstRate = rateOf(machineModel.link(route.first).bytes_per_s);
      if (route.viaHost()) {
        way.secondRate = rateOf(machineModel.link(route.second).bytes_per_s);
        way.latencyNs += machineModel.link(route.second).latency_ns;
      }
    }
}

uint32_t BoundModel::rateOf(uint64_t bytesPerS) const {
  return uint32_t(std::lower_bound(rates.begin(), rates.end(), bytesPerS) - rates.begin());
}

BoundModel::Gate BoundModel::gateOf(DeviceId device, bool in) const {
  std::vector<uint32_t> common;
  Gate gate;
  for (const Link &link : machineModel.description().links) {
    if ((in ? link.to : link.from) != device)
      continue;
    const uint32_t rate = rateOf(link.bytes_per_s);
    if (gate.rate == kNone) {
      gate = {rate, link.latency_ns};
      common = link.engines;
      continue;
    }
    gate.rate = std::max(gate.rate, rate);
    gate.latencyNs = std::min(gate.latencyNs, link.latency_ns);
    std::erase_if(common, [&](uint32_t engine) {
      return std::find(link.engines.begin(), link.engines.end(), engine) == link.engines.end();
    });
  }
  return common.empty() ? Gate() : gate;
}

void BoundModel::fillGates() {
  gates.resize(2 * classes.size());
  constexpr size_t kMostDevices = 64; // devices times links
  for (size_t device = 0; device < machineModel.deviceCount(); ++device)
    for (bool in : {true, false}) {
      Gate &gate = gates[2 * classIndex[device] + !in];
      const bool isFirst = classes[classIndex[device]].device == DeviceId(device);
      if (machineModel.deviceCount() <= kMostDevices && (isFirst || gate.rate != kNone))
        gate = gateOf(DeviceId(device), in); // links of equal devices are equal
    }
  for (const Gate &gate : gates)
    someGate |= gate.rate != kNone;
}

int64_t BoundModel::inputsArrive(TaskId task, size_t at) const {
  int64_t ready = 0;
  for (ValueId operand : taskGraph.operands(task)) {
    const Value &value = taskGraph.value(operand);
    if (value.producer.valid() || !value.needsTransfer() || !value.residentDevice.valid())
      continue;
    if (const size_t home = classOf(value.residentDevice); home != at)
      ready = std::max(ready, crossing(operand, home, at));
  }
  return ready;
}

int64_t BoundModel::resultsLand(TaskId task, size_t at) const {
  int64_t latest = 0;
  if (taskGraph.programResults().empty())
    return latest;
  for (ValueId value : taskGraph.produced(task)) {
    if (!taskGraph.value(value).needsTransfer())
      continue;
    for (const ProgramResult &result : taskGraph.resultsOf(value))
      if (DeviceId to = machineModel.destination(result); to.valid())
        latest = std::max(latest, landing(value, at, classOf(to)));
  }
  return latest;
}

int64_t BoundModel::inputsLand() const {
  int64_t latest = 0;
  for (const ProgramResult &result : taskGraph.programResults()) {
    const Value &value = taskGraph.value(result.value);
    const DeviceId to = machineModel.destination(result);
    if (value.producer.valid() || !value.needsTransfer() || !value.residentDevice.valid() ||
        !to.valid() || to == value.residentDevice)
      continue;
    const int64_t time = landing(result.value, classOf(value.residentDevice), classOf(to));
    latest = std::max(latest, time < kNever ? time : 0);
  }
  return latest;
}

} // namespace autopar::planning
