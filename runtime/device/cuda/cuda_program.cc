#include "runtime/device/cuda/cuda_program.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/device/cuda/cuda_session.h"
#include "runtime/device/cuda/cuda_status.h"

namespace autopar {
namespace {

absl::StatusOr<uint32_t> Capability(const CudaApi& cuda, int ordinal) {
  int major = 0, minor = 0;
  const std::string what = absl::StrCat("asking GPU number ", ordinal, " what it is");
  AUTOPAR_RETURN_IF_ERROR(CudaError(
      cuda, cuda.cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal), what));
  AUTOPAR_RETURN_IF_ERROR(CudaError(
      cuda, cuda.cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal), what));
  return static_cast<uint32_t>(major * 10 + minor);
}

// Streams beyond the driver's work queues share them and wait for each other. It reads their number
// (8, at most 32) from the environment when the process first uses a GPU; what a user has set stays.
void AskForQueues(const Schedule& schedule, const std::vector<CudaPlacement>& placements) {
  constexpr size_t kDefault = 8, kMost = 32;
  size_t most = 0;
  for (const Function& function : schedule.functions) {
    std::map<uint32_t, size_t> streams;  // by GPU
    for (const CudaPlacement& placement : placements) {
      streams[placement.ordinal] += static_cast<size_t>(
          std::count_if(function.streams.begin(), function.streams.end(),
                        [&](const Stream& stream) { return stream.device == placement.device; }));
    }
    for (const auto& [ordinal, count] : streams) most = std::max(most, count);
  }
  if (most <= kDefault) return;
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", absl::StrCat(std::min(most, kMost)).c_str(), /*overwrite=*/0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaDevices>> CudaDevices::Open(const Schedule& schedule,
                                                               const CudaOptions& options,
                                                               std::vector<CudaPlacement> placements) {
  AUTOPAR_ASSIGN_OR_RETURN(std::unique_ptr<CudaDevices> devices,
                           CudaProgram::Create(schedule, options, std::move(placements)));
  return devices;
}

absl::StatusOr<std::vector<FoundGpu>> FindGpus(const std::string& library) {
  AUTOPAR_ASSIGN_OR_RETURN(const CudaApi* cuda, CudaApi::Open(library));
  AUTOPAR_ASSIGN_OR_RETURN(const int count, CountGpus(*cuda));
  std::vector<FoundGpu> gpus;
  for (int i = 0; i < count; ++i) {
    FoundGpu& gpu = gpus.emplace_back();
    gpu.ordinal = static_cast<uint32_t>(i);
    AUTOPAR_ASSIGN_OR_RETURN(gpu.capability, Capability(*cuda, i));
    cudaDeviceProp properties;
    std::memset(&properties, 0, sizeof properties);
    AUTOPAR_RETURN_IF_ERROR(CudaError(*cuda, cuda->cudaGetDeviceProperties(&properties, i),
                                      absl::StrCat("asking GPU number ", i, " what it is")));
    properties.name[sizeof properties.name - 1] = '\0';
    gpu.name = properties.name;
    gpu.memory_bytes = properties.totalGlobalMem;
  }
  return gpus;
}

absl::StatusOr<std::unique_ptr<CudaProgram>> CudaProgram::Create(const Schedule& schedule,
                                                                 const CudaOptions& options,
                                                                 std::vector<CudaPlacement> placements) {
  std::unique_ptr<CudaProgram> program(new CudaProgram(schedule, options));
  AskForQueues(schedule, placements);
  AUTOPAR_ASSIGN_OR_RETURN(program->cuda_, CudaApi::Open(options.cudart_path));
  program->kernels_ = std::make_unique<CudaKernels>(schedule, *program->cuda_);
  AUTOPAR_RETURN_IF_ERROR(program->OpenGpus(std::move(placements)));
  AUTOPAR_RETURN_IF_ERROR(program->TryWays());
  return program;
}

absl::Status CudaProgram::OpenGpus(std::vector<CudaPlacement> placements) {
  AUTOPAR_ASSIGN_OR_RETURN(const int count, CountGpus(*cuda_));
  for (CudaPlacement& placement : placements) {
    if (placement.ordinal >= static_cast<uint32_t>(count)) {
      return absl::OutOfRangeError(absl::StrCat(
          placement.name, " is to run on cuda:", placement.ordinal, ", but this machine has ", count,
          count == 1 ? " GPU" : " GPUs", "; two devices may share one: --device=", placement.name, "=cuda:0"));
    }
    auto context = std::make_unique<CudaContext>();
    context->cuda = cuda_;
    context->device = placement.device;
    context->name = std::move(placement.name);
    context->ordinal = static_cast<int>(placement.ordinal);
    AUTOPAR_ASSIGN_OR_RETURN(context->capability, Capability(*cuda_, context->ordinal));
    contexts_.push_back(std::move(context));
  }
  return absl::OkStatus();
}

