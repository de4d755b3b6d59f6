#include "runtime/device/cuda/cuda_handles.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/device/cuda/cuda_status.h"

namespace autopar {
namespace {

class CudaMemory : public DeviceMemory {
 public:
  CudaMemory(const CudaContext& context, CudaMemoryMap& map, void* base, uint64_t bytes, bool pinned)
      : context_(context), map_(map), base_(base), bytes_(bytes), pinned_(pinned) {}
  ~CudaMemory() override {
    if (base_ == nullptr) return;
    map_.Remove(base_);
    // Fails on a GPU that is lost, as everything there does.
    if (pinned_) {
      context_.cuda->cudaFreeHost(base_);
    } else {
      context_.cuda->cudaFree(base_);
    }
  }
  // An empty block has a valid address that nobody may touch.
  std::byte* base() const override {
    return base_ != nullptr ? static_cast<std::byte*>(base_) : reinterpret_cast<std::byte*>(uintptr_t{256});
  }
  uint64_t bytes() const override { return bytes_; }

 private:
  const CudaContext& context_;
  CudaMemoryMap& map_;
  void* base_;
  uint64_t bytes_;
  bool pinned_;
};

}  // namespace

absl::Status CudaContext::MakeCurrent() const {
  const cudaError_t code = cuda->cudaSetDevice(ordinal);
  return code == cudaSuccess ? absl::OkStatus()
                             : Error(code, absl::StrCat("using GPU number ", ordinal));
}

absl::Status CudaContext::Error(cudaError_t code, absl::string_view what) const {
  if (code == cudaSuccess) return absl::OkStatus();
  return CudaError(*cuda, code, absl::StrCat(name, ": ", what));
}

absl::StatusOr<CudaEvent> CudaEvent::Create(const CudaContext& context, bool timed) {
  AUTOPAR_RETURN_IF_ERROR(context.MakeCurrent());
  CudaEvent event;
  AUTOPAR_RETURN_IF_ERROR(
      context.Error(context.cuda->cudaEventCreateWithFlags(
                        &event.event_, timed ? cudaEventDefault : cudaEventDisableTiming),
                    "making an event"));
  event.context_ = &context;
  return event;
}

CudaEvent::~CudaEvent() {
  if (context_ != nullptr) context_->cuda->cudaEventDestroy(event_);
}

absl::StatusOr<CudaStream> CudaStream::Create(const CudaContext& context) {
  AUTOPAR_RETURN_IF_ERROR(context.MakeCurrent());
  CudaStream stream;
  AUTOPAR_RETURN_IF_ERROR(context.Error(
      context.cuda->cudaStreamCreateWithFlags(&stream.stream_, cudaStreamNonBlocking), "making a stream"));
  stream.context_ = &context;
  return stream;
}

CudaStream::~CudaStream() {
  if (context_ != nullptr) context_->cuda->cudaStreamDestroy(stream_);
}

void CudaMemoryMap::Add(const void* base, uint64_t bytes, DeviceId device) {
  std::lock_guard<std::mutex> lock(mutex_);
  blocks_[reinterpret_cast<uintptr_t>(base)] = {bytes, device};
}

void CudaMemoryMap::Remove(const void* base) {
  std::lock_guard<std::mutex> lock(mutex_);
  blocks_.erase(reinterpret_cast<uintptr_t>(base));
}

CudaMemoryMap::Owner CudaMemoryMap::Find(const void* base, uint64_t bytes) const {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(base);
  std::lock_guard<std::mutex> lock(mutex_);
  auto after = blocks_.upper_bound(begin);
  if (after == blocks_.begin()) return {};
  const auto& [start, block] = *--after;
  if (begin - start > block.bytes || bytes > block.bytes - (begin - start)) return {};
  return {block.device, true};
}

absl::StatusOr<std::unique_ptr<DeviceMemory>> AllocateCudaMemory(const CudaContext& context,
                                                                 CudaMemoryMap& map, uint64_t bytes) {
  void* base = nullptr;
  if (bytes > 0) {
    AUTOPAR_RETURN_IF_ERROR(context.MakeCurrent());
    const cudaError_t code = context.cuda->cudaMalloc(&base, bytes);
    if (code != cudaSuccess) return context.Error(code, absl::StrCat("allocating ", bytes, " bytes"));
    map.Add(base, bytes, context.device);
  }
  return std::make_unique<CudaMemory>(context, map, base, bytes, false);
}

absl::StatusOr<std::unique_ptr<DeviceMemory>> AllocatePinnedMemory(const CudaContext& context,
                                                                   CudaMemoryMap& map, uint64_t bytes) {
  void* base = nullptr;
  if (bytes > 0) {
    AUTOPAR_RETURN_IF_ERROR(context.MakeCurrent());
    const cudaError_t code = context.cuda->cudaHostAlloc(&base, bytes, cudaHostAllocPortable);
    if (code == cudaErrorMemoryAllocation) {
      context.cuda->cudaGetLastError();
      return absl::ResourceExhaustedError(
          absl::StrCat(context.name, ": the system does not let this process pin ", bytes,
                       " bytes of memory for copies; free memory, or raise the limits of the process"));
    }
    if (code != cudaSuccess) {
      return context.Error(code, absl::StrCat("pinning ", bytes, " bytes of this machine's memory"));
    }
    map.Add(base, bytes, DeviceId());
  }
  return std::make_unique<CudaMemory>(context, map, base, bytes, true);
}

}  // namespace autopar
