#include "compiler/planning/model/PlanValidator.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"

namespace autopar::planning {

namespace {

class Validator {
public:
  Validator(const TaskGraph &graph, const Machine &machine, const Plan &plan, uint32_t maxStreams)
      : graph(graph), machine(machine), plan(plan), maxStreams(maxStreams) {}

  absl::Status run() {
    if (plan.tasks.size() != graph.taskCount())
      return broken(plan.tasks.size(), " tasks are planned of ", graph.taskCount());
    for (auto check :
         {&Validator::checkTasks, &Validator::checkGroups, &Validator::checkTransfers,
          &Validator::checkPrecedence, &Validator::checkEngines, &Validator::checkDevices,
          &Validator::checkStreams, &Validator::checkResults}) {
      if (absl::Status status = (this->*check)(); !status.ok())
        return status;
    }
    return absl::OkStatus();
  }

private:
  template <class... Parts> static absl::Status broken(const Parts &...parts) {
    return absl::InternalError(absl::StrCat("invalid plan: ", parts...));
  }
  std::string name(size_t task) const {
    return absl::StrCat("task ", task, " '", graph.task(TaskId(task)).label, "'");
  }

  absl::Status checkTasks() {
    for (size_t index = 0; index < plan.tasks.size(); ++index) {
      const TaskPlacement &place = plan.tasks[index];
      const Task &task = graph.task(TaskId(index));
      if (!place.device.valid() || place.device.index() >= machine.devices.size())
        return broken(name(index), " has no device");
      int64_t cost = graph.costNs(TaskId(index), place.device);
      if (cost < 0)
        return broken(name(index), " is on a device that cannot run it");
      if (task.pinnedDevice.valid() && task.pinnedDevice != place.device)
        return broken(name(index), " is not on the device it is pinned to");
      if (place.startNs < 0 ||
          place.finishNs - place.startNs != cost + machine.devices[place.device.index()].launch_ns)
        return broken(name(index), " runs from ", place.startNs, " to ", place.finishNs,
                      ", which is not its cost");
    }
    return absl::OkStatus();
  }

  absl::Status checkGroups() {
    std::map<uint32_t, DeviceId> groups;
    for (size_t index = 0; index < plan.tasks.size(); ++index) {
      uint32_t group = graph.task(TaskId(index)).colocationGroup;
      if (group == kNoGroup)
        continue;
      auto [entry, isNew] = groups.emplace(group, plan.tasks[index].device);
      if (entry->second != plan.tasks[index].device)
        return broken(name(index), " is apart from its co-location group");
    }
    return absl::OkStatus();
  }

  /// When `value` is there on `device` by itself; -1: never.
  int64_t presentFrom(ValueId id, DeviceId device) const {
    const Value &value = graph.value(id);
    if (value.producer.valid()) {
      const TaskPlacement &made = plan.tasks[value.producer.index()];
      return made.device == device ? made.finishNs : -1;
    }
    return !value.residentDevice.valid() || value.residentDevice == device ? 0 : -1;
  }

  absl::Status checkTransfers() {
    for (const PlannedTransfer &transfer : plan.transfers) {
      std::string what = absl::StrCat("transfer of value ", transfer.value.value);
      if (transfer.value.index() >= graph.valueCount() ||
          transfer.link.index() >= machine.links.size())
        return broken(what, " names an unknown value or link");
      const Link &link = machine.links[transfer.link.index()];
      if (link.from != transfer.from || link.to != transfer.to)
        return broken(what, " takes a link between other devices");
      if (!graph.value(transfer.value).needsTransfer())
        return broken(what, " has no bytes");
      if (transfer.startNs < 0 || transfer.finishNs - transfer.startNs !=
                                      TransferNs(link, graph.value(transfer.value).bytes))
        return broken(what, " takes another time than its link says");
      if (presentFrom(transfer.value, transfer.to) >= 0)
        return broken(what, " goes where the value is already");
      if (!copies.emplace(std::pair(transfer.value, transfer.to), transfer.finishNs).second)
        return broken(what, " goes to the same device twice");
    }
    for (const PlannedTransfer &transfer : plan.transfers) {
      int64_t present = presentFrom(transfer.value, transfer.from);
      if (present < 0)
        if (auto copy = copies.find({transfer.value, transfer.from}); copy != copies.end())
          present = copy->second;
      if (present < 0 || transfer.startNs < present)
        return broken("transfer of value ", transfer.value.value, " starts at ", transfer.startNs,
                      ", before the value is there");
    }
    return absl::OkStatus();
  }

  absl::Status checkPrecedence() {
    for (size_t index = 0; index < plan.tasks.size(); ++index) {
      const TaskPlacement &place = plan.tasks[index];
      const int64_t wait = machine.devices[place.device.index()].wait_ns;
      for (ValueId operand : graph.operands(TaskId(index))) {
        int64_t present = presentFrom(operand, place.device);
        const Value &value = graph.value(operand);
        if (present < 0 && !value.needsTransfer())
          present = value.producer.valid() ? plan.tasks[value.producer.index()].finishNs + wait : 0;
        if (present < 0)
          if (auto copy = copies.find({operand, place.device}); copy != copies.end())
            present = copy->second + wait;
        if (present < 0)
          return broken(name(index), " needs value ", operand.value, ", which never gets there");
        if (place.startNs < present)
          return broken(name(index), " starts at ", place.startNs, ", but value ", operand.value,
                        " is there at ", present);
      }
    }
    return absl::OkStatus();
  }

