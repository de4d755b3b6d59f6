// Emulated time: synthetic tasks and copies over emulated links. Bounds are loose: the machine is shared.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>

#include "test/runtime/executor/schedule_builder.h"

namespace autopar {
namespace {

constexpr DeviceId kCpu{0};
constexpr DeviceId kGpu0{1};
constexpr DeviceId kGpu1{2};
constexpr int64_t kMs = 1000000;
constexpr uint64_t kBytes = 100000;

TensorType Bytes(int64_t count) { return {ElementType::kI8, {count}}; }

// Links on which kBytes take 20 ms.
Machine SlowLinks(uint32_t gpus, bool one_engine) {
  Machine machine = TestMachine(gpus);
  for (Link& link : machine.links) {
    link.emulated = true;
    link.bytes_per_s = 5000000;
    if (one_engine) link.engines = {0};
  }
  return machine;
}

int64_t ProcessorNs() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
}

// The median of a few calls.
int64_t MedianNs(ScheduleBuilder& builder, std::vector<uint8_t>* result = nullptr) {
  auto program = builder.Build();
  EXPECT_TRUE(program.ok()) << program.status();
  if (!program.ok()) return 0;
  auto session = Session::Create(*program);
  EXPECT_TRUE(session.ok()) << session.status();
  std::vector<int64_t> times;
  for (int repeat = 0; repeat < 5; ++repeat) {
    auto results = CallMain(**program, **session, {TestBytes(kBytes, 1)});
    EXPECT_TRUE(results.ok()) << results.status();
    if (!results.ok()) return 0;
    if (result != nullptr) *result = (*results)[0];
    times.push_back((*session)->elapsed_ns());
  }
  std::sort(times.begin(), times.end());
  return times[2];
}

// Copies the argument to each of `gpus` at once; the last one's copy comes back.
ScheduleBuilder CopyProgram(uint32_t gpus, bool one_engine, int copies) {
  ScheduleBuilder builder(SlowLinks(gpus, one_engine));
  SpaceId argument = builder.Argument(Bytes(kBytes));
  SpaceId result = builder.Result(Bytes(1));
  for (uint32_t i = 0; i < gpus; ++i) {
    DeviceId gpu(i + 1);
    SpaceId arena = builder.Arena(gpu, static_cast<uint64_t>(copies) * kBytes);
    StreamId in = builder.CopyStream(kCpu, gpu);
    for (int copy = 0; copy < copies; ++copy) {
      builder.Copy(in, builder.Whole(argument),
                   builder.Piece(arena, static_cast<uint64_t>(copy) * kBytes, kBytes));
    }
    if (i == 0) {
      EventId event = builder.Record(in);
      StreamId out = builder.CopyStream(gpu, kCpu);
      builder.Wait(out, event);
      builder.Copy(out, builder.Piece(arena, 0, 1), builder.Whole(result));
    }
  }
  return builder;
}

TEST(Time, EmulatedCopiesTakeTheirTimeWithoutDrift) {
  ScheduleBuilder builder = CopyProgram(1, false, 10);
  int64_t before = ProcessorNs();
  int64_t median = MedianNs(builder);
  int64_t used = ProcessorNs() - before;
  EXPECT_GE(median, 200 * kMs);
  EXPECT_LE(median, 220 * kMs);
  // Five calls slept for a second.
  EXPECT_LE(used, 300 * kMs);
}

TEST(Time, CopiesOnTwoEnginesOverlapAndOnOneQueue) {
  ScheduleBuilder apart = CopyProgram(2, false, 2);
  ScheduleBuilder shared = CopyProgram(2, true, 2);
  int64_t apart_ns = MedianNs(apart), shared_ns = MedianNs(shared);
  EXPECT_GE(apart_ns, 40 * kMs);
  EXPECT_LE(apart_ns, 60 * kMs);
  EXPECT_GE(shared_ns, 80 * kMs);
  EXPECT_LE(shared_ns, 110 * kMs);
}

ScheduleBuilder SyntheticPair(bool spin, bool same_stream, int64_t duration_ns) {
  ScheduleBuilder builder(TestMachine(0));
  SpaceId argument = builder.Argument(Bytes(kBytes));
  SpaceId result = builder.Result(Bytes(kBytes));
  SpaceId other = builder.Result(Bytes(kBytes));
  KernelId first = builder.Synthetic("first", {kBytes}, {kBytes}, spin);
  KernelId second = builder.Synthetic("second", {kBytes}, {kBytes}, spin);
  StreamId stream = builder.Compute(kCpu, 0);
  builder.Launch(stream, first, {builder.Whole(argument)}, {builder.Whole(result)}, duration_ns);
  builder.Launch(same_stream ? stream : builder.Compute(kCpu, 1), second, {builder.Whole(argument)},
                 {builder.Whole(other)}, duration_ns);
  return builder;
}

TEST(Time, SyntheticTasksSleepSideBySideOrInOrder) {
  ScheduleBuilder side_by_side = SyntheticPair(false, false, 30 * kMs);
  ScheduleBuilder in_order = SyntheticPair(false, true, 30 * kMs);
  ScheduleBuilder spinning = SyntheticPair(true, true, 30 * kMs);
  int64_t parallel_ns = MedianNs(side_by_side), serial_ns = MedianNs(in_order);
  EXPECT_GE(parallel_ns, 30 * kMs);
  EXPECT_LE(parallel_ns, 45 * kMs);
  EXPECT_GE(serial_ns, 60 * kMs);
  EXPECT_LE(serial_ns, 80 * kMs);
  int64_t before = ProcessorNs();
  int64_t spinning_ns = MedianNs(spinning);
  EXPECT_GE(spinning_ns, 60 * kMs);
  EXPECT_GE(ProcessorNs() - before, 5 * 25 * kMs);
}

// A chain that changes streams at every step keeps the planned time: lateness is not added up.
TEST(Time, ChainOverStreamsDoesNotDrift) {
  constexpr int kSteps = 100;
  ScheduleBuilder builder(TestMachine(0));
  SpaceId argument = builder.Argument(Bytes(kBytes));
  SpaceId result = builder.Result(Bytes(64));
  SpaceId arena = builder.Arena(kCpu, 64 * kSteps);
  StreamId streams[2] = {builder.Compute(kCpu, 0), builder.Compute(kCpu, 1)};
  Region input = builder.Piece(argument, 0, 64);
  for (int step = 0; step < kSteps; ++step) {
    Region output = step + 1 == kSteps ? builder.Whole(result)
                                       : builder.Piece(arena, 64 * static_cast<uint64_t>(step), 64);
    if (step > 0) {
      EventId event = builder.Record(streams[(step + 1) % 2]);
      builder.Wait(streams[step % 2], event);
    }
    KernelId kernel = builder.Synthetic("step" + std::to_string(step), {64}, {64});
    builder.Launch(streams[step % 2], kernel, {input}, {output}, kMs / 2);
    input = output;
  }
  int64_t median = MedianNs(builder);
  EXPECT_GE(median, kSteps * kMs / 2);
  EXPECT_LE(median, kSteps * kMs / 2 * 130 / 100);
}

TEST(Time, ComputeAndCopyOverlap) {
  auto build = [](bool overlap) {
    ScheduleBuilder builder(SlowLinks(1, false));
    SpaceId argument = builder.Argument(Bytes(kBytes));
    SpaceId result = builder.Result(Bytes(kBytes));
    SpaceId device_in = builder.Argument(Bytes(kBytes), kGpu0);
    SpaceId arena = builder.Arena(kGpu0, 2 * kBytes);
    StreamId compute = builder.Compute(kGpu0);
    StreamId out = builder.CopyStream(kGpu0, kCpu);
    (void)argument;
    KernelId kernel = builder.Synthetic("work", {kBytes}, {kBytes});
    uint32_t work = builder.Launch(compute, kernel, {builder.Whole(device_in)},
                                   {builder.Piece(arena, 0, kBytes)}, 20 * kMs);
    (void)work;
    if (!overlap) {
      EventId event = builder.Record(compute);
      builder.Wait(out, event);
    }
    builder.Copy(out, builder.Whole(device_in), builder.Whole(result));
    return builder;
  };
  for (bool overlap : {true, false}) {
    ScheduleBuilder builder = build(overlap);
    auto program = builder.Build();
    ASSERT_TRUE(program.ok()) << program.status();
    auto session = Session::Create(*program, {.record_timings = true});
    ASSERT_TRUE(session.ok()) << session.status();
    std::vector<uint8_t> input = TestBytes(kBytes, 7);
    auto results = CallMain(**program, **session, {input, input});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[0], input);
    const std::vector<CommandTiming>& timings = (*session)->timings();
    ASSERT_EQ(timings.size(), 2u);
    EXPECT_EQ(timings[0].command, 0u);
    for (const CommandTiming& timing : timings) {
      EXPECT_GE(timing.finish_ns - timing.start_ns, 19 * kMs);
    }
    if (overlap) {
      EXPECT_LT(timings[1].start_ns, timings[0].finish_ns);
      EXPECT_LT((*session)->elapsed_ns(), 35 * kMs);
    } else {
      EXPECT_GE(timings[1].start_ns, timings[0].finish_ns - kMs);
      EXPECT_GE((*session)->elapsed_ns(), 40 * kMs);
    }
  }
}

}  // namespace
}  // namespace autopar
