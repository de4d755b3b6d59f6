// How long each task takes on each device, where it may run, and how much of the device it fills.
#ifndef AUTOPAR_COMPILER_PLANNING_MODEL_TASKTABLE_H
#define AUTOPAR_COMPILER_PLANNING_MODEL_TASKTABLE_H

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "compiler/planning/model/MachineModel.h"

namespace autopar::planning {

/// Durations and shares of a graph on a machine, in ticks; made once and shared by all builders of
/// one planning run.
class TaskTable {
public:
  /// Fails if the costs add up to more time than a plan can express, if a result cannot get from
  /// any device that may run its task to where it is wanted, or if a co-location group has no
  /// device from which all of its results can.
  static absl::Status create(const TaskGraph &graph, const MachineModel &machine, TaskTable &out);

  /// -1: not allowed there, by cost, pin or group, or because a result of the task, or of another
  /// one of its group, could not get from there to where it is wanted.
  int64_t duration(TaskId task, DeviceId device) const {
    return durations[task.index() * numDevices + device.index()];
  }
  uint32_t share(TaskId task, DeviceId device) const {
    return shares.empty() ? leastShare[device.index()]
                          : shares[task.index() * numDevices + device.index()];
  }
  int64_t shortest(DeviceId device) const { return shortestTask[device.index()]; }
  unsigned shift() const { return tickShift; }

private:
  absl::Status restrictGroups(const TaskGraph &graph);

  size_t numDevices = 0;
  unsigned tickShift = 0;
  std::vector<int64_t> durations;    // [task][device]
  std::vector<uint32_t> shares;      // [task][device], empty: all leastShare
  std::vector<uint32_t> leastShare;  // by device
  std::vector<int64_t> shortestTask; // by device
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_MODEL_TASKTABLE_H
