#include "compiler/planning/explain/StartReasons.h"

#include <algorithm>

namespace autopar::planning {

void StartReasons::ByFinish::sort() { std::sort(list.begin(), list.end()); }

/// The last one not skipped, and not `self`, that has finished by `time`; kNone without one.
size_t StartReasons::ByFinish::lastBy(int64_t time, size_t self,
                                      const std::vector<bool> &skipped) const {
  auto entry = std::upper_bound(list.begin(), list.end(), std::pair(time, kNone));
  while (entry != list.begin())
    if (!skipped[(--entry)->second] && entry->second != self)
      return entry->second;
  return kNone;
}

StartReasons::StartReasons(const TaskGraph &graph, const Machine &machine, const Plan &plan)
    : graph(graph), machine(machine), plan(plan), model(machine, /*maxStreams=*/0),
      onDevice(machine.devices.size()), onEngine(machine.engines.size()),
      taskSkipped(plan.tasks.size()), transferSkipped(plan.transfers.size()) {
  for (size_t task = 0; task < plan.tasks.size(); ++task)
    onDevice[plan.tasks[task].device.index()].add(plan.tasks[task].finishNs, task);
  for (size_t index = 0; index < plan.transfers.size(); ++index) {
    const PlannedTransfer &transfer = plan.transfers[index];
    copies[key(transfer.value, transfer.to)] = index;
    for (uint32_t engine : machine.links[transfer.link.index()].engines)
      onEngine[engine].add(transfer.finishNs, index);
  }
  for (size_t value = 0; value < graph.valueCount(); ++value)
    if (isArgument(ValueId(value)))
      arguments.push_back(ValueId(value));
  for (ByFinish &list : onDevice)
    list.sort();
  for (ByFinish &list : onEngine)
    list.sort();
}

/// What the program is called with; constants are on every device.
bool StartReasons::isArgument(ValueId value) const {
  return !graph.value(value).producer.valid() && graph.value(value).residentDevice.valid();
}

std::string StartReasons::producerName(ValueId value) const {
  TaskId producer = graph.value(value).producer;
  if (producer.valid())
    return graph.task(producer).label;
  std::string name = "program input";
  if (arguments.size() > 1 && isArgument(value)) {
    auto place = std::lower_bound(arguments.begin(), arguments.end(), value);
    name += " #" + std::to_string(place - arguments.begin());
  }
  return name;
}

std::string StartReasons::copyName(size_t transfer) const {
  const PlannedTransfer &copy = plan.transfers[transfer];
  std::string name = "copy of " + producerName(copy.value);
  // Which of several results of the task.
  size_t place = 0, count = 0;
  if (TaskId producer = graph.value(copy.value).producer; producer.valid())
    for (ValueId value : graph.produced(producer))
      if (graph.value(value).needsTransfer()) {
        place += value < copy.value;
        ++count;
      }
  if (count > 1)
    name += " #" + std::to_string(place);
  return name + " to " + machine.devices[copy.to.index()].name;
}

int64_t StartReasons::arrivalOf(ValueId id, DeviceId device) const {
  const Value &value = graph.value(id);
  if (auto copy = copies.find(key(id, device)); copy != copies.end())
    return plan.transfers[copy->second].finishNs + machine.devices[device.index()].wait_ns;
  if (!value.producer.valid())
    return 0;
  const TaskPlacement &made = plan.tasks[value.producer.index()];
  return made.finishNs + (made.device == device ? 0 : machine.devices[device.index()].wait_ns);
}

int64_t StartReasons::durationOf(TaskId task, DeviceId device) const {
  return graph.mayRunOn(task, device)
             ? graph.costNs(task, device) + machine.devices[device.index()].launch_ns
             : kCannotRun;
}

bool StartReasons::isFree(TaskId task) const {
  return !graph.task(task).pinnedDevice.valid() && graph.task(task).colocationGroup == kNoGroup;
}

int64_t StartReasons::waitedNs(TaskId task) const {
  const TaskPlacement &place = plan.tasks[task.index()];
  int64_t arrived = 0;
  for (ValueId operand : graph.operands(task))
    arrived = std::max(arrived, arrivalOf(operand, place.device));
  return place.startNs - arrived;
}

const Timeline &StartReasons::timelineOf(DeviceId device) const {
  if (timelines.empty()) {
    timelines.assign(machine.devices.size(), Timeline(kFullOccupancy));
    // In the order of time, as a planner would book them.
    std::vector<size_t> order(plan.tasks.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return plan.tasks[a].startNs < plan.tasks[b].startNs;
    });
    for (size_t task : order) {
      const TaskPlacement &place = plan.tasks[task];
      if (place.finishNs > place.startNs)
        timelines[place.device.index()].reserve(
            place.startNs, place.finishNs,
            std::max(kFullOccupancy / model.streams(place.device),
                     graph.occupancy(TaskId(task), place.device)));
    }
  }
  return timelines[device.index()];
}

