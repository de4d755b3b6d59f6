#include "compiler/transfers/TransferPlan.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>

using namespace mlir::autopar;
using ::autopar::DeviceId;
using ::autopar::Link;
using ::autopar::LinkId;
using ::autopar::Machine;

namespace {

/// Times stop here, far beyond any use, so that they never overflow.
constexpr int64_t latestNs = int64_t{1} << 62;

class Booking {
public:
  explicit Booking(const Machine &machine) : machine(machine), engineFreeNs(machine.engines.size(), 0) {}

  PlannedTransfer book(uint32_t value, uint64_t bytes, LinkId id, int64_t readyNs) {
    const Link &link = machine.links[id.index()];
    if (bytes == 0)
      return {value, link.from, link.to, id, readyNs, readyNs};
    int64_t startNs = readyNs;
    for (uint32_t engine : link.engines)
      startNs = std::max(startNs, engineFreeNs[engine]);
    int64_t finishNs = 0;
    if (__builtin_add_overflow(startNs, ::autopar::TransferNs(link, bytes), &finishNs) || finishNs > latestNs)
      finishNs = latestNs;
    startNs = std::min(startNs, finishNs);
    for (uint32_t engine : link.engines)
      engineFreeNs[engine] = finishNs;
    return {value, link.from, link.to, id, startNs, finishNs};
  }

private:
  const Machine &machine;
  std::vector<int64_t> engineFreeNs;
};

/// The distinct (value, device) pairs, each with its earliest need, in order of value and need.
std::vector<uint32_t> firstUses(const TransferDemand &demand) {
  std::vector<uint32_t> order(demand.uses.size());
  std::iota(order.begin(), order.end(), 0);
  auto byPair = [&](uint32_t i) {
    const TransferDemand::Use &use = demand.uses[i];
    return std::tuple(use.value, use.device, use.neededNs, i);
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return byPair(a) < byPair(b); });
  order.erase(std::unique(order.begin(), order.end(),
                          [&](uint32_t a, uint32_t b) {
                            return demand.uses[a].value == demand.uses[b].value &&
                                   demand.uses[a].device == demand.uses[b].device;
                          }),
              order.end());
  auto byNeed = [&](uint32_t i) {
    const TransferDemand::Use &use = demand.uses[i];
    return std::tuple(demand.values[use.value].readyNs, use.value, use.neededNs, use.device);
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return byNeed(a) < byNeed(b); });
  return order;
}

} // namespace

TransferPlan mlir::autopar::planTransfers(const TransferDemand &demand, const Machine &machine) {
  TransferPlan plan;
  Booking booking(machine);
  DeviceId host = machine.HostDevice();
  // Links by ordered pair, so that a use costs constant time.
  size_t devices = machine.devices.size();
  std::vector<LinkId> links(devices * devices);
  for (size_t link = 0; link < machine.links.size(); ++link)
    links[machine.links[link].from.index() * devices + machine.links[link].to.index()] = LinkId(link);
  auto findLink = [&](DeviceId from, DeviceId to) { return links[from.index() * devices + to.index()]; };

  uint32_t current = ~0u;
  int64_t onHostNs = -1; // arrival of the current value's copy on the host; -1: there is none
  for (uint32_t id : firstUses(demand)) {
    const TransferDemand::Use &use = demand.uses[id];
    const TransferDemand::Value &value = demand.values[use.value];
    if (use.value != current) {
      current = use.value;
      onHostNs = value.home == host ? value.readyNs : -1;
    }
    if (use.device == host && onHostNs >= 0)
      continue; // a first hop has brought it already
    if (LinkId direct = findLink(value.home, use.device); direct.valid()) {
      plan.transfers.push_back(booking.book(use.value, value.bytes, direct, value.readyNs));
      if (use.device == host)
        onHostNs = plan.transfers.back().finishNs;
      continue;
    }
    LinkId first = host.valid() ? findLink(value.home, host) : LinkId();
    LinkId second = host.valid() ? findLink(host, use.device) : LinkId();
    if (!first.valid() || !second.valid()) {
      plan.unreachableUse = id;
      return plan;
    }
    if (onHostNs < 0) {
      plan.transfers.push_back(booking.book(use.value, value.bytes, first, value.readyNs));
      onHostNs = plan.transfers.back().finishNs;
    }
    plan.transfers.push_back(booking.book(use.value, value.bytes, second, onHostNs));
  }
  std::stable_sort(plan.transfers.begin(), plan.transfers.end(),
                   [](const PlannedTransfer &a, const PlannedTransfer &b) { return a.value < b.value; });
  return plan;
}

uint32_t mlir::autopar::mostCopyStreams(size_t commands, const Machine &machine) {
  constexpr size_t mostOfALink = 64, mostInAll = 2048, mostClocks = size_t{1} << 24;
  size_t inAll = std::min(mostInAll, mostClocks / std::max<size_t>(commands, 1));
  return std::clamp<size_t>(inAll / std::max<size_t>(machine.links.size(), 1), 1, mostOfALink);
}

void mlir::autopar::assignCopyStreams(std::vector<PlannedTransfer> &transfers, const Machine &machine,
                                      uint32_t mostStreams) {
  std::vector<uint32_t> order(transfers.size());
  std::iota(order.begin(), order.end(), 0);
  auto byStart = [&](uint32_t i) {
    const PlannedTransfer &transfer = transfers[i];
    return std::tuple(transfer.link, transfer.startNs, transfer.finishNs, i);
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return byStart(a) < byStart(b); });
  using Stream = std::pair<int64_t, uint32_t>; // when it is free, number
  std::priority_queue<Stream, std::vector<Stream>, std::greater<>> streams;
  LinkId current;
  for (uint32_t id : order) {
    PlannedTransfer &transfer = transfers[id];
    if (!machine.links[transfer.link.index()].engines.empty())
      continue;
    if (transfer.link != current) {
      current = transfer.link;
      streams = {};
    }
    transfer.stream = static_cast<uint32_t>(streams.size());
    if (!streams.empty() && (streams.top().first <= transfer.startNs || streams.size() >= mostStreams)) {
      transfer.stream = streams.top().second;
      streams.pop();
    }
    streams.emplace(transfer.finishNs, transfer.stream);
  }
}
