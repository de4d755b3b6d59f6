#include "compiler/planning/lists/MemoryLedger.h"

#include <gtest/gtest.h>
#include <map>

#include "test/compiler/planning/graphs/Random.h"

namespace autopar::planning {
namespace {

/// The same, entry by entry.
class PlainLedger {
public:
  explicit PlainLedger(uint64_t limit) : limit(limit) {}
  int64_t freeFrom(uint64_t bytes) const {
    if (held + bytes > limit)
      return MemoryLedger::kNever;
    uint64_t used = held + bytes;
    for (auto entry = ends.rbegin(); entry != ends.rend(); ++entry)
      if (used += entry->second; used > limit)
        return entry->first;
    return 0;
  }
  void hold(uint64_t bytes) { held += bytes; }
  void giveBack(uint64_t bytes, int64_t time) {
    held -= bytes;
    ends[time] += bytes;
  }
  uint64_t heldBytes() const { return held; }

private:
  uint64_t limit, held = 0;
  std::map<int64_t, uint64_t> ends;
};

TEST(MemoryLedger, RoomIsFromTheLastEndThatIsInTheWay) {
  MemoryLedger ledger(100);
  EXPECT_EQ(ledger.freeFrom(100), 0);
  EXPECT_EQ(ledger.freeFrom(101), MemoryLedger::kNever);
  ledger.hold(60);
  EXPECT_EQ(ledger.freeFrom(40), 0);
  EXPECT_EQ(ledger.freeFrom(41), MemoryLedger::kNever) << "nobody knows when the 60 bytes end";
  ledger.giveBack(20, 7);
  ledger.giveBack(40, 5);
  EXPECT_EQ(ledger.freeFrom(41), 5);
  EXPECT_EQ(ledger.freeFrom(80), 5);
  EXPECT_EQ(ledger.freeFrom(81), 7);
}

TEST(MemoryLedger, AnswersAsOneThatLooksAtEveryEntry) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    const uint64_t limit = uint64_t(random.between(50, 5000));
    MemoryLedger ledger(limit);
    PlainLedger plain(limit);
    // Ends come about in the order of time, all over the place, or backwards.
    const int64_t drift = random.between(-10, 30);
    for (int step = 0; step < 5000; ++step) {
      const uint64_t bytes = uint64_t(random.between(0, 200));
      if (random.chance(50)) {
        ASSERT_EQ(ledger.freeFrom(bytes), plain.freeFrom(bytes)) << seed << ", step " << step;
      } else if (plain.heldBytes() >= bytes && random.chance(55)) {
        const int64_t time = 100'000 + step * drift + random.between(0, 20'000);
        ledger.giveBack(bytes, time);
        plain.giveBack(bytes, time);
      } else {
        ledger.hold(bytes);
        plain.hold(bytes);
      }
    }
  }
}

} // namespace
} // namespace autopar::planning
