// Exported: the part of cuBLAS that the runtime uses. BLAS is docs.nvidia.com/cuda/cublas.
#include <cublas_v2.h>

#include <algorithm>
#include <utility>

#include "test/fake_cuda/api.h"
#include "test/fake_cuda/blas.h"
#include "test/fake_cuda/graph.h"

using namespace fake;

namespace {

// cuBLAS has codes of its own, and its last error is not the runtime's.
cublasStatus_t StatusOf(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return CUBLAS_STATUS_SUCCESS;
    case cudaErrorMemoryAllocation:
      return CUBLAS_STATUS_ALLOC_FAILED;
    case cudaErrorInvalidValue:
      return CUBLAS_STATUS_INVALID_VALUE;
    case cudaErrorNotSupported:
      return CUBLAS_STATUS_NOT_SUPPORTED;
    case cudaErrorInitializationError:
    case cudaErrorNoDevice:
    case cudaErrorStubLibrary:
    case cudaErrorInsufficientDriver:
      return CUBLAS_STATUS_NOT_INITIALIZED;
    default:
      return CUBLAS_STATUS_EXECUTION_FAILED;
  }
}

template <class Body>
cublasStatus_t BlasCall(const CallInfo& info, Body body) {
  std::lock_guard<std::recursive_mutex> lock(WorldMutex());
  World& world = World::Get();
  cudaError_t error = EnterCall(world, info);
  if (error == cudaSuccess) error = body(world);
  if (error != cudaErrorInsufficientDriver && error != cudaErrorStubLibrary &&
      error != cudaErrorNoDevice)
    world.Progress();
  return StatusOf(error);
}

BlasHandle* FindHandle(World& world, cublasHandle_t handle) {
  for (const auto& known : world.blas_handles) {
    if (known.get() == reinterpret_cast<BlasHandle*>(handle) && !known->is_destroyed)
      return known.get();
  }
  world.Note(ReportKind::kError, "cuBLAS: no such handle, or destroyed");
  return nullptr;
}

Stream* StreamOf(World& world, const BlasHandle& handle) {
  return handle.stream != nullptr ? handle.stream : world.devices[handle.device].legacy.get();
}

// What all products check.
cudaError_t Multiply(World& world, cublasHandle_t raw, cublasOperation_t a, cublasOperation_t b,
                     GemmWork g, const char* name) {
  BlasHandle* handle = FindHandle(world, raw);
  if (handle == nullptr) return cudaErrorInitializationError;
  // BLAS 2.1.2: a handle is tied to the device that was current at cublasCreate.
  if (handle->device != CurrentDevice()) {
    return world.Refuse(cudaErrorInvalidResourceHandle,
                        std::string(name) + " with a handle of gpu " +
                            std::to_string(handle->device) + " while gpu " +
                            std::to_string(CurrentDevice()) + " is current");
  }
  if (handle->pointer_mode != CUBLAS_POINTER_MODE_HOST) return cudaErrorNotSupported;
  g.transpose_a = a != CUBLAS_OP_N;
  g.transpose_b = b != CUBLAS_OP_N;
  int64_t rows_a = g.transpose_a ? g.k : g.m, rows_b = g.transpose_b ? g.n : g.k;
  if (g.m < 0 || g.n < 0 || g.k < 0 || g.batch < 0 || g.lda < std::max<int64_t>(1, rows_a) ||
      g.ldb < std::max<int64_t>(1, rows_b) || g.ldc < std::max<int64_t>(1, g.m)) {
    return world.Refuse(cudaErrorInvalidValue,
                        std::string(name) + ": sizes or leading dimensions that do not fit");
  }
  Stream* stream = StreamOf(world, *handle);
  if (stream->is_destroyed)
    return world.Refuse(cudaErrorInvalidResourceHandle,
                        std::string(name) + ": its stream is destroyed");
  // BLAS 2.4.7: without a workspace of the user's, the handle's own pool serves, which is one for
  // all its streams.
  g.workspace = handle->workspace;
  g.workspace_bytes = handle->workspace_bytes;
  if (handle->workspace == nullptr) {
    g.pool = handle->pool;
    if (stream->capture != nullptr) {
      // BLAS 2.1.12: may then add allocation nodes to the graph.
      world.Note(ReportKind::kMisuse,
                 std::string(name) + " is captured without a workspace of the user's");
    }
  }
  g.tf32 = !g.is_double && handle->math == CUBLAS_TF32_TENSOR_OP_MATH;
  Work work;
  work.kind = WorkKind::kGemm;
  work.gemm = std::move(g);
  std::string label = std::string(name) + " " + std::to_string(work.gemm.m) + " x " +
                      std::to_string(work.gemm.n) + " x " + std::to_string(work.gemm.k);
  return Enqueue(world, stream, std::move(work), label);
}

