// A GPU as a device of the schedule.
#ifndef AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_DEVICE_H_
#define AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_DEVICE_H_

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/device/cuda/cuda_handles.h"
#include "runtime/device/cuda/cuda_kernels.h"
#include "runtime/device/cuda/cuda_program.h"
#include "runtime/device/device.h"

namespace autopar {

class CudaDevice : public DeviceBackend {
 public:
  CudaDevice(CudaProgram& program, const CudaContext& context) : program_(program), context_(context) {}

  absl::StatusOr<std::unique_ptr<DeviceMemory>> Allocate(uint64_t bytes) override;
  // Through pinned memory, on a stream of their own: piece i+1 is packed while piece i travels.
  absl::Status CopyIn(void* device, const void* host, uint64_t bytes) override;
  absl::Status CopyOut(void* host, const void* device, uint64_t bytes) override;
  absl::StatusOr<const PreparedKernel*> PrepareKernel(KernelId kernel) override;
  absl::StatusOr<std::unique_ptr<DeviceSession>> OpenSession(const DeviceSessionOptions& options) override;

  CudaProgram& program() const { return program_; }
  const CudaContext& context() const { return context_; }

  // A stream that no session uses, and back. Any thread.
  absl::StatusOr<CudaStream> TakeStream();
  void GiveStreamBack(CudaStream stream);

 private:
  static constexpr uint64_t kPieceBytes = uint64_t{1} << 20;
  static constexpr size_t kPieces = 2;

  absl::Status CheckAlive() const;
  absl::Status OpenTransfers();
  absl::Status CopyPieces(std::byte* device, std::byte* host, uint64_t bytes, bool in);

  CudaProgram& program_;
  const CudaContext& context_;
  std::vector<std::unique_ptr<CudaKernel>> kernels_;  // by kernel; null: not loaded

  std::mutex mutex_;
  std::vector<CudaStream> idle_streams_;  // guarded by mutex_

  std::mutex transfer_mutex_;             // guards what follows
  CudaStream transfer_stream_;
  std::unique_ptr<DeviceMemory> transfer_memory_;
  CudaEvent transfer_events_[kPieces];
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_DEVICE_H_
