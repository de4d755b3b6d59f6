// Lays a problem out in the arrays that Evaluator.cpp reads.
#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/planning/search/Evaluator.h"

namespace autopar::planning {

Evaluator::Evaluator(const Problem &problem)
    : problem(problem), numDevices(problem.machine.deviceCount()) {
  for (const Link &link : problem.machine.description().links)
    someEngine |= !link.engines.empty();
  for (size_t device = 0; device < numDevices; ++device)
    waitTicks.push_back(problem.machine.device(DeviceId(device)).wait_ns << problem.table.shift());
  layOutRoutes();
  layOutEdges();
  layOutRows();
  layOutTails();
  frontier.resize(numDevices);
  bindings.resize(problem.graph.taskCount());
  lastOn.resize(numDevices);
  if (someEngine) {
    layOutOperands();
    layOutQueues();
  }
}

/// Pairs of devices between which every value takes equally long are of one kind.
void Evaluator::layOutRoutes() {
  const MachineModel &machine = problem.machine;
  using Speed = std::pair<uint64_t, int64_t>;
  // Exists, first hop, second hop, wait at the end.
  using Kind = std::tuple<bool, Speed, Speed, int64_t>;
  std::map<Kind, uint32_t> kinds;
  auto speedOf = [&](LinkId link) {
    return link.valid() ? Speed(machine.link(link).bytes_per_s, machine.link(link).latency_ns)
                        : Speed();
  };
  routeKind.assign(numDevices * numDevices, 0);
  exampleOfKind.push_back({DeviceId(size_t{0}), DeviceId(size_t{0})});
  for (size_t from = 0; from < numDevices; ++from)
    for (size_t to = 0; to < numDevices; ++to) {
      if (from == to)
        continue;
      const Route &route = machine.route(DeviceId(from), DeviceId(to));
      Kind kind(route.exists(), speedOf(route.first), speedOf(route.second), waitTicks[to]);
      auto [entry, isNew] = kinds.emplace(kind, uint32_t(exampleOfKind.size()));
      if (isNew) {
        if (weightKind == 0 && route.exists())
          weightKind = exampleOfKind.size();
        exampleOfKind.push_back({DeviceId(from), DeviceId(to)});
      }
      routeKind[from * numDevices + to] = entry->second;
    }
  routeKinds = exampleOfKind.size();
}

int64_t Evaluator::routeTicks(ValueId value, DeviceId from, DeviceId to) const {
  int64_t ns = problem.machine.routeNs(from, to, problem.graph.value(value).bytes);
  return ns < 0 ? kNever : ns << problem.table.shift();
}

int64_t Evaluator::delayTicks(ValueId value, DeviceId from, DeviceId to) const {
  if (from == to)
    return 0;
  int64_t ticks = problem.graph.value(value).needsTransfer() ? routeTicks(value, from, to) : 0;
  return ticks >= kNever ? kNever : ticks + waitTicks[to.index()];
}

uint32_t Evaluator::delayRowOf(std::span<const ValueId> values) {
  const uint32_t begin = uint32_t(delays.size());
  for (auto [from, to] : exampleOfKind) {
    int64_t longest = 0;
    for (ValueId value : values)
      longest = std::max(longest, delayTicks(value, from, to));
    delays.push_back(longest);
  }
  return begin;
}

void Evaluator::layOutEdges() {
  const TaskGraph &graph = problem.graph;
  std::vector<uint32_t> rowOfValue(graph.valueCount(), kNone);
  std::vector<ValueId> made;
  edgeBegin.push_back(0);
  outgoingBegin.assign(graph.taskCount() + 1, 0);
  for (size_t user = 0; user < graph.taskCount(); ++user) {
    made.clear();
    for (ValueId operand : graph.operands(TaskId(user)))
      if (graph.value(operand).producer.valid())
        made.push_back(operand);
    std::stable_sort(made.begin(), made.end(), [&](ValueId a, ValueId b) {
      return graph.value(a).producer < graph.value(b).producer;
    });
    for (size_t begin = 0, end; begin < made.size(); begin = end) {
      const TaskId producer = graph.value(made[begin]).producer;
      for (end = begin + 1; end < made.size() && graph.value(made[end]).producer == producer;)
        ++end;
      uint32_t row;
      if (end == begin + 1) {
        uint32_t &known = rowOfValue[made[begin].index()];
        if (known == kNone)
          known = delayRowOf({&made[begin], 1});
        row = known;
      } else {
        row = delayRowOf({&made[begin], end - begin});
      }
      edges.push_back({producer.value, uint32_t(user), row});
      ++outgoingBegin[producer.index() + 1];
    }
    edgeBegin.push_back(uint32_t(edges.size()));
  }
  for (size_t task = 0; task < graph.taskCount(); ++task)
    outgoingBegin[task + 1] += outgoingBegin[task];
  std::vector<uint32_t> next(outgoingBegin.begin(), outgoingBegin.end() - 1);
  outgoing.resize(edges.size());
  for (size_t edge = 0; edge < edges.size(); ++edge)
    outgoing[next[edges[edge].producer]++] = uint32_t(edge);
}

void Evaluator::layOutRows() {
  const TaskGraph &graph = problem.graph;
  shared.assign(numDevices, 0);
  for (size_t task = 0; task < graph.taskCount(); ++task)
    for (size_t at = 0; at < numDevices; ++at) {
      const DeviceId device(at);
      Row row{problem.table.duration(TaskId(task), device), 0, 0, 0};
      if (row.duration < 0)
        row.duration = kNever;
      else if (problem.table.share(TaskId(task), device) < kFullOccupancy)
        shared[at] = someShared = true;
      for (ValueId operand : graph.operands(TaskId(task))) {
        const Value &value = graph.value(operand);
        if (!value.producer.valid() && value.residentDevice.valid() && value.needsTransfer())
          row.release = std::max(row.release, delayTicks(operand, value.residentDevice, device));
      }
      for (ValueId value : graph.produced(TaskId(task)))
        for (const ProgramResult &result : graph.resultsOf(value))
          if (DeviceId to = problem.machine.destination(result);
              to.valid() && graph.value(value).needsTransfer())
            row.home = std::max(row.home, to == device ? 0 : routeTicks(value, device, to));
      rows.push_back(row);
    }
  for (const ProgramResult &result : graph.programResults()) {
    const Value &value = graph.value(result.value);
    DeviceId from = value.residentDevice, to = problem.machine.destination(result);
    if (!value.producer.valid() && value.needsTransfer() && from.valid() && to.valid() &&
        from != to)
      inputsHome = std::max(inputsHome, routeTicks(result.value, from, to));
  }
  for (size_t device = 0; device < numDevices; ++device)
    profiles.emplace_back(kFullOccupancy, problem.table.shortest(DeviceId(device)));
}

/// Backwards: what must follow a task, at best, when nothing queues.
void Evaluator::layOutTails() {
  std::span<const TaskId> order = problem.graph.topologicalOrder();
  for (Row &row : rows)
    row.tail = row.home;
  for (size_t position = order.size(); position-- > 0;) {
    const TaskId user = order[position];
    for (const Edge &edge : edgesInto(user))
      for (size_t from = 0; from < numDevices; ++from) {
        int64_t least = kNever;
        for (size_t to = 0; to < numDevices; ++to) {
          const Row &next = row(user, DeviceId(to));
          if (next.duration < kNever)
            least = std::min(least,
                             delay(edge, DeviceId(from), DeviceId(to)) + next.duration + next.tail);
        }
        int64_t &tail = rows[edge.producer * numDevices + from].tail;
        tail = std::max(tail, least);
      }
  }
}

void Evaluator::layOutOperands() {
  const TaskGraph &graph = problem.graph;
  operandBegin.push_back(0);
  for (size_t task = 0; task < graph.taskCount(); ++task) {
    for (ValueId operand : graph.operands(TaskId(task))) {
      const Value &value = graph.value(operand);
      if (value.producer.valid() || (value.residentDevice.valid() && value.needsTransfer()))
        operands.push_back({value.producer.value, operand.value, value.residentDevice.value,
                            value.needsTransfer()});
    }
    operandBegin.push_back(uint32_t(operands.size()));
  }
  for (const ProgramResult &result : graph.programResults()) {
    const Value &value = graph.value(result.value);
    DeviceId to = problem.machine.destination(result);
    if (value.needsTransfer() && to.valid() &&
        (value.producer.valid() || value.residentDevice.valid()))
      results.push_back(
          {result.value.value, value.producer.value, value.residentDevice.value, to.value});
  }
}

void Evaluator::layOutQueues() {
  const Machine &machine = problem.machine.description();
  std::vector<std::pair<uint64_t, int64_t>> speeds;
  std::vector<size_t> linkOfSpeed;
  for (size_t index = 0; index < machine.links.size(); ++index) {
    const Link &link = machine.links[index];
    std::pair<uint64_t, int64_t> speed(link.bytes_per_s, link.latency_ns);
    size_t number = size_t(std::find(speeds.begin(), speeds.end(), speed) - speeds.begin());
    if (number == speeds.size()) {
      speeds.push_back(speed);
      linkOfSpeed.push_back(index);
    }
    Hop hop;
    hop.engineBegin = uint32_t(linkEngines.size());
    linkEngines.insert(linkEngines.end(), link.engines.begin(), link.engines.end());
    hop.engineEnd = uint32_t(linkEngines.size());
    hop.speed = uint32_t(number);
    hops.push_back(hop);
  }
  numSpeeds = speeds.size();
  int64_t shortest = kNever;
  for (size_t value = 0; value < problem.graph.valueCount(); ++value)
    for (size_t link : linkOfSpeed) {
      const Value &moved = problem.graph.value(ValueId(value));
      int64_t ticks = TransferNs(machine.links[link], moved.bytes) << problem.table.shift();
      hopTicks.push_back(ticks);
      if (moved.needsTransfer())
        shortest = std::min(shortest, ticks);
    }
  engines.assign(machine.engines.size(), FlatEngine(shortest));
  engineFloor.resize(engines.size());
  engineStamp.resize(engines.size(), 0);
  copies.assign(problem.graph.valueCount() * numDevices, -1);
}

} // namespace autopar::planning
