// --describe-machine: this host with measured rates in place of the tabled ones.
#ifndef AUTOPAR_TOOLS_AUTOPAR_RUN_DESCRIBE_MACHINE_H_
#define AUTOPAR_TOOLS_AUTOPAR_RUN_DESCRIBE_MACHINE_H_

#include "absl/status/statusor.h"
#include "runtime/machine/machine.h"

namespace autopar {

// Takes about half a second on all cores. What is measured is what a program gets: the f32 rate of
// a large product, the cost of a launch and of a wait come from schedules that run as any other;
// the memory rate is that of plain copies on all cores, reading and writing counted. f64 stays at
// half of f32, which is what the hardware's vectors give.
absl::StatusOr<Machine> MeasureHost();

}  // namespace autopar

#endif  // AUTOPAR_TOOLS_AUTOPAR_RUN_DESCRIBE_MACHINE_H_
