// The part of cuBLAS that the runtime uses. BLAS in the comments is docs.nvidia.com/cuda/cublas.
#ifndef AUTOPAR_TEST_FAKE_CUDA_BLAS_H_
#define AUTOPAR_TEST_FAKE_CUDA_BLAS_H_

#include <cublas_v2.h>

#include "test/fake_cuda/work.h"

namespace fake {

struct Stream;

struct BlasHandle {
  int device = 0;            // the current one when it was created
  Stream* stream = nullptr;  // null: the legacy stream
  void* workspace = nullptr;
  uint64_t workspace_bytes = 0;
  AllocationPtr pool;  // stands for the default workspace
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  bool is_destroyed = false;
};

// The product itself, on pointers that the CPU can use: sums over k in the element type, in order.
// Plain loops: the fake is for small programs.
void RunGemm(const GemmWork& work);

}  // namespace fake

#endif  // AUTOPAR_TEST_FAKE_CUDA_BLAS_H_
