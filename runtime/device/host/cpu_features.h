// What this processor can do, in the kernel's words.
#ifndef AUTOPAR_RUNTIME_DEVICE_HOST_CPU_FEATURES_H_
#define AUTOPAR_RUNTIME_DEVICE_HOST_CPU_FEATURES_H_

#include <string>
#include <vector>

namespace autopar {

// Those of `features` (names as in /proc/cpuinfo) that this processor lacks.
std::vector<std::string> MissingCpuFeatures(const std::vector<std::string>& features);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_HOST_CPU_FEATURES_H_
