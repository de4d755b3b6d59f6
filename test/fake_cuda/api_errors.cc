// Exported: the names and sentences of error codes, for those that the fake returns. The sentences
// are those of the toolkit's library.
#include <cublas_v2.h>

#include "test/fake_cuda/api.h"

namespace {

struct Text {
  int code;
  const char* name;
  const char* sentence;
};

#define ERROR(code, sentence) \
  { code, #code, sentence }
constexpr Text kErrors[] = {
    ERROR(cudaSuccess, "no error"),
    ERROR(cudaErrorInvalidValue, "invalid argument"),
    ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ERROR(cudaErrorInitializationError, "initialization error"),
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(cudaErrorStubLibrary, "CUDA driver is a stub library"),
    ERROR(cudaErrorInsufficientDriver,
          "CUDA driver version is insufficient for CUDA runtime version"),
    ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorNoKernelImageForDevice,
          "no kernel image is available for execution on the device"),
    ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    ERROR(cudaErrorNotReady, "device not ready"),
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    ERROR(cudaErrorHostMemoryAlreadyRegistered,
          "part or all of the requested memory range is already mapped"),
    ERROR(cudaErrorHostMemoryNotRegistered,
          "pointer does not correspond to a registered memory region"),
    ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    ERROR(cudaErrorNotPermitted, "operation not permitted"),
    ERROR(cudaErrorNotSupported, "operation not supported"),
    ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    ERROR(cudaErrorStreamCaptureInvalidated,
          "operation failed due to a previous error during capture"),
    ERROR(cudaErrorStreamCaptureMerge,
          "operation would result in a merge of separate capture sequences"),
    ERROR(cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"),
    ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    ERROR(cudaErrorStreamCaptureIsolation,
          "dependency created on uncaptured work in another stream"),
    ERROR(cudaErrorStreamCaptureImplicit,
          "operation would make the legacy stream depend on a capturing blocking stream"),
    ERROR(cudaErrorCapturedEvent,
          "operation not permitted on an event last recorded in a capturing stream"),
    ERROR(cudaErrorStreamCaptureWrongThread,
          "attempt to terminate a thread-local capture sequence from another thread"),
    ERROR(cudaErrorGraphExecUpdateFailure,
          "the graph update was not performed because it included changes which violated "
          "constraints specific to instantiated graph update"),
    ERROR(cudaErrorUnknown, "unknown error"),
};

constexpr Text kBlasErrors[] = {
    ERROR(CUBLAS_STATUS_SUCCESS, "success"),
    ERROR(CUBLAS_STATUS_NOT_INITIALIZED, "the library was not initialized"),
    ERROR(CUBLAS_STATUS_ALLOC_FAILED, "the resource allocation failed"),
    ERROR(CUBLAS_STATUS_INVALID_VALUE,
          "an unsupported value or parameter was passed to the function"),
    ERROR(CUBLAS_STATUS_EXECUTION_FAILED, "the function failed to launch on the GPU"),
    ERROR(CUBLAS_STATUS_INTERNAL_ERROR, "an internal operation failed"),
    ERROR(CUBLAS_STATUS_NOT_SUPPORTED, "the functionality requested is not supported"),
};
#undef ERROR

template <size_t kCount>
const Text* Find(const Text (&table)[kCount], int code) {
  for (const Text& text : table) {
    if (text.code == code) return &text;
  }
  return nullptr;
}

}  // namespace

FAKE_EXPORT const char* cudaGetErrorName(cudaError_t error) {
  const Text* text = Find(kErrors, error);
  return text == nullptr ? "unrecognized error code" : text->name;
}

FAKE_EXPORT const char* cudaGetErrorString(cudaError_t error) {
  const Text* text = Find(kErrors, error);
  return text == nullptr ? "unrecognized error code" : text->sentence;
}

FAKE_EXPORT const char* cublasGetStatusName(cublasStatus_t status) {
  const Text* text = Find(kBlasErrors, status);
  return text == nullptr ? "unknown status" : text->name;
}

FAKE_EXPORT const char* cublasGetStatusString(cublasStatus_t status) {
  const Text* text = Find(kBlasErrors, status);
  return text == nullptr ? "unknown status" : text->sentence;
}
