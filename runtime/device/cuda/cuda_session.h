// A GPU's streams in one session, and what the GPUs of a session share.
#ifndef AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_SESSION_H_
#define AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_SESSION_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/cuda/cuda_commands.h"
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/device/cuda/cuda_graph.h"
#include "runtime/device/cuda/cuda_issuer.h"
#include "runtime/device/cuda/cuda_program.h"
#include "runtime/device/device.h"

namespace autopar {

// Filled while functions are prepared, by one thread; then read by the issuing threads.
class CudaShared : public CudaSessionShared {
 public:
  explicit CudaShared(CudaProgram& program) : program_(program) {}
  absl::Status Seal() override;
  std::string WhyNoGraph(const Function& function) const override;

  CudaFunctionGroup& Group(const Function& function);
  // The event of a function that a stream of `recorder` records.
  absl::StatusOr<SharedEvent*> Event(const Function& function, EventId event, const CudaContext& recorder);

 private:
  CudaProgram& program_;
  std::map<std::pair<const Function*, EventId>, std::unique_ptr<SharedEvent>> events_;
  std::map<const Function*, std::unique_ptr<CudaFunctionGroup>> groups_;
};

class CudaSession : public DeviceSession {
 public:
  static absl::StatusOr<std::unique_ptr<CudaSession>> Open(CudaDevice& device,
                                                           const DeviceSessionOptions& options);
  ~CudaSession() override;

  Bell* StreamBell(const Stream& stream) override { return &issuer_.bell(); }
  absl::StatusOr<std::unique_ptr<DeviceFunction>> Prepare(const Function& function,
                                                          std::vector<StreamWork> work) override;

 private:
  // A stream of the schedule on the GPU.
  struct OpenStream {
    CudaStream stream;
    std::unique_ptr<CudaBlas> blas;  // of a compute stream with products
  };
  // Who records an event and who waits for it.
  struct EventUse {
    StreamId recorder;
    bool host_waits = false, device_waits = false;
  };
  using Key = std::pair<LinkId, uint32_t>;  // link: of copy streams

  CudaSession(CudaDevice& device, const DeviceSessionOptions& options);
  static Key KeyOf(const Stream& stream);
  std::vector<EventUse> UsesOfEvents(const Function& function) const;
  absl::Status CompileStream(const Function& function, const std::vector<EventUse>& uses,
                             const StreamWork& work, CudaDeviceCode* code);
  absl::Status CompileEvent(const Function& function, const std::vector<EventUse>& uses,
                            const DeviceCommand& command, CudaCommand* compiled);
  absl::Status CompileLaunch(const Function& function, const DeviceCommand& command, OpenStream& stream,
                             CudaDeviceCode* code, CudaCommand* compiled);
  absl::Status CompileCopy(const Function& function, const Stream& stream, const DeviceCommand& command,
                           CudaDeviceCode* code, CudaCommand* compiled);
  absl::Status CompileHostCopy(const Function& function, const DeviceCommand& command, int host_side,
                               CudaCommand* compiled, CudaDeviceCode* code);
  // Every address of a GPU must be in the memory of the device that the schedule says.
  absl::Status CheckOwner(const Function& function, const DeviceCommand& command, size_t operand) const;

  CudaDevice& device_;
  CudaProgram& program_;
  CudaShared& shared_;
  const bool is_delayed_;
  std::map<Key, OpenStream> streams_;
  std::unique_ptr<StagingSlots> staging_;
  std::map<DeviceId, std::unique_ptr<PeerStage>> stages_;  // by target
  CudaIssuer issuer_;  // last: its thread ends first
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_SESSION_H_