absl::Status CudaProgram::TryWays() {
  // One context per GPU.
  std::map<int, const CudaContext*> gpus;
  for (const auto& context : contexts_) gpus.emplace(context->ordinal, context.get());
  for (const auto& [from, from_context] : gpus) {
    for (const auto& [to, to_context] : gpus) {
      if (from == to) continue;
      int can_access = 0;
      AUTOPAR_RETURN_IF_ERROR(
          from_context->Error(cuda_->cudaDeviceCanAccessPeer(&can_access, from, to),
                              absl::StrCat("asking whether GPU ", from, " reaches GPU ", to)));
      if (can_access == 0) continue;
      AUTOPAR_RETURN_IF_ERROR(from_context->MakeCurrent());
      const cudaError_t code = cuda_->cudaDeviceEnablePeerAccess(to, 0);
      // Another program of this process may have enabled it; where it fails, bytes are staged.
      if (code != cudaSuccess) cuda_->cudaGetLastError();
      direct_[{from, to}] = code == cudaSuccess || code == cudaErrorPeerAccessAlreadyEnabled;
    }
  }
  for (auto& [pair, direct] : direct_) {
    if (!direct) continue;
    AUTOPAR_ASSIGN_OR_RETURN(direct, PatternArrives(*gpus.at(pair.first), *gpus.at(pair.second)));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> CudaProgram::PatternArrives(const CudaContext& from, const CudaContext& to) {
  constexpr size_t kWords = 4096;
  constexpr size_t kBytes = kWords * sizeof(uint32_t);
  AUTOPAR_ASSIGN_OR_RETURN(auto source, AllocateCudaMemory(from, memory_, kBytes));
  AUTOPAR_ASSIGN_OR_RETURN(auto target, AllocateCudaMemory(to, memory_, kBytes));
  AUTOPAR_ASSIGN_OR_RETURN(auto host, AllocatePinnedMemory(from, memory_, 2 * kBytes));
  AUTOPAR_ASSIGN_OR_RETURN(CudaStream source_stream, CudaStream::Create(from));
  AUTOPAR_ASSIGN_OR_RETURN(CudaStream target_stream, CudaStream::Create(to));
  uint32_t* words = reinterpret_cast<uint32_t*>(host->base());
  uint32_t* back = words + kWords;
  for (size_t i = 0; i < kWords; ++i) {
    words[i] = static_cast<uint32_t>(i * 2654435761u + 12345);
    back[i] = ~words[i];
  }
  // What arrives must not have been there before.
  const auto sync = [&](const CudaStream& stream) { return cuda_->cudaStreamSynchronize(stream.get()); };
  cudaError_t code = cuda_->cudaMemcpyAsync(target->base(), back, kBytes, cudaMemcpyHostToDevice,
                                            target_stream.get());
  if (code == cudaSuccess) code = sync(target_stream);
  if (code == cudaSuccess) {
    code = cuda_->cudaMemcpyAsync(source->base(), words, kBytes, cudaMemcpyHostToDevice, source_stream.get());
  }
  if (code == cudaSuccess) {
    code = cuda_->cudaMemcpyPeerAsync(target->base(), to.ordinal, source->base(), from.ordinal, kBytes,
                                      source_stream.get());
  }
  if (code == cudaSuccess) code = sync(source_stream);
  if (code == cudaSuccess) {
    code = cuda_->cudaMemcpyAsync(back, target->base(), kBytes, cudaMemcpyDeviceToHost, target_stream.get());
  }
  if (code == cudaSuccess) code = sync(target_stream);
  if (code != cudaSuccess) {
    SettleStream(*cuda_, source_stream.get());
    SettleStream(*cuda_, target_stream.get());
    return from.Error(code, absl::StrCat("trying the way to ", to.name));
  }
  return std::memcmp(words, back, kBytes) == 0;
}

const CudaContext* CudaProgram::Find(DeviceId device) const {
  for (const auto& context : contexts_) {
    if (context->device == device) return context.get();
  }
  return nullptr;
}

absl::StatusOr<bool> CudaProgram::IsPinned(const CudaContext& context, const void* base,
                                           uint64_t bytes) const {
  if (memory_.Find(base, bytes).known) return true;
  // Both ends: a range may be pinned in part.
  const auto* first = static_cast<const std::byte*>(base);
  for (const std::byte* end : {first, first + (bytes - 1)}) {
    cudaPointerAttributes attributes;
    std::memset(&attributes, 0, sizeof attributes);
    AUTOPAR_RETURN_IF_ERROR(context.Error(cuda_->cudaPointerGetAttributes(&attributes, end),
                                          "asking whether memory is pinned"));
    if (attributes.type != cudaMemoryTypeHost) return false;
  }
  return true;
}

PeerWay CudaProgram::Way(const CudaContext& from, const CudaContext& to) const {
  if (from.ordinal == to.ordinal) return PeerWay::kSameGpu;
  const auto found = direct_.find({from.ordinal, to.ordinal});
  return found != direct_.end() && found->second ? PeerWay::kDirect : PeerWay::kStaged;
}

std::unique_ptr<DeviceBackend> CudaProgram::MakeBackend(DeviceId device) {
  return std::make_unique<CudaDevice>(*this, *Find(device));
}

absl::StatusOr<std::unique_ptr<DeviceMemory>> CudaProgram::AllocatePinned(uint64_t bytes) {
  return AllocatePinnedMemory(*contexts_.front(), memory_, bytes);
}

std::unique_ptr<CudaSessionShared> CudaProgram::OpenShared() {
  return std::make_unique<CudaShared>(*this);
}

}  // namespace autopar
