// Tests of kernels: arenas are filled with a pattern before a call; bytes that no command may write
// must still hold it afterwards. Private to the executor.
#ifndef AUTOPAR_RUNTIME_EXECUTOR_POISON_H_
#define AUTOPAR_RUNTIME_EXECUTOR_POISON_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "runtime/device/device.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

// Pattern bytes before and after each arena that belong to nobody.
inline constexpr uint64_t kPoisonMargin = 4096;

// The arena of one device as one function uses it.
class PoisonedArena {
 public:
  // `arena_bytes` of the session's arena lie behind kPoisonMargin bytes of `memory`, and as many
  // follow. All of them outlive this object.
  PoisonedArena(const Schedule& schedule, const Function& function, DeviceId device,
                DeviceBackend& backend, DeviceMemory& memory, uint64_t arena_bytes);

  // Writes the pattern everywhere. As f32 each word of it is a NaN, so that reading what was never
  // written shows; words differ, so that misplaced copies of it show too.
  absl::Status Fill();
  // DataLoss, naming the first bytes that changed and the nearest command, if any did.
  absl::Status Verify();

 private:
  void Cover(const Region& region);
  absl::Status Describe(uint64_t begin, uint64_t end) const;

  const Schedule& schedule_;
  const Function& function_;
  DeviceId device_;
  DeviceBackend& backend_;
  DeviceMemory& memory_;
  uint64_t arena_bytes_;
  std::vector<bool> writable_;  // by byte of memory_, margins included
  std::vector<std::byte> expected_;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_EXECUTOR_POISON_H_
