#include "compiler/planning/model/MemoryUse.h"

#include <algorithm>

namespace autopar::planning {

namespace {

/// The life of one value on one device.
struct Life {
  ValueId value;
  DeviceId device;
  int64_t birth = 0, death = 0;
};

/// More (or, wrapped round, fewer) bytes on a device from a time on.
struct Change {
  int64_t time;
  uint64_t bytes;
};

class Lives {
public:
  Lives(const TaskGraph &graph, const MachineModel &machine, const Plan &plan)
      : graph(graph), machine(machine), plan(plan) {
    for (const PlannedTransfer &transfer : plan.transfers)
      list.push_back({transfer.value, transfer.to, transfer.startNs, transfer.finishNs});
    for (size_t index = 0; index < graph.valueCount(); ++index) {
      const Value &value = graph.value(ValueId(index));
      if (!value.producer.valid() || !value.needsTransfer())
        continue;
      const TaskPlacement &made = plan.tasks[value.producer.index()];
      list.push_back({ValueId(index), made.device, made.startNs, made.finishNs});
    }
    std::sort(list.begin(), list.end(), [](const Life &a, const Life &b) {
      return a.value != b.value ? a.value < b.value : a.device < b.device;
    });
    for (size_t task = 0; task < graph.taskCount(); ++task)
      for (ValueId operand : graph.operands(TaskId(task)))
        keep(operand, plan.tasks[task].device, plan.tasks[task].finishNs);
    for (const PlannedTransfer &transfer : plan.transfers)
      keep(transfer.value, transfer.from, transfer.finishNs);
  }

  /// Changes by device.
  std::vector<std::vector<Change>> changes() const {
    std::vector<std::vector<Change>> result(machine.deviceCount());
    auto add = [&](DeviceId device, int64_t birth, int64_t death, uint64_t bytes) {
      // What is born and dies at once is there for a moment nevertheless.
      result[device.index()].push_back({birth, bytes});
      result[device.index()].push_back({std::max(death, birth + 1), ~bytes + 1});
    };
    for (const Life &life : list)
      if (!isResultOn(graph, machine, life.value, life.device))
        add(life.device, life.birth, life.death, graph.value(life.value).bytes);
    for (size_t task = 0; task < graph.taskCount(); ++task) {
      const TaskPlacement &place = plan.tasks[task];
      if (uint64_t scratch = graph.memoryBytes(TaskId(task), place.device))
        add(place.device, place.startNs, place.finishNs, scratch);
    }
    return result;
  }

private:
  void keep(ValueId value, DeviceId device, int64_t until) {
    auto life = std::lower_bound(list.begin(), list.end(), std::pair(value, device),
                                 [](const Life &a, const std::pair<ValueId, DeviceId> &b) {
                                   return std::pair(a.value, a.device) < b;
                                 });
    if (life != list.end() && life->value == value && life->device == device)
      life->death = std::max(life->death, until);
  }

  const TaskGraph &graph;
  const MachineModel &machine;
  const Plan &plan;
  std::vector<Life> list; // by value, then device
};

} // namespace

bool isResultOn(const TaskGraph &graph, const MachineModel &machine, ValueId value,
                DeviceId device) {
  if (!graph.value(value).isProgramResult)
    return false;
  for (const ProgramResult &result : graph.resultsOf(value)) {
    DeviceId to = machine.destination(result);
    if (to == device || !to.valid())
      return true;
  }
  return false;
}

std::vector<uint64_t> fixedBytes(const TaskGraph &graph, const MachineModel &machine) {
  std::vector<uint64_t> bytes(machine.deviceCount(), 0);
  for (size_t index = 0; index < graph.valueCount(); ++index) {
    const Value &value = graph.value(ValueId(index));
    if (!value.producer.valid() && value.residentDevice.valid())
      bytes[value.residentDevice.index()] += value.bytes;
  }
  for (const ProgramResult &result : graph.programResults())
    if (DeviceId to = machine.destination(result); to.valid())
      bytes[to.index()] += graph.value(result.value).bytes;
  return bytes;
}

std::vector<uint64_t> peakBytes(const TaskGraph &graph, const MachineModel &machine,
                                const Plan &plan) {
  std::vector<uint64_t> peaks = fixedBytes(graph, machine);
  std::vector<bool> used(machine.deviceCount());
  for (size_t index = 0; index < graph.valueCount(); ++index) {
    const Value &value = graph.value(ValueId(index));
    if (value.producer.valid() || value.residentDevice.valid())
      continue;
    used.assign(used.size(), false);
    for (TaskId user : graph.users(ValueId(index)))
      used[plan.tasks[user.index()].device.index()] = true;
    for (size_t device = 0; device < used.size(); ++device)
      if (used[device])
        peaks[device] += value.bytes;
  }
  std::vector<std::vector<Change>> changes = Lives(graph, machine, plan).changes();
  for (size_t device = 0; device < changes.size(); ++device) {
    // At the same time deaths first: their bytes are there for what is born.
    std::sort(changes[device].begin(), changes[device].end(), [](const Change &a, const Change &b) {
      return a.time != b.time ? a.time < b.time : int64_t(a.bytes) < int64_t(b.bytes);
    });
    uint64_t now = 0, most = 0;
    for (const Change &change : changes[device])
      most = std::max(most, now += change.bytes);
    peaks[device] += most;
  }
  return peaks;
}

bool fitsMemory(const MachineModel &machine, const std::vector<uint64_t> &peaks) {
  for (size_t device = 0; device < peaks.size(); ++device) {
    uint64_t limit = machine.device(DeviceId(device)).memory_bytes;
    if (limit > 0 && peaks[device] > limit)
      return false;
  }
  return true;
}

} // namespace autopar::planning
