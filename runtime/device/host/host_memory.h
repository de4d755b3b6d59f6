// Memory of devices that live in this process's memory (cpu, virtual).
#ifndef AUTOPAR_RUNTIME_DEVICE_HOST_HOST_MEMORY_H_
#define AUTOPAR_RUNTIME_DEVICE_HOST_HOST_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"

namespace autopar {

// Bytes that may be allocated before the kernel starts to kill processes: what /proc/meminfo calls
// available, within the limit of the process's control group. UINT64_MAX where nothing says so.
uint64_t AvailableHostBytes();

// Fresh pages, which the kernel hands out when they are first touched; large ones where it can. An
// allocation beyond AvailableHostBytes() is refused: granting it would end in a killed process.
// `what` says in the error whose memory it is: "the memory of gpu0".
absl::StatusOr<std::unique_ptr<DeviceMemory>> AllocateHostMemory(uint64_t bytes,
                                                                 const std::string& what);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_HOST_HOST_MEMORY_H_
