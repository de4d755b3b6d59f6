#include "compiler/planning/explain/WhatIf.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "compiler/planning/Planner.h"
#include "compiler/planning/model/MemoryUse.h"

namespace autopar::planning {

namespace {

std::string unusedName(const Machine &machine, const std::string &like) {
  for (size_t number = 1;; ++number) {
    std::string name = absl::StrCat(like, "-twin", number == 1 ? "" : absl::StrCat(number));
    if (!machine.FindDevice(name).valid())
      return name;
  }
}

/// What a transfer occupies, as a reader would name it.
std::string pathName(const Machine &machine, const Link &link) {
  if (!link.engines.empty())
    return machine.engines[link.engines.front()];
  return absl::StrCat(machine.devices[link.from.index()].name, " to ",
                      machine.devices[link.to.index()].name);
}

class Changes {
public:
  Changes(const TaskGraph &graph, const Machine &machine, const Plan &plan)
      : graph(graph), machine(machine), plan(plan) {}

  MachineChanges find(size_t most) {
    addDevices();
    speedUpLinks();
    addMemory();
    std::stable_sort(found.begin(), found.end(), [](const MachineChange &a, const MachineChange &b) {
      return a.makespanNs < b.makespanNs;
    });
    if (found.size() > most)
      found.resize(most);
    return {std::move(found), std::move(tried)};
  }

private:
  void tryOut(std::string what, const TaskGraph &changedGraph, const Machine &changed) {
    constexpr size_t kManyTasks = 2'000;
    tried.push_back(what);
    PlannerOptions options;
    options.effort = graph.taskCount() > kManyTasks ? 0 : 1;
    absl::StatusOr<Plan> better = planGraph(changedGraph, changed, options);
    // Less than a hundredth is not worth a word, and a plan that does not fit its memory is no help.
    if (!better.ok() || 100 * (plan.makespanNs - better->makespanNs) < std::max<int64_t>(1, plan.makespanNs) ||
        !fitsMemory(MachineModel(changed, 0), peakBytes(changedGraph, MachineModel(changed, 0), *better)))
      return;
    found.push_back({std::move(what), better->makespanNs});
  }

  void addDevices() {
    std::map<DeviceKind, DeviceId> busiest;
    for (size_t index = 0; index < machine.devices.size(); ++index) {
      DeviceId &best = busiest[machine.devices[index].kind];
      if (!best.valid() || busyNs(index) > busyNs(best.index()))
        best = DeviceId(index);
    }
    for (auto [kind, like] : busiest)
      tryOut(absl::StrCat("another device like ", machine.devices[like.index()].name, " (",
                          std::string(DeviceKindName(kind)), ")"),
             withDeviceLike(graph, like), withDeviceLike(machine, like));
  }
  int64_t busyNs(size_t device) const {
    return device < plan.busyNs.size() ? plan.busyNs[device] : 0;
  }

  void speedUpLinks() {
    constexpr size_t kMostPaths = 4;
    std::map<std::string, int64_t> traffic; // time on it, by name
    for (const PlannedTransfer &transfer : plan.transfers)
      traffic[pathName(machine, machine.links[transfer.link.index()])] +=
          transfer.finishNs - transfer.startNs;
    std::vector<std::pair<int64_t, std::string>> paths;
    for (const auto &[name, ns] : traffic)
      paths.push_back({-ns, name});
    std::sort(paths.begin(), paths.end());
    if (!machine.links.empty()) { // also those that the plan avoids because they are slow
      Machine changed = machine;
      for (Link &link : changed.links)
        doubleSpeed(link);
      tryOut("all links twice as fast", graph, changed);
    }
    for (size_t i = 0; i < std::min(paths.size(), kMostPaths); ++i) {
      Machine changed = machine;
      for (Link &link : changed.links)
        if (pathName(machine, link) == paths[i].second)
          doubleSpeed(link);
      tryOut(absl::StrCat("links twice as fast: ", paths[i].second), graph, changed);
    }
  }
  static void doubleSpeed(Link &link) {
    link.bytes_per_s *= 2;
    link.latency_ns /= 2;
  }

  void addMemory() {
    MachineModel model(machine, 0);
    std::vector<uint64_t> peaks = peakBytes(graph, model, plan);
    for (size_t index = 0; index < machine.devices.size(); ++index) {
      uint64_t limit = machine.devices[index].memory_bytes;
      if (limit == 0 || peaks[index] < limit / 2)
        continue;
      Machine changed = machine;
      changed.devices[index].memory_bytes *= 2;
      tryOut(absl::StrCat("twice the memory on ", machine.devices[index].name), graph, changed);
    }
  }

