// --describe-machine: a machine with measured rates in place of the tabled ones.
#ifndef AUTOPAR_TOOLS_AUTOPAR_RUN_DESCRIBE_MACHINE_H_
#define AUTOPAR_TOOLS_AUTOPAR_RUN_DESCRIBE_MACHINE_H_

#include "absl/status/statusor.h"
#include "runtime/device/cuda/cuda_options.h"
#include "runtime/machine/machine.h"

namespace autopar {

struct MeasuredMachine {
  Machine machine;
  // How much longer calls took that should take equally long, the median over the shortest, at worst:
  // about 1 on an idle machine.
  double spread = 1;
};

// `machine`, whose CUDA devices are GPU 0, 1, … of this machine, with measured rates. Takes about half a
// second per device, on its cores, some seconds for a GPU, and a fifth per link. What is measured is what
// a program gets: the f32 rate of a large product, the cost of a launch and of a wait, the speed and
// latency of copies come from schedules that run as any other, one at a time; the memory rate is that of
// an elementwise kernel on as many cores as the device has, or of a copy inside a GPU, reading and writing
// counted. f64 stays at its share of f32. Architecture and memory of a GPU are as CUDA says. Emulated
// links, and rates of other types, stay as they are. FailedPrecondition where there is no such GPU.
absl::StatusOr<MeasuredMachine> MeasureMachine(Machine machine, const CudaOptions& cuda);

}  // namespace autopar

#endif  // AUTOPAR_TOOLS_AUTOPAR_RUN_DESCRIBE_MACHINE_H_
