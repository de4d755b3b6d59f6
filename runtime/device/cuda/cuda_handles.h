// Streams, events and memory of CUDA with owners. Each carries the device of the schedule that it
// belongs to: two of those may share a GPU, where CUDA itself would not see a mix-up.
#ifndef AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_HANDLES_H_
#define AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_HANDLES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/ids.h"
#include "runtime/device/cuda/cuda_api.h"
#include "runtime/device/device.h"

namespace autopar {

// A device of the schedule on its GPU. Plain; outlives all that is made for it.
struct CudaContext {
  const CudaApi* cuda = nullptr;
  DeviceId device;
  std::string name;         // of the schedule's device
  int ordinal = 0;          // of the GPU
  uint32_t capability = 0;  // 90: 9.0

  // The GPU becomes the calling thread's current one.
  absl::Status MakeCurrent() const;
  absl::Status Error(cudaError_t code, absl::string_view what) const;  // adds the device's name
};

// An event. Made for the host and for streams to wait for; `timed` ones also know when.
class CudaEvent {
 public:
  static absl::StatusOr<CudaEvent> Create(const CudaContext& context, bool timed = false);
  CudaEvent() = default;
  CudaEvent(CudaEvent&& other) noexcept { *this = std::move(other); }
  CudaEvent& operator=(CudaEvent&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(event_, other.event_);
    return *this;
  }
  ~CudaEvent();
  cudaEvent_t get() const { return event_; }

 private:
  const CudaContext* context_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

// A stream that the legacy stream does not order.
class CudaStream {
 public:
  static absl::StatusOr<CudaStream> Create(const CudaContext& context);
  CudaStream() = default;
  CudaStream(CudaStream&& other) noexcept { *this = std::move(other); }
  CudaStream& operator=(CudaStream&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~CudaStream();
  cudaStream_t get() const { return stream_; }
  const CudaContext& context() const { return *context_; }

 private:
  const CudaContext* context_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

// Which device owns which addresses; host memory that is pinned has the invalid id. Any thread.
class CudaMemoryMap {
 public:
  struct Owner {
    DeviceId device;
    bool known = false;
  };
  void Add(const void* base, uint64_t bytes, DeviceId device);
  void Remove(const void* base);
  // Of a range that lies in one block; `known` is false for any other.
  Owner Find(const void* base, uint64_t bytes) const;

 private:
  struct Block {
    uint64_t bytes;
    DeviceId device;
  };
  mutable std::mutex mutex_;
  std::map<uintptr_t, Block> blocks_;
};

// Device memory, aligned to 256 bytes. Freed by the destructor, when nothing uses it any more.
absl::StatusOr<std::unique_ptr<DeviceMemory>> AllocateCudaMemory(const CudaContext& context,
                                                                 CudaMemoryMap& map, uint64_t bytes);
// Host memory that is pinned for all GPUs.
absl::StatusOr<std::unique_ptr<DeviceMemory>> AllocatePinnedMemory(const CudaContext& context,
                                                                   CudaMemoryMap& map, uint64_t bytes);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_HANDLES_H_
