// Generated code and the dealing of its tiles over threads.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>

#include "test/runtime/executor/schedule_builder.h"

namespace autopar {
namespace {

constexpr DeviceId kCpu{0};
constexpr DeviceId kGpu0{1};
constexpr int64_t kElements = 10000;  // of the test kernels' add
constexpr uint64_t kAddBytes = kElements * 4;

TensorType Floats(int64_t count) { return {ElementType::kF32, {count}}; }

ScheduleBuilder AddProgram(const std::string& symbol, uint32_t cores) {
  ScheduleBuilder builder(TestMachine(0, cores));
  builder.AddModule(AUTOPAR_TEST_KERNELS);
  SpaceId a = builder.Argument(Floats(kElements)), b = builder.Argument(Floats(kElements));
  SpaceId result = builder.Result(Floats(kElements));
  SpaceId arena = builder.Arena(kCpu, kAddBytes + 1024);
  StreamId stream = builder.Compute(kCpu);
  Region sum = builder.Piece(arena, 0, kAddBytes);
  builder.Launch(stream, builder.Native("add", symbol, 10, {kAddBytes, kAddBytes}, {kAddBytes}),
                 {builder.Whole(a), builder.Whole(b)}, {sum});
  builder.Copy(stream, sum, builder.Whole(result));
  return builder;
}

TEST(Tiles, NativeKernelRunsWithItsShortLastTile) {
  for (uint32_t cores : {1u, 2u}) {
    ScheduleBuilder builder = AddProgram("add", cores);
    auto program = builder.Build();
    ASSERT_TRUE(program.ok()) << program.status();
    auto session = Session::Create(*program, {.poison = true});
    ASSERT_TRUE(session.ok()) << session.status();
    std::vector<float> a = TestFloats(kElements, 1), b = TestFloats(kElements, 2);
    for (int repeat = 0; repeat < 200; ++repeat) {
      auto results = CallMain(**program, **session, {BytesOf(a), BytesOf(b)});
      ASSERT_TRUE(results.ok()) << results.status();
      std::vector<float> sum = FloatsOf((*results)[0]);
      for (size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum[i], a[i] + b[i]) << i;
    }
  }
}

TEST(Tiles, KernelThatOverrunsItsRegionIsFound) {
  ScheduleBuilder builder = AddProgram("add_and_overrun", 2);
  auto program = builder.Build();
  ASSERT_TRUE(program.ok()) << program.status();
  auto session = Session::Create(*program, {.poison = true});
  ASSERT_TRUE(session.ok()) << session.status();
  auto results = CallMain(**program, **session,
                          {BytesOf(TestFloats(kElements, 1)), BytesOf(TestFloats(kElements, 2))});
  ASSERT_FALSE(results.ok());
  std::string message(results.status().message());
  EXPECT_NE(message.find("bytes [40000, 40960) of the arena of cpu0"), std::string::npos) << message;
  EXPECT_NE(message.find("command 0 (test command)"), std::string::npos) << message;
}

// One long launch of 64 tiles of 0.2 ms, beside a stream that waits for it.
struct NotedTiles {
  std::vector<int32_t> threads, counts;
};

void RunNotedTiles(Machine machine, DeviceId device, bool waiting_stream, NotedTiles* noted) {
  constexpr int64_t kTiles = 64;
  ScheduleBuilder builder(std::move(machine));
  builder.AddModule(AUTOPAR_TEST_KERNELS);
  TensorType type{ElementType::kI32, {kTiles}};
  uint64_t bytes = type.bytes();
  SpaceId zeros = builder.Argument(type);
  SpaceId threads = builder.Result(type), counts = builder.Result(type);
  SpaceId arena = builder.Arena(device, 4096);
  Region thread_region = builder.Piece(arena, 0, bytes);
  Region count_region = builder.Piece(arena, 1024, bytes);
  StreamId first = builder.Compute(device, 0);
  bool on_host = device == kCpu;
  StreamId in = on_host ? first : builder.CopyStream(kCpu, device);
  StreamId out = on_host ? first : builder.CopyStream(device, kCpu);
  auto order = [&](StreamId before, StreamId after) {
    if (before == after) return;
    EventId event = builder.Record(before);
    builder.Wait(after, event);
  };
  builder.Copy(in, builder.Whole(zeros), count_region);
  order(in, first);
  KernelId kernel = builder.Native("note", "note_threads", kTiles, {}, {bytes, bytes});
  builder.Launch(first, kernel, {}, {thread_region, count_region});
  if (waiting_stream) {
    StreamId second = builder.Compute(device, 1);
    EventId event = builder.Record(first);
    builder.Wait(second, event);
    builder.Launch(second, builder.Synthetic("after", {bytes}, {64}), {count_region},
                   {builder.Piece(arena, 2048, 64)});
  }
  order(first, out);
  builder.Copy(out, thread_region, builder.Whole(threads));
  builder.Copy(out, count_region, builder.Whole(counts));
  auto program = builder.Build();
  ASSERT_TRUE(program.ok()) << program.status();
  auto session = Session::Create(*program);
  ASSERT_TRUE(session.ok()) << session.status();
  auto results = CallMain(**program, **session, {std::vector<uint8_t>(bytes, 0)});
  ASSERT_TRUE(results.ok()) << results.status();
  noted->threads.resize(kTiles);
  noted->counts.resize(kTiles);
  std::memcpy(noted->threads.data(), (*results)[0].data(), bytes);
  std::memcpy(noted->counts.data(), (*results)[1].data(), bytes);
}

size_t CountThreads(const NotedTiles& noted) {
  return std::set<int32_t>(noted.threads.begin(), noted.threads.end()).size();
}

TEST(Tiles, EachTileRunsExactlyOnce) {
  NotedTiles noted;
  RunNotedTiles(TestMachine(0, 2), kCpu, true, &noted);
  EXPECT_EQ(noted.counts, std::vector<int32_t>(64, 1));
}

TEST(Tiles, WaitingStreamHelps) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core: nobody can help";
  NotedTiles noted;
  RunNotedTiles(TestMachine(0, 2), kCpu, true, &noted);
  EXPECT_EQ(CountThreads(noted), 2u);
}

TEST(Tiles, CoresBeyondTheStreamsHelp) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core: nobody can help";
  NotedTiles noted;
  RunNotedTiles(TestMachine(0, 2), kCpu, false, &noted);
  EXPECT_EQ(CountThreads(noted), 2u);
}

