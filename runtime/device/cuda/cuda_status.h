// Codes of the CUDA runtime and of cuBLAS become sentences here and nowhere else.
#ifndef AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_STATUS_H_
#define AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_STATUS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/device/cuda/cuda_api.h"

namespace autopar {

// OK for cudaSuccess. `what` was being done and where: "gpu0: allocating 64 bytes". Clears the thread's
// last error.
absl::Status CudaError(const CudaApi& cuda, cudaError_t code, absl::string_view what);
absl::Status CublasError(const CublasCalls& blas, cublasStatus_t code, absl::string_view what);

// An error after which the GPU answers every call of this process with it.
bool IsLasting(cudaError_t code);

// After an error: waits until a stream has nothing to do, so that its memory may be used again. The wait may
// fail too; where the GPU is lost it always does, and true is returned.
bool SettleStream(const CudaApi& cuda, cudaStream_t stream);

// The number of GPUs, at least 1, or the sentence that says why there is none: no driver, a driver too
// old, a stub in the driver's place, no GPU, or what else the library says.
absl::StatusOr<int> CountGpus(const CudaApi& cuda);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_STATUS_H_