template <class T, class Size>
GemmWork Sizes(Size m, Size n, Size k, const T* alpha, const T* a, Size lda, const T* b, Size ldb,
               const T* beta, T* c, Size ldc) {
  GemmWork g;
  g.is_double = sizeof(T) == 8;
  g.m = m;
  g.n = n;
  g.k = k;
  g.alpha = *alpha;
  g.a = a;
  g.lda = lda;
  g.b = b;
  g.ldb = ldb;
  g.beta = *beta;
  g.c = c;
  g.ldc = ldc;
  return g;
}

}  // namespace

FAKE_EXPORT cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  return BlasCall({"cublasCreate", InCapture::kUnsafe, cudaErrorMemoryAllocation},
                  [&](World& world) {
                    auto made = std::make_unique<BlasHandle>();
                    made->device = CurrentDevice();
                    made->pool = world.memory.AllocateHidden(CurrentDevice(), 4096);
                    if (made->pool == nullptr) return cudaErrorMemoryAllocation;
                    *handle = reinterpret_cast<cublasHandle_t>(
                        world.blas_handles.emplace_back(std::move(made)).get());
                    return cudaSuccess;
                  });
}

// BLAS 2.4.2: synchronises the device.
FAKE_EXPORT cublasStatus_t cublasDestroy_v2(cublasHandle_t raw) {
  return BlasCall({"cublasDestroy", InCapture::kUnsafe}, [&](World& world) {
    BlasHandle* handle = FindHandle(world, raw);
    if (handle == nullptr) return cudaErrorInitializationError;
    world.WaitForDevice(handle->device);
    handle->is_destroyed = true;
    return cudaSuccess;
  });
}

FAKE_EXPORT cublasStatus_t cublasSetStream_v2(cublasHandle_t raw, cudaStream_t stream_handle) {
  return BlasCall({"cublasSetStream"}, [&](World& world) {
    BlasHandle* handle = FindHandle(world, raw);
    Stream* stream = world.FindStream(stream_handle);
    if (handle == nullptr) return cudaErrorInitializationError;
    if (stream == nullptr) return cudaErrorInvalidValue;
    if (stream->device != handle->device) {
      return world.Refuse(cudaErrorInvalidValue, "cublasSetStream: " + stream->Describe() +
                                                     " for a handle of gpu " +
                                                     std::to_string(handle->device));
    }
    // BLAS 2.4.7: "This function unconditionally resets the cuBLAS library workspace back to the
    // default workspace pool".
    if (handle->workspace != nullptr) {
      world.Note(ReportKind::kMisuse,
                 "cublasSetStream after cublasSetWorkspace takes the workspace away again");
    }
    handle->workspace = nullptr;
    handle->workspace_bytes = 0;
    handle->stream = stream_handle == nullptr ? nullptr : stream;
    return cudaSuccess;
  });
}

FAKE_EXPORT cublasStatus_t cublasGetStream_v2(cublasHandle_t raw, cudaStream_t* stream) {
  return BlasCall({"cublasGetStream"}, [&](World& world) {
    BlasHandle* handle = FindHandle(world, raw);
    if (handle == nullptr) return cudaErrorInitializationError;
    return *stream = reinterpret_cast<cudaStream_t>(handle->stream), cudaSuccess;
  });
}

