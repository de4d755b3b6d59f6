// The CUDA devices of a program, as the executor sees them. Knows no CUDA header: without those at build
// time the functions below are still there and say that the device is not.
//
// Unverified on hardware: tested against a library that imitates the CUDA runtime (test/fake_cuda).
#ifndef AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_H_
#define AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/cuda/cuda_options.h"
#include "runtime/device/device.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

// A device of the schedule and the GPU that it runs on. Several may share one: each has its own memory
// and streams.
struct CudaPlacement {
  DeviceId device;
  std::string name;  // the schedule's, for messages
  uint32_t ordinal = 0;
};

// What the CUDA devices of one session share: the events between them. Made before their sessions,
// destroyed after them.
class CudaSessionShared {
 public:
  virtual ~CudaSessionShared() = default;
  // After all functions are prepared on all devices, before the first call.
  virtual absl::Status Seal() = 0;
  // Of a function that is prepared: why it does not run as a CUDA graph; empty if it does.
  virtual std::string WhyNoGraph(const Function& function) const = 0;
};

class CudaDevices {
 public:
  // Opens the library and the GPUs, and tries the ways between them. FailedPrecondition, one sentence
  // each, for: a build without CUDA, no library, no driver, a driver too old, a stub library, no GPU.
  // OutOfRange: no GPU of that number. `schedule` outlives the result. Sets CUDA_DEVICE_MAX_CONNECTIONS, unless it is
  // set, for a schedule of more than 8 streams on a GPU: no other thread may read the environment then.
  static absl::StatusOr<std::unique_ptr<CudaDevices>> Open(const Schedule& schedule,
                                                           const CudaOptions& options,
                                                           std::vector<CudaPlacement> placements);
  virtual ~CudaDevices() = default;  // after all backends, memory and sessions

  virtual std::unique_ptr<DeviceBackend> MakeBackend(DeviceId device) = 0;
  // Host memory that all GPUs copy from and to directly. Any thread.
  virtual absl::StatusOr<std::unique_ptr<DeviceMemory>> AllocatePinned(uint64_t bytes) = 0;
  virtual std::unique_ptr<CudaSessionShared> OpenShared() = 0;
};

// A GPU of this machine.
struct FoundGpu {
  uint32_t ordinal = 0;
  std::string name;
  uint32_t capability = 0;  // 90: compute capability 9.0
  uint64_t memory_bytes = 0;
};

// Opens the library (milliseconds where there is none or no driver, more where there is) and asks it.
absl::StatusOr<std::vector<FoundGpu>> FindGpus(const std::string& library);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_H_
