// A plan: for each task a device, a stream and a time; for each value that crosses devices the
// transfers. Plain data.
//
// The model that planners, validator and bounds share (times in whole nanoseconds from the start of
// the program):
//  - A task takes cost_ns + the device's launch_ns on its device, without interruption.
//  - A device has capacity 1; tasks run side by side while their occupancy shares fit, at most
//  `streams` of them.
//    Tasks of one stream never overlap.
//  - A value is copied to a device at most once, over the direct link from the device that produced
//  it (or where the
//    input is), or, where there is none, in two hops over the host device, which then holds a copy
//    too.
//  - A transfer takes TransferNs and has all engines of its link to itself. Links without engines
//  never queue.
//  - A task starts no earlier than the finish of its operands' producers on its own device, and
//  wait_ns of its device
//    after the arrival of what comes from another one. Tokens and empty values need no transfer.
//  - Program results end on the host device, if there is one; the makespan includes these
//  transfers.
#ifndef AUTOPAR_COMPILER_PLANNING_MODEL_PLAN_H
#define AUTOPAR_COMPILER_PLANNING_MODEL_PLAN_H

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/planning/model/TaskGraph.h"

namespace autopar::planning {

struct TaskPlacement {
  DeviceId device;
  uint32_t stream = 0; ///< Number of the device's compute stream.
  int64_t startNs = 0;
  int64_t finishNs = 0;
};

struct PlannedTransfer {
  ValueId value;
  DeviceId from, to;
  LinkId link;
  int64_t startNs = 0;
  int64_t finishNs = 0;
};

struct Plan {
  std::string planner;                    ///< Name of the algorithm that found it.
  std::vector<TaskPlacement> tasks;       ///< By task.
  std::vector<PlannedTransfer> transfers; ///< By start, then value.
  int64_t makespanNs = 0;
  /// Makespan of the best plan that runs one task at a time with all tasks that may choose on one
  /// device.
  int64_t serialNs = 0;
  /// The exact search has shown that no plan is shorter. False does not mean that there is one.
  bool provedOptimal = false;
  std::vector<int64_t> busyNs;       ///< By device: time during which at least one task runs.
  std::vector<uint32_t> streamsUsed; ///< By device.
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_MODEL_PLAN_H