// BLAS 2.4.8: device memory, aligned to at least 256 bytes, the user's until the handle is
// destroyed.
FAKE_EXPORT cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t raw, void* workspace,
                                                 size_t bytes) {
  return BlasCall({"cublasSetWorkspace"}, [&](World& world) {
    BlasHandle* handle = FindHandle(world, raw);
    if (handle == nullptr) return cudaErrorInitializationError;
    AllocationPtr allocation = world.memory.Find(workspace, bytes);
    if (bytes > 0 &&
        (allocation == nullptr || allocation->is_host() || allocation->device != handle->device)) {
      return world.Refuse(cudaErrorInvalidValue,
                          "cublasSetWorkspace: not memory of the handle's device");
    }
    if (reinterpret_cast<uintptr_t>(workspace) % 256 != 0)
      return world.Refuse(cudaErrorInvalidValue, "cublasSetWorkspace: not aligned to 256 bytes");
    handle->workspace = bytes > 0 ? workspace : nullptr;
    handle->workspace_bytes = bytes;
    return cudaSuccess;
  });
}

FAKE_EXPORT cublasStatus_t cublasSetMathMode(cublasHandle_t raw, cublasMath_t mode) {
  return BlasCall({"cublasSetMathMode"}, [&](World& world) {
    BlasHandle* handle = FindHandle(world, raw);
    if (handle == nullptr) return cudaErrorInitializationError;
    return handle->math = mode, cudaSuccess;
  });
}

FAKE_EXPORT cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t raw, cublasPointerMode_t mode) {
  return BlasCall({"cublasSetPointerMode"}, [&](World& world) {
    BlasHandle* handle = FindHandle(world, raw);
    if (handle == nullptr) return cudaErrorInitializationError;
    return handle->pointer_mode = mode, cudaSuccess;
  });
}

FAKE_EXPORT cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  return *version = CUBLAS_VERSION, CUBLAS_STATUS_SUCCESS;
}

#define FAKE_GEMM(function, T, Size)                                                               \
  FAKE_EXPORT cublasStatus_t function(                                                             \
      cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, Size m, Size n, Size k,   \
      const T* alpha, const T* a, Size lda, const T* b, Size ldb, const T* beta, T* c, Size ldc) { \
    return BlasCall({#function}, [&](World& world) {                                               \
      return Multiply(world, handle, ta, tb,                                                       \
                      Sizes<T, Size>(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc), "product");    \
    });                                                                                            \
  }
FAKE_GEMM(cublasSgemm_v2, float, int)
FAKE_GEMM(cublasSgemm_v2_64, float, int64_t)
FAKE_GEMM(cublasDgemm_v2, double, int)
FAKE_GEMM(cublasDgemm_v2_64, double, int64_t)

#define FAKE_BATCHED_GEMM(function, T, Size)                                                     \
  FAKE_EXPORT cublasStatus_t function(                                                           \
      cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, Size m, Size n, Size k, \
      const T* alpha, const T* a, Size lda, long long stride_a, const T* b, Size ldb,            \
      long long stride_b, const T* beta, T* c, Size ldc, long long stride_c, Size batch) {       \
    return BlasCall({#function}, [&](World& world) {                                             \
      GemmWork g = Sizes<T, Size>(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                 \
      g.stride_a = stride_a;                                                                     \
      g.stride_b = stride_b;                                                                     \
      g.stride_c = stride_c;                                                                     \
      g.batch = batch;                                                                           \
      return Multiply(world, handle, ta, tb, std::move(g), "batched product");                   \
    });                                                                                          \
  }
FAKE_BATCHED_GEMM(cublasSgemmStridedBatched, float, int)
FAKE_BATCHED_GEMM(cublasSgemmStridedBatched_64, float, int64_t)
FAKE_BATCHED_GEMM(cublasDgemmStridedBatched, double, int)
FAKE_BATCHED_GEMM(cublasDgemmStridedBatched_64, double, int64_t)
