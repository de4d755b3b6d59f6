#include "runtime/device/host/host_device.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/device/host/host_memory.h"
#include "runtime/device/host/host_session.h"

namespace autopar {
namespace {

// Gives its bytes back to the device's account when it is freed.
class CountedMemory : public DeviceMemory {
 public:
  CountedMemory(std::unique_ptr<DeviceMemory> memory, std::atomic<uint64_t>* account)
      : memory_(std::move(memory)), account_(account) {}
  ~CountedMemory() override { account_->fetch_sub(memory_->bytes()); }
  std::byte* base() const override { return memory_->base(); }
  uint64_t bytes() const override { return memory_->bytes(); }

 private:
  std::unique_ptr<DeviceMemory> memory_;
  std::atomic<uint64_t>* account_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceMemory>> HostDevice::Allocate(uint64_t bytes) {
  uint64_t limit = description_.memory_bytes;
  uint64_t before = allocated_bytes_.fetch_add(bytes);
  if (limit > 0 && (bytes > limit || before > limit - bytes)) {
    allocated_bytes_.fetch_sub(bytes);
    return absl::ResourceExhaustedError(absl::StrCat(
        "the memory of ", description_.name, ": ", bytes, " bytes are needed, but the device has ",
        limit, " and ", before, " of them are taken; use a device with more memory"));
  }
  auto memory = AllocateHostMemory(bytes, absl::StrCat("the memory of ", description_.name));
  if (!memory.ok()) {
    allocated_bytes_.fetch_sub(bytes);
    return memory.status();
  }
  return std::make_unique<CountedMemory>(std::move(memory).value(), &allocated_bytes_);
}

absl::Status HostDevice::CopyIn(void* device, const void* host, uint64_t bytes) {
  if (bytes > 0) std::memcpy(device, host, bytes);
  return absl::OkStatus();
}

absl::Status HostDevice::CopyOut(void* host, const void* device, uint64_t bytes) {
  if (bytes > 0) std::memcpy(host, device, bytes);
  return absl::OkStatus();
}

absl::StatusOr<const PreparedKernel*> HostDevice::PrepareKernel(KernelId kernel) {
  return kernels_->Prepare(kernel);
}

absl::StatusOr<std::unique_ptr<DeviceSession>> HostDevice::OpenSession(
    const DeviceSessionOptions& options) {
  AUTOPAR_ASSIGN_OR_RETURN(std::unique_ptr<DeviceSession> session,
                           HostSession::Open(*this, options));
  return session;
}

}  // namespace autopar
