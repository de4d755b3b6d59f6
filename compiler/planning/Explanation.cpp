#include "compiler/planning/Explanation.h"

#include <algorithm>
#include <unordered_map>

namespace autopar::planning {

std::string_view causeName(WaitCause cause) {
  switch (cause) {
  case WaitCause::DataDependency:
    return "data dependency";
  case WaitCause::EngineBusy:
    return "engine busy";
  case WaitCause::DeviceFull:
    return "device full";
  case WaitCause::Pinned:
    return "pinned";
  }
  return "";
}

namespace {

constexpr size_t kNone = ~size_t{0};

/// Things in order of their finish, to find the last one that has finished by some time.
class ByFinish {
public:
  void add(int64_t finishNs, size_t index) { list.push_back({finishNs, index}); }
  void sort() { std::sort(list.begin(), list.end()); }
  /// The last one not in `seen` that has finished by `time`; kNone without one.
  size_t lastBy(int64_t time, const std::vector<bool> &seen) const {
    auto entry = std::upper_bound(list.begin(), list.end(), std::pair(time, kNone));
    while (entry != list.begin())
      if (!seen[(--entry)->second])
        return entry->second;
    return kNone;
  }

private:
  std::vector<std::pair<int64_t, size_t>> list;
};

class PathWalker {
public:
  PathWalker(const TaskGraph &graph, const Machine &machine, const Plan &plan)
      : graph(graph), machine(machine), plan(plan), onDevice(machine.devices.size()),
        onEngine(machine.engines.size()), taskSeen(plan.tasks.size()),
        transferSeen(plan.transfers.size()) {
    for (size_t task = 0; task < plan.tasks.size(); ++task)
      onDevice[plan.tasks[task].device.index()].add(plan.tasks[task].finishNs, task);
    for (size_t index = 0; index < plan.transfers.size(); ++index) {
      const PlannedTransfer &transfer = plan.transfers[index];
      copies[key(transfer.value, transfer.to)] = index;
      for (uint32_t engine : machine.links[transfer.link.index()].engines)
        onEngine[engine].add(transfer.finishNs, index);
    }
    for (ByFinish &list : onDevice)
      list.sort();
    for (ByFinish &list : onEngine)
      list.sort();
  }

  std::vector<Explanation> walk() {
    start();
    while (task != kNone || transfer != kNone) {
      if (transfer != kNone)
        stepFromTransfer();
      else
        stepFromTask();
    }
    return std::move(path);
  }

private:
  static uint64_t key(ValueId value, DeviceId device) {
    return uint64_t{value.value} << 32 | device.value;
  }
  std::string producerName(ValueId value) const {
    TaskId producer = graph.value(value).producer;
    return producer.valid() ? graph.task(producer).label : "program input";
  }

  void start() {
    int64_t last = -1;
    for (size_t index = 0; index < plan.tasks.size(); ++index)
      if (plan.tasks[index].finishNs > last) {
        last = plan.tasks[index].finishNs;
        task = index;
      }
    for (size_t index = 0; index < plan.transfers.size(); ++index)
      if (plan.transfers[index].finishNs > last) {
        last = plan.transfers[index].finishNs;
        transfer = index;
        // A result on its way home: what waits is its producer's result.
        waiting = producerName(plan.transfers[index].value);
      }
    if (transfer != kNone)
      task = kNone;
  }

  void explain(const std::string &who, const std::string &forWhom, WaitCause cause) {
    path.push_back({who, forWhom, cause});
  }

  void stepFromTransfer() {
    const PlannedTransfer &current = plan.transfers[transfer];
    transferSeen[transfer] = true;
    size_t from = transfer;
    transfer = task = kNone;
    // Queued behind a transfer that ends when this one starts?
    int64_t present = 0;
    TaskId producer = graph.value(current.value).producer;
    auto hop = copies.find(key(current.value, current.from));
    if (hop != copies.end() && hop->second != from)
      present = plan.transfers[hop->second].finishNs;
    else if (producer.valid())
      present = plan.tasks[producer.index()].finishNs;
    if (current.startNs > present) {
      size_t blocker = kNone;
      for (uint32_t engine : machine.links[current.link.index()].engines) {
        size_t candidate = onEngine[engine].lastBy(current.startNs, transferSeen);
        if (candidate != kNone && (blocker == kNone || plan.transfers[candidate].finishNs >
                                                           plan.transfers[blocker].finishNs))
          blocker = candidate;
      }
      if (blocker != kNone) {
        std::string other = producerName(plan.transfers[blocker].value);
        explain(waiting, other, WaitCause::EngineBusy);
        transfer = blocker;
        waiting = other;
        return;
      }
    }
    if (hop != copies.end() && !transferSeen[hop->second])
      transfer = hop->second;
    else if (producer.valid() && !taskSeen[producer.index()])
      task = producer.index();
  }

  void stepFromTask() {
    const size_t index = task;
    const TaskPlacement &place = plan.tasks[index];
    const Task &current = graph.task(TaskId(index));
    taskSeen[index] = true;
    transfer = task = kNone;
    if (place.startNs == 0)
      return;
    // The operand that arrived last, and the task that left the device last: the later of the two
    // was waited for.
    int64_t arrived = -1;
    ValueId latest;
    for (ValueId operand : graph.operands(TaskId(index))) {
      int64_t time = arrivalOf(operand, place.device);
      if (time > arrived) {
        arrived = time;
        latest = operand;
      }
    }
    size_t before = onDevice[place.device.index()].lastBy(place.startNs, taskSeen);
    int64_t left = before == kNone ? -1 : plan.tasks[before].finishNs;
    if (latest.valid() && arrived > 0 && arrived >= left) {
      explain(current.label, producerName(latest), WaitCause::DataDependency);
      auto copy = copies.find(key(latest, place.device));
      TaskId producer = graph.value(latest).producer;
      if (copy != copies.end() && !transferSeen[copy->second]) {
        transfer = copy->second;
        waiting = current.label;
      } else if (producer.valid() && !taskSeen[producer.index()]) {
        task = producer.index();
      }
    } else if (before != kNone) {
      explain(current.label, graph.task(TaskId(before)).label,
              current.pinnedDevice.valid() ? WaitCause::Pinned : WaitCause::DeviceFull);
      task = before;
    }
  }

  int64_t arrivalOf(ValueId id, DeviceId device) const {
    const Value &value = graph.value(id);
    if (auto copy = copies.find(key(id, device)); copy != copies.end())
      return plan.transfers[copy->second].finishNs + machine.devices[device.index()].wait_ns;
    if (!value.producer.valid())
      return 0;
    const TaskPlacement &made = plan.tasks[value.producer.index()];
    return made.finishNs + (made.device == device ? 0 : machine.devices[device.index()].wait_ns);
  }

  const TaskGraph &graph;
  const Machine &machine;
  const Plan &plan;
  std::vector<ByFinish> onDevice;              // tasks
  std::vector<ByFinish> onEngine;              // transfers
  std::unordered_map<uint64_t, size_t> copies; // (value, device) -> transfer
  std::vector<bool> taskSeen, transferSeen;
  size_t task = kNone, transfer = kNone; // where the walk stands: one of the two
  std::string waiting;                   // for what the transfer is made
  std::vector<Explanation> path;
};

} // namespace

std::vector<Explanation> explainCriticalPath(const TaskGraph &graph, const Machine &machine,
                                             const Plan &plan) {
  return PathWalker(graph, machine, plan).walk();
}

} // namespace autopar::planning
