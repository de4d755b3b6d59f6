// The host's own cores. Streams run anywhere, or on a core each if the machine file names a first one.
#ifndef AUTOPAR_RUNTIME_DEVICE_CPU_CPU_DEVICE_H_
#define AUTOPAR_RUNTIME_DEVICE_CPU_CPU_DEVICE_H_

#include "runtime/device/host/host_device.h"

namespace autopar {

class CpuDevice : public HostDevice {
 public:
  using HostDevice::HostDevice;
  int WorkerCore(uint32_t worker) const override;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_CPU_CPU_DEVICE_H_
