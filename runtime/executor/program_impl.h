// What a loaded program holds; shared by its sessions. Private to the executor.
#ifndef AUTOPAR_RUNTIME_EXECUTOR_PROGRAM_IMPL_H_
#define AUTOPAR_RUNTIME_EXECUTOR_PROGRAM_IMPL_H_

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "runtime/device/cuda/cuda.h"
#include "runtime/device/device.h"
#include "runtime/executor/program.h"

namespace autopar {

struct Program::Impl {
  std::shared_ptr<const ScheduleFile> file;
  DeviceId host;                  // invalid if the machine has no CPU
  std::vector<Device> devices;    // as mapped, by DeviceId
  std::unique_ptr<CudaDevices> cuda;  // null: no function uses one; outlives backends and memory
  // By DeviceId; null where no function uses the device. Before the memory, which it outlives.
  std::vector<std::unique_ptr<DeviceBackend>> backends;
  std::map<std::pair<DeviceId, KernelId>, const PreparedKernel*> kernels;
  // Constants of devices other than the host, by device, offset and bytes.
  std::map<std::tuple<DeviceId, uint64_t, uint64_t>, std::unique_ptr<DeviceMemory>> constants;

  const Schedule& schedule() const { return file->schedule(); }
  // Address of a constant space, for reading only.
  std::byte* ConstantBase(const Space& space) const;

  absl::Status Load(const LoadOptions& options);

 private:
  absl::Status OpenDevices(const LoadOptions& options);
  absl::Status CheckDrivers() const;
  absl::Status LoadKernels();
  absl::Status LoadConstants();
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_EXECUTOR_PROGRAM_IMPL_H_
