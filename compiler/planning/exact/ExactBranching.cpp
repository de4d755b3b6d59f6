#include "compiler/planning/exact/ExactBranching.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace autopar::planning {

// ---- setting up

ExactBranching::ExactBranching(const ExactProblem &problem)
    : problem(problem), numTasks(problem.taskCount()), numDevices(problem.deviceCount()) {
  size_t rows = 0;
  for (uint32_t task = 0; task < numTasks; ++task)
    rows += problem.outgoing(task).size();
  savedArrivals.reserve(rows * numDevices);
  children.reserve(numTasks * (numTasks + 1) / 2 * numDevices + 1);
  placedOrder.reserve(numTasks);
  heads.resize(numTasks * numDevices);
  finishes.resize(numTasks * numDevices);
  compareSuccessors();
  ancestors.assign(numTasks, 0);
  descendants.assign(numTasks, 0);
  for (uint32_t task = 0; task < numTasks; ++task)
    for (const ExactProblem::Edge &edge : problem.incoming(task))
      ancestors[task] |= ancestors[edge.from] | uint64_t{1} << edge.from;
  for (uint32_t task = 0; task < numTasks; ++task)
    for (uint32_t other = 0; other < numTasks; ++other)
      descendants[task] |= (ancestors[other] >> task & 1) << other;
}

// One task outranks another if whoever waits for the other waits for it at least as long.
void ExactBranching::compareSuccessors() {
  outrankedBy.assign(numTasks, 0);
  equals.assign(numTasks, 0);
  auto covers = [&](uint32_t over, uint32_t under) {
    for (uint32_t device = 0; device < numDevices; ++device)
      if (problem.tail(under, device) > problem.tail(over, device))
        return false;
    for (uint32_t index : problem.outgoing(under)) {
      const ExactProblem::Edge &edge = problem.edge(index);
      const ExactProblem::Edge *match = nullptr;
      for (uint32_t other : problem.outgoing(over))
        if (problem.edge(other).to == edge.to)
          match = &problem.edge(other);
      if (match == nullptr)
        return false;
      for (uint32_t from = 0; from < numDevices; ++from)
        for (uint32_t to = 0; to < numDevices; ++to)
          if (problem.delay(edge, from, to) > problem.delay(*match, from, to))
            return false;
    }
    return true;
  };
  for (uint32_t task = 0; task < numTasks; ++task)
    for (uint32_t other = 0; other < numTasks; ++other)
      if (task != other && covers(other, task))
        (covers(task, other) ? equals : outrankedBy)[task] |= uint64_t{1} << other;
}

void ExactBranching::reset(const ExactBounds &root) {
  salt = mixBits(salt + 0x9e3779b97f4a7c15ull);
  allowed.resize(numTasks);
  rootHeads.resize(numTasks * numDevices);
  tails.resize(numTasks * numDevices);
  leastTail.assign(numTasks, kNever);
  missing.resize(numTasks);
  arrival.resize(numTasks * numDevices);
  prices.resize(numDevices);
  shortest.assign(numDevices, kNever);
  grains.assign(numDevices, 0);
  for (uint32_t task = 0; task < numTasks; ++task) {
    allowed[task] = root.allowed(task);
    missing[task] = uint32_t(problem.incoming(task).size());
    for (uint32_t device = 0; device < numDevices; ++device) {
      arrival[at(task, device)] = problem.release(task, device);
      rootHeads[at(task, device)] = root.head(task, device);
      tails[at(task, device)] = root.tail(task, device);
      if ((allowed[task] >> device & 1) == 0)
        continue;
      leastTail[task] = std::min(leastTail[task], root.tail(task, device));
      shortest[device] = std::min(shortest[device], problem.duration(task, device));
      grains[device] = std::gcd(grains[device], problem.duration(task, device));
    }
  }
  for (uint32_t device = 0; device < numDevices; ++device)
    prices[device] = root.price(device);
  byTail.resize(numTasks);
  std::iota(byTail.begin(), byTail.end(), 0u);
  std::stable_sort(byTail.begin(), byTail.end(),
                   [&](uint32_t a, uint32_t b) { return leastTail[a] > leastTail[b]; });
  gatherClusters(root);
  findFreeTasks();
  open = numTasks == 64 ? ~uint64_t{0} : (uint64_t{1} << numTasks) - 1;
  ready = 0;
  for (uint32_t task = 0; task < numTasks; ++task)
    ready |= uint64_t{missing[task] == 0} << task;
  used = 0;
  lastStart = 0;
  lastTask = 0;
  idleFrom.assign(numDevices, 0);
  passedOver.assign(numDevices, 0);
  deviceOf.assign(numTasks, kNone);
  placedOrder.clear();
  savedArrivals.clear();
  children.clear();
}

