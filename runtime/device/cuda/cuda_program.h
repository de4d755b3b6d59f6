// The GPUs of a loaded program: their contexts, the ways between them, their kernels.
#ifndef AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_PROGRAM_H_
#define AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_PROGRAM_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/cuda/cuda.h"
#include "runtime/device/cuda/cuda_handles.h"
#include "runtime/device/cuda/cuda_kernels.h"

namespace autopar {

// How bytes get from one device of the schedule to another. kSameGpu: both are the same physical one.
// kStaged: through the host's memory, since the GPUs cannot reach each other or pretend to.
enum class PeerWay : uint8_t { kSameGpu, kDirect, kStaged };

class CudaProgram : public CudaDevices {
 public:
  static absl::StatusOr<std::unique_ptr<CudaProgram>> Create(const Schedule& schedule,
                                                             const CudaOptions& options,
                                                             std::vector<CudaPlacement> placements);

  std::unique_ptr<DeviceBackend> MakeBackend(DeviceId device) override;
  absl::StatusOr<std::unique_ptr<DeviceMemory>> AllocatePinned(uint64_t bytes) override;
  std::unique_ptr<CudaSessionShared> OpenShared() override;

  const Schedule& schedule() const { return schedule_; }
  const CudaOptions& options() const { return options_; }
  CudaApi& cuda() const { return *cuda_; }
  // Null for a device that is not a GPU.
  const CudaContext* Find(DeviceId device) const;
  CudaMemoryMap& memory() { return memory_; }
  CudaKernels& kernels() { return *kernels_; }
  // Whether a range of the host's memory is pinned, by this program or by anybody else.
  absl::StatusOr<bool> IsPinned(const CudaContext& context, const void* base, uint64_t bytes) const;
  PeerWay Way(const CudaContext& from, const CudaContext& to) const;

  // After an error that lasts: everything on this device is refused from then on.
  void MarkLost(DeviceId device) { lost_[device.index()].store(true); }
  bool IsLost(DeviceId device) const { return lost_[device.index()].load(); }

 private:
  CudaProgram(const Schedule& schedule, CudaOptions options)
      : schedule_(schedule), options_(std::move(options)), lost_(schedule.machine.devices.size()) {}
  absl::Status OpenGpus(std::vector<CudaPlacement> placements);
  // Enables access between all GPUs that claim it and writes a pattern over each way.
  absl::Status TryWays();
  absl::StatusOr<bool> PatternArrives(const CudaContext& from, const CudaContext& to);

  const Schedule& schedule_;
  const CudaOptions options_;
  CudaApi* cuda_ = nullptr;
  std::vector<std::unique_ptr<CudaContext>> contexts_;
  std::map<std::pair<int, int>, bool> direct_;  // by ordinals
  CudaMemoryMap memory_;
  std::unique_ptr<CudaKernels> kernels_;
  std::vector<std::atomic<bool>> lost_;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_PROGRAM_H_
