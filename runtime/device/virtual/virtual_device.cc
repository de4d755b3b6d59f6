#include "runtime/device/virtual/virtual_device.h"

#include <algorithm>

namespace autopar {

int VirtualDevice::WorkerCore(uint32_t worker) const {
  int32_t first = description().first_core;
  if (first < 0) return -1;
  return first + static_cast<int>(worker % std::max(1u, description().cores));
}

}  // namespace autopar
