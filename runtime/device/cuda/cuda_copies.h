// Copies of strided regions: their shape, cutting them into pieces, and the three ways in which bytes
// that cannot go directly are staged in pinned memory.
//
//   pageable -> GPU   a piece is packed into a slot by the host, then copied from there
//   GPU -> pageable   a piece is copied into a slot, then unpacked by the host
//   GPU -> GPU        without direct access: into a slot on the source's stream, from there to the target
//                     on a stream of the target; ordered by events alone, the host waits for nothing
#ifndef AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_COPIES_H_
#define AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_COPIES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/device/cuda/cuda_handles.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

// `rows` rows of `row_bytes` bytes on both sides. One row: contiguous, strides are not used.
struct CopyShape {
  uint64_t rows = 1, row_bytes = 0;
  uint64_t from_stride = 0, to_stride = 0;
  uint64_t bytes() const { return rows * row_bytes; }
};

// Of a copy command's two regions, which have equal bytes, and equal rows or one of them a single row.
CopyShape ShapeOfCopy(const Region& from, const Region& to);

// Some rows of a shape, or a part of one row.
struct CopyPiece {
  uint64_t first_row = 0, rows = 0, first_byte = 0, row_bytes = 0;
  uint64_t from_offset = 0, to_offset = 0;  // of its first byte
};

// Pieces of at most `most_bytes` (> 0).
uint64_t CountPieces(const CopyShape& shape, uint64_t most_bytes);
CopyPiece PieceOf(const CopyShape& shape, uint64_t most_bytes, uint64_t index);

// On the host.
void CopyRows(std::byte* to, uint64_t to_stride, const std::byte* from, uint64_t from_stride,
              uint64_t rows, uint64_t row_bytes);
// Enqueued on a stream: one call, unless the strides exceed what the GPU's copies can do.
cudaError_t EnqueueRows(const CudaApi& cuda, void* to, uint64_t to_stride, const void* from,
                        uint64_t from_stride, uint64_t rows, uint64_t row_bytes, cudaMemcpyKind kind,
                        cudaStream_t stream);

// Slots of pinned memory of one device and session. One thread.
class StagingSlots {
 public:
  static constexpr uint64_t kSlotBytes = uint64_t{512} << 10;
  static constexpr int kSlots = 16;

  struct Slot {
    std::byte* memory = nullptr;
    CudaEvent done;
    enum { kFree, kHeld, kUntilDone } state = kFree;
  };

  static absl::StatusOr<std::unique_ptr<StagingSlots>> Create(const CudaContext& context,
                                                              CudaMemoryMap& map);
  // A free slot, which becomes held; null if all are in use. `code` says what a query failed with.
  Slot* TryTake(cudaError_t* code);
  // After an error, when no stream is at work.
  void FreeAll();

 private:
  const CudaContext* context_ = nullptr;
  std::unique_ptr<DeviceMemory> memory_;
  std::vector<Slot> slots_;
};

// The way from one GPU to another through pinned memory.
class PeerStage {
 public:
  static absl::StatusOr<std::unique_ptr<PeerStage>> Create(const CudaContext& source,
                                                           const CudaContext& target,
                                                           CudaMemoryMap& map);
  // Enqueues all of a copy; what follows on `stream`, one of the source's, follows the whole copy.
  // `epoch` differs from call to call; `captured`: the streams are being captured.
  cudaError_t Enqueue(const CopyShape& shape, std::byte* to, const std::byte* from, cudaStream_t stream,
                      uint64_t epoch, bool captured);
  cudaStream_t landing() const { return landing_.get(); }

 private:
  static constexpr uint64_t kSlotBytes = uint64_t{1} << 20;
  static constexpr size_t kSlots = 4;

  struct Slot {
    CudaEvent filled[2], drained[2];  // [captured]: a captured event is not for use outside
    uint64_t epoch = 0;               // when it was last used
  };
  const CudaApi* cuda_ = nullptr;
  CudaStream landing_;
  std::unique_ptr<DeviceMemory> memory_;
  Slot slots_[kSlots];
  size_t next_ = 0;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_COPIES_H_
