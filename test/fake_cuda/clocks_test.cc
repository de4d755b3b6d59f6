// The clocks against the definition: a race is a pair of accesses to a common byte, one of them a
// write, that no path through the order connects.
#include "test/fake_cuda/clocks.h"

#include <algorithm>
#include <bitset>
#include <vector>

#include "gtest/gtest.h"
#include "test/fake_cuda/random.h"

namespace fake {
namespace {

constexpr int kOperations = 40, kBytes = 24, kChains = 4;

struct Step {
  uint32_t chain;
  uint64_t begin, end;
  bool writes;
  std::vector<int> after;
};

std::vector<Step> RandomProgram(Random* random, int edge_percent) {
  std::vector<Step> steps(kOperations);
  std::vector<int> last(kChains, -1);
  for (int i = 0; i < kOperations; ++i) {
    Step& step = steps[i];
    step.chain = static_cast<uint32_t>(random->Below(kChains));
    step.begin = random->Below(kBytes);
    step.end = std::min<uint64_t>(kBytes, step.begin + 1 + random->Below(6));
    step.writes = random->Percent(40);
    if (last[step.chain] >= 0) step.after.push_back(last[step.chain]);
    for (int other = 0; other < i; ++other) {
      if (random->Percent(edge_percent)) step.after.push_back(other);
    }
    last[step.chain] = i;
  }
  return steps;
}

TEST(Clocks, FindExactlyTheFirstRacesOfTheDefinition) {
  int races = 0, clean = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    std::vector<Step> steps = RandomProgram(&random, static_cast<int>(random.Below(100)));
    std::vector<std::bitset<kOperations>> before(kOperations);
    std::vector<Clock> clocks(kOperations);
    std::vector<uint32_t> counts(kChains);
    Shadow shadow;
    for (int i = 0; i < kOperations; ++i) {
      const Step& step = steps[i];
      for (int other : step.after) {
        before[i] |= before[other];
        before[i].set(other);
        clocks[i].Join(clocks[other]);
      }
      clocks[i].Set(step.chain, ++counts[step.chain]);
      bool expected = false;
      for (int other = 0; other < i; ++other) {
        bool overlaps = steps[other].begin < step.end && step.begin < steps[other].end;
        expected |= overlaps && (step.writes || steps[other].writes) && !before[i][other];
      }
      Accessor who{step.chain, counts[step.chain], nullptr};
      Shadow::Conflict conflict;
      bool found = step.writes ? shadow.Write(step.begin, step.end, who, clocks[i], &conflict)
                               : shadow.Read(step.begin, step.end, who, clocks[i], &conflict);
      // Up to the first race the last accesses stand for all; behind it a program is wrong anyway.
      ASSERT_EQ(found, expected) << "seed " << seed << ", operation " << i;
      if (found) {
        EXPECT_TRUE(conflict.begin < step.end && step.begin < conflict.end);
        ++races;
        break;
      }
      if (i == kOperations - 1) ++clean;
    }
  }
  EXPECT_GT(races, 300);
  EXPECT_GT(clean, 30);
}

TEST(Shadow, KnowsWhichBytesWereWritten) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    Shadow shadow;
    std::bitset<kBytes> written;
    Clock clock;
    for (uint32_t i = 1; i <= 12; ++i) {
      uint64_t begin = random.Below(kBytes), end = begin + 1 + random.Below(kBytes - begin);
      clock.Set(0, i);
      Shadow::Conflict conflict;
      if (random.Percent(50)) {
        shadow.Write(begin, end, {0, i, nullptr}, clock, &conflict);
        for (uint64_t b = begin; b < end; ++b) written.set(b);
      } else {
        shadow.Read(begin, end, {0, i, nullptr}, clock, &conflict);
      }
      uint64_t from = random.Below(kBytes), to = from + random.Below(kBytes - from + 1),
               missing = 0, first = from;
      while (first < to && written[first]) ++first;
      ASSERT_EQ(shadow.IsWritten(from, to, &missing), first >= to) << "seed " << seed;
      if (first < to) {
        ASSERT_EQ(missing, first) << "seed " << seed;
      }
    }
  }
}

TEST(Shadow, FindsAnAccessThatTheHostDoesNotKnow) {
  Shadow shadow;
  Clock clock, host;
  Shadow::Conflict conflict;
  clock.Set(1, 1);
  shadow.Write(0, 8, {1, 1, nullptr}, clock, &conflict);
  EXPECT_TRUE(shadow.FindUncovered(host, &conflict));
  EXPECT_TRUE(conflict.earlier_wrote);
  host.Set(1, 1);
  EXPECT_FALSE(shadow.FindUncovered(host, &conflict));
}

}  // namespace
}  // namespace fake
