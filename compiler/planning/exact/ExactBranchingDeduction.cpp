// The second, closer look at a node of the exact search: what the root's bounds (ExactBounds.h)
// deduce from the target, deduced again from what is left open. It starts from the heads and the
// feasible devices of the first look, narrows them for the branching that follows, and looks at the
// devices that the node considers; what holds of two empty devices that are alike holds of all.
//  - An edge whose crossing would end too late wherever its ends run joins them to a group; so do
//    tasks that only one device is left for. A group takes turns on one device.
//  - Heads and tails by joinedArrival, with what is in the group before the task one after the
//  other.
//  - A device is out for a task that would end too late there, and for a group by the
//  head-work-tail
//    bound of one device (Carlier 1982).
#include "compiler/planning/exact/ExactBranching.h"

#include <algorithm>
#include <bit>

namespace autopar::planning {

// A look costs several nodes, and counts as that many: about one for 50 pairs of task and device
// in each round.
bool ExactBranching::deduce() {
  constexpr uint64_t kPairsPerNode = 50;
  const uint64_t pairs = uint64_t(std::popcount(open)) * uint64_t(std::popcount(considered));
  if (!startDeduction())
    return false;
  constexpr int kMostRounds = 8;
  for (int round = 0; round < kMostRounds; ++round) {
    deduced = false;
    pairsLooked += pairs;
    nodeCount = std::min(nodeLimit, nodeCount + pairsLooked / kPairsPerNode);
    pairsLooked %= kPairsPerNode;
    if (!raiseTails() || !joinGroups() || !testGroups() || !raiseHeads())
      return false;
    if (!deduced)
      break;
  }
  return true;
}

bool ExactBranching::startDeduction() {
  openTails = tails;
  std::array<uint32_t, kTasks> first;
  for (uint64_t set = open; set != 0; set &= set - 1)
    first[clusters[lowestBit(set)]] = kNone;
  for (uint64_t set = open; set != 0; set &= set - 1) {
    const uint32_t task = lowestBit(set);
    uint32_t &group = first[clusters[task]];
    if (group == kNone) {
      group = task;
      members[group] = 0;
    }
    groups[task] = group;
    members[group] |= uint64_t{1} << task;
  }
  for (uint64_t set = open; set != 0; set &= set - 1)
    if (const uint32_t task = lowestBit(set);
        groups[task] == task && !std::has_single_bit(members[task]) && !narrow(task, ~0u))
      return false;
  return true;
}

void ExactBranching::findSoonest(uint32_t task) {
  Soonest &ends = soonest[task];
  ends = {kNever, kNever, kNone};
  for (uint32_t set = feasible[task]; set != 0; set &= set - 1) {
    const uint32_t device = lowestBit(set);
    const int64_t finish = finishes[at(task, device)];
    if (finish < ends.first)
      ends = {finish, ends.first, device};
    else
      ends.second = std::min(ends.second, finish);
  }
}

// What one task of a group cannot use none can.
bool ExactBranching::narrow(uint32_t group, uint32_t left) {
  for (uint64_t set = members[group]; set != 0; set &= set - 1)
    left &= feasible[lowestBit(set)];
  for (uint64_t set = members[group]; set != 0; set &= set - 1) {
    const uint32_t task = lowestBit(set);
    if (feasible[task] != left) {
      deduced = true;
      feasible[task] = left;
      findSoonest(task);
    }
  }
  return left != 0;
}

bool ExactBranching::unite(uint32_t a, uint32_t b) {
  const uint32_t kept = std::min(groups[a], groups[b]), lost = std::max(groups[a], groups[b]);
  if (kept == lost)
    return true;
  for (uint64_t set = members[lost]; set != 0; set &= set - 1)
    groups[lowestBit(set)] = kept;
  members[kept] |= members[lost];
  deduced = true;
  return narrow(kept, ~0u);
}

bool ExactBranching::joinGroups() {
  std::array<uint32_t, kDevices> only;
  only.fill(kNone);
  for (uint64_t set = open; set != 0; set &= set - 1) {
    const uint32_t task = lowestBit(set);
    for (const ExactProblem::Edge &edge : problem.incoming(task)) {
      if ((open >> edge.from & 1) == 0 || groups[edge.from] == groups[task])
        continue;
      bool canCross = false;
      for (uint32_t devices = feasible[task]; devices != 0 && !canCross; devices &= devices - 1) {
        const uint32_t device = lowestBit(devices);
        canCross = remoteArrival(edge, device) + problem.duration(task, device) +
                       openTails[at(task, device)] <=
                   target;
      }
      if (!canCross && !unite(edge.from, task))
        return false;
    }
  }
  for (uint64_t set = open; set != 0; set &= set - 1) {
    const uint32_t task = lowestBit(set);
    if (!std::has_single_bit(feasible[task]))
      continue;
    uint32_t &first = only[lowestBit(feasible[task])];
    if (first == kNone)
      first = task;
    else if (!unite(first, task))
      return false;
  }
  return true;
}

bool ExactBranching::testGroups() {
  std::array<uint32_t, kTasks> tasks;
  for (uint64_t set = open; set != 0; set &= set - 1) {
    const uint32_t group = lowestBit(set);
    if (groups[group] != group || std::has_single_bit(members[group]))
      continue;
    uint32_t left = feasible[group];
    for (uint32_t devices = left; devices != 0; devices &= devices - 1) {
      const uint32_t device = lowestBit(devices);
      size_t count = 0;
      for (uint64_t rest = members[group]; rest != 0; rest &= rest - 1) {
        const uint32_t task = lowestBit(rest);
        const int64_t tail = openTails[at(task, device)];
        size_t i = count++;
        for (; i > 0 && openTails[at(tasks[i - 1], device)] < tail; --i)
          tasks[i] = tasks[i - 1];
        tasks[i] = task;
      }
      bool fits = true;
      for (size_t first = 0; first < count && fits; ++first) {
        const int64_t from = heads[at(tasks[first], device)];
        int64_t work = 0;
        for (size_t i = 0; i < count && fits; ++i) {
          const size_t cell = at(tasks[i], device);
          if (heads[cell] < from)
            continue;
          work += problem.duration(tasks[i], device);
          fits = from + work + openTails[cell] <= target;
        }
      }
      if (!fits)
        left &= ~(1u << device);
    }
    if (left != feasible[group] && !narrow(group, left))
      return false;
  }
  return true;
}

// When the tasks, one after the other on the device, can be done, none before its `times`.
int64_t ExactBranching::turnsEnd(uint64_t tasks, const std::vector<int64_t> &times,
                                 uint32_t device) const {
  std::array<uint32_t, kTasks> byTime;
  size_t count = 0;
  for (; tasks != 0; tasks &= tasks - 1) {
    const uint32_t task = lowestBit(tasks);
    size_t i = count++;
    for (; i > 0 && times[at(byTime[i - 1], device)] > times[at(task, device)]; --i)
      byTime[i] = byTime[i - 1];
    byTime[i] = task;
  }
  int64_t end = 0;
  for (size_t i = 0; i < count; ++i)
    end = std::max(end, times[at(byTime[i], device)]) + problem.duration(byTime[i], device);
  return end;
}

bool ExactBranching::raiseHeads() {
  std::array<JoinItem, kTasks> items;
  for (uint64_t set = open; set != 0; set &= set - 1) {
    const uint32_t task = lowestBit(set);
    if ((ready >> task & 1) != 0)
      continue;
    uint32_t left = feasible[task];
    const uint64_t before = ancestors[task] & members[groups[task]];
    for (uint32_t devices = left; devices != 0; devices &= devices - 1) {
      const uint32_t device = lowestBit(devices);
      const size_t cell = at(task, device);
      size_t count = 0;
      for (const ExactProblem::Edge &edge : problem.incoming(task)) {
        if ((open >> edge.from & 1) == 0)
          continue;
        const bool canBeHere = (feasible[edge.from] >> device & 1) != 0;
        items[count++] = {groups[edge.from] == groups[task] ? kNever : remoteArrival(edge, device),
                          heads[at(edge.from, device)],
                          canBeHere ? problem.duration(edge.from, device) : kNever};
      }
      int64_t head = joinedArrival(items.data(), count);
      if (before != 0)
        head = std::max(head, turnsEnd(before, heads, device));
      if (head > heads[cell]) {
        deduced = true;
        heads[cell] = head;
        finishes[cell] = head + problem.duration(task, device);
        if (finishes[cell] + openTails[cell] > target)
          left &= ~(1u << device);
      }
    }
    if (left != feasible[task] && !narrow(groups[task], left))
      return false;
    findSoonest(task);
  }
  return true;
}

bool ExactBranching::raiseTails() {
  std::array<JoinItem, kTasks> items;
  for (uint64_t set = open; set != 0;) {
    const uint32_t task = 63 - uint32_t(std::countl_zero(set));
    set &= ~(uint64_t{1} << task);
    std::span<const uint32_t> out = problem.outgoing(task);
    if (out.empty())
      continue;
    uint32_t left = feasible[task];
    const uint64_t after = descendants[task] & members[groups[task]];
    for (uint32_t devices = left; devices != 0; devices &= devices - 1) {
      const uint32_t device = lowestBit(devices);
      const size_t cell = at(task, device);
      size_t count = 0;
      for (uint32_t index : out) {
        const ExactProblem::Edge &edge = problem.edge(index);
        int64_t remote = kNever;
        if (groups[edge.to] != groups[task])
          for (uint32_t others = feasible[edge.to] & ~(1u << device); others != 0;
               others &= others - 1) {
            const uint32_t other = lowestBit(others);
            remote =
                std::min(remote, openTails[at(edge.to, other)] + problem.duration(edge.to, other) +
                                     problem.delay(edge, device, other));
          }
        const bool canBeHere = (feasible[edge.to] >> device & 1) != 0;
        items[count++] = {remote, openTails[at(edge.to, device)],
                          canBeHere ? problem.duration(edge.to, device) : kNever};
      }
      int64_t tail = joinedArrival(items.data(), count);
      if (after != 0)
        tail = std::max(tail, turnsEnd(after, openTails, device));
      if (tail > openTails[cell]) {
        deduced = true;
        openTails[cell] = tail;
        if (finishes[cell] + tail > target)
          left &= ~(1u << device);
      }
    }
    if (left != feasible[task] && !narrow(groups[task], left))
      return false;
  }
  return true;
}

} // namespace autopar::planning
