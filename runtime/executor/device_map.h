// Which physical device stands for each device of a schedule.
#ifndef AUTOPAR_RUNTIME_EXECUTOR_DEVICE_MAP_H_
#define AUTOPAR_RUNTIME_EXECUTOR_DEVICE_MAP_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/machine/machine.h"

namespace autopar {

// The machine's devices with `device_map` applied (LoadOptions::device_map): a mapped device keeps
// its name and becomes what it is mapped to. "virtual:K" is one core, number K of this host.
// InvalidArgument for an unknown device, an unknown target or a device that cannot be replaced.
absl::StatusOr<std::vector<Device>> MapDevices(const Machine& machine,
                                               const std::map<std::string, std::string>& device_map);

// Which GPU of this machine each CUDA device of MapDevices' answer runs on, by DeviceId; 0 for others. One
// that is mapped to "cuda:K" gets number K, the others number 0, 1, ... in the order of the machine.
std::vector<uint32_t> CudaOrdinals(const std::vector<Device>& devices,
                                   const std::map<std::string, std::string>& device_map);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_EXECUTOR_DEVICE_MAP_H_
