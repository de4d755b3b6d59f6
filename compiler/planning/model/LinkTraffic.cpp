// Bytes that must enter or leave a device, over an engine that all of them share.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "compiler/planning/bounds/BoundModel.h"
#include "compiler/planning/bounds/LowerBound.h"

namespace autopar::planning {

LowerBound linkTrafficBound(const TaskGraph &graph, const MachineModel &machine) {
  const Machine &description = machine.description();
  LowerBound best{"link traffic", 0};
  // Per task the only device that may run it, if there is just one.
  std::vector<DeviceId> only(graph.taskCount());
  for (size_t task = 0; task < graph.taskCount(); ++task) {
    size_t choices = 0;
    for (size_t device = 0; device < machine.deviceCount(); ++device)
      if (graph.mayRunOn(TaskId(task), DeviceId(device))) {
        only[task] = DeviceId(device);
        ++choices;
      }
    if (choices != 1)
      only[task] = DeviceId();
  }
  // An engine that all links into (out of) a device share carries everything that must get in
  // (out).
  for (bool incoming : {true, false}) {
    std::vector<std::vector<LinkId>> links(machine.deviceCount());
    for (size_t link = 0; link < description.links.size(); ++link)
      links[(incoming ? description.links[link].to : description.links[link].from).index()]
          .push_back(LinkId(link));
    std::vector<uint32_t> engine(machine.deviceCount(), std::numeric_limits<uint32_t>::max());
    for (size_t device = 0; device < links.size(); ++device)
      for (uint32_t candidate :
           links[device].empty() ? std::vector<uint32_t>() : machine.link(links[device][0]).engines)
        if (std::all_of(links[device].begin(), links[device].end(), [&](LinkId link) {
              const auto &engines = machine.link(link).engines;
              return std::find(engines.begin(), engines.end(), candidate) != engines.end();
            }))
          engine[device] = candidate;
    std::vector<int64_t> traffic(machine.deviceCount(), 0);
    std::vector<DeviceId> needed;
    for (size_t index = 0; index < graph.valueCount(); ++index) {
      const Value &value = graph.value(ValueId(index));
      DeviceId home = value.producer.valid() ? only[value.producer.index()] : value.residentDevice;
      if (!value.needsTransfer() || !home.valid())
        continue;
      needed.clear();
      for (TaskId user : graph.users(ValueId(index)))
        if (DeviceId device = only[user.index()]; device.valid() && device != home)
          needed.push_back(device);
      for (const ProgramResult &result : graph.resultsOf(ValueId(index)))
        if (DeviceId to = machine.destination(result); to.valid() && to != home)
          needed.push_back(to);
      std::sort(needed.begin(), needed.end());
      needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
      if (!incoming && !needed.empty())
        needed.assign(1, home); // leaves once at least
      for (DeviceId device : needed) {
        int64_t fastest = kNever;
        for (LinkId link : links[device.index()])
          fastest = std::min(fastest, TransferNs(machine.link(link), value.bytes));
        if (fastest < kNever)
          traffic[device.index()] += fastest;
      }
    }
    for (size_t device = 0; device < traffic.size(); ++device)
      if (engine[device] < description.engines.size() && traffic[device] > best.ns)
        best = {absl::StrCat("link traffic of engine '", description.engines[engine[device]], "'"),
                traffic[device]};
  }
  return best;
}

} // namespace autopar::planning
