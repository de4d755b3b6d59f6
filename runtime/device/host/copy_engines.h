// The emulated copy engines of a session: copies on links that share an engine queue for it.
#ifndef AUTOPAR_RUNTIME_DEVICE_HOST_COPY_ENGINES_H_
#define AUTOPAR_RUNTIME_DEVICE_HOST_COPY_ENGINES_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/machine/machine.h"

namespace autopar {

class CopyEngines {
 public:
  explicit CopyEngines(const Machine& machine)
      : machine_(&machine), free_ns_(machine.engines.size(), 0) {}

  struct Slot {
    int64_t start_ns = 0, finish_ns = 0;  // NowNs()
  };
  // Takes all engines of `link` for a copy of `bytes` that could begin at `ready_ns`: it starts when
  // the last of them is free, at the very end of the copy before, and lasts TransferNs. Any thread;
  // copies are served in the order in which they ask.
  Slot Reserve(LinkId link, uint64_t bytes, int64_t ready_ns) {
    const Link& description = machine_->links[link.index()];
    std::lock_guard<std::mutex> lock(mutex_);
    Slot slot{.start_ns = ready_ns};
    for (uint32_t engine : description.engines) {
      if (free_ns_[engine] > slot.start_ns) slot.start_ns = free_ns_[engine];
    }
    slot.finish_ns = slot.start_ns + TransferNs(description, bytes);
    for (uint32_t engine : description.engines) free_ns_[engine] = slot.finish_ns;
    return slot;
  }

 private:
  const Machine* machine_;  // not owned
  std::mutex mutex_;
  std::vector<int64_t> free_ns_;  // guarded by mutex_; when each engine ends its last copy
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_HOST_COPY_ENGINES_H_
