// The same bits whatever the devices, streams, delays and repetitions (edge cases A6, A13, A28, A32).
#include <gtest/gtest.h>

#include <thread>

#include "test/runtime/executor/random_program.h"

namespace autopar {
namespace {

// Sanitizers make each call tens of times slower.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kSlower = 5;
#else
constexpr int kSlower = 1;
#endif

std::vector<uint8_t> RunOnce(ScheduleBuilder& builder, const SessionOptions& options, int repeats) {
  auto program = builder.Build();
  EXPECT_TRUE(program.ok()) << program.status();
  if (!program.ok()) return {};
  auto session = Session::Create(*program, options);
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok()) return {};
  std::vector<uint8_t> first;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    auto results = CallMain(**program, **session, {TestBytes(kRandomProgramBytes, 5)});
    EXPECT_TRUE(results.ok()) << results.status();
    if (!results.ok()) return {};
    if (repeat == 0) first = (*results)[0];
    EXPECT_EQ((*results)[0], first) << "repeat " << repeat;
  }
  return first;
}

std::vector<uint8_t> Oracle(uint64_t graph_seed, uint32_t tasks) {
  ScheduleBuilder serial = RandomProgram(graph_seed, tasks, {});
  return RunOnce(serial, {.poison = true}, 1);
}

TEST(Determinism, AnyPlacementGivesTheBitsOfOneStream) {
  for (uint64_t graph_seed : {1, 2, 3}) {
    std::vector<uint8_t> expected = Oracle(graph_seed, 60);
    for (uint32_t gpus : {0u, 1u, 2u, 4u}) {
      for (uint32_t streams : {1u, 2u, 5u}) {
        ScheduleBuilder builder = RandomProgram(
            graph_seed, 60, {.gpus = gpus, .streams = streams, .seed = graph_seed * 10 + streams});
        EXPECT_EQ(RunOnce(builder, {}, 20 / kSlower), expected) << gpus << " gpus, " << streams << " streams";
        EXPECT_EQ(RunOnce(builder, {.poison = true}, 2), expected);
      }
    }
  }
}

TEST(Determinism, HundredRepeatsWithRandomDelays) {
  std::vector<uint8_t> expected = Oracle(7, 40);
  ScheduleBuilder builder = RandomProgram(7, 40, {.gpus = 2, .streams = 3, .seed = 1});
  for (uint64_t delay_seed = 1; delay_seed <= 100 / kSlower; ++delay_seed) {
    ASSERT_EQ(RunOnce(builder, {.delay_seed = delay_seed}, 1), expected) << "seed " << delay_seed;
  }
}

TEST(Determinism, ManyMoreStreamsThanCores) {
  std::vector<uint8_t> expected = Oracle(9, 300);
  ScheduleBuilder builder = RandomProgram(9, 300, {.gpus = 4, .streams = 12, .seed = 3});
  EXPECT_EQ(RunOnce(builder, {}, 50 / kSlower), expected);
}

TEST(Determinism, SessionsSideBySide) {
  ScheduleBuilder builder = RandomProgram(11, 40, {.gpus = 2, .streams = 2, .seed = 3});
  std::vector<uint8_t> expected = Oracle(11, 40);
  auto program = builder.Build();
  ASSERT_TRUE(program.ok()) << program.status();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      auto session = Session::Create(*program);
      ASSERT_TRUE(session.ok()) << session.status();
      for (int repeat = 0; repeat < 25; ++repeat) {
        auto results = CallMain(**program, **session, {TestBytes(kRandomProgramBytes, 5)});
        ASSERT_TRUE(results.ok()) << results.status();
        ASSERT_EQ((*results)[0], expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Without waits the very same placement gives other bits: the tests above can fail.
TEST(Determinism, MissingWaitsShow) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a race on purpose";
#endif
  std::vector<uint8_t> expected = Oracle(7, 40);
  ScheduleBuilder builder = RandomProgram(
      7, 40, {.gpus = 2, .streams = 3, .seed = 1, .drop_waits = true, .duration_ns = 1000000});
  EXPECT_FALSE(builder.Build().ok()) << "the checker lets it pass";
  auto program = builder.BuildUnchecked();
  ASSERT_TRUE(program.ok()) << program.status();
  auto session = Session::Create(*program);
  ASSERT_TRUE(session.ok()) << session.status();
  auto results = CallMain(**program, **session, {TestBytes(kRandomProgramBytes, 5)});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_NE((*results)[0], expected);
}

}  // namespace
}  // namespace autopar
