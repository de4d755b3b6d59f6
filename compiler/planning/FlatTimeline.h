// Timelines for schedules that are built thousands of times over: sorted flat arrays that keep
// their memory when cleared.
//
// They answer exactly as Timeline does (the same first fits, the same bounded number of tries, the
// same forgotten gaps), so that the evaluator and the schedule builder give the same times. A
// search starts at the end, where most requests go, and costs O(log n) plus the segments between
// the ready time and the fit. Not synchronised.
#ifndef AUTOPAR_COMPILER_PLANNING_FLATTIMELINE_H
#define AUTOPAR_COMPILER_PLANNING_FLATTIMELINE_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace autopar::planning {

/// A copy engine: busy or not.
class FlatEngine {
public:
  /// `shortest`: no request is shorter than this, so that shorter gaps need not be kept.
  explicit FlatEngine(int64_t shortest) : shortest(shortest) {}

  void clear() { busy.clear(); }
  /// From here on nothing is used.
  int64_t frontier() const { return busy.empty() ? 0 : busy.back().finish; }

  /// Earliest time >= `ready` at which the engine is idle for `duration` > 0.
  int64_t firstFit(int64_t ready, int64_t duration) const {
    if (busy.empty() || ready >= busy.back().finish)
      return ready;
    for (size_t index = firstEndingAfter(ready); index < busy.size(); ++index) {
      if (busy[index].start - ready >= duration)
        return ready;
      ready = std::max(ready, busy[index].finish);
    }
    return ready;
  }

  /// Takes [start, finish), which is idle.
  void reserve(int64_t start, int64_t finish) {
    if (busy.empty() || start >= busy.back().finish) {
      if (!busy.empty() && start - busy.back().finish < shortest)
        busy.back().finish = finish;
      else
        busy.push_back({start, finish});
      return;
    }
    const size_t next = firstEndingAfter(start);
    const bool joinsNext = busy[next].start - finish < shortest;
    const bool joinsLast = next > 0 && start - busy[next - 1].finish < shortest;
    if (joinsNext && joinsLast) {
      busy[next - 1].finish = busy[next].finish;
      busy.erase(busy.begin() + next);
    } else if (joinsNext) {
      busy[next].start = start;
    } else if (joinsLast) {
      busy[next - 1].finish = finish;
    } else {
      busy.insert(busy.begin() + next, {start, finish});
    }
  }

private:
  struct Interval {
    int64_t start, finish;
  };

  size_t firstEndingAfter(int64_t time) const {
    auto found =
        std::upper_bound(busy.begin(), busy.end(), time,
                         [](int64_t t, const Interval &interval) { return t < interval.finish; });
    return size_t(found - busy.begin());
  }

  int64_t shortest;
  std::vector<Interval> busy; // ascending, gaps of at least `shortest` between them
};

/// A device on which tasks run side by side while their shares fit.
class FlatProfile {
public:
  FlatProfile(uint32_t capacity, int64_t shortestUse);

  void clear();
  int64_t frontier() const { return idleFrom; }
  /// See Timeline.
  int64_t firstFit(int64_t ready, int64_t duration, uint32_t share) const;
  void reserve(int64_t start, int64_t finish, uint32_t share);

private:
  struct Segment {
    int64_t start;
    uint32_t used; // until the next one starts
  };
  size_t segmentAt(int64_t time) const;
  size_t cut(int64_t time);
  int64_t firstIdle(int64_t ready, int64_t duration) const;
  int64_t endOfLastAbove(uint32_t level) const;

  uint32_t capacity;
  int64_t shortestUse;
  int64_t idleFrom = 0;
  std::vector<Segment> segments; // from 0 on; the last one is idle and endless
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_FLATTIMELINE_H
