// Programs for tests of the CUDA device, and the library that imitates CUDA, loaded into this process.
#ifndef AUTOPAR_TEST_RUNTIME_DEVICE_CUDA_GPU_PROGRAM_H_
#define AUTOPAR_TEST_RUNTIME_DEVICE_CUDA_GPU_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "test/runtime/executor/schedule_builder.h"

namespace autopar {

// "cpu0" and `gpus` CUDA devices, all linked.
Machine GpuMachine(uint32_t gpus);

struct GpuPlacement {
  uint32_t gpus = 0;
  uint32_t streams = 1;     // of each device
  uint64_t seed = 0;        // 0: everything on the CPU's first stream
  bool only_gpus = false;   // all but the last task, whose result is the program's
  bool drop_waits = false;  // a mistake, for tests of the tests
};

// A random graph of kernels that stir bytes (mix.h) on a random placement; whatever that is, the result is the
// same bytes. One argument and one result of kMixBytes bytes on the host. GPU to GPU over their own link.
ScheduleBuilder RandomGpuProgram(uint64_t graph_seed, uint32_t tasks, const GpuPlacement& placement);

// Adds the modules (machine code and PTX) of mix.h and returns its kernels: of 1, 2 and 3 operands.
std::vector<KernelId> AddMixKernels(ScheduleBuilder& builder);

// Of AUTOPAR_FAKE_CUDA, set by the build.
class FakeCuda {
 public:
  static std::string Path();
  // Begins anew: "devices=2,seed=3". Nothing of CUDA may be alive.
  static void Configure(const std::string& options);
  // What was found wrong so far, one line each; what is alive counts too if `leaks`.
  static std::vector<std::string> Faults(bool leaks);
  static uint64_t Stat(const std::string& name);
  static LoadOptions Options(CudaGraphMode graph = CudaGraphMode::kOff);
};

}  // namespace autopar

#endif  // AUTOPAR_TEST_RUNTIME_DEVICE_CUDA_GPU_PROGRAM_H_
