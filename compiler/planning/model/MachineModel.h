// The machine as the planners use it: routes between devices and overheads, looked up in constant
// time.
#ifndef AUTOPAR_COMPILER_PLANNING_MODEL_MACHINEMODEL_H
#define AUTOPAR_COMPILER_PLANNING_MODEL_MACHINEMODEL_H

#include <vector>

#include "compiler/planning/model/TaskGraph.h"
#include "runtime/machine/machine.h"

namespace autopar::planning {

/// The way between two different devices: one link, or two that meet at the host device. No link:
/// no way.
struct Route {
  LinkId first, second;
  bool exists() const { return first.valid(); }
  bool viaHost() const { return second.valid(); }
};

class MachineModel {
public:
  /// Keeps a reference to `machine`. `maxStreams` further limits the streams of each device; 0: no
  /// limit.
  MachineModel(const Machine &machine, uint32_t maxStreams);

  size_t deviceCount() const { return machine.devices.size(); }
  const Device &device(DeviceId id) const { return machine.devices[id.index()]; }
  const Link &link(LinkId id) const { return machine.links[id.index()]; }
  const Machine &description() const { return machine; }
  /// Invalid without a device of kind cpu.
  DeviceId host() const { return hostDevice; }
  /// Where a result has to go; invalid: it stays where it is.
  DeviceId destination(const ProgramResult &result) const {
    return result.device.valid() ? result.device : hostDevice;
  }
  uint32_t streams(DeviceId id) const { return streamLimit[id.index()]; }
  const Route &route(DeviceId from, DeviceId to) const {
    return routes[from.index() * deviceCount() + to.index()];
  }
  /// Time on the route without queueing; 0 on the same device; -1 without a route.
  int64_t routeNs(DeviceId from, DeviceId to, uint64_t bytes) const;
  /// Mean over all ordered pairs of different devices with a route.
  double meanTransferNs(uint64_t bytes) const { return meanLatencyNs + meanNsPerByte * bytes; }
  /// Some pair of devices has no route.
  bool isPartitioned() const { return partitioned; }

private:
  const Machine &machine;
  DeviceId hostDevice;
  std::vector<Route> routes;
  std::vector<uint32_t> streamLimit;
  double meanLatencyNs = 0;
  double meanNsPerByte = 0;
  bool partitioned = false;
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_MODEL_MACHINEMODEL_H
