// An emulated GPU: memory of its own (in this process, but reached by copies alone), its own streams
// and copy engines, backed by a share of the host's cores. Its tiles are run by its own threads only.
#ifndef AUTOPAR_RUNTIME_DEVICE_VIRTUAL_VIRTUAL_DEVICE_H_
#define AUTOPAR_RUNTIME_DEVICE_VIRTUAL_VIRTUAL_DEVICE_H_

#include "runtime/device/host/host_device.h"

namespace autopar {

class VirtualDevice : public HostDevice {
 public:
  using HostDevice::HostDevice;
  int WorkerCore(uint32_t worker) const override;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_VIRTUAL_VIRTUAL_DEVICE_H_
