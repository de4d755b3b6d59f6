// How much memory a plan needs on each device, if a buffer lives exactly from its planned birth to
// its last planned use.
//
// A value lives on a device from the start of the task or transfer that writes it there to the end
// of the last task or transfer that reads it there. Inputs, constants and results live all the time
// on the devices where the program has them. Gaps between buffers are not counted.
#ifndef AUTOPAR_COMPILER_PLANNING_MODEL_MEMORYUSE_H
#define AUTOPAR_COMPILER_PLANNING_MODEL_MEMORYUSE_H

#include <cstdint>
#include <vector>

#include "compiler/planning/model/MachineModel.h"
#include "compiler/planning/model/Plan.h"

namespace autopar::planning {

/// Bytes of inputs and results by device: there whatever the plan.
std::vector<uint64_t> fixedBytes(const TaskGraph &graph, const MachineModel &machine);

/// Peak bytes by device: inputs, results, the constants that its tasks use, and at the fullest moment
/// everything else. Near-linear in tasks, values and transfers.
std::vector<uint64_t> peakBytes(const TaskGraph &graph, const MachineModel &machine,
                                const Plan &plan);

/// No peak exceeds its device's memory_bytes (0: no limit).
bool fitsMemory(const MachineModel &machine, const std::vector<uint64_t> &peaks);

/// `value` is wanted on `device` in the end: it lives there in the result's own memory.
bool isResultOn(const TaskGraph &graph, const MachineModel &machine, ValueId value,
                DeviceId device);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_MODEL_MEMORYUSE_H
