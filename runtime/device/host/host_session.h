// The streams of a cpu or virtual device in one session.
#ifndef AUTOPAR_RUNTIME_DEVICE_HOST_HOST_SESSION_H_
#define AUTOPAR_RUNTIME_DEVICE_HOST_HOST_SESSION_H_

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "runtime/device/host/host_device.h"
#include "runtime/device/host/stream_thread.h"

namespace autopar {

class HostSession : public DeviceSession {
 public:
  // Starts the threads: one per stream, and one per core beyond the compute streams, which only
  // helps with tiles.
  static absl::StatusOr<std::unique_ptr<HostSession>> Open(const HostDevice& device,
                                                           const DeviceSessionOptions& options);

  ~HostSession() override;

  Bell* StreamBell(const Stream& stream) override;
  absl::StatusOr<std::unique_ptr<DeviceFunction>> Prepare(const Function& function,
                                                          std::vector<StreamWork> work) override;

 private:
  HostSession(const HostDevice& device, const DeviceSessionOptions& options);
  // The link of a copy stream, and the number.
  using Key = std::pair<LinkId, uint32_t>;
  static Key StreamKey(const Stream& stream);
  void AddThread(StreamThreadOptions options);
  bool SharesTiles(const HostKernel& kernel, const Stream& stream) const;

  const Schedule& schedule_;
  HostThreadGroup group_;
  std::vector<std::unique_ptr<StreamThread>> threads_;
  std::map<Key, StreamThread*> streams_;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_HOST_HOST_SESSION_H_