  const TaskGraph &graph;
  const Machine &machine;
  const Plan &plan;
  std::vector<MachineChange> found;
  std::vector<std::string> tried;
};

/// How `link` would be between a second CPU and `like`, which no link joins to its kind: as the links of other devices with
/// `like` are, or, where there are none, as fast as the memory that both read.
Link linkBetweenCpus(const Machine &machine, DeviceId like) {
  for (const Link &link : machine.links)
    if (link.from == like || link.to == like)
      return link;
  constexpr uint64_t kUsualBytesPerS = 12'000'000'000; // of the memory of a machine that does not say
  const uint64_t rate = machine.devices[like.index()].memory_bytes_per_s;
  Link link;
  link.bytes_per_s = rate > 0 ? rate : kUsualBytesPerS;
  return link;
}

} // namespace

TaskGraph withDeviceLike(const TaskGraph &graph, DeviceId like) {
  const size_t before = graph.deviceCount();
  TaskGraph result(before + 1);
  std::vector<int64_t> costs(before + 1);
  for (size_t index = 0; index < graph.taskCount(); ++index) {
    TaskId task(index);
    for (size_t device = 0; device < before; ++device)
      costs[device] = graph.costNs(task, DeviceId(device));
    costs[before] = graph.costNs(task, like);
    result.addTask(graph.task(task).label, costs);
    for (size_t device = 0; device <= before; ++device) {
      DeviceId from = device == before ? like : DeviceId(device);
      if (uint32_t share = graph.occupancy(task, from); share != kFullOccupancy)
        result.setOccupancy(task, DeviceId(device), share);
      if (uint64_t bytes = graph.memoryBytes(task, from))
        result.setMemoryBytes(task, DeviceId(device), bytes);
    }
    if (DeviceId pin = graph.task(task).pinnedDevice; pin.valid())
      result.pin(task, pin);
    if (uint32_t group = graph.task(task).colocationGroup; group != kNoGroup)
      result.colocate(task, group);
  }
  for (size_t index = 0; index < graph.valueCount(); ++index) {
    ValueId id(index);
    const Value &value = graph.value(id);
    if (!value.producer.valid())
      result.addInput(value.residentDevice, value.bytes);
    else if (value.isToken)
      result.addToken(value.producer);
    else
      result.addValue(value.producer, value.bytes);
    for (TaskId user : graph.users(id))
      result.addOperand(user, id);
  }
  for (const ProgramResult &wanted : graph.programResults())
    result.markProgramResult(wanted.value, wanted.device);
  // It has been finalized before, with fewer choices.
  (void)result.finalize();
  return result;
}

Machine withDeviceLike(const Machine &machine, DeviceId like) {
  Machine result = machine;
  const DeviceId twin(machine.devices.size());
  result.devices.push_back(machine.devices[like.index()]);
  result.devices.back().name = unusedName(machine, machine.devices[like.index()].name);
  const bool isCpu = machine.devices[like.index()].kind == DeviceKind::kCpu;
  // The engines of a CPU's links are those of the devices at their other ends.
  std::vector<bool> isShared(machine.engines.size(), isCpu);
  for (const Link &link : machine.links)
    if (link.from != like && link.to != like)
      for (uint32_t engine : link.engines)
        isShared[engine] = true;
  std::map<uint32_t, uint32_t> twins;
  auto twinOf = [&](uint32_t engine) {
    if (isShared[engine])
      return engine;
    auto [entry, isNew] = twins.try_emplace(engine, uint32_t(result.engines.size()));
    if (isNew)
      result.engines.push_back(absl::StrCat(machine.engines[engine], "-twin"));
    return entry->second;
  };
  std::optional<Link> toPeer; // from `like` to another device of its kind
  for (const Link &link : machine.links) {
    if (link.from != like && link.to != like)
      continue;
    Link copy = link;
    (link.from == like ? copy.from : copy.to) = twin;
    // The twin's own end is occupied, not that of `like`; the other device's stays what it is.
    for (uint32_t &engine : copy.engines)
      engine = twinOf(engine);
    result.links.push_back(copy);
    DeviceId other = link.from == like ? link.to : link.from;
    if (link.from == like && machine.devices[other.index()].kind == machine.devices[like.index()].kind)
      toPeer = link;
  }
  const bool isNewWay = isCpu && !toPeer;
  if (isNewWay)
    toPeer = linkBetweenCpus(machine, like);
  if (toPeer) {
    Link there = *toPeer, back = *toPeer;
    there.from = like;
    there.to = twin;
    back.from = twin;
    back.to = like;
    for (uint32_t &engine : back.engines)
      engine = twinOf(engine);
    // What queues on the links of others queues on engines of its own between two CPUs.
    if (isNewWay && !toPeer->engines.empty()) {
      there.engines = {uint32_t(result.engines.size())};
      back.engines = {uint32_t(result.engines.size() + 1)};
      result.engines.push_back(result.devices.back().name + ".in");
      result.engines.push_back(result.devices.back().name + ".out");
    }
    result.links.push_back(there);
    result.links.push_back(back);
  }
  return result;
}

MachineChanges changesThatHelp(const TaskGraph &graph, const Machine &machine,
                               const Plan &plan, size_t most) {
  constexpr size_t kMostTasks = 200'000;
  if (graph.taskCount() > kMostTasks)
    return {};
  return Changes(graph, machine, plan).find(most);
}

} // namespace autopar::planning
