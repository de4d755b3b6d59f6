// Timelines for schedules that are built thousands of times over: sorted flat arrays that keep
// their memory when cleared.
//
// They answer exactly as Timeline does (the same first fits, the same bounded number of tries, the
// same forgotten gaps), so that the evaluator and the schedule builder give the same times. A
// search starts at the end, where most requests go, and costs O(log n) plus the segments between
// the ready time and the fit. Not synchronised.
#ifndef AUTOPAR_COMPILER_PLANNING_SEARCH_FLATTIMELINE_H
#define AUTOPAR_COMPILER_PLANNING_SEARCH_FLATTIMELINE_H

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

  /// Where requests from `ready` on start to look; valid until the next reserve().
  size_t find(int64_t ready) const {
    if (busy.empty() || ready >= busy.back().finish)
      return busy.size();
    // The first interval that ends after `ready`: most often one of the last.
    size_t last = busy.size() - 1, step = 1;
    for (; last >= step && busy[last - step].finish > ready; step *= 2)
      last -= step;
    size_t first = last >= step ? last - step + 1 : 0;
    while (first < last) {
      const size_t middle = first + (last - first) / 2;
      if (busy[middle].finish > ready)
        last = middle;
      else
        first = middle + 1;
    }
    return last;
  }
  /// Earliest time >= `ready` at which the engine is idle for `duration` > 0. `place` is find() of
  /// an earlier time and moves on to that of the answer.
  int64_t firstFit(size_t &place, int64_t ready, int64_t duration) const {
    for (; place < busy.size(); ++place) {
      if (busy[place].start - ready >= duration)
        return ready;
      ready = std::max(ready, busy[place].finish);
    }
    return ready;
  }
  /// Takes [start, finish), which is idle; `place` is find(start).
  void reserve(size_t place, int64_t start, int64_t finish) {
    const bool joinsNext = place < busy.size() && busy[place].start - finish < shortest;
    const bool joinsLast = place > 0 && start - busy[place - 1].finish < shortest;
    if (joinsNext && joinsLast) {
      busy[place - 1].finish = busy[place].finish;
      busy.erase(busy.begin() + place);
    } else if (joinsNext) {
      busy[place].start = start;
    } else if (joinsLast) {
      busy[place - 1].finish = finish;
    } else {
      busy.insert(busy.begin() + place, {start, finish});
    }
  }

private:
  struct Interval {
    int64_t start, finish;
  };

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

#endif // AUTOPAR_COMPILER_PLANNING_SEARCH_FLATTIMELINE_H
