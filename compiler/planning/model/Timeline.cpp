#include "compiler/planning/model/Timeline.h"

#include <algorithm>
#include <limits>

namespace autopar::planning {

namespace {

constexpr int64_t kForever = std::numeric_limits<int64_t>::max() / 4;
/// Idle segments as long as this are all the same: the endless one does not change what the tree
/// knows when its beginning is used.
constexpr int64_t kLongest = kForever / 2;

/// How many busy stretches a request for a share skips one by one before it settles for an idle
/// segment.
constexpr int kMostTries = 64;

/// Index of the last of `count` ascending starts that is not after `time`; the first one never is.
uint32_t lastNotAfter(const int64_t *start, uint32_t count, int64_t time) {
  if (start[count - 1] <= time)
    return count - 1;
  return uint32_t(std::upper_bound(start + 1, start + count, time) - start) - 1;
}

} // namespace

Timeline::Timeline(uint32_t capacity, int64_t shortestUse)
    : capacity(capacity), shortestUse(shortestUse) {
  Leaf &leaf = leaves.emplace_back();
  leaf.count = 1;
  leaf.used[0] = 0;
  leaf.start[0] = 0;
  leaf.start[1] = kForever;
  finger.node[0] = root;
  finger.at[0] = 0;
}

// ---- search
// ----------------------------------------------------------------------------------------------------

Timeline::Place Timeline::find(int64_t time) const {
  Place place;
  Index node = root;
  for (uint32_t level = height; level > 0; --level) {
    const Inner &inner = inners[node];
    place.node[level] = node;
    place.at[level] = lastNotAfter(inner.start, inner.count, time);
    node = inner.child[place.at[level]];
  }
  place.node[0] = node;
  place.at[0] = lastNotAfter(leaves[node].start, leaves[node].count, time);
  return place;
}

/// Moves the finger to the segment of `time`.
void Timeline::seek(int64_t time) const {
  const Leaf &leaf = leafOf(finger);
  if (time < leaf.start[0] || time >= leaf.start[leaf.count]) {
    finger = find(time);
    return;
  }
  uint32_t &at = finger.at[0];
  if (at >= leaf.count || leaf.start[at] > time)
    at = lastNotAfter(leaf.start, leaf.count, time);
  while (leaf.start[at + 1] <= time)
    ++at;
}

/// To the next segment in time; false at the end.
bool Timeline::next(Place &place) const {
  if (++place.at[0] < leafOf(place).count)
    return true;
  uint32_t level = 1;
  while (level <= height && place.at[level] + 1 == inners[place.node[level]].count)
    ++level;
  if (level > height)
    return false;
  ++place.at[level];
  for (; level > 0; --level) {
    place.node[level - 1] = inners[place.node[level]].child[place.at[level]];
    place.at[level - 1] = 0;
  }
  return true;
}

/// To the first segment from `place` on, itself included, that passes; `treeTest` says whether a
/// child holds one. False: there is none.
template <class SegmentTest, class TreeTest>
bool Timeline::firstFrom(Place &place, SegmentTest segmentTest, TreeTest treeTest) const {
  const Leaf *leaf = &leafOf(place);
  for (uint32_t &at = place.at[0]; at < leaf->count; ++at)
    if (segmentTest(*leaf, at))
      return true;
  uint32_t level = 1;
  for (; level <= height; ++level) {
    const Inner &inner = inners[place.node[level]];
    uint32_t &at = place.at[level];
    do
      ++at;
    while (at < inner.count && !treeTest(inner, at));
    if (at < inner.count)
      break;
  }
  if (level > height)
    return false;
  for (; level > 0; --level) {
    const Index child = inners[place.node[level]].child[place.at[level]];
    uint32_t at = 0;
    if (level > 1)
      while (!treeTest(inners[child], at))
        ++at;
    else
      while (!segmentTest(leaves[child], at))
        ++at;
    place.node[level - 1] = child;
    place.at[level - 1] = at;
  }
  return true;
}

int64_t Timeline::firstIdle(int64_t ready, int64_t duration) const {
  if (ready >= idleFrom)
    return ready;
  seek(ready);
  Place &place = finger;
  const Leaf &leaf = leafOf(place);
  const uint32_t at = place.at[0];
  if (leaf.used[at] == 0 && leaf.start[at + 1] - ready >= duration)
    return ready;
  next(place); // there is one: `ready` is before the endless idle segment
  firstFrom(
      place,
      [&](const Leaf &leaf, uint32_t i) {
        return leaf.used[i] == 0 && leaf.start[i + 1] - leaf.start[i] >= duration;
      },
      [&](const Inner &inner, uint32_t i) { return inner.longestIdle[i] >= duration; });
  return leafOf(place).start[place.at[0]];
}

int64_t Timeline::endOfLastAbove(uint32_t level) const {
  Index node = root;
  for (uint32_t here = height; here > 0; --here) {
    const Inner &inner = inners[node];
    uint32_t at = inner.count;
    while (at > 0 && inner.mostUsed[at - 1] <= level)
      --at;
    if (at == 0)
      return 0;
    node = inner.child[at - 1];
  }
  const Leaf &leaf = leaves[node];
  uint32_t at = leaf.count;
  while (at > 0 && leaf.used[at - 1] <= level)
    --at;
  return at == 0 ? 0 : leaf.start[at];
}

int64_t Timeline::firstFit(int64_t ready, int64_t duration, uint32_t share) const {
  if (ready >= idleFrom)
    return ready;
  const uint32_t level = capacity - std::min(share, capacity); // what others may use meanwhile
  if (level == 0)
    return firstIdle(ready, duration);
  auto above = [&](const Leaf &leaf, uint32_t i) { return leaf.used[i] > level; };
  auto someAbove = [&](const Inner &inner, uint32_t i) { return inner.mostUsed[i] > level; };
  auto below = [&](const Leaf &leaf, uint32_t i) { return leaf.used[i] <= level; };
  auto someBelow = [&](const Inner &inner, uint32_t i) { return inner.leastUsed[i] <= level; };
  int64_t start = ready;
  seek(ready);
  Place place = finger; // a search that finds nothing ends outside of the tree
  for (int tries = 0; tries < kMostTries; ++tries) {
    if (!firstFrom(place, above, someAbove) || leafOf(place).start[place.at[0]] >= start + duration)
      return start;
    firstFrom(place, below, someBelow); // at the latest the endless one
    start = leafOf(place).start[place.at[0]];
  }
  return std::min(firstIdle(start, duration), std::max(start, endOfLastAbove(level)));
}

// ---- reservation
// -----------------------------------------------------------------------------------------------

Timeline::Summary Timeline::summaryOf(const Leaf &leaf) {
  Summary summary{0, 0, std::numeric_limits<uint32_t>::max()};
  for (uint32_t i = 0; i < leaf.count; ++i) {
    if (leaf.used[i] == 0)
      summary.longestIdle = std::max(summary.longestIdle, leaf.start[i + 1] - leaf.start[i]);
    summary.mostUsed = std::max(summary.mostUsed, leaf.used[i]);
    summary.leastUsed = std::min(summary.leastUsed, leaf.used[i]);
  }
  summary.longestIdle = std::min(summary.longestIdle, kLongest);
  return summary;
}

Timeline::Summary Timeline::summaryOf(const Inner &inner) {
  Summary summary{0, 0, std::numeric_limits<uint32_t>::max()};
  for (uint32_t i = 0; i < inner.count; ++i) {
    summary.longestIdle = std::max(summary.longestIdle, inner.longestIdle[i]);
    summary.mostUsed = std::max(summary.mostUsed, inner.mostUsed[i]);
    summary.leastUsed = std::min(summary.leastUsed, inner.leastUsed[i]);
  }
  return summary;
}

/// The leaf at `place` now has this summary.
void Timeline::updateAbove(const Place &place, Summary summary) {
  for (uint32_t level = 1; level <= height; ++level) {
    Inner &inner = inners[place.node[level]];
    const uint32_t at = place.at[level];
    if (inner.longestIdle[at] == summary.longestIdle && inner.mostUsed[at] == summary.mostUsed &&
        inner.leastUsed[at] == summary.leastUsed)
      return;
    inner.longestIdle[at] = summary.longestIdle;
    inner.mostUsed[at] = summary.mostUsed;
    inner.leastUsed[at] = summary.leastUsed;
    if (level < height)
      summary = summaryOf(inner);
  }
}

/// Adds `share` on [start, finish), a part of the segment at `place`, whose leaf has room for two
/// more. Idle remainders that are too short count as used; equal neighbours in the leaf become one
/// segment (across leaves they may stay two, which no search can tell).
void Timeline::reserveWithin(const Place &place, int64_t start, int64_t finish, uint32_t share) {
  Leaf &leaf = leaves[place.node[0]];
  const uint32_t at = place.at[0];
  const int64_t begin = leaf.start[at], end = leaf.start[at + 1];
  const uint32_t used = leaf.used[at];
  // Rewritten: the segment before, three parts of this one, the segment after; then the end.
  int64_t starts[6];
  uint32_t uses[5], count = 0;
  auto add = [&](int64_t from, uint32_t use) {
    if (count > 0 && uses[count - 1] == use)
      return;
    starts[count] = from;
    uses[count++] = use;
  };
  auto idleOrUsed = [&](int64_t length) {
    return used == 0 && length < shortestUse ? capacity : used;
  };
  const uint32_t first = at > 0 ? at - 1 : at, last = at + 1 < leaf.count ? at + 1 : at;
  if (first < at)
    add(leaf.start[first], leaf.used[first]);
  if (begin < start)
    add(begin, idleOrUsed(start - begin));
  add(start, used + share);
  if (finish < end)
    add(finish, idleOrUsed(end - finish));
  if (last > at)
    add(leaf.start[last], leaf.used[last]);

  const uint32_t old = last + 1 - first, tail = leaf.count - (last + 1);
  if (count != old) {
    const uint32_t from = last + 1, to = first + count;
    if (to > from) {
      std::copy_backward(leaf.used + from, leaf.used + from + tail, leaf.used + to + tail);
      std::copy_backward(leaf.start + from, leaf.start + from + tail + 1,
                         leaf.start + to + tail + 1);
    } else {
      std::copy(leaf.used + from, leaf.used + from + tail, leaf.used + to);
      std::copy(leaf.start + from, leaf.start + from + tail + 1, leaf.start + to);
    }
    leaf.count = first + count + tail;
  }
  std::copy(starts, starts + count, leaf.start + first);
  std::copy(uses, uses + count, leaf.used + first);
  updateAbove(place, summaryOf(leaf));
}

// ---- growth: full nodes are split on the way down, so that there is always room above
// ------------------------------------------------------------------------------------------------

/// A leaf is full if it may not take the two more segments of a reservation.
bool Timeline::isFull(Index node, uint32_t level) const {
  return level == 0 ? leaves[node].count + 2 > kWidth : inners[node].count == kWidth;
}

/// Describes `child`, which is of height `level` - 1, at `at` of `inner`.
void Timeline::setChild(Inner &inner, uint32_t at, Index child, uint32_t level) {
  const Summary summary = level == 1 ? summaryOf(leaves[child]) : summaryOf(inners[child]);
  inner.child[at] = child;
  inner.start[at] = level == 1 ? leaves[child].start[0] : inners[child].start[0];
  inner.longestIdle[at] = summary.longestIdle;
  inner.mostUsed[at] = summary.mostUsed;
  inner.leastUsed[at] = summary.leastUsed;
}

/// Moves the later part of a child of `node`, which is of height `level` and has room, to a new
/// child behind it.
void Timeline::splitChild(Index node, uint32_t at, uint32_t level) {
  const Index child = inners[node].child[at];
  Index brother;
  auto move = [](auto *from, uint32_t kept, uint32_t moved, auto *to) {
    std::copy_n(from + kept, moved, to);
  };
  if (level == 1) {
    brother = Index(leaves.size());
    leaves.emplace_back();
    Leaf &left = leaves[child], &right = leaves[brother];
    // Most segments are added at the end: what is left behind stays well filled.
    const bool isLast = left.start[left.count] >= kForever;
    const uint32_t kept = isLast ? left.count * 7 / 8 : left.count / 2, moved = left.count - kept;
    move(left.used, kept, moved, right.used);
    move(left.start, kept, moved + 1, right.start);
    left.count = kept;
    right.count = moved;
  } else {
    brother = Index(inners.size());
    inners.emplace_back();
    Inner &left = inners[child], &right = inners[brother];
    const uint32_t kept = left.count / 2, moved = left.count - kept;
    move(left.child, kept, moved, right.child);
    move(left.start, kept, moved, right.start);
    move(left.longestIdle, kept, moved, right.longestIdle);
    move(left.mostUsed, kept, moved, right.mostUsed);
    move(left.leastUsed, kept, moved, right.leastUsed);
    left.count = kept;
    right.count = moved;
  }
  Inner &inner = inners[node];
  auto shift = [&](auto *list) {
    std::copy_backward(list + at + 1, list + inner.count, list + inner.count + 1);
  };
  shift(inner.child);
  shift(inner.start);
  shift(inner.longestIdle);
  shift(inner.mostUsed);
  shift(inner.leastUsed);
  ++inner.count;
  setChild(inner, at, child, level);
  setChild(inner, at + 1, brother, level);
}

/// find(), with room for a reservation in the leaf.
const Timeline::Place &Timeline::makeRoom(int64_t time) {
  if (const Leaf &leaf = leafOf(finger);
      leaf.start[0] <= time && time < leaf.start[leaf.count] && !isFull(finger.node[0], 0)) {
    seek(time);
    return finger;
  }
  if (isFull(root, height)) {
    const Index old = root;
    root = Index(inners.size());
    inners.emplace_back().count = 1;
    ++height;
    setChild(inners[root], 0, old, height);
  }
  Place &place = finger;
  Index node = root;
  for (uint32_t level = height; level > 0; --level) {
    uint32_t at = lastNotAfter(inners[node].start, inners[node].count, time);
    if (isFull(inners[node].child[at], level - 1)) {
      splitChild(node, at, level);
      at += inners[node].start[at + 1] <= time;
    }
    place.node[level] = node;
    place.at[level] = at;
    node = inners[node].child[at];
  }
  place.node[0] = node;
  place.at[0] = lastNotAfter(leaves[node].start, leaves[node].count, time);
  return place;
}

// Each segment is visited once per task that runs during it, hence at most `streams` times in all.
void Timeline::reserve(int64_t start, int64_t finish, uint32_t share) {
  share = std::min(share, capacity);
  idleFrom = std::max(idleFrom, finish);
  while (start < finish) {
    const Place &place = makeRoom(start);
    const int64_t end = std::min(finish, leafOf(place).start[place.at[0] + 1]);
    reserveWithin(place, start, end, share);
    start = end;
  }
}

} // namespace autopar::planning
