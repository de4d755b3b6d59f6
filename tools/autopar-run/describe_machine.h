// --describe-machine: a machine with measured rates in place of the tabled ones.
#ifndef AUTOPAR_TOOLS_AUTOPAR_RUN_DESCRIBE_MACHINE_H_
#define AUTOPAR_TOOLS_AUTOPAR_RUN_DESCRIBE_MACHINE_H_

#include "absl/status/statusor.h"
#include "runtime/machine/machine.h"

namespace autopar {

// `machine` (of kinds cpu and virtual) with measured rates. Takes about half a second per device, on
// its cores, and a fifth per link. What is measured is what a program gets: the f32 rate of a large
// product, the cost of a launch and of a wait, the speed and latency of copies come from schedules
// that run as any other, one at a time; the memory rate is that of an elementwise kernel on as many
// cores as the device has, reading and writing counted. f64 stays at half of f32, which is what the hardware's
// vectors give. Emulated links stay as they are.
absl::StatusOr<Machine> MeasureMachine(Machine machine);

}  // namespace autopar

#endif  // AUTOPAR_TOOLS_AUTOPAR_RUN_DESCRIBE_MACHINE_H_
