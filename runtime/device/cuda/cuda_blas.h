// Products on a GPU, by cuBLAS. One of these per compute stream: a handle that is used on several
// streams may change its algorithm, and its workspace would be written by two products at once.
#ifndef AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_BLAS_H_
#define AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_BLAS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device/cuda/cuda_handles.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

class CudaBlas {
 public:
  // Opens cuBLAS if nobody has. The stream and the workspace are set once: setting the stream again would
  // bring the library's own workspace back. Strict f32 unless `tf32`.
  static absl::StatusOr<std::unique_ptr<CudaBlas>> Create(CudaApi& cuda, const CudaContext& context,
                                                          CudaMemoryMap& map, cudaStream_t stream,
                                                          bool tf32);
  ~CudaBlas();

  // Enqueues C = A * B on the stream; sizes as MatmulParams says, addresses on the context's GPU, which is
  // the thread's current one.
  absl::Status Multiply(const MatmulParams& params, const void* a, const void* b, void* c);

 private:
  CudaBlas() = default;

  const CudaContext* context_ = nullptr;
  const CublasCalls* blas_ = nullptr;
  cublasHandle_t handle_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<DeviceMemory> workspace_;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_BLAS_H_
