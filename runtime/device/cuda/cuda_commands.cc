#include "runtime/device/cuda/cuda_commands.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace autopar {
namespace {

cudaError_t EnqueueCode(const CudaApi& cuda, const CudaLaunch& launch, cudaStream_t stream) {
  if (launch.kernel->function == nullptr) return cudaSuccess;
  cudaLaunchConfig_t config{};
  config.gridDim = {launch.kernel->grid, 1, 1};
  config.blockDim = {launch.kernel->block, 1, 1};
  config.stream = stream;
  return cuda.cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(launch.kernel->function),
                                  const_cast<void**>(launch.parameters.data()));
}

cudaError_t EnqueueCopy(const CudaApi& cuda, const CudaCommand& command, cudaStream_t stream, uint64_t epoch,
                        bool captured) {
  const CudaCopy& copy = *command.copy;
  const CopyShape& shape = copy.shape;
  void* to = copy.buffers[1];
  const void* from = copy.buffers[0];
  const auto rows = [&](cudaMemcpyKind kind) {
    return EnqueueRows(cuda, to, shape.to_stride, from, shape.from_stride, shape.rows, shape.row_bytes, kind,
                       stream);
  };
  switch (command.op) {
    case CudaOp::kCopyIn:
      return rows(cudaMemcpyHostToDevice);
    case CudaOp::kCopyOut:
      return rows(cudaMemcpyDeviceToHost);
    case CudaOp::kCopyStaged:
      return copy.stage->Enqueue(shape, static_cast<std::byte*>(to), static_cast<const std::byte*>(from),
                                 stream, epoch, captured);
    default:
      if (copy.from_ordinal == copy.to_ordinal) return rows(cudaMemcpyDeviceToDevice);
      if (shape.rows > 1) return rows(cudaMemcpyDefault);
      return cuda.cudaMemcpyPeerAsync(to, copy.to_ordinal, from, copy.from_ordinal, shape.bytes(), stream);
  }
}

}  // namespace

absl::Status EnqueueCommand(const CudaContext& context, const CudaCommand& command, cudaStream_t stream,
                            uint64_t epoch, bool captured) {
  const CudaApi& cuda = *context.cuda;
  cudaError_t code = cudaSuccess;
  switch (command.op) {
    case CudaOp::kProduct: {
      const CudaLaunch& launch = *command.launch;
      const Kernel& kernel = *launch.kernel->description;
      AUTOPAR_RETURN_IF_ERROR(launch.blas->Multiply(kernel.matmul, launch.buffers[0], launch.buffers[1],
                                                    launch.buffers[kernel.reads]));
      code = EnqueueCode(cuda, launch, stream);
      break;
    }
    case CudaOp::kLaunch:
      code = EnqueueCode(cuda, *command.launch, stream);
      break;
    case CudaOp::kCopyInside:
    case CudaOp::kCopyStaged:
    case CudaOp::kCopyIn:
    case CudaOp::kCopyOut:
      code = EnqueueCopy(cuda, command, stream, epoch, captured);
      break;
    default:
      break;
  }
  if (code == cudaSuccess) return absl::OkStatus();
  const std::string what =
      command.launch != nullptr
          ? absl::StrCat("command ", command.command, ", the launch of '",
                         command.launch->kernel->description->name, "',")
          : absl::StrCat("command ", command.command, ", a copy of ", command.copy->shape.bytes(), " bytes,");
  return context.Error(code, what);
}

}  // namespace autopar
