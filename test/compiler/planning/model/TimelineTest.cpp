// The tree must answer as a plain list of intervals would.
#include "compiler/planning/model/Timeline.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "test/compiler/planning/graphs/TestGraphs.h"

namespace autopar::planning {
namespace {

struct Interval {
  int64_t start, finish;
  uint32_t share;
};

bool fits(const std::vector<Interval> &intervals, uint32_t capacity, int64_t start, int64_t finish,
          uint32_t share) {
  for (int64_t time = start; time < finish; ++time) {
    uint32_t used = 0;
    for (const Interval &other : intervals)
      if (other.start <= time && time < other.finish)
        used += other.share;
    if (used + share > capacity)
      return false;
  }
  return true;
}

int64_t firstFitByTrial(const std::vector<Interval> &intervals, uint32_t capacity, int64_t ready,
                        int64_t duration, uint32_t share) {
  while (!fits(intervals, capacity, ready, ready + duration, share))
    ++ready;
  return ready;
}

TEST(Timeline, ExclusiveFirstFitIsExact) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    Timeline timeline(1);
    std::vector<Interval> intervals;
    for (int step = 0; step < 60; ++step) {
      int64_t ready = random.between(0, 300), duration = random.between(1, 20);
      int64_t start = timeline.firstFit(ready, duration, 1);
      ASSERT_EQ(start, firstFitByTrial(intervals, 1, ready, duration, 1)) << "seed " << seed;
      timeline.reserve(start, start + duration, 1);
      intervals.push_back({start, start + duration, 1});
    }
  }
}

TEST(Timeline, SharesFitSideBySideAndFewObstaclesAreSearchedExactly) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    Timeline timeline(100);
    std::vector<Interval> intervals;
    for (int step = 0; step < 25; ++step) {
      int64_t ready = random.between(0, 100), duration = random.between(1, 30);
      uint32_t share = random.between(5, 100);
      int64_t start = timeline.firstFit(ready, duration, share);
      ASSERT_EQ(start, firstFitByTrial(intervals, 100, ready, duration, share)) << "seed " << seed;
      timeline.reserve(start, start + duration, share);
      intervals.push_back({start, start + duration, share});
    }
  }
}

TEST(Timeline, ManyObstaclesStillGiveAFreePlace) {
  Random random(1);
  Timeline timeline(100);
  std::vector<Interval> intervals;
  for (int64_t start = 0; start < 2000; start += 4) {
    timeline.reserve(start, start + 2, 60);
    timeline.reserve(start + 2, start + 4, 30);
    intervals.push_back({start, start + 2, 60});
    intervals.push_back({start + 2, start + 4, 30});
  }
  int64_t start = timeline.firstFit(0, 3, 50);
  EXPECT_TRUE(fits(intervals, 100, start, start + 3, 50));
  EXPECT_LE(start, 2000);
}

TEST(Timeline, IdleTimeTooShortForAnyTaskIsForgotten) {
  Timeline timeline(1, /*shortestUse=*/5);
  timeline.reserve(0, 10, 1);
  timeline.reserve(13, 20, 1);
  EXPECT_EQ(timeline.firstFit(0, 5, 1), 20);
  EXPECT_EQ(timeline.firstFit(10, 3, 1), 20) << "the gap of 3 is not kept";
  EXPECT_EQ(timeline.frontier(), 20);
}

} // namespace
} // namespace autopar::planning