void ExactBranching::gatherClusters(const ExactBounds &root) {
  clusters.resize(numTasks);
  clusterDevice.assign(numTasks, kNone);
  sizes.assign(numTasks, 0);
  clusterWork.assign(numTasks * numDevices, 0);
  clusterTail.assign(numTasks * numDevices, kNever);
  sharedClusters.clear();
  blocked.fill(0);
  for (uint32_t task = 0; task < numTasks; ++task) {
    const uint32_t cluster = clusters[task] = root.cluster(task);
    ++sizes[cluster];
    if (cluster != task &&
        std::find(sharedClusters.begin(), sharedClusters.end(), cluster) == sharedClusters.end())
      sharedClusters.push_back(cluster);
    for (uint32_t device = 0; device < numDevices; ++device) {
      if ((allowed[task] >> device & 1) == 0)
        continue;
      clusterWork[at(cluster, device)] += problem.duration(task, device);
      int64_t &tail = clusterTail[at(cluster, device)];
      tail = std::min(tail, tails[at(task, device)]);
    }
  }
}

ExactBranching::Outcome ExactBranching::run(const ExactBounds &root, int64_t newTarget,
                                            uint64_t maxNodes) {
  target = newTarget;
  nodeCount = 0;
  pairsLooked = 0;
  nodeLimit = maxNodes;
  outOfNodes = false;
  reset(root);
  if (node())
    return Outcome::Found;
  return outOfNodes ? Outcome::OutOfNodes : Outcome::Refuted;
}

// ---- one node

// Recurses at most once per task.
bool ExactBranching::node() {
  if (open == 0)
    return true;
  if (nodeCount == nodeLimit) {
    outOfNodes = true;
    return false;
  }
  ++nodeCount;
  listDevices();
  if (!blockClusters() || !findHeads() || !workFits() || seenBefore())
    return false;
  if (isEndGame())
    return packRest();
  if (std::popcount(open) >= kFewestToDeduce && !deduce())
    return false;
  const size_t first = children.size();
  collectChildren();
  for (size_t index = first; index < children.size(); ++index) {
    const Child child = children[index];
    const Placed before = place(child);
    if (node())
      return true;
    undo(child, before);
    if (outOfNodes)
      break;
  }
  children.resize(first);
  return false;
}

// The key holds what the rest of the search depends on: per device its free time and the arrivals
// of what open tasks wait for, both raised to the last start, and whether the task is closed there.
// Devices of one class may change places.
bool ExactBranching::seenBefore() {
  uint64_t key = mixBits(open ^ salt);
  for (uint32_t devices = branchable; devices != 0; devices &= devices - 1) {
    const uint32_t device = lowestBit(devices);
    uint64_t column = mixBits(uint64_t(raised[device]) +
                              0x632be59bd9b4e019ull * (1 + problem.deviceClass(device)));
    for (uint64_t set = open; set != 0; set &= set - 1) {
      const uint32_t task = lowestBit(set);
      int64_t value;
      if ((usable(task) >> device & 1) == 0)
        value = kNever;
      else if ((ready >> task & 1) != 0 && closed(task, device))
        value = -1;
      else
        value = std::max(arrival[at(task, device)], lastStart);
      column += mixBits(uint64_t(value) * 0xd1342543de82ef95ull + task);
    }
    key += mixBits(column);
  }
  return seen.insert(key);
}

void ExactBranching::collectChildren() {
  // What is placed next starts before the latest start of all others.
  int64_t latest = kNever, latestButOne = kNever;
  uint32_t tightest = kNone;
  for (uint64_t set = open; set != 0; set &= set - 1) {
    const uint32_t task = lowestBit(set);
    int64_t start = 0;
    for (uint32_t devices = feasible[task]; devices != 0; devices &= devices - 1) {
      const size_t cell = at(task, lowestBit(devices));
      start = std::max(start, target - tails[cell] - problem.duration(task, lowestBit(devices)));
    }
    if (start < latest) {
      latestButOne = latest;
      latest = start;
      tightest = task;
    } else {
      latestButOne = std::min(latestButOne, start);
    }
  }
  const size_t first = children.size();
  for (uint64_t set = ready; set != 0; set &= set - 1) {
    const uint32_t task = lowestBit(set);
    const uint32_t twin = problem.twinBefore(task);
    if (twin != kNone && (open >> twin & 1) != 0)
      continue;
    for (uint32_t devices = feasible[task] & branchable; devices != 0; devices &= devices - 1) {
      const uint32_t device = lowestBit(devices);
      if (closed(task, device))
        continue;
      const int64_t start = std::max(idleFrom[device], arrival[at(task, device)]);
      if (start <= (task == tightest ? latestButOne : latest))
        children.push_back(
            {start, problem.duration(task, device) + tails[at(task, device)], task, device});
    }
  }
  std::sort(children.begin() + first, children.end(), [](const Child &a, const Child &b) {
    if (a.start != b.start)
      return a.start < b.start;
    if (a.urgency != b.urgency)
      return a.urgency > b.urgency;
    return a.task != b.task ? a.task < b.task : a.device < b.device;
  });
}