TEST(Tiles, VirtualDeviceOfOneCoreGetsNoHelp) {
  NotedTiles noted;
  RunNotedTiles(TestMachine(1, 2, 1), kGpu0, true, &noted);
  EXPECT_EQ(noted.counts, std::vector<int32_t>(64, 1));
  EXPECT_EQ(CountThreads(noted), 1u);
}

TEST(Tiles, EmptyLaunchNeedsNoCodeAndStillOrders) {
  ScheduleBuilder builder(TestMachine(0));
  SpaceId result = builder.Result(Floats(0));
  StreamId stream = builder.Compute(kCpu);
  builder.Launch(stream, builder.Native("empty", "nothing", 0, {}, {0}), {}, {builder.Whole(result)});
  auto program = builder.Build();
  ASSERT_TRUE(program.ok()) << program.status();
  auto session = Session::Create(*program, {.record_timings = true});
  ASSERT_TRUE(session.ok()) << session.status();
  auto results = CallMain(**program, **session, {});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*session)->timings().size(), 1u);
}

TEST(Tiles, ProcessorWithoutAFeatureIsNamed) {
  ScheduleBuilder builder(TestMachine(0));
  builder.AddModule(AUTOPAR_TEST_KERNELS, {"avx99", "sse2"});
  SpaceId result = builder.Result(Floats(0));
  builder.Launch(builder.Compute(kCpu), builder.Native("fancy", "nothing", 1, {}, {0}), {},
                 {builder.Whole(result)});
  auto program = builder.Build();
  ASSERT_FALSE(program.ok());
  std::string message(program.status().message());
  EXPECT_NE(message.find("kernel 'fancy' needs a processor with avx99"), std::string::npos) << message;
  // With a code for any processor beside it, that one is taken.
  builder.AddModule(AUTOPAR_TEST_KERNELS, {"sse2"});
  builder.schedule().kernels[0].codes.push_back({1, "nothing"});
  EXPECT_TRUE(builder.Build().ok());
}

TEST(Tiles, MissingSymbolAndDamagedCodeAreSentences) {
  ScheduleBuilder builder(TestMachine(0));
  builder.AddModule(AUTOPAR_TEST_KERNELS);
  SpaceId result = builder.Result(Floats(0));
  builder.Launch(builder.Compute(kCpu), builder.Native("lost", "no_such_symbol", 1, {}, {0}), {},
                 {builder.Whole(result)});
  EXPECT_NE(std::string(builder.Build().status().message()).find("has no function 'no_such_symbol'"),
            std::string::npos);
  builder.schedule().modules[0].image = TestBytes(5000, 1);
  EXPECT_NE(std::string(builder.Build().status().message()).find("cannot be loaded"),
            std::string::npos);
}

}  // namespace
}  // namespace autopar
