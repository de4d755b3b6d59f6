#include "compiler/planning/search/FlatTimeline.h"

namespace autopar::planning {

namespace {

/// As in Timeline.cpp: busy stretches that a request for a share skips one by one.
constexpr int kMostTries = 64;

} // namespace

FlatProfile::FlatProfile(uint32_t capacity, int64_t shortestUse)
    : capacity(capacity), shortestUse(shortestUse) {
  clear();
}

void FlatProfile::clear() {
  segments.clear();
  segments.push_back({0, 0});
  idleFrom = 0;
}

size_t FlatProfile::segmentAt(int64_t time) const {
  auto after = std::upper_bound(segments.begin(), segments.end(), time,
                                [](int64_t t, const Segment &s) { return t < s.start; });
  return size_t(after - segments.begin()) - 1;
}

int64_t FlatProfile::firstIdle(int64_t ready, int64_t duration) const {
  for (size_t index = segmentAt(ready); index + 1 < segments.size(); ++index) {
    int64_t start = std::max(ready, segments[index].start);
    if (segments[index].used == 0 && segments[index + 1].start - start >= duration)
      return start;
  }
  return std::max(ready, segments.back().start);
}

int64_t FlatProfile::endOfLastAbove(uint32_t level) const {
  for (size_t index = segments.size() - 1; index-- > 0;)
    if (segments[index].used > level)
      return segments[index + 1].start;
  return 0;
}

int64_t FlatProfile::firstFit(int64_t ready, int64_t duration, uint32_t share) const {
  if (ready >= idleFrom)
    return ready;
  const uint32_t level = capacity - std::min(share, capacity); // what others may use meanwhile
  if (level == 0)
    return firstIdle(ready, duration);
  int64_t start = ready;
  size_t index = segmentAt(ready);
  for (int tries = 0; tries < kMostTries; ++tries) {
    while (index < segments.size() && segments[index].used <= level)
      ++index;
    if (index == segments.size() || segments[index].start >= start + duration)
      return start;
    while (segments[index].used > level) // the last one is idle
      ++index;
    start = segments[index].start;
  }
  return std::min(firstIdle(start, duration), std::max(start, endOfLastAbove(level)));
}

/// Makes a segment start at `time`; its index.
size_t FlatProfile::cut(int64_t time) {
  size_t index = segmentAt(time);
  if (segments[index].start == time)
    return index;
  segments.insert(segments.begin() + index + 1, {time, segments[index].used});
  return index + 1;
}

void FlatProfile::reserve(int64_t start, int64_t finish, uint32_t share) {
  share = std::min(share, capacity);
  idleFrom = std::max(idleFrom, finish);
  const size_t first = cut(start);
  size_t end = cut(finish);
  for (size_t index = first; index < end; ++index)
    segments[index].used += share;
  auto forgetIfShort = [&](size_t index) {
    Segment &segment = segments[index];
    if (segment.used == 0 && index + 1 < segments.size() &&
        segments[index + 1].start - segment.start < shortestUse)
      segment.used = capacity;
  };
  forgetIfShort(end);
  if (first > 0)
    forgetIfShort(first - 1);
  // Equal neighbours become one, from behind so that the indices hold.
  auto joinWithLast = [&](size_t index) {
    if (index > 0 && segments[index].used == segments[index - 1].used)
      segments.erase(segments.begin() + index);
  };
  joinWithLast(end);
  joinWithLast(first);
  if (first > 0)
    joinWithLast(first - 1);
}

} // namespace autopar::planning
