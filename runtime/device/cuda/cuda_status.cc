#include "runtime/device/cuda/cuda_status.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace autopar {
namespace {

std::string Version(int number) { return absl::StrCat(number / 1000, ".", number % 1000 / 10); }

}  // namespace

bool IsLasting(cudaError_t code) {
  switch (code) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}

absl::Status CudaError(const CudaApi& cuda, cudaError_t code, absl::string_view what) {
  if (code == cudaSuccess) return absl::OkStatus();
  const char* name = cuda.cudaGetErrorName(code);
  const char* text = cuda.cudaGetErrorString(code);
  std::string message = absl::StrCat(what, " failed: ", text != nullptr ? text : "unknown error", " (",
                                     name != nullptr ? name : "no name", ", ", static_cast<int>(code), ")");
  cuda.cudaGetLastError();
  if (code == cudaErrorMemoryAllocation) {
    size_t free_bytes = 0, total_bytes = 0;
    if (cuda.cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess) {
      absl::StrAppend(&message, "; ", free_bytes, " of the GPU's ", total_bytes, " bytes are free");
    }
    return absl::ResourceExhaustedError(message);
  }
  if (IsLasting(code)) {
    absl::StrAppend(&message, "; the GPU cannot be used by this process any more: start it again");
    return absl::AbortedError(message);
  }
  return absl::InternalError(message);
}

absl::Status CublasError(const CublasCalls& blas, cublasStatus_t code, absl::string_view what) {
  if (code == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  const char* text = blas.cublasGetStatusString(code);
  std::string message = absl::StrCat(what, " failed: cuBLAS says ", text != nullptr ? text : "nothing",
                                     " (", static_cast<int>(code), ")");
  if (code == CUBLAS_STATUS_ALLOC_FAILED) return absl::ResourceExhaustedError(message);
  return absl::InternalError(message);
}

bool SettleStream(const CudaApi& cuda, cudaStream_t stream) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const cudaError_t code = cuda.cudaStreamSynchronize(stream);
    if (code == cudaSuccess) return false;
    cuda.cudaGetLastError();
    if (IsLasting(code)) return true;
  }
  return false;
}

absl::StatusOr<int> CountGpus(const CudaApi& cuda) {
  int driver = 0, runtime = 0, count = 0;
  const cudaError_t driver_code = cuda.cudaDriverGetVersion(&driver);
  if (driver_code != cudaSuccess) driver = 0;
  cuda.cudaRuntimeGetVersion(&runtime);
  const cudaError_t code = cuda.cudaGetDeviceCount(&count);
  if (code != cudaSuccess) cuda.cudaGetLastError();
  const auto no = [](auto... parts) {
    return absl::FailedPreconditionError(absl::StrCat(parts...));
  };
  if (code == cudaSuccess && count > 0) return count;
  if (code == cudaErrorStubLibrary || driver_code == cudaErrorStubLibrary) {
    return no("the NVIDIA driver's library libcuda.so.1 is the toolkit's stub, which has no GPU behind it: "
              "take the folder of stubs out of LD_LIBRARY_PATH");
  }
  if (code == cudaErrorInsufficientDriver && driver == 0) {
    return no("this machine has no NVIDIA driver (the CUDA library ", cuda.path(),
              " is there): install the driver");
  }
  if (code == cudaErrorInsufficientDriver) {
    return no("the NVIDIA driver is too old: it serves CUDA ", Version(driver), ", the library ", cuda.path(),
              " is of CUDA ", Version(runtime), ": install a newer driver");
  }
  if (code == cudaErrorNoDevice || code == cudaSuccess) {
    return no("the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES may hide them)");
  }
  if (code == cudaErrorSystemDriverMismatch) {
    return no("the NVIDIA driver's kernel module and its library are of different versions: restart the "
              "machine or reload the module");
  }
  if (code == cudaErrorCompatNotSupportedOnDevice) {
    return no("the driver's forward compatibility package does not serve this GPU: take its folder out of "
              "LD_LIBRARY_PATH or install a newer driver");
  }
  return CudaError(cuda, code, "counting the GPUs");
}

}  // namespace autopar
