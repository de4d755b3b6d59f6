#include "compiler/planning/model/TaskTable.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "absl/strings/str_cat.h"

namespace autopar::planning {

namespace {

/// Upper bound on any sensible makespan in nanoseconds: everything one after the other.
double everythingInTurn(const TaskGraph &graph, const MachineModel &machine) {
  double total = 0;
  for (size_t task = 0; task < graph.taskCount(); ++task) {
    double longest = 0;
    for (size_t device = 0; device < graph.deviceCount(); ++device) {
      const Device &description = machine.device(DeviceId(device));
      longest = std::max(longest, double(graph.costNs(TaskId(task), DeviceId(device))) +
                                      double(description.launch_ns + description.wait_ns));
    }
    total += longest;
  }
  double latency = 0, nsPerByte = 0;
  for (const Link &link : machine.description().links) {
    latency = std::max(latency, double(link.latency_ns));
    nsPerByte = std::max(nsPerByte, 1e9 / double(link.bytes_per_s));
  }
  for (size_t value = 0; value < graph.valueCount(); ++value)
    if (graph.value(ValueId(value)).needsTransfer())
      total += 2.0 * double(graph.deviceCount()) *
               (latency + nsPerByte * double(graph.value(ValueId(value)).bytes) + 1);
  return total;
}

} // namespace

/// A device from which the results of one task cannot get home is none for its whole group.
absl::Status TaskTable::restrictGroups(const TaskGraph &graph) {
  std::vector<uint8_t> isOut; // [group][device]
  auto rowOf = [&](size_t task) { return graph.task(TaskId(task)).colocationGroup * numDevices; };
  for (size_t task = 0; task < graph.taskCount(); ++task) {
    if (graph.task(TaskId(task)).colocationGroup == kNoGroup)
      continue;
    if (isOut.size() < rowOf(task) + numDevices)
      isOut.resize(rowOf(task) + numDevices, 0);
    for (size_t device = 0; device < numDevices; ++device)
      isOut[rowOf(task) + device] |= durations[task * numDevices + device] < 0;
  }
  for (size_t task = 0; task < graph.taskCount(); ++task) {
    if (graph.task(TaskId(task)).colocationGroup == kNoGroup)
      continue;
    bool allowedSomewhere = false;
    for (size_t device = 0; device < numDevices; ++device) {
      if (isOut[rowOf(task) + device])
        durations[task * numDevices + device] = -1;
      allowedSomewhere |= !isOut[rowOf(task) + device];
    }
    if (!allowedSomewhere)
      return absl::InvalidArgumentError(absl::StrCat(
          "the tasks that '", graph.task(TaskId(task)).label,
          "' is co-located with have no device from which all of their results can get to where "
          "they are wanted; add a link or take a task out of the group"));
  }
  return absl::OkStatus();
}

absl::Status TaskTable::create(const TaskGraph &graph, const MachineModel &machine,
                               TaskTable &out) {
  const size_t numDevices = graph.deviceCount();
  out = TaskTable();
  out.numDevices = numDevices;
  out.durations.resize(graph.taskCount() * numDevices);
  for (size_t index = 0; index < graph.taskCount(); ++index) {
    TaskId task(index);
    bool allowedSomewhere = false;
    for (size_t at = 0; at < numDevices; ++at) {
      DeviceId device(at);
      bool allowed = graph.mayRunOn(task, device);
      for (ValueId value : graph.produced(task))
        if (graph.value(value).needsTransfer())
          for (const ProgramResult &result : graph.resultsOf(value)) {
            DeviceId to = machine.destination(result);
            allowed &= !to.valid() || to == device || machine.route(device, to).exists();
          }
      out.durations[index * numDevices + at] =
          allowed ? graph.costNs(task, device) + machine.device(device).launch_ns : -1;
      allowedSomewhere |= allowed;
    }
    if (!allowedSomewhere)
      return absl::InvalidArgumentError(
          absl::StrCat("the result of task '", graph.task(task).label,
                       "' cannot get to the device where it is wanted from any device that may run "
                       "it; add a link"));
  }
  if (absl::Status status = out.restrictGroups(graph); !status.ok())
    return status;
  for (const ProgramResult &result : graph.programResults()) {
    const Value &value = graph.value(result.value);
    DeviceId from = value.residentDevice, to = machine.destination(result);
    if (!value.producer.valid() && value.needsTransfer() && from.valid() && to.valid() &&
        from != to && !machine.route(from, to).exists())
      return absl::InvalidArgumentError(absl::StrCat(
          "a program input on device '", machine.device(from).name, "' is a result on device '",
          machine.device(to).name, "', and no link leads from one to the other; add a link"));
  }
  size_t instant = 0;
  for (size_t index = 0; index < graph.taskCount(); ++index) {
    const int64_t *row = &out.durations[index * numDevices];
    instant += std::find(row, row + numDevices, 0) != row + numDevices;
  }
  out.tickShift = std::bit_width(instant);
  if (everythingInTurn(graph, machine) * double(1ull << out.tickShift) > 1e18)
    return absl::InvalidArgumentError(
        absl::StrCat("costs and transfers add up to ", everythingInTurn(graph, machine) / 1e9,
                     " s, more than a plan can express; check the costs and the link speeds"));
  out.shortestTask.assign(numDevices, std::numeric_limits<int64_t>::max() / 8);
  for (size_t index = 0; index < out.durations.size(); ++index) {
    int64_t &duration = out.durations[index];
    if (duration < 0)
      continue;
    duration = duration == 0 ? 1 : duration << out.tickShift;
    int64_t &shortest = out.shortestTask[index % numDevices];
    shortest = std::min(shortest, duration);
  }
  bool someShare = false;
  for (size_t at = 0; at < numDevices; ++at) {
    // floor(full / n) of each of n tasks fit; n + 1 do not, as n is far below the square root of
    // full.
    out.leastShare.push_back(kFullOccupancy / machine.streams(DeviceId(at)));
    for (size_t task = 0; task < graph.taskCount() && !someShare; ++task)
      someShare |= graph.occupancy(TaskId(task), DeviceId(at)) > out.leastShare[at];
  }
  if (someShare) {
    out.shares.resize(out.durations.size());
    for (size_t index = 0; index < out.shares.size(); ++index)
      out.shares[index] =
          std::max(out.leastShare[index % numDevices],
                   graph.occupancy(TaskId(index / numDevices), DeviceId(index % numDevices)));
  }
  return absl::OkStatus();
}

} // namespace autopar::planning
