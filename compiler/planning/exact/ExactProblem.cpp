#include "compiler/planning/exact/ExactProblem.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace autopar::planning {

ExactProblem ExactProblem::create(const Problem &problem) {
  ExactProblem result;
  result.numTasks = problem.graph.taskCount();
  result.numDevices = problem.machine.deviceCount();
  result.tickShift = problem.table.shift();
  result.addTasks(problem);
  result.addEdges(problem);
  return result;
}

void ExactProblem::addTasks(const Problem &problem) {
  const TaskGraph &graph = problem.graph;
  const MachineModel &machine = problem.machine;
  originals.assign(graph.topologicalOrder().begin(), graph.topologicalOrder().end());
  durations.resize(numTasks * numDevices);
  releases.resize(numTasks * numDevices, 0);
  tails.resize(numTasks * numDevices, 0);
  clusters.resize(numTasks);
  std::map<uint32_t, uint32_t> clusterOfGroup;
  auto ticks = [&](int64_t ns) { return ns < 0 ? kNever : ns << tickShift; };
  for (uint32_t task = 0; task < numTasks; ++task) {
    const TaskId id = originals[task];
    for (uint32_t device = 0; device < numDevices; ++device) {
      const DeviceId here{size_t{device}};
      int64_t &duration = durations[at(task, device)];
      int64_t &release = releases[at(task, device)], &tail = tails[at(task, device)];
      duration = problem.table.duration(id, here);
      for (ValueId operand : graph.operands(id)) {
        const Value &value = graph.value(operand);
        if (!value.producer.valid() && value.needsTransfer() && value.residentDevice.valid() &&
            value.residentDevice != here)
          release =
              std::max(release, ticks(machine.routeNs(value.residentDevice, here, value.bytes)) +
                                    ticks(machine.device(here).wait_ns));
      }
      for (ValueId result : graph.produced(id))
        for (const ProgramResult &wanted : graph.resultsOf(result))
          if (DeviceId to = machine.destination(wanted);
              to.valid() && graph.value(result).needsTransfer())
            tail = std::max(tail, ticks(machine.routeNs(here, to, graph.value(result).bytes)));
      if (duration < 0 || release >= kNever || tail >= kNever) {
        duration = kNever;
        release = tail = 0;
      }
    }
    const uint32_t group = graph.task(id).colocationGroup;
    clusters[task] = group == kNoGroup ? task : clusterOfGroup.emplace(group, task).first->second;
  }
  for (const ProgramResult &result : graph.programResults()) {
    const Value &value = graph.value(result.value);
    DeviceId to = machine.destination(result);
    if (!value.producer.valid() && value.needsTransfer() && value.residentDevice.valid() &&
        to.valid())
      floor = std::max(floor, ticks(machine.routeNs(value.residentDevice, to, value.bytes)));
  }
}

void ExactProblem::addEdges(const Problem &problem) {
  const TaskGraph &graph = problem.graph;
  const MachineModel &machine = problem.machine;
  std::vector<uint32_t> numberOf(numTasks);
  for (uint32_t task = 0; task < numTasks; ++task)
    numberOf[originals[task].index()] = task;
  // Per pair of tasks the longest delay of all values between them.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<int64_t>> pairs;
  for (size_t index = 0; index < graph.valueCount(); ++index) {
    const Value &value = graph.value(ValueId(index));
    if (!value.producer.valid())
      continue;
    for (TaskId user : graph.users(ValueId(index))) {
      auto &table = pairs[{numberOf[value.producer.index()], numberOf[user.index()]}];
      table.resize(numDevices * numDevices, 0);
      for (size_t from = 0; from < numDevices; ++from)
        for (size_t to = 0; to < numDevices; ++to) {
          if (from == to)
            continue;
          int64_t ns = value.needsTransfer()
                           ? machine.routeNs(DeviceId(from), DeviceId(to), value.bytes)
                           : 0;
          int64_t delay =
              ns < 0 ? kNever : (ns + machine.device(DeviceId(to)).wait_ns) << tickShift;
          int64_t &longest = table[from * numDevices + to];
          longest = std::max(longest, delay);
        }
    }
  }
  std::map<std::vector<int64_t>, uint32_t> tables;
  std::vector<Edge> edgeList;
  for (const auto &[tasks, table] : pairs) {
    auto [entry, isNew] = tables.emplace(table, uint32_t(tables.size()));
    if (isNew)
      delayTables.insert(delayTables.end(), table.begin(), table.end());
    int64_t uniform = numDevices > 1 ? table[1] : 0;
    for (size_t from = 0; from < numDevices; ++from)
      for (size_t to = 0; to < numDevices; ++to)
        if (from != to && table[from * numDevices + to] != uniform)
          uniform = -1;
    edgeList.push_back({tasks.first, tasks.second, entry->second, uniform});
  }
  finish(std::move(edgeList));
}