  absl::Status checkEngines() {
    std::vector<std::vector<const PlannedTransfer *>> byEngine(machine.engines.size());
    for (const PlannedTransfer &transfer : plan.transfers)
      for (uint32_t engine : machine.links[transfer.link.index()].engines)
        if (transfer.finishNs > transfer.startNs)
          byEngine[engine].push_back(&transfer);
    for (size_t engine = 0; engine < byEngine.size(); ++engine) {
      auto &list = byEngine[engine];
      std::sort(list.begin(), list.end(),
                [](const auto *a, const auto *b) { return a->startNs < b->startNs; });
      for (size_t i = 1; i < list.size(); ++i)
        if (list[i]->startNs < list[i - 1]->finishNs)
          return broken("engine '", machine.engines[engine], "' carries the values ",
                        list[i - 1]->value.value, " and ", list[i]->value.value, " at once");
    }
    return absl::OkStatus();
  }

  struct Change {
    int64_t time;
    bool begins;
    size_t task;
  };

  absl::Status checkDevices() {
    std::vector<std::vector<Change>> byDevice(machine.devices.size());
    for (size_t index = 0; index < plan.tasks.size(); ++index) {
      const TaskPlacement &place = plan.tasks[index];
      if (place.startNs == place.finishNs)
        continue;
      byDevice[place.device.index()].push_back({place.startNs, true, index});
      byDevice[place.device.index()].push_back({place.finishNs, false, index});
    }
    for (size_t device = 0; device < byDevice.size(); ++device) {
      std::sort(byDevice[device].begin(), byDevice[device].end(),
                [](const Change &a, const Change &b) {
                  return a.time != b.time ? a.time < b.time : a.begins < b.begins;
                });
      uint64_t used = 0;
      for (const Change &change : byDevice[device]) {
        uint32_t share = graph.occupancy(TaskId(change.task), DeviceId(device));
        used = change.begins ? used + share : used - share;
        if (used > kFullOccupancy)
          return broken("device '", machine.devices[device].name, "' is overfull when ",
                        name(change.task), " starts");
      }
    }
    return absl::OkStatus();
  }

  absl::Status checkStreams() {
    std::map<std::pair<DeviceId, uint32_t>, std::vector<size_t>> byStream;
    for (size_t index = 0; index < plan.tasks.size(); ++index) {
      const TaskPlacement &place = plan.tasks[index];
      uint32_t limit = std::max(1u, machine.devices[place.device.index()].streams);
      if (maxStreams != 0)
        limit = std::min(limit, maxStreams);
      if (place.stream >= limit)
        return broken(name(index), " is on stream ", place.stream, " of ", limit);
      byStream[{place.device, place.stream}].push_back(index);
    }
    for (auto &[stream, list] : byStream) {
      std::sort(list.begin(), list.end(), [&](size_t a, size_t b) {
        const TaskPlacement &pa = plan.tasks[a], &pb = plan.tasks[b];
        return pa.startNs != pb.startNs ? pa.startNs < pb.startNs : pa.finishNs < pb.finishNs;
      });
      for (size_t i = 1; i < list.size(); ++i)
        if (plan.tasks[list[i]].startNs < plan.tasks[list[i - 1]].finishNs)
          return broken(name(list[i]), " and ", name(list[i - 1]), " overlap on one stream");
    }
    return absl::OkStatus();
  }

  absl::Status checkResults() {
    DeviceId host;
    for (size_t device = 0; device < machine.devices.size() && !host.valid(); ++device)
      if (machine.devices[device].kind == DeviceKind::kCpu)
        host = DeviceId(device);
    int64_t end = 0;
    for (const TaskPlacement &place : plan.tasks)
      end = std::max(end, place.finishNs);
    for (const PlannedTransfer &transfer : plan.transfers)
      end = std::max(end, transfer.finishNs);
    if (end != plan.makespanNs)
      return broken("the makespan says ", plan.makespanNs, ", but the last thing ends at ", end);
    for (const ProgramResult &result : graph.programResults()) {
      DeviceId to = result.device.valid() ? result.device : host;
      if (to.valid() && graph.value(result.value).needsTransfer() &&
          presentFrom(result.value, to) < 0 && !copies.contains({result.value, to}))
        return broken("result value ", result.value.value, " does not return to device '",
                      machine.devices[to.index()].name, "'");
    }
    return absl::OkStatus();
  }

  const TaskGraph &graph;
  const Machine &machine;
  const Plan &plan;
  uint32_t maxStreams;
  std::map<std::pair<ValueId, DeviceId>, int64_t> copies; // arrival
};

} // namespace

absl::Status validatePlan(const TaskGraph &graph, const Machine &machine, const Plan &plan,
                          uint32_t maxStreams) {
  return Validator(graph, machine, plan, maxStreams).run();
}

} // namespace autopar::planning
