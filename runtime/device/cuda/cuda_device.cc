#include "runtime/device/cuda/cuda_device.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/device/cuda/cuda_session.h"
#include "runtime/device/cuda/cuda_status.h"

namespace autopar {

absl::Status CudaDevice::CheckAlive() const {
  if (!program_.IsLost(context_.device)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      context_.name, " failed in an earlier call and cannot be used by this process any more; start it again"));
}

absl::StatusOr<std::unique_ptr<DeviceMemory>> CudaDevice::Allocate(uint64_t bytes) {
  AUTOPAR_RETURN_IF_ERROR(CheckAlive());
  return AllocateCudaMemory(context_, program_.memory(), bytes);
}

absl::Status CudaDevice::CopyIn(void* device, const void* host, uint64_t bytes) {
  return CopyPieces(static_cast<std::byte*>(device),
                    const_cast<std::byte*>(static_cast<const std::byte*>(host)), bytes, true);
}

absl::Status CudaDevice::CopyOut(void* host, const void* device, uint64_t bytes) {
  return CopyPieces(const_cast<std::byte*>(static_cast<const std::byte*>(device)),
                    static_cast<std::byte*>(host), bytes, false);
}

absl::Status CudaDevice::OpenTransfers() {
  if (transfer_memory_ != nullptr) return absl::OkStatus();
  AUTOPAR_ASSIGN_OR_RETURN(transfer_stream_, CudaStream::Create(context_));
  for (CudaEvent& event : transfer_events_) {
    AUTOPAR_ASSIGN_OR_RETURN(event, CudaEvent::Create(context_));
  }
  AUTOPAR_ASSIGN_OR_RETURN(transfer_memory_,
                           AllocatePinnedMemory(context_, program_.memory(), kPieces * kPieceBytes));
  return absl::OkStatus();
}

absl::Status CudaDevice::CopyPieces(std::byte* device, std::byte* host, uint64_t bytes, bool in) {
  if (bytes == 0) return absl::OkStatus();
  AUTOPAR_RETURN_IF_ERROR(CheckAlive());
  std::lock_guard<std::mutex> lock(transfer_mutex_);
  AUTOPAR_RETURN_IF_ERROR(OpenTransfers());
  const CudaApi& cuda = *context_.cuda;
  const cudaStream_t stream = transfer_stream_.get();
  const uint64_t pieces = (bytes - 1) / kPieceBytes + 1;
  const auto piece_bytes = [&](uint64_t i) { return std::min(kPieceBytes, bytes - i * kPieceBytes); };
  const auto slot = [&](uint64_t i) { return transfer_memory_->base() + i % kPieces * kPieceBytes; };
  cudaError_t code = cudaSuccess;
  for (uint64_t i = 0; in && code == cudaSuccess && i < pieces; ++i) {
    if (i >= kPieces) code = cuda.cudaEventSynchronize(transfer_events_[i % kPieces].get());
    if (code != cudaSuccess) break;
    std::memcpy(slot(i), host + i * kPieceBytes, piece_bytes(i));
    code = cuda.cudaMemcpyAsync(device + i * kPieceBytes, slot(i), piece_bytes(i), cudaMemcpyHostToDevice,
                                stream);
    if (code == cudaSuccess) code = cuda.cudaEventRecord(transfer_events_[i % kPieces].get(), stream);
  }
  // On the way out unpacking runs a piece behind.
  for (uint64_t i = 0; !in && code == cudaSuccess && i < pieces + kPieces - 1; ++i) {
    if (i < pieces) {
      code = cuda.cudaMemcpyAsync(slot(i), device + i * kPieceBytes, piece_bytes(i), cudaMemcpyDeviceToHost,
                                  stream);
      if (code == cudaSuccess) code = cuda.cudaEventRecord(transfer_events_[i % kPieces].get(), stream);
    }
    if (code != cudaSuccess || i < kPieces - 1) continue;
    const uint64_t done = i - (kPieces - 1);
    if (done >= pieces) continue;
    code = cuda.cudaEventSynchronize(transfer_events_[done % kPieces].get());
    if (code == cudaSuccess) std::memcpy(host + done * kPieceBytes, slot(done), piece_bytes(done));
  }
  if (code == cudaSuccess) code = cuda.cudaStreamSynchronize(stream);
  if (code == cudaSuccess) return absl::OkStatus();
  if (SettleStream(cuda, stream) || IsLasting(code)) program_.MarkLost(context_.device);
  return context_.Error(code, absl::StrCat("copying ", bytes, in ? " bytes to the GPU" : " bytes from the GPU"));
}

absl::StatusOr<const PreparedKernel*> CudaDevice::PrepareKernel(KernelId kernel) {
  kernels_.resize(program_.schedule().kernels.size());
  std::unique_ptr<CudaKernel>& slot = kernels_[kernel.index()];
  if (slot == nullptr) {
    AUTOPAR_ASSIGN_OR_RETURN(slot, program_.kernels().Prepare(kernel, context_));
  }
  return slot.get();
}

absl::StatusOr<std::unique_ptr<DeviceSession>> CudaDevice::OpenSession(const DeviceSessionOptions& options) {
  AUTOPAR_RETURN_IF_ERROR(CheckAlive());
  AUTOPAR_ASSIGN_OR_RETURN(std::unique_ptr<DeviceSession> session, CudaSession::Open(*this, options));
  return session;
}

absl::StatusOr<CudaStream> CudaDevice::TakeStream() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (idle_streams_.empty()) return CudaStream::Create(context_);
  CudaStream stream = std::move(idle_streams_.back());
  idle_streams_.pop_back();
  return stream;
}

void CudaDevice::GiveStreamBack(CudaStream stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  idle_streams_.push_back(std::move(stream));
}

}  // namespace autopar
