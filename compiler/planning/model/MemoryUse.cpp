#include "compiler/planning/model/MemoryUse.h"

#include <algorithm>

namespace autopar::planning {

namespace {

/// The life of one value on one device.
struct Life {
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
      : graph(graph), machine(machine), plan(plan), begin(graph.valueCount() + 1, 0) {
    for (const PlannedTransfer &transfer : plan.transfers)
      ++begin[transfer.value.index() + 1];
    for (size_t index = 0; index < graph.valueCount(); ++index)
      begin[index + 1] += begin[index] + isMade(ValueId(index));
    list.resize(begin.back());
    std::vector<size_t> next(begin.begin(), begin.end() - 1);
    for (size_t index = 0; index < graph.valueCount(); ++index)
      if (isMade(ValueId(index))) {
        const TaskPlacement &made = plan.tasks[graph.value(ValueId(index)).producer.index()];
        list[next[index]++] = {made.device, made.startNs, made.finishNs};
      }
    for (const PlannedTransfer &transfer : plan.transfers)
      list[next[transfer.value.index()]++] = {transfer.to, transfer.startNs, transfer.finishNs};
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
    for (size_t index = 0; index < graph.valueCount(); ++index)
      for (size_t at = begin[index]; at < begin[index + 1]; ++at)
        if (const Life &life = list[at]; !isResultOn(graph, machine, ValueId(index), life.device))
          add(life.device, life.birth, life.death, graph.value(ValueId(index)).bytes);
    for (size_t task = 0; task < graph.taskCount(); ++task) {
      const TaskPlacement &place = plan.tasks[task];
      if (uint64_t scratch = graph.memoryBytes(TaskId(task), place.device))
        add(place.device, place.startNs, place.finishNs, scratch);
    }
    return result;
  }

private:
  bool isMade(ValueId id) const {
    const Value &value = graph.value(id);
    return value.producer.valid() && value.needsTransfer();
  }

  /// At most one life a device.
  void keep(ValueId value, DeviceId device, int64_t until) {
    for (size_t at = begin[value.index()]; at < begin[value.index() + 1]; ++at)
      if (list[at].device == device) {
        list[at].death = std::max(list[at].death, until);
        return;
      }
  }

  const TaskGraph &graph;
  const MachineModel &machine;
  const Plan &plan;
  std::vector<size_t> begin; // by value, into list
  std::vector<Life> list;
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
