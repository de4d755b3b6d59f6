// What a node of the exact search knows about the rest of the plan, and when that is too much.
#include "compiler/planning/exact/ExactBranching.h"

#include <algorithm>
#include <bit>

namespace autopar::planning {

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
  if ((passedOver[device] >> task & 1) != 0)
    return true;
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
    lastUse[device] = std::max(lastUse[device], target - tails[cell]);
    if (finish < ends.first)
      ends = {finish, ends.first, device};
    else
      ends.second = std::min(ends.second, finish);
  }
  return feasible[task] != 0;
}

bool ExactBranching::findHeads() {
  firstUse.fill(kNever);
  lastUse.fill(0);
  for (uint64_t set = open; set != 0; set &= set - 1)
    if (!findHeadsOf(lowestBit(set)))
      return false;
  return true;
}

// Devices that are alike begin with different tasks: the i-th no earlier than the i-th head.
void ExactBranching::findFirstUses() {
  for (uint32_t set = considered; set != 0; set &= set - 1) {
    const uint32_t device = lowestBit(set);
    auto &uses = firstUses[device];
    if (copies[device] < 2) {
      uses[0] = firstUse[device];
      continue;
    }
    const size_t wanted = size_t(copies[device]);
    std::fill(uses.begin(), uses.begin() + wanted, kNever);
    for (uint64_t tasks = open; tasks != 0; tasks &= tasks - 1) {
      const uint32_t task = lowestBit(tasks);
      if ((feasible[task] >> device & 1) == 0)
        continue;
      const int64_t head = heads[at(task, device)];
      size_t i = wanted;
      for (; i > 0 && uses[i - 1] > head; --i)
        if (i < wanted)
          uses[i] = uses[i - 1];
      if (i < wanted)
        uses[i] = head;
    }
  }
}

// For each tail: the open work that must be done before it, at the prices of the devices, against
// the time that is left; and the same for tasks that have one device left, on that device.
bool ExactBranching::workFits() {
  int64_t work = 0;
  std::array<int64_t, kDevices> workHere{};
  findFirstUses();
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
      const int64_t stop = std::min(end, lastUse[device]);
      for (int64_t copy = 0; copy < copies[device]; ++copy) {
        const int64_t time = stop - firstUses[device][size_t(copy)];
        if (time <= 0)
          break;
        space += prices[device] * (time - time % grains[device]);
      }
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

} // namespace autopar::planning
