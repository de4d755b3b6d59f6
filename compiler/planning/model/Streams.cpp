#include "compiler/planning/model/Streams.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>

namespace autopar::planning {

namespace {

/// Streams of one device while time passes.
struct DeviceStreams {
  using Busy = std::pair<int64_t, uint32_t>; // finish, stream
  std::priority_queue<Busy, std::vector<Busy>, std::greater<Busy>> busy;
  std::set<uint32_t> free;
  uint32_t count = 0;
  int64_t busyUntil = 0, busyNs = 0;
};

/// Stream of the operand of `task` that is made last on the same device; kNoGroup without one.
uint32_t preferredStream(const TaskGraph &graph, const Plan &plan, TaskId task) {
  uint32_t stream = kNoGroup;
  int64_t latest = -1;
  const TaskPlacement &place = plan.tasks[task.index()];
  for (ValueId operand : graph.operands(task)) {
    TaskId producer = graph.value(operand).producer;
    if (!producer.valid())
      continue;
    const TaskPlacement &made = plan.tasks[producer.index()];
    if (made.device == place.device && made.finishNs > latest) {
      latest = made.finishNs;
      stream = made.stream;
    }
  }
  return stream;
}

} // namespace

void assignStreams(const TaskGraph &graph, Plan &plan) {
  std::vector<uint32_t> topologicalPosition(plan.tasks.size());
  for (uint32_t position = 0; position < graph.taskCount(); ++position)
    topologicalPosition[graph.topologicalOrder()[position].index()] = position;
  std::vector<TaskId> order(graph.topologicalOrder().begin(), graph.topologicalOrder().end());
  std::sort(order.begin(), order.end(), [&](TaskId a, TaskId b) {
    const TaskPlacement &pa = plan.tasks[a.index()], &pb = plan.tasks[b.index()];
    if (pa.startNs != pb.startNs)
      return pa.startNs < pb.startNs;
    if (pa.finishNs != pb.finishNs)
      return pa.finishNs < pb.finishNs;
    return topologicalPosition[a.index()] < topologicalPosition[b.index()];
  });
  std::vector<DeviceStreams> devices(graph.deviceCount());
  for (TaskId task : order) {
    TaskPlacement &place = plan.tasks[task.index()];
    DeviceStreams &device = devices[place.device.index()];
    device.busyNs +=
        std::max<int64_t>(0, place.finishNs - std::max(place.startNs, device.busyUntil));
    device.busyUntil = std::max(device.busyUntil, place.finishNs);
    while (!device.busy.empty() && device.busy.top().first <= place.startNs) {
      device.free.insert(device.busy.top().second);
      device.busy.pop();
    }
    if (device.free.empty())
      device.free.insert(device.count++);
    auto chosen = device.free.find(preferredStream(graph, plan, task));
    if (chosen == device.free.end())
      chosen = device.free.begin();
    place.stream = *chosen;
    device.free.erase(chosen);
    device.busy.push({place.finishNs, place.stream});
  }
  plan.streamsUsed.clear();
  plan.busyNs.clear();
  for (const DeviceStreams &device : devices) {
    plan.streamsUsed.push_back(device.count);
    plan.busyNs.push_back(device.busyNs);
  }
}

} // namespace autopar::planning
