// Bells and progress counters: no ring is lost, no event is missed, counters wrap.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "runtime/device/sync.h"

namespace autopar {
namespace {

TEST(Progress, ReachesWhatWasRecordedAcrossTheWrap) {
  Progress progress;
  for (uint32_t base : {0u, 1000u, 0x7ffffffeu, 0x80000000u, 0xfffffffeu}) {
    progress.Reset(base);
    EXPECT_TRUE(progress.Reached(base));
    EXPECT_FALSE(progress.Reached(base + 1));
    for (uint32_t event = 1; event <= 5; ++event) {
      EXPECT_FALSE(progress.Record(base + event)) << "nobody asked for a ring";
      EXPECT_TRUE(progress.Reached(base + event));
      EXPECT_FALSE(progress.Reached(base + event + 1));
    }
  }
}

TEST(Progress, AsksForARingOnlyWhenTheWantedValueComes) {
  Progress progress;
  progress.Reset(0xfffffff0u);
  EXPECT_FALSE(progress.Want(0xfffffff0u + 3));
  EXPECT_FALSE(progress.Want(0xfffffff0u + 20));
  EXPECT_FALSE(progress.Record(0xfffffff0u + 1));
  EXPECT_FALSE(progress.Record(0xfffffff0u + 2));
  EXPECT_TRUE(progress.Record(0xfffffff0u + 3));
  // Whoever wants a later value asks again when it was rung too early.
  EXPECT_FALSE(progress.Record(0xfffffff0u + 4));
  EXPECT_TRUE(progress.Want(0xfffffff0u + 4));
}

// Two threads in turn, each asleep whenever it waits: a lost ring would hang.
TEST(Bell, NoRingIsLost) {
  constexpr uint32_t kSteps = 20000;
  Progress progress[2];
  Bell bells[2];
  progress[0].Reset(0);
  progress[1].Reset(0);
  auto run = [&](int self) {
    for (uint32_t step = 1; step <= kSteps; ++step) {
      if (progress[self].Record(step)) bells[1 - self].Ring();
      while (!progress[1 - self].Reached(step)) {
        bells[self].Park([&] { return progress[1 - self].Want(step); });
      }
    }
  };
  std::thread other([&] { run(1); });
  run(0);
  other.join();
}

// One recorder, many sleepers, each waiting for values of its own.
TEST(Bell, ManySleepersAreAllWoken) {
  constexpr uint32_t kSteps = 3000;
  constexpr size_t kSleepers = 6;
  Progress progress;
  progress.Reset(0);
  std::vector<Bell> bells(kSleepers);
  std::vector<std::thread> sleepers;
  for (size_t i = 0; i < kSleepers; ++i) {
    sleepers.emplace_back([&, i] {
      for (uint32_t step = static_cast<uint32_t>(i + 1); step <= kSteps;
           step += static_cast<uint32_t>(i + 1)) {
        while (!progress.Reached(step)) bells[i].Park([&] { return progress.Want(step); });
      }
    });
  }
  for (uint32_t step = 1; step <= kSteps; ++step) {
    if (progress.Record(step)) {
      for (Bell& bell : bells) bell.Ring();
    }
    if (step % 64 == 0) std::this_thread::yield();
  }
  for (std::thread& sleeper : sleepers) sleeper.join();
}

TEST(Clock, SleepsUntilTheDeadlineAndNotBefore) {
  int64_t deadline_ns = NowNs() + 5000000;
  SleepUntil(deadline_ns);
  EXPECT_GE(NowNs(), deadline_ns);
  SleepUntil(NowNs() - 1000000);  // the past: returns at once
}

}  // namespace
}  // namespace autopar
