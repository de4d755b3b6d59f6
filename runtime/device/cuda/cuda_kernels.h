// The PTX of a schedule, assembled by the driver at load.
#ifndef AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_KERNELS_H_
#define AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_KERNELS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/device/cuda/cuda_handles.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

// A kernel as one GPU runs it.
struct CudaKernel : PreparedKernel {
  const Kernel* description = nullptr;
  bool is_product = false;         // cuBLAS first
  cudaKernel_t function = nullptr; // generated code, a product's epilogue; null: none
  uint32_t grid = 0, block = 0;
};

// Shared by all GPUs of a program: a library handle serves all of them.
class CudaKernels {
 public:
  // Both outlive this object.
  CudaKernels(const Schedule& schedule, const CudaApi& cuda);
  ~CudaKernels();

  // Loads what the kernel needs and has the GPU take it over now, not at the first launch (which may
  // stop everything that runs). FailedPrecondition if there is no code that this GPU can run.
  absl::StatusOr<std::unique_ptr<CudaKernel>> Prepare(KernelId kernel, const CudaContext& context);

 private:
  absl::StatusOr<const KernelCode*> ChooseCode(const Kernel& kernel, const CudaContext& context) const;
  absl::StatusOr<cudaLibrary_t> LoadModule(uint32_t module, const CudaContext& context);

  const Schedule& schedule_;
  const CudaApi& cuda_;
  std::vector<cudaLibrary_t> libraries_;  // by module; null: not loaded
};

// Whether a GPU of `capability` (90) runs code for `target` ("sm_75": that or newer; "sm_90a": that alone).
// 0: it does not; otherwise the target's number, for the choice of the newest.
uint32_t RunnableTarget(std::string_view target, uint32_t capability);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_KERNELS_H_
