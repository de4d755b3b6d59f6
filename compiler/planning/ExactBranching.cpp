#include "compiler/planning/ExactBranching.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace autopar::planning {

namespace {

constexpr int64_t kNever = ExactProblem::kNever;
constexpr uint32_t kNone = ExactProblem::kNone;

/// splitmix64's finaliser.
uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

template <class Word> uint32_t lowestBit(Word set) { return uint32_t(std::countr_zero(set)); }

} // namespace

// ---- SeenStates

bool SeenStates::insertInto(std::vector<uint64_t> &table, uint64_t key, bool &replaced) const {
  const size_t mask = table.size() - 1;
  for (size_t probe = 0; probe < kProbes; ++probe) {
    uint64_t &slot = table[(key + probe) & mask];
    if (slot == key)
      return true;
    if (slot == 0) {
      slot = key;
      return false;
    }
  }
  replaced = true;
  table[(key + (key >> 61)) & mask] = key;
  return false;
}

bool SeenStates::insert(uint64_t key) {
  key |= key == 0; // 0 stands for an empty slot
  if (2 * count >= keys.size() && keys.size() < kMost) {
    std::vector<uint64_t> bigger(2 * keys.size(), 0);
    bool replaced = false;
    for (uint64_t old : keys)
      if (old != 0)
        insertInto(bigger, old, replaced);
    keys = std::move(bigger);
  }
  bool replaced = false;
  const bool known = insertInto(keys, key, replaced);
  count += !known && !replaced;
  return known;
}

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
}

void ExactBranching::reset(const ExactBounds &root) {
  salt = mix(salt + 0x9e3779b97f4a7c15ull);
  allowed.resize(numTasks);
  rootHeads.resize(numTasks * numDevices);
  tails.resize(numTasks * numDevices);
  leastTail.assign(numTasks, kNever);
  missing.resize(numTasks);
  arrival.resize(numTasks * numDevices);
  prices.resize(numDevices);
  shortest.assign(numDevices, kNever);
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
    }
  }
  for (uint32_t device = 0; device < numDevices; ++device)
    prices[device] = root.price(device);
  byTail.resize(numTasks);
  std::iota(byTail.begin(), byTail.end(), 0u);
  std::stable_sort(byTail.begin(), byTail.end(),
                   [&](uint32_t a, uint32_t b) { return leastTail[a] > leastTail[b]; });
  gatherClusters(root);
  open = numTasks == 64 ? ~uint64_t{0} : (uint64_t{1} << numTasks) - 1;
  ready = 0;
  for (uint32_t task = 0; task < numTasks; ++task)
    ready |= uint64_t{missing[task] == 0} << task;
  used = 0;
  lastStart = 0;
  lastTask = 0;
  idleFrom.assign(numDevices, 0);
  deviceOf.assign(numTasks, kNone);
  placedOrder.clear();
  savedArrivals.clear();
  children.clear();
}

