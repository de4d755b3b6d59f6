#include "runtime/device/cuda/cuda_copies.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/status.h"

namespace autopar {
namespace {

// The widest stride of a two-dimensional copy on every GPU (cudaDeviceProp::memPitch).
constexpr uint64_t kMostPitch = 0x7fffffff;

}  // namespace

CopyShape ShapeOfCopy(const Region& from, const Region& to) {
  CopyShape shape;
  shape.row_bytes = std::min(from.row_bytes, to.row_bytes);
  shape.rows = std::max(from.rows, to.rows);
  if (shape.rows == 0 || shape.row_bytes == 0) return {.rows = 0};
  shape.from_stride = from.rows == shape.rows ? from.row_stride : shape.row_bytes;
  shape.to_stride = to.rows == shape.rows ? to.row_stride : shape.row_bytes;
  if (shape.from_stride == shape.row_bytes && shape.to_stride == shape.row_bytes) {
    shape.row_bytes *= shape.rows;
    shape.rows = 1;
  }
  return shape;
}

uint64_t CountPieces(const CopyShape& shape, uint64_t most_bytes) {
  if (shape.rows == 0 || shape.row_bytes == 0) return 0;
  if (shape.row_bytes > most_bytes) {
    return shape.rows * ((shape.row_bytes - 1) / most_bytes + 1);
  }
  return (shape.rows - 1) / (most_bytes / shape.row_bytes) + 1;
}

CopyPiece PieceOf(const CopyShape& shape, uint64_t most_bytes, uint64_t index) {
  CopyPiece piece;
  if (shape.row_bytes > most_bytes) {
    const uint64_t per_row = (shape.row_bytes - 1) / most_bytes + 1;
    piece.first_row = index / per_row;
    piece.rows = 1;
    piece.first_byte = index % per_row * most_bytes;
    piece.row_bytes = std::min(most_bytes, shape.row_bytes - piece.first_byte);
  } else {
    const uint64_t rows = most_bytes / shape.row_bytes;
    piece.first_row = index * rows;
    piece.rows = std::min(rows, shape.rows - piece.first_row);
    piece.row_bytes = shape.row_bytes;
  }
  piece.from_offset = piece.first_row * shape.from_stride + piece.first_byte;
  piece.to_offset = piece.first_row * shape.to_stride + piece.first_byte;
  return piece;
}

void CopyRows(std::byte* to, uint64_t to_stride, const std::byte* from, uint64_t from_stride,
              uint64_t rows, uint64_t row_bytes) {
  for (uint64_t row = 0; row < rows; ++row) {
    std::memcpy(to + row * to_stride, from + row * from_stride, row_bytes);
  }
}

cudaError_t EnqueueRows(const CudaApi& cuda, void* to, uint64_t to_stride, const void* from,
                        uint64_t from_stride, uint64_t rows, uint64_t row_bytes, cudaMemcpyKind kind,
                        cudaStream_t stream) {
  if (rows == 0 || row_bytes == 0) return cudaSuccess;
  if (rows == 1 || (to_stride == row_bytes && from_stride == row_bytes)) {
    return cuda.cudaMemcpyAsync(to, from, rows * row_bytes, kind, stream);
  }
  if (to_stride <= kMostPitch && from_stride <= kMostPitch) {
    return cuda.cudaMemcpy2DAsync(to, to_stride, from, from_stride, row_bytes, rows, kind, stream);
  }
  for (uint64_t row = 0; row < rows; ++row) {
    const cudaError_t code = cuda.cudaMemcpyAsync(
        static_cast<std::byte*>(to) + row * to_stride,
        static_cast<const std::byte*>(from) + row * from_stride, row_bytes, kind, stream);
    if (code != cudaSuccess) return code;
  }
  return cudaSuccess;
}

absl::StatusOr<std::unique_ptr<StagingSlots>> StagingSlots::Create(const CudaContext& context,
                                                                   CudaMemoryMap& map) {
  auto slots = std::make_unique<StagingSlots>();
  slots->context_ = &context;
  AUTOPAR_ASSIGN_OR_RETURN(slots->memory_, AllocatePinnedMemory(context, map, kSlots * kSlotBytes));
  for (int i = 0; i < kSlots; ++i) {
    Slot& slot = slots->slots_.emplace_back();
    slot.memory = slots->memory_->base() + static_cast<uint64_t>(i) * kSlotBytes;
    AUTOPAR_ASSIGN_OR_RETURN(slot.done, CudaEvent::Create(context));
  }
  return slots;
}

StagingSlots::Slot* StagingSlots::TryTake(cudaError_t* code) {
  for (Slot& slot : slots_) {
    if (slot.state == Slot::kHeld) continue;
    if (slot.state == Slot::kUntilDone) {
      const cudaError_t query = context_->cuda->cudaEventQuery(slot.done.get());
      if (query == cudaErrorNotReady) continue;
      if (query != cudaSuccess) {
        *code = query;
        return nullptr;
      }
    }
    slot.state = Slot::kHeld;
    return &slot;
  }
  return nullptr;
}

void StagingSlots::FreeAll() {
  for (Slot& slot : slots_) slot.state = Slot::kFree;
}

absl::StatusOr<std::unique_ptr<PeerStage>> PeerStage::Create(const CudaContext& source,
                                                             const CudaContext& target,
                                                             CudaMemoryMap& map) {
  auto stage = std::make_unique<PeerStage>();
  stage->cuda_ = source.cuda;
  AUTOPAR_ASSIGN_OR_RETURN(stage->landing_, CudaStream::Create(target));
  AUTOPAR_ASSIGN_OR_RETURN(stage->memory_, AllocatePinnedMemory(source, map, kSlots * kSlotBytes));
  for (Slot& slot : stage->slots_) {
    for (int captured = 0; captured < 2; ++captured) {
      AUTOPAR_ASSIGN_OR_RETURN(slot.filled[captured], CudaEvent::Create(source));
      AUTOPAR_ASSIGN_OR_RETURN(slot.drained[captured], CudaEvent::Create(target));
    }
  }
  return stage;
}

cudaError_t PeerStage::Enqueue(const CopyShape& shape, std::byte* to, const std::byte* from,
                               cudaStream_t stream, uint64_t epoch, bool captured) {
  const uint64_t pieces = CountPieces(shape, kSlotBytes);
  cudaEvent_t last = nullptr;
  for (uint64_t i = 0; i < pieces; ++i) {
    const CopyPiece piece = PieceOf(shape, kSlotBytes, i);
    Slot& slot = slots_[next_];
    std::byte* memory = memory_->base() + next_ * kSlotBytes;
    next_ = (next_ + 1) % kSlots;
    const cudaEvent_t filled = slot.filled[captured].get(), drained = slot.drained[captured].get();
    cudaError_t code = cudaSuccess;
    // What was there before this call has long been taken away.
    if (slot.epoch == epoch) code = cuda_->cudaStreamWaitEvent(stream, drained, 0);
    if (code == cudaSuccess) {
      code = EnqueueRows(*cuda_, memory, piece.row_bytes, from + piece.from_offset, shape.from_stride,
                         piece.rows, piece.row_bytes, cudaMemcpyDeviceToHost, stream);
    }
    if (code == cudaSuccess) code = cuda_->cudaEventRecord(filled, stream);
    if (code == cudaSuccess) code = cuda_->cudaStreamWaitEvent(landing_.get(), filled, 0);
    if (code == cudaSuccess) {
      code = EnqueueRows(*cuda_, to + piece.to_offset, shape.to_stride, memory, piece.row_bytes,
                         piece.rows, piece.row_bytes, cudaMemcpyHostToDevice, landing_.get());
    }
    if (code == cudaSuccess) code = cuda_->cudaEventRecord(drained, landing_.get());
    if (code != cudaSuccess) return code;
    slot.epoch = epoch;
    last = drained;
  }
  return last == nullptr ? cudaSuccess : cuda_->cudaStreamWaitEvent(stream, last, 0);
}

}  // namespace autopar
