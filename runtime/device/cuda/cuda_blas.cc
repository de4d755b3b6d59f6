#include "runtime/device/cuda/cuda_blas.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/device/cuda/cuda_status.h"

namespace autopar {
namespace {

// What NVIDIA recommends: 32 MiB from Hopper on, 4 MiB before.
uint64_t WorkspaceBytes(uint32_t capability) {
  return capability >= 90 ? uint64_t{32} << 20 : uint64_t{4} << 20;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaBlas>> CudaBlas::Create(CudaApi& cuda, const CudaContext& context,
                                                           CudaMemoryMap& map, cudaStream_t stream,
                                                           bool tf32) {
  std::unique_ptr<CudaBlas> result(new CudaBlas);
  AUTOPAR_ASSIGN_OR_RETURN(result->blas_, cuda.Cublas());
  const CublasCalls& blas = *result->blas_;
  const auto check = [&](cublasStatus_t code, absl::string_view what) {
    return CublasError(blas, code, absl::StrCat(context.name, ": ", what));
  };
  result->context_ = &context;
  result->stream_ = stream;
  auto workspace = AllocateCudaMemory(context, map, WorkspaceBytes(context.capability));
  if (absl::IsResourceExhausted(workspace.status())) {
    return absl::ResourceExhaustedError(
        absl::StrCat(workspace.status().message(), "; it is the workspace of cuBLAS, one for each stream with "
                     "products: plan with fewer streams (autopar-opt --max-streams=N)"));
  }
  if (!workspace.ok()) return workspace.status();
  result->workspace_ = *std::move(workspace);
  AUTOPAR_RETURN_IF_ERROR(context.MakeCurrent());
  AUTOPAR_RETURN_IF_ERROR(check(blas.cublasCreate(&result->handle_), "making a cuBLAS handle"));
  AUTOPAR_RETURN_IF_ERROR(check(blas.cublasSetStream(result->handle_, stream), "giving cuBLAS its stream"));
  AUTOPAR_RETURN_IF_ERROR(check(blas.cublasSetWorkspace(result->handle_, result->workspace_->base(),
                                                        result->workspace_->bytes()),
                                "giving cuBLAS its workspace"));
  AUTOPAR_RETURN_IF_ERROR(
      check(blas.cublasSetMathMode(result->handle_, tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH),
            "setting cuBLAS's mathematics"));
  return result;
}

CudaBlas::~CudaBlas() {
  if (handle_ == nullptr) return;
  context_->MakeCurrent().IgnoreError();
  blas_->cublasDestroy(handle_);
}

absl::Status CudaBlas::Multiply(const MatmulParams& p, const void* a, const void* b, void* c) {
  if (p.batch == 0 || p.m == 0 || p.n == 0) return absl::OkStatus();
  if (p.k == 0) {
    const uint64_t bytes = static_cast<uint64_t>(p.batch) * static_cast<uint64_t>(p.m) *
                           static_cast<uint64_t>(p.n) * sizeof(float);
    return context_->Error(context_->cuda->cudaMemsetAsync(c, 0, bytes, stream_), "clearing a product");
  }
  // cuBLAS counts by columns: it sees each row-major matrix transposed, so C' = B' A'.
  const cublasOperation_t op_a = p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t op_b = p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int64_t row_a = p.transpose_a ? p.m : p.k, row_b = p.transpose_b ? p.k : p.n;
  const float one = 1, zero = 0;
  const auto* left = static_cast<const float*>(a);
  const auto* right = static_cast<const float*>(b);
  cublasStatus_t code;
  if (p.batch == 1) {
    code = blas_->cublasSgemm_64(handle_, op_b, op_a, p.n, p.m, p.k, &one, right, row_b, left, row_a,
                                 &zero, static_cast<float*>(c), p.n);
  } else {
    // A stride of 0 repeats one matrix.
    const int64_t stride_a = p.a_batch == 1 ? 0 : p.m * p.k, stride_b = p.b_batch == 1 ? 0 : p.k * p.n;
    code = blas_->cublasSgemmStridedBatched_64(handle_, op_b, op_a, p.n, p.m, p.k, &one, right, row_b,
                                               stride_b, left, row_a, stride_a, &zero,
                                               static_cast<float*>(c), p.n, p.m * p.n, p.batch);
  }
  if (code == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  return CublasError(*blas_, code, absl::StrCat(context_->name, ": a product of ", p.m, "x", p.n, "x", p.k));
}

}  // namespace autopar
