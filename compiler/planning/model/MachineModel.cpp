#include "compiler/planning/model/MachineModel.h"

#include <algorithm>

namespace autopar::planning {

MachineModel::MachineModel(const Machine &machine, uint32_t maxStreams)
    : machine(machine), hostDevice(machine.HostDevice()) {
  const size_t count = machine.devices.size();
  // More streams than this gain nothing and would make the share of one stream too coarse.
  constexpr uint32_t kMostStreams = 256;
  for (const Device &device : machine.devices) {
    uint32_t limit = std::clamp(device.streams, 1u, kMostStreams);
    streamLimit.push_back(maxStreams == 0 ? limit : std::min(limit, maxStreams));
  }
  std::vector<LinkId> direct(count * count);
  for (size_t index = 0; index < machine.links.size(); ++index) {
    const Link &link = machine.links[index];
    direct[link.from.index() * count + link.to.index()] = LinkId(index);
  }
  routes.resize(count * count);
  size_t pairs = 0;
  for (size_t from = 0; from < count; ++from) {
    for (size_t to = 0; to < count; ++to) {
      if (from == to)
        continue;
      Route &route = routes[from * count + to];
      route.first = direct[from * count + to];
      if (!route.first.valid() && hostDevice.valid()) {
        LinkId up = direct[from * count + hostDevice.index()];
        LinkId down = direct[hostDevice.index() * count + to];
        if (up.valid() && down.valid())
          route = {up, down};
      }
      if (!route.exists()) {
        partitioned = true;
        continue;
      }
      ++pairs;
      for (LinkId id : {route.first, route.second}) {
        if (!id.valid())
          continue;
        meanLatencyNs += static_cast<double>(link(id).latency_ns);
        meanNsPerByte += 1e9 / static_cast<double>(link(id).bytes_per_s);
      }
    }
  }
  if (pairs > 0) {
    meanLatencyNs /= static_cast<double>(pairs);
    meanNsPerByte /= static_cast<double>(pairs);
  }
}

int64_t MachineModel::routeNs(DeviceId from, DeviceId to, uint64_t bytes) const {
  if (from == to)
    return 0;
  const Route &way = route(from, to);
  if (!way.exists())
    return -1;
  int64_t time = TransferNs(link(way.first), bytes);
  return way.viaHost() ? time + TransferNs(link(way.second), bytes) : time;
}

} // namespace autopar::planning
