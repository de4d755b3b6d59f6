// The kernels of a schedule as this host's processor runs them; shared by all devices that run on
// its cores.
#ifndef AUTOPAR_RUNTIME_DEVICE_HOST_HOST_KERNELS_H_
#define AUTOPAR_RUNTIME_DEVICE_HOST_HOST_KERNELS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "runtime/device/host/elf_library.h"
#include "runtime/device/host/matmul.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

struct HostKernel : PreparedKernel {
  KernelKind kind = KernelKind::kNative;
  const Kernel* description = nullptr;
  int64_t tiles = 0;
  NativeKernelFn native = nullptr;
  MatmulPlan matmul;
};

class HostKernels {
 public:
  // `schedule` outlives this object.
  explicit HostKernels(const Schedule& schedule);
  ~HostKernels();

  // Loads what the kernel needs. FailedPrecondition if the processor lacks a feature of every code
  // that the kernel has. While a program is loaded, one thread at a time.
  absl::StatusOr<const HostKernel*> Prepare(KernelId id);
  // A kernel that was prepared, or null. Any thread, after the last Prepare.
  const HostKernel* Find(KernelId id) const { return kernels_[id.index()].get(); }
  const MatmulLibrary& matmuls() const { return matmuls_; }

 private:
  absl::StatusOr<void*> LoadSymbol(const Kernel& kernel);

  const Schedule& schedule_;
  std::vector<std::unique_ptr<ElfLibrary>> libraries_;  // by module; null: not loaded
  MatmulLibrary matmuls_;
  std::vector<std::unique_ptr<HostKernel>> kernels_;  // by kernel; null: not loaded
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_HOST_HOST_KERNELS_H_
