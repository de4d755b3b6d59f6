#include "compiler/planning/lists/MemoryLedger.h"

#include <algorithm>
#include <numeric>

namespace autopar::planning {

namespace {

/// Index of the last of `count` ascending times that is not after `time`; 0 if all are.
uint32_t lastNotAfter(const int64_t *times, uint32_t count, int64_t time) {
  if (times[count - 1] <= time)
    return count - 1;
  const int64_t *after = std::upper_bound(times, times + count, time);
  return after == times ? 0 : uint32_t(after - times) - 1;
}

} // namespace

int64_t MemoryLedger::freeFrom(uint64_t bytes) {
  if (bytes > limit || held > limit - bytes)
    return kNever;
  uint64_t room = limit - bytes - held;
  if (givenBack <= room)
    return 0;
  for (const Entry &entry : waiting)
    insert(entry);
  waiting.clear();
  // Back from the end, until what is still there after a time is more than there is room for.
  Index node = root;
  for (uint32_t level = height;; --level) {
    const Node &here = nodes[node];
    uint32_t at = here.count - 1;
    for (; here.bytes[at] <= room; --at)
      room -= here.bytes[at];
    if (level == 0)
      return here.time[at];
    node = here.child[at];
  }
}

void MemoryLedger::giveBack(uint64_t bytes, int64_t time) {
  if (bytes == 0)
    return;
  held -= bytes;
  givenBack += bytes;
  waiting.push_back({time, bytes});
}

uint64_t MemoryLedger::sumOf(Index node) const {
  return std::accumulate(nodes[node].bytes, nodes[node].bytes + nodes[node].count, uint64_t{0});
}

/// Moves the later part of a full child of `node`, which has room, to a new child behind it.
void MemoryLedger::splitChild(Index node, uint32_t at) {
  const Index brother = Index(nodes.size());
  nodes.emplace_back();
  const Index child = nodes[node].child[at];
  Node &left = nodes[child], &right = nodes[brother];
  // Most entries are added near the end: what is left behind stays well filled.
  const bool isLast = at + 1 == nodes[node].count;
  const uint32_t kept = isLast ? kWidth * 7 / 8 : kWidth / 2;
  right.count = left.count - kept;
  left.count = kept;
  std::copy_n(left.time + kept, right.count, right.time);
  std::copy_n(left.bytes + kept, right.count, right.bytes);
  std::copy_n(left.child + kept, right.count, right.child);
  Node &above = nodes[node];
  auto shift = [&](auto *list) {
    std::copy_backward(list + at + 1, list + above.count, list + above.count + 1);
  };
  shift(above.time);
  shift(above.bytes);
  shift(above.child);
  ++above.count;
  above.child[at + 1] = brother;
  above.time[at + 1] = right.time[0];
  above.bytes[at + 1] = sumOf(brother);
  above.bytes[at] -= above.bytes[at + 1];
}

/// Full nodes are split on the way down, so that there is always room above.
void MemoryLedger::insert(const Entry &entry) {
  if (nodes.empty())
    nodes.emplace_back();
  if (nodes[root].count == kWidth) {
    const Index old = root;
    root = Index(nodes.size());
    Node &above = nodes.emplace_back();
    above.count = 1;
    above.time[0] = nodes[old].time[0];
    above.child[0] = old;
    above.bytes[0] = sumOf(old);
    ++height;
    splitChild(root, 0);
  }
  Index node = root;
  for (uint32_t level = height; level > 0; --level) {
    uint32_t at = lastNotAfter(nodes[node].time, nodes[node].count, entry.time);
    if (nodes[nodes[node].child[at]].count == kWidth) {
      splitChild(node, at);
      at += nodes[node].time[at + 1] <= entry.time;
    }
    Node &here = nodes[node];
    here.time[at] = std::min(here.time[at], entry.time);
    here.bytes[at] += entry.bytes;
    node = here.child[at];
  }
  Node &leaf = nodes[node];
  const uint32_t at =
      uint32_t(std::lower_bound(leaf.time, leaf.time + leaf.count, entry.time) - leaf.time);
  if (at < leaf.count && leaf.time[at] == entry.time) {
    leaf.bytes[at] += entry.bytes;
    return;
  }
  std::copy_backward(leaf.time + at, leaf.time + leaf.count, leaf.time + leaf.count + 1);
  std::copy_backward(leaf.bytes + at, leaf.bytes + leaf.count, leaf.bytes + leaf.count + 1);
  leaf.time[at] = entry.time;
  leaf.bytes[at] = entry.bytes;
  ++leaf.count;
}

} // namespace autopar::planning
