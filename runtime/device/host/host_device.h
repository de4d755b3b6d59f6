// What cpu and virtual devices share: memory in this process, streams that are threads.
#ifndef AUTOPAR_RUNTIME_DEVICE_HOST_HOST_DEVICE_H_
#define AUTOPAR_RUNTIME_DEVICE_HOST_HOST_DEVICE_H_

#include <atomic>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "runtime/device/host/host_kernels.h"
#include "runtime/machine/machine.h"

namespace autopar {

class HostDevice : public DeviceBackend {
 public:
  // `kernels` is shared by all devices of the program that run on this host's cores.
  HostDevice(Device description, std::shared_ptr<HostKernels> kernels)
      : description_(std::move(description)), kernels_(std::move(kernels)) {}

  // Counts what is allocated against the memory that the machine file gives the device. Any thread;
  // the device outlives its memory.
  absl::StatusOr<std::unique_ptr<DeviceMemory>> Allocate(uint64_t bytes) override;
  absl::Status CopyIn(void* device, const void* host, uint64_t bytes) override;
  absl::Status CopyOut(void* host, const void* device, uint64_t bytes) override;
  absl::StatusOr<const PreparedKernel*> PrepareKernel(KernelId kernel) override;
  absl::StatusOr<std::unique_ptr<DeviceSession>> OpenSession(
      const DeviceSessionOptions& options) override;

  const Device& description() const { return description_; }
  const HostKernels& kernels() const { return *kernels_; }
  // Where worker number `worker` (compute stream or helper) runs: an index into HostCores(), modulo
  // their number, or -1 for anywhere. Copy streams run anywhere.
  virtual int WorkerCore(uint32_t worker) const = 0;

 private:
  Device description_;
  std::shared_ptr<HostKernels> kernels_;
  std::atomic<uint64_t> allocated_bytes_{0};
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_HOST_HOST_DEVICE_H_