// ---- placing

// Whether `after`, which could have been placed, need not be tried directly after `before` (which
// starts at `start`): the two can change places without harm, so that the plan is found the other
// way round. Consistent choices: what outranks comes first, among equals the shorter; free tasks
// come after what is not free, among themselves in the order of their arrivals.
bool ExactBranching::yieldsTo(uint32_t before, uint32_t after, uint32_t device,
                              int64_t start) const {
  const size_t cellBefore = at(before, device), cellAfter = at(after, device);
  const int64_t durationBefore = problem.duration(before, device);
  const int64_t durationAfter = problem.duration(after, device);
  const bool isFreeAfter = (freeTasks >> after & 1) != 0;
  if ((freeTasks >> before & 1) != 0) {
    if (start + durationBefore + durationAfter + looseTails[cellBefore] > target)
      return false;
    if (!isFreeAfter)
      return arrival[cellAfter] <= start;
    if (arrival[cellAfter] != arrival[cellBefore])
      return arrival[cellAfter] < arrival[cellBefore];
    if (looseTails[cellAfter] != looseTails[cellBefore])
      return looseTails[cellAfter] > looseTails[cellBefore];
    return after < before;
  }
  if (isFreeAfter || arrival[cellAfter] > start)
    return false;
  if ((outrankedBy[before] >> after & 1) != 0)
    return true;
  return (equals[before] >> after & 1) != 0 &&
         (durationAfter != durationBefore ? durationAfter < durationBefore : after < before);
}

ExactBranching::Placed ExactBranching::place(const Child &child) {
  const auto [start, urgency, task, device] = child;
  const uint32_t cluster = clusters[task];
  const Placed before{idleFrom[device], lastStart, passedOver[device], lastTask,
                      clusterDevice[cluster] == kNone};
  const int64_t finish = start + problem.duration(task, device);
  idleFrom[device] = finish;
  lastStart = start;
  lastTask = task;
  used |= 1u << device;
  clusterDevice[cluster] = device;
  open &= ~(uint64_t{1} << task);
  ready &= ~(uint64_t{1} << task);
  passedOver[device] = 0;
  for (uint64_t set = ready; set != 0; set &= set - 1)
    if (const uint32_t other = lowestBit(set);
        (allowed[other] >> device & 1) != 0 && yieldsTo(task, other, device, start))
      passedOver[device] |= uint64_t{1} << other;
  for (uint32_t index : problem.outgoing(task)) {
    const ExactProblem::Edge &edge = problem.edge(index);
    int64_t *row = &arrival[at(edge.to, 0)];
    savedArrivals.insert(savedArrivals.end(), row, row + numDevices);
    for (uint32_t to = 0; to < numDevices; ++to)
      row[to] = std::max(row[to], finish + problem.delay(edge, device, to));
    if (--missing[edge.to] == 0)
      ready |= uint64_t{1} << edge.to;
  }
  placedOrder.push_back(task);
  deviceOf[task] = device;
  return before;
}

void ExactBranching::undo(const Child &child, const Placed &before) {
  const auto [start, urgency, task, device] = child;
  placedOrder.pop_back();
  std::span<const uint32_t> edges = problem.outgoing(task);
  for (size_t index = edges.size(); index-- > 0;) {
    const ExactProblem::Edge &edge = problem.edge(edges[index]);
    std::copy(savedArrivals.end() - std::ptrdiff_t(numDevices), savedArrivals.end(),
              arrival.begin() + std::ptrdiff_t(at(edge.to, 0)));
    savedArrivals.resize(savedArrivals.size() - numDevices);
    ++missing[edge.to];
    ready &= ~(uint64_t{1} << edge.to);
  }
  open |= uint64_t{1} << task;
  ready |= uint64_t{1} << task;
  // A device that was empty was idle from the start.
  if (before.idleFrom == 0)
    used &= ~(1u << device);
  idleFrom[device] = before.idleFrom;
  passedOver[device] = before.passedOver;
  lastStart = before.lastStart;
  lastTask = before.lastTask;
  if (before.fixedCluster)
    clusterDevice[clusters[task]] = kNone;
}

} // namespace autopar::planning