std::optional<WaitCause> StartReasons::against(TaskId task, DeviceId device) const {
  const TaskPlacement &place = plan.tasks[task.index()];
  const int64_t duration = durationOf(task, device), wait = machine.devices[device.index()].wait_ns;
  const uint32_t share =
      std::max(kFullOccupancy / model.streams(device), graph.occupancy(task, device));
  int64_t made = 0, arrived = 0;
  for (ValueId operand : graph.operands(task)) {
    const Value &value = graph.value(operand);
    DeviceId from = value.residentDevice;
    int64_t time = 0;
    if (value.producer.valid()) {
      from = plan.tasks[value.producer.index()].device;
      time = plan.tasks[value.producer.index()].finishNs;
    }
    made = std::max(made, time);
    int64_t way = !from.valid() || !value.needsTransfer() ? 0 : model.routeNs(from, device, value.bytes);
    if (way < 0)
      return WaitCause::TransferTooCostly; // there is none
    arrived = std::max(arrived, time + way + (from == device ? 0 : wait));
  }
  // Whoever reads the results there, or wants them home, gets them later by this much.
  int64_t back = 0, backNow = 0;
  auto goesTo = [&](DeviceId to, uint64_t bytes) {
    back = std::max(back, std::max<int64_t>(0, model.routeNs(device, to, bytes)));
    backNow = std::max(backNow, std::max<int64_t>(0, model.routeNs(place.device, to, bytes)));
  };
  for (ValueId id : graph.produced(task)) {
    const Value &value = graph.value(id);
    if (!value.needsTransfer())
      continue;
    for (TaskId user : graph.users(id))
      goesTo(plan.tasks[user.index()].device, value.bytes);
    for (const ProgramResult &result : graph.resultsOf(id))
      if (DeviceId to = model.destination(result); to.valid())
        goesTo(to, value.bytes);
  }
  auto finishFrom = [&](int64_t ready) {
    int64_t length = std::max<int64_t>(1, duration);
    return timelineOf(device).firstFit(ready, length, share) + duration;
  };
  if (finishFrom(made) >= place.finishNs)
    return WaitCause::NoFasterThere;
  if (finishFrom(arrived) + back >= place.finishNs + backNow)
    return WaitCause::TransferTooCostly;
  return std::nullopt;
}

/// `blocker`: a task that left the device when this one started.
WaitCause StartReasons::whyFull(TaskId task, size_t blocker) const {
  const TaskPlacement &before = plan.tasks[blocker];
  const int64_t launchNs = machine.devices[before.device.index()].launch_ns;
  if (launchNs > 0 && 2 * launchNs >= before.finishNs - before.startNs)
    return WaitCause::LaunchRate;
  if (graph.task(task).pinnedDevice.valid())
    return WaitCause::Pinned;
  if (!isFree(task))
    return WaitCause::DeviceFull;
  WaitCause cause = WaitCause::DeviceFull;
  for (size_t device = 0; device < machine.devices.size(); ++device) {
    if (DeviceId(device) == before.device || durationOf(task, DeviceId(device)) < 0)
      continue;
    if (against(task, DeviceId(device)) == WaitCause::TransferTooCostly)
      cause = WaitCause::TransferTooCostly;
  }
  return cause;
}

std::optional<StartReasons::Reason> StartReasons::ofTask(TaskId task) const {
  const TaskPlacement &place = plan.tasks[task.index()];
  if (place.startNs == 0)
    return std::nullopt;
  // The operand that arrived last, and the task that left the device last: the later of the two was
  // waited for.
  int64_t arrived = -1;
  ValueId latest;
  for (ValueId operand : graph.operands(task)) {
    int64_t time = arrivalOf(operand, place.device);
    if (time > arrived) {
      arrived = time;
      latest = operand;
    }
  }
  size_t before = onDevice[place.device.index()].lastBy(place.startNs, task.index(), taskSkipped);
  int64_t left = before == kNone ? -1 : plan.tasks[before].finishNs;
  if (latest.valid() && arrived > 0 && arrived >= left &&
      (arrived == place.startNs || before == kNone)) {
    Reason reason{WaitCause::DataDependency, producerName(latest)};
    TaskId producer = graph.value(latest).producer;
    auto copy = copies.find(key(latest, place.device));
    if (copy != copies.end() && !transferSkipped[copy->second])
      reason.transfer = copy->second;
    else if (producer.valid() && !taskSkipped[producer.index()])
      reason.task = producer.index();
    return reason;
  }
  if (before == kNone)
    return std::nullopt;
  WaitCause cause =
      left == place.startNs ? whyFull(task, before) : WaitCause::BufferReuse;
  return Reason{cause, graph.task(TaskId(before)).label, before, kNone};
}

std::optional<StartReasons::Reason> StartReasons::ofTransfer(size_t index) const {
  const PlannedTransfer &current = plan.transfers[index];
  // Queued behind a transfer that ends when this one starts?
  int64_t present = 0;
  TaskId producer = graph.value(current.value).producer;
  auto hop = copies.find(key(current.value, current.from));
  const bool hasHop = hop != copies.end() && hop->second != index;
  if (hasHop)
    present = plan.transfers[hop->second].finishNs;
  else if (producer.valid())
    present = plan.tasks[producer.index()].finishNs;
  if (current.startNs > present) {
    size_t blocker = kNone;
    for (uint32_t engine : machine.links[current.link.index()].engines) {
      size_t candidate = onEngine[engine].lastBy(current.startNs, index, transferSkipped);
      if (candidate != kNone && (blocker == kNone || plan.transfers[candidate].finishNs >
                                                         plan.transfers[blocker].finishNs))
        blocker = candidate;
    }
    if (blocker != kNone && plan.transfers[blocker].finishNs > present)
      return Reason{plan.transfers[blocker].finishNs == current.startNs ? WaitCause::EngineBusy
                                                                        : WaitCause::BufferReuse,
                    copyName(blocker), kNone, blocker};
  }
  Reason reason{WaitCause::DataDependency, producerName(current.value)};
  if (hasHop && !transferSkipped[hop->second])
    reason.transfer = hop->second;
  else if (producer.valid() && !taskSkipped[producer.index()])
    reason.task = producer.index();
  else
    return std::nullopt;
  return reason;
}

} // namespace autopar::planning
