#include "compiler/planning/model/TightenPlan.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/planning/model/MemoryUse.h"
#include "compiler/planning/model/Streams.h"

namespace autopar::planning {

namespace {

/// Who holds the capacity of one device, by the finish of the tasks so far. A task comes after
/// those from whom it takes its share, as in compiler/waits/CapacityOrder.h.
class Holders {
public:
  Holders() { pieces[0] = kFullOccupancy; }

  /// Earliest time from `ready` on from which `share` is free; takes it until that time +
  /// `duration`.
  int64_t take(int64_t ready, int64_t duration, uint32_t share) {
    int64_t start = ready;
    uint32_t left = kFullOccupancy - share; // that others may hold at the start
    for (auto at = pieces.rbegin(); at != pieces.rend() && at->first > ready; ++at) {
      if (at->second > left) {
        start = at->first;
        break;
      }
      left -= at->second;
    }
    // The latest come first, so that what has been free for long stays free for a task that could
    // start earlier.
    auto at = pieces.upper_bound(start);
    for (uint32_t missing = share; missing > 0;) {
      --at; // there is enough up to `start`
      const uint32_t taken = std::min(missing, at->second);
      missing -= taken;
      at->second -= taken;
      if (at->second == 0)
        at = pieces.erase(at);
    }
    pieces[start + duration] += share;
    return start;
  }

private:
  std::map<int64_t, uint32_t> pieces; // finish -> units
};

class Tightener {
public:
  Tightener(const TaskGraph &graph, const MachineModel &machine, Plan &plan)
      : graph(graph), machine(machine), plan(plan), position(graph.taskCount()),
        transferBegin(graph.valueCount() + 1, 0), transferOf(plan.transfers.size()) {
    for (uint32_t at = 0; at < graph.taskCount(); ++at)
      position[graph.topologicalOrder()[at].index()] = at;
    for (const PlannedTransfer &transfer : plan.transfers)
      ++transferBegin[transfer.value.index() + 1];
    for (size_t value = 0; value < graph.valueCount(); ++value)
      transferBegin[value + 1] += transferBegin[value];
    std::vector<uint32_t> next(transferBegin.begin(), transferBegin.end() - 1);
    for (uint32_t id = 0; id < plan.transfers.size(); ++id)
      transferOf[next[plan.transfers[id].value.index()]++] = id;
  }

  /// Whether something has moved.
  bool pass() {
    std::vector<Item> items = inOrder();
    devices.assign(machine.deviceCount(), Holders());
    engineFreeNs.assign(machine.description().engines.size(), 0);
    bool moved = false;
    for (const Item &item : items)
      moved |= item.isTransfer ? move(plan.transfers[item.id]) : moveTask(TaskId(size_t{item.id}));
    return moved;
  }

private:
  /// A task or a transfer.
  struct Item {
    int64_t startNs, finishNs;
    bool isTransfer;
    uint32_t rank; // among equal ones: topological, for tasks without duration
    uint32_t id;
  };

  std::vector<Item> inOrder() const {
    std::vector<Item> items;
    items.reserve(plan.tasks.size() + plan.transfers.size());
    for (uint32_t id = 0; id < plan.tasks.size(); ++id)
      items.push_back({plan.tasks[id].startNs, plan.tasks[id].finishNs, false, position[id], id});
    for (uint32_t id = 0; id < plan.transfers.size(); ++id)
      items.push_back({plan.transfers[id].startNs, plan.transfers[id].finishNs, true, id, id});
    std::sort(items.begin(), items.end(), [](const Item &a, const Item &b) {
      return std::tie(a.startNs, a.finishNs, a.isTransfer, a.rank) <
             std::tie(b.startNs, b.finishNs, b.isTransfer, b.rank);
    });
    return items;
  }

  /// When `value` is on `device`, `waitNs` later if it comes from elsewhere.
  int64_t presentNs(ValueId id, DeviceId device, int64_t waitNs) const {
    const Value &value = graph.value(id);
    if (value.producer.valid()) {
      const TaskPlacement &made = plan.tasks[value.producer.index()];
      if (made.device == device)
        return made.finishNs;
      if (!value.needsTransfer())
        return made.finishNs + waitNs;
    }
    for (uint32_t at = transferBegin[id.index()]; at < transferBegin[id.index() + 1]; ++at)
      if (const PlannedTransfer &transfer = plan.transfers[transferOf[at]]; transfer.to == device)
        return transfer.finishNs + waitNs;
    return 0; // there from the start
  }

  template <class Placed> static bool shift(Placed &placed, int64_t startNs) {
    const bool moved = startNs != placed.startNs;
    placed.finishNs += startNs - placed.startNs;
    placed.startNs = startNs;
    return moved;
  }

  bool moveTask(TaskId task) {
    TaskPlacement &place = plan.tasks[task.index()];
    const int64_t waitNs = machine.device(place.device).wait_ns;
    int64_t readyNs = 0;
    for (ValueId operand : graph.operands(task))
      readyNs = std::max(readyNs, presentNs(operand, place.device, waitNs));
    // No task takes less of a device than one stream of it.
    const uint32_t share = std::max(kFullOccupancy / machine.streams(place.device),
                                    graph.occupancy(task, place.device));
    return shift(
        place, devices[place.device.index()].take(readyNs, place.finishNs - place.startNs, share));
  }

  bool move(PlannedTransfer &transfer) {
    int64_t startNs = presentNs(transfer.value, transfer.from, /*waitNs=*/0);
    const std::vector<uint32_t> &engines = machine.link(transfer.link).engines;
    for (uint32_t engine : engines)
      startNs = std::max(startNs, engineFreeNs[engine]);
    const bool moved = shift(transfer, startNs);
    for (uint32_t engine : engines)
      engineFreeNs[engine] = transfer.finishNs;
    return moved;
  }

  const TaskGraph &graph;
  const MachineModel &machine;
  Plan &plan;
  std::vector<uint32_t> position;      // by task, topological
  std::vector<uint32_t> transferBegin; // by value, into transferOf
  std::vector<uint32_t> transferOf;    // transfers by value
  std::vector<Holders> devices;
  std::vector<int64_t> engineFreeNs;
};

} // namespace

void tightenPlan(const TaskGraph &graph, const MachineModel &machine, Plan &plan) {
  Plan tight = plan;
  Tightener tightener(graph, machine, tight);
  if (!tightener.pass())
    return;
  while (tightener.pass()) {
  }
  if (fitsMemory(machine, peakBytes(graph, machine, plan)) &&
      !fitsMemory(machine, peakBytes(graph, machine, tight)))
    return;
  plan = std::move(tight);
  plan.makespanNs = 0;
  for (const TaskPlacement &place : plan.tasks)
    plan.makespanNs = std::max(plan.makespanNs, place.finishNs);
  for (const PlannedTransfer &transfer : plan.transfers)
    plan.makespanNs = std::max(plan.makespanNs, transfer.finishNs);
  std::sort(plan.transfers.begin(), plan.transfers.end(),
            [](const PlannedTransfer &a, const PlannedTransfer &b) {
              return std::tie(a.startNs, a.value, a.to) < std::tie(b.startNs, b.value, b.to);
            });
  assignStreams(graph, plan);
}

} // namespace autopar::planning
