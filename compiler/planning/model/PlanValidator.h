// Checks a plan against its graph and machine from first principles. Shares no code with the
// planners.
#ifndef AUTOPAR_COMPILER_PLANNING_MODEL_PLANVALIDATOR_H
#define AUTOPAR_COMPILER_PLANNING_MODEL_PLANVALIDATOR_H

#include "absl/status/status.h"
#include "compiler/planning/model/Plan.h"
#include "runtime/machine/machine.h"

namespace autopar::planning {

/// Every rule of the model that Plan.h states: durations, devices and pins, precedence with
/// transfers, one copy per value and device, engines to themselves, occupancy, streams in order and
/// within `maxStreams` (0: the machine's number), results at the host, makespan. The error names
/// the first rule broken and the task or value.
absl::Status validatePlan(const TaskGraph &graph, const Machine &machine, const Plan &plan,
                          uint32_t maxStreams = 0);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_MODEL_PLANVALIDATOR_H
