// The entry points of the CUDA runtime and of cuBLAS that autopar calls, as tables filled by dlopen:
// nothing here links a CUDA library, so the same binary starts without one, and a test substitutes
// another library by its path. Types come from the toolkit's headers. Runtime API only, no driver call.
//
// A library that lacks one entry point is refused as a whole, by name.
#ifndef AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_API_H_
#define AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_API_H_

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// clang-format off
#define AUTOPAR_CUDART_CALLS(X)                                                                     \
  /* library, devices */                                                                            \
  X(cudaRuntimeGetVersion) X(cudaDriverGetVersion) X(cudaGetDeviceCount) X(cudaSetDevice)           \
  X(cudaDeviceGetAttribute) X(cudaGetDeviceProperties) X(cudaMemGetInfo)                            \
  X(cudaGetErrorName) X(cudaGetErrorString) X(cudaGetLastError)                                     \
  /* memory */                                                                                      \
  X(cudaMalloc) X(cudaFree) X(cudaHostAlloc) X(cudaFreeHost) X(cudaPointerGetAttributes)            \
  X(cudaMemcpyAsync) X(cudaMemcpy2DAsync) X(cudaMemcpyPeerAsync) X(cudaMemsetAsync)                 \
  X(cudaDeviceCanAccessPeer) X(cudaDeviceEnablePeerAccess)                                          \
  /* streams, events */                                                                             \
  X(cudaStreamCreateWithFlags) X(cudaStreamDestroy) X(cudaStreamSynchronize)                        \
  X(cudaStreamWaitEvent)                                                                            \
  X(cudaEventCreateWithFlags) X(cudaEventDestroy) X(cudaEventRecord) X(cudaEventQuery)              \
  X(cudaEventSynchronize) X(cudaEventElapsedTime)                                                   \
  /* kernels */                                                                                     \
  X(cudaLibraryLoadData) X(cudaLibraryGetKernel) X(cudaLibraryUnload)                               \
  X(cudaLaunchKernelExC) X(cudaFuncGetAttributes)                                                   \
  /* graphs */                                                                                      \
  X(cudaStreamBeginCapture) X(cudaStreamEndCapture) X(cudaGraphGetNodes) X(cudaGraphInstantiate)    \
  X(cudaGraphExecUpdate) X(cudaGraphLaunch) X(cudaGraphExecDestroy) X(cudaGraphDestroy)

#define AUTOPAR_CUBLAS_CALLS(X)                                                                     \
  X(cublasCreate) X(cublasDestroy) X(cublasSetStream) X(cublasSetWorkspace) X(cublasSetMathMode)    \
  X(cublasSgemm_64) X(cublasSgemmStridedBatched_64)                                                 \
  X(cublasDgemm_64) X(cublasDgemmStridedBatched_64)                                                 \
  X(cublasGetStatusString)
// clang-format on

namespace autopar {

// cublas_v2.h makes macros of some names (cublasCreate is cublasCreate_v2): they expand where a member
// is declared and where it is called alike.
#define AUTOPAR_DECLARE_CALL(name) decltype(&::name) name = nullptr;
struct CudartCalls {
  AUTOPAR_CUDART_CALLS(AUTOPAR_DECLARE_CALL)
};
struct CublasCalls {
  AUTOPAR_CUBLAS_CALLS(AUTOPAR_DECLARE_CALL)
};
#undef AUTOPAR_DECLARE_CALL

// The opened libraries. Immutable but for cuBLAS, which is opened at its first use (it costs tens of
// milliseconds and 150 MB). Never closed: libraries of this kind leave threads and handlers behind.
class CudaApi : public CudartCalls {
 public:
  // `path`, else the environment's AUTOPAR_CUDA_LIBRARY, else libcudart.so.MAJOR as the loader finds it,
  // else that of /usr/local/cuda/lib64. MAJOR is that of the headers. FailedPrecondition with a sentence.
  // The same library is opened once in a process; the result lives until it ends.
  static absl::StatusOr<CudaApi*> Open(const std::string& path);

  // Of the same library if it exports cuBLAS (a fake does), else of libcublas.so.MAJOR, beside it or as
  // the loader finds it. Any thread.
  absl::StatusOr<const CublasCalls*> Cublas();

  // The file that was opened, as it was named.
  const std::string& path() const { return path_; }

 private:
  CudaApi() = default;
  absl::Status OpenCublas();

  std::string path_;
  void* handle_ = nullptr;
  std::mutex mutex_;
  bool cublas_tried_ = false;   // guarded by mutex_, as what follows
  absl::Status cublas_status_;
  CublasCalls cublas_;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_API_H_