void ExactBranching::gatherClusters(const ExactBounds &root) {
  clusters.resize(numTasks);
  clusterDevice.assign(numTasks, kNone);
  clusterWork.assign(numTasks * numDevices, 0);
  clusterTail.assign(numTasks * numDevices, kNever);
  sharedClusters.clear();
  blocked.fill(0);
  for (uint32_t task = 0; task < numTasks; ++task) {
    const uint32_t cluster = clusters[task] = root.cluster(task);
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

// Considered are the devices in use and two empty ones per class, so that a transfer between empty
// devices is seen; one of these two is branched on.
void ExactBranching::listDevices() {
  considered = branchable = used;
  std::array<uint32_t, kDevices> emptyOf, emptyCount;
  for (uint32_t device = 0; device < numDevices; ++device) {
    raised[device] = std::max(idleFrom[device], lastStart);
    copies[device] = 1;
    const uint32_t group = problem.deviceClass(device);
    if (group == device)
      emptyCount[group] = 0;
    if ((used >> device & 1) != 0)
      continue;
    const uint32_t before = emptyCount[group]++;
    if (before == 0) {
      emptyOf[group] = device;
      branchable |= 1u << device;
    } else {
      ++copies[emptyOf[group]];
      copies[device] = 0;
    }
    if (before < 2)
      considered |= 1u << device;
  }
}

// In the order of starts the task can go there only after some other task has gone there.
bool ExactBranching::closed(uint32_t task, uint32_t device) const {
  const int64_t start = std::max(idleFrom[device], arrival[at(task, device)]);
  return start < lastStart || (start == lastStart && task < lastTask);
}

uint32_t ExactBranching::usable(uint32_t task) const {
  const uint32_t fixed = clusterDevice[clusters[task]];
  return allowed[task] & (fixed == kNone ? ~0u : 1u << fixed);
}

// A cluster of which nothing has been placed needs room for all of it.
bool ExactBranching::blockClusters() {
  for (uint32_t cluster : sharedClusters) {
    blocked[cluster] = 0;
    if (clusterDevice[cluster] != kNone)
      continue;
    uint32_t left = 0;
    for (uint32_t set = allowed[cluster] & considered; set != 0; set &= set - 1) {
      const uint32_t device = lowestBit(set);
      if (raised[device] + clusterWork[at(cluster, device)] + clusterTail[at(cluster, device)] <=
          target)
        left |= 1u << device;
    }
    if (left == 0)
      return false;
    blocked[cluster] = ~left;
  }
  return true;
}

int64_t ExactBranching::remoteArrival(const ExactProblem::Edge &edge, uint32_t device) const {
  const Soonest &source = soonest[edge.from];
  if (edge.uniformDelay >= 0)
    return (source.device == device ? source.second : source.first) + edge.uniformDelay;
  int64_t arrival = kNever;
  for (uint32_t set = feasible[edge.from] & ~(1u << device); set != 0; set &= set - 1) {
    const uint32_t from = lowestBit(set);
    arrival = std::min(arrival, finishes[at(edge.from, from)] + problem.delay(edge, from, device));
  }
  return arrival;
}

bool ExactBranching::findHeadsOf(uint32_t task) {
  const uint32_t choices = usable(task) & considered & ~blocked[clusters[task]];
  const bool isReady = (ready >> task & 1) != 0;
  feasible[task] = 0;
  Soonest &ends = soonest[task];
  ends = {kNever, kNever, kNone};
  std::array<JoinItem, kTasks> items;
  for (uint32_t set = choices; set != 0; set &= set - 1) {
    const uint32_t device = lowestBit(set);
    const size_t cell = at(task, device);
    int64_t head = std::max({raised[device], arrival[cell], rootHeads[cell]});
    if (isReady) {
      if (closed(task, device))
        head = std::max(head, raised[device] + shortest[device]);
    } else {
      size_t count = 0;
      for (const ExactProblem::Edge &edge : problem.incoming(task)) {
        if ((open >> edge.from & 1) == 0)
          continue;
        const size_t source = at(edge.from, device);
        const bool canBeHere = (feasible[edge.from] >> device & 1) != 0;
        items[count++] = {clusters[edge.from] == clusters[task] ? kNever
                                                                : remoteArrival(edge, device),
                          heads[source], canBeHere ? problem.duration(edge.from, device) : kNever};
      }
      head = std::max(head, joinedArrival(items.data(), count));
    }
    const int64_t finish = head + problem.duration(task, device);
    if (finish + tails[cell] > target)
      continue;
    feasible[task] |= 1u << device;
    heads[cell] = head;
    finishes[cell] = finish;
    firstUse[device] = std::min(firstUse[device], head);
    if (finish < ends.first)
      ends = {finish, ends.first, device};
    else
      ends.second = std::min(ends.second, finish);
  }
  return feasible[task] != 0;
}

bool ExactBranching::findHeads() {
  firstUse.fill(kNever);
  for (uint64_t set = open; set != 0; set &= set - 1)
    if (!findHeadsOf(lowestBit(set)))
      return false;
  return true;
}

// For each tail: the open work that must be done before it, at the prices of the devices, against
// the time that is left; and the same for tasks that have one device left, on that device.
bool ExactBranching::workFits() {
  int64_t work = 0;
  std::array<int64_t, kDevices> workHere{};
  for (uint32_t task : byTail) {
    if ((open >> task & 1) == 0)
      continue;
    const int64_t end = target - leastTail[task];
    int64_t cheapest = kNever;
    for (uint32_t set = feasible[task]; set != 0; set &= set - 1) {
      const uint32_t device = lowestBit(set);
      cheapest = std::min(cheapest, prices[device] * problem.duration(task, device));
    }
    work += cheapest;
    int64_t space = 0;
    for (uint32_t set = considered; set != 0; set &= set - 1) {
      const uint32_t device = lowestBit(set);
      space += copies[device] * prices[device] * std::max<int64_t>(0, end - firstUse[device]);
    }
    if (work > space)
      return false;
    if (std::has_single_bit(feasible[task])) {
      const uint32_t device = lowestBit(feasible[task]);
      workHere[device] += problem.duration(task, device);
      if (firstUse[device] + workHere[device] > end)
        return false;
    }
  }
  return true;
}

// The key holds what the rest of the search depends on: per device its free time and the arrivals
// of what open tasks wait for, both raised to the last start, and whether the task is closed there.
// Devices of one class may change places.
bool ExactBranching::seenBefore() {
  uint64_t key = mix(open ^ salt);
  for (uint32_t devices = branchable; devices != 0; devices &= devices - 1) {
    const uint32_t device = lowestBit(devices);
    uint64_t column =
        mix(uint64_t(raised[device]) + 0x632be59bd9b4e019ull * (1 + problem.deviceClass(device)));
    for (uint64_t set = open; set != 0; set &= set - 1) {
      const uint32_t task = lowestBit(set);
      int64_t value;
      if ((usable(task) >> device & 1) == 0)
        value = kNever;
      else if ((ready >> task & 1) != 0 && closed(task, device))
        value = -1;
      else
        value = std::max(arrival[at(task, device)], lastStart);
      column += mix(uint64_t(value) * 0xd1342543de82ef95ull + task);
    }
    key += mix(column);
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

ExactBranching::Placed ExactBranching::place(const Child &child) {
  const auto [start, urgency, task, device] = child;
  const uint32_t cluster = clusters[task];
  const Placed before{idleFrom[device], lastStart, lastTask, clusterDevice[cluster] == kNone};
  const int64_t finish = start + problem.duration(task, device);
  idleFrom[device] = finish;
  lastStart = start;
  lastTask = task;
  used |= 1u << device;
  clusterDevice[cluster] = device;
  open &= ~(uint64_t{1} << task);
  ready &= ~(uint64_t{1} << task);
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
  lastStart = before.lastStart;
  lastTask = before.lastTask;
  if (before.fixedCluster)
    clusterDevice[clusters[task]] = kNone;
}

} // namespace autopar::planning
