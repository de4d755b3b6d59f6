// Programs and sessions: schedules run, on any number of streams, and say what is wrong.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/executor/program.h"
#include "test/runtime/executor/schedule_builder.h"

namespace autopar {
namespace {

constexpr DeviceId kCpu{0};
constexpr DeviceId kGpu0{1};
constexpr DeviceId kGpu1{2};

TensorType Bytes(int64_t count) { return {ElementType::kI8, {count}}; }

// A diamond of synthetic tasks on `streams` CPU streams: `width` tasks read the argument, one joins
// their results, twice.
ScheduleBuilder Diamonds(uint32_t streams, uint32_t width) {
  constexpr uint64_t kBytes = 1000;
  ScheduleBuilder builder(TestMachine(0));
  SpaceId argument = builder.Argument(Bytes(kBytes));
  SpaceId result = builder.Result(Bytes(kBytes));
  SpaceId arena = builder.Arena(kCpu, (width + 1) * 1024);
  std::vector<StreamId> ids;
  for (uint32_t i = 0; i < streams; ++i) ids.push_back(builder.Compute(kCpu, i));
  std::vector<KernelId> kernels;
  for (uint32_t i = 0; i < width; ++i) {
    kernels.push_back(builder.Synthetic("task" + std::to_string(i), {kBytes}, {kBytes}));
  }
  KernelId join = builder.Synthetic("join", std::vector<uint64_t>(width, kBytes), {kBytes});
  Region input = builder.Whole(argument);
  for (int round = 0; round < 2; ++round) {
    std::vector<Region> parts;
    for (uint32_t i = 0; i < width; ++i) {
      Region part = builder.Piece(arena, i * 1024, kBytes);
      StreamId stream = ids[i % streams];
      builder.Launch(stream, kernels[i], {input}, {part}, 0);
      parts.push_back(part);
    }
    // The join waits for all, and all of the next round for the join.
    for (uint32_t i = 1; i < streams; ++i) {
      EventId event = builder.Record(ids[i]);
      builder.Wait(ids[0], event);
    }
    Region output = round == 0 ? builder.Piece(arena, width * 1024, kBytes) : builder.Whole(result);
    builder.Launch(ids[0], join, parts, {output}, 0);
    if (round == 0) {
      EventId joined = builder.Record(ids[0]);
      for (uint32_t i = 1; i < streams; ++i) builder.Wait(ids[i], joined);
    }
    input = output;
  }
  return builder;
}

// The product of two matrices on the CPU, then on two virtual devices with copies around it.
TEST(Executor, MatmulRunsOnOneCpuStream) {
  ScheduleBuilder builder(TestMachine(0));
  MatmulParams params{.m = 3, .n = 2, .k = 2};
  SpaceId a = builder.Argument({ElementType::kF32, {3, 2}});
  SpaceId b = builder.Argument({ElementType::kF32, {2, 2}});
  SpaceId c = builder.Result({ElementType::kF32, {3, 2}});
  StreamId stream = builder.Compute(kCpu);
  builder.Launch(stream, builder.Matmul("product", params), {builder.Whole(a), builder.Whole(b)},
                 {builder.Whole(c)});
  auto program = builder.Build();
  ASSERT_TRUE(program.ok()) << program.status();
  auto session = Session::Create(*program);
  ASSERT_TRUE(session.ok()) << session.status();
  auto results =
      CallMain(**program, **session, {BytesOf({1, 2, 3, 4, 5, 6}), BytesOf({1, 10, 100, 1000})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(FloatsOf((*results)[0]), (std::vector<float>{201, 2010, 403, 4030, 605, 6050}));
}

TEST(Executor, TwoStreamsWithEventsGiveTheResultOfOne) {
  std::vector<uint8_t> input = TestBytes(1000, 1);
  std::vector<uint8_t> expected;
  for (uint32_t streams : {1u, 2u, 4u, 7u}) {
    ScheduleBuilder builder = Diamonds(streams, 8);
    auto program = builder.Build();
    ASSERT_TRUE(program.ok()) << program.status();
    for (uint64_t seed : {0u, 1u, 2u}) {
      auto session = Session::Create(*program, {.delay_seed = seed});
      ASSERT_TRUE(session.ok()) << session.status();
      for (int repeat = 0; repeat < 100; ++repeat) {
        auto results = CallMain(**program, **session, {input});
        ASSERT_TRUE(results.ok()) << results.status();
        if (expected.empty()) expected = (*results)[0];
        ASSERT_EQ((*results)[0], expected) << streams << " streams, seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace autopar