ExactProblem ExactProblem::reversed() const {
  ExactProblem result;
  result.numTasks = numTasks;
  result.numDevices = numDevices;
  result.tickShift = tickShift;
  result.floor = floor;
  result.originals.assign(originals.rbegin(), originals.rend());
  result.clusters.resize(numTasks);
  std::vector<uint32_t> firstOf(numTasks, kNone);
  for (uint32_t task = 0; task < numTasks; ++task) {
    uint32_t &first = firstOf[clusters[mirror(task)]];
    first = std::min(first, task);
    result.clusters[task] = first;
    for (uint32_t device = 0; device < numDevices; ++device) {
      result.durations.push_back(duration(mirror(task), device));
      result.releases.push_back(tail(mirror(task), device));
      result.tails.push_back(release(mirror(task), device));
    }
  }
  result.delayTables.resize(delayTables.size());
  const size_t square = numDevices * numDevices;
  for (size_t table = 0; table * square < delayTables.size(); ++table)
    for (size_t from = 0; from < numDevices; ++from)
      for (size_t to = 0; to < numDevices; ++to)
        result.delayTables[table * square + to * numDevices + from] =
            delayTables[table * square + from * numDevices + to];
  std::vector<Edge> edgeList;
  for (const Edge &edge : edges)
    edgeList.push_back({mirror(edge.to), mirror(edge.from), edge.delays, edge.uniformDelay});
  result.finish(std::move(edgeList));
  return result;
}

// Sorts the edges and finds what can change places.
void ExactProblem::finish(std::vector<Edge> edgeList) {
  edges = std::move(edgeList);
  std::sort(edges.begin(), edges.end(), [](const Edge &a, const Edge &b) {
    return std::pair(a.to, a.from) < std::pair(b.to, b.from);
  });
  inBegin.assign(numTasks + 1, 0);
  outBegin.assign(numTasks + 1, 0);
  for (const Edge &edge : edges) {
    ++inBegin[edge.to + 1];
    ++outBegin[edge.from + 1];
  }
  for (size_t task = 0; task < numTasks; ++task) {
    inBegin[task + 1] += inBegin[task];
    outBegin[task + 1] += outBegin[task];
  }
  outEdges.resize(edges.size());
  std::vector<uint32_t> next(outBegin.begin(), outBegin.end() - 1);
  for (uint32_t index = 0; index < edges.size(); ++index) // by target
    outEdges[next[edges[index].from]++] = index;

  twins.assign(numTasks, kNone);
  for (uint32_t task = 0; task < numTasks; ++task)
    for (uint32_t before = task; before-- > 0 && twins[task] == kNone;)
      if (areTwins(before, task))
        twins[task] = before;
  classes.resize(numDevices);
  for (uint32_t device = 0; device < numDevices; ++device) {
    classes[device] = device;
    for (uint32_t before = 0; before < device && classes[device] == device; ++before)
      if (areAlike(before, device))
        classes[device] = classes[before];
  }
}

bool ExactProblem::areTwins(uint32_t a, uint32_t b) const {
  auto shared = [&](uint32_t task) {
    return std::count(clusters.begin(), clusters.end(), clusters[task]) > 1;
  };
  if (clusters[a] != clusters[b] && (shared(a) || shared(b)))
    return false;
  for (uint32_t device = 0; device < numDevices; ++device)
    if (std::tuple(duration(a, device), release(a, device), tail(a, device)) !=
        std::tuple(duration(b, device), release(b, device), tail(b, device)))
      return false;
  std::span<const Edge> inA = incoming(a), inB = incoming(b);
  if (!std::equal(inA.begin(), inA.end(), inB.begin(), inB.end(), [](const Edge &x, const Edge &y) {
        return x.from == y.from && x.delays == y.delays;
      }))
    return false;
  std::span<const uint32_t> outA = outgoing(a), outB = outgoing(b);
  return std::equal(outA.begin(), outA.end(), outB.begin(), outB.end(),
                    [&](uint32_t x, uint32_t y) {
                      return edges[x].to == edges[y].to && edges[x].delays == edges[y].delays;
                    });
}

bool ExactProblem::areAlike(uint32_t a, uint32_t b) const {
  for (uint32_t task = 0; task < numTasks; ++task)
    if (std::tuple(duration(task, a), release(task, a), tail(task, a)) !=
        std::tuple(duration(task, b), release(task, b), tail(task, b)))
      return false;
  const size_t square = numDevices * numDevices;
  for (size_t table = 0; table < delayTables.size(); table += square) {
    auto delay = [&](uint32_t from, uint32_t to) {
      return delayTables[table + from * numDevices + to];
    };
    if (delay(a, b) != delay(b, a))
      return false;
    for (uint32_t other = 0; other < numDevices; ++other)
      if (other != a && other != b &&
          (delay(a, other) != delay(b, other) || delay(other, a) != delay(other, b)))
        return false;
  }
  return true;
}

size_t ExactProblem::sourceCount() const {
  size_t count = 0;
  for (uint32_t task = 0; task < numTasks; ++task)
    count += incoming(task).empty();
  return count;
}

std::vector<int64_t> startsInOrder(const ExactProblem &problem, std::span<const uint32_t> order,
                                   std::span<const uint32_t> devices) {
  std::vector<int64_t> starts(problem.taskCount(), 0), idleFrom(problem.deviceCount(), 0);
  for (uint32_t task : order) {
    const uint32_t device = devices[task];
    int64_t start = std::max(idleFrom[device], problem.release(task, device));
    for (const ExactProblem::Edge &edge : problem.incoming(task))
      start = std::max(start, starts[edge.from] + problem.duration(edge.from, devices[edge.from]) +
                                  problem.delay(edge, devices[edge.from], device));
    starts[task] = start;
    idleFrom[device] = start + problem.duration(task, device);
  }
  return starts;
}

int64_t endOf(const ExactProblem &problem, std::span<const int64_t> starts,
              std::span<const uint32_t> devices) {
  int64_t end = problem.floorTicks();
  for (uint32_t task = 0; task < problem.taskCount(); ++task)
    end = std::max(end, starts[task] + problem.duration(task, devices[task]) +
                            problem.tail(task, devices[task]));
  return end;
}

} // namespace autopar::planning
