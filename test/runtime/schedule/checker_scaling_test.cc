// What the checker costs for large schedules, printed and not asserted: times belong to benchmarks. The schedules are
// the shape of a compiled program: tasks on 16 streams, buffers that are reused, a wait for every edge between streams.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "runtime/schedule/checker.h"
#include "runtime/schedule/schedule_file.h"
#include "test/runtime/schedule/schedule_builder.h"

namespace autopar {
namespace {

constexpr uint32_t kStreams = 16;

double Milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Two buffers for each place in a layer, written in turn: a task of layer n reads three buffers of layer n - 1, which
// layer n + 1 overwrites. `columns`: the buffers are column slices of one matrix for each layer's parity, or apart.
Schedule Layers(size_t commands, bool columns) {
  constexpr uint64_t kPlaces = 64, kRows = 64, kWidth = 16, kBuffer = kRows * kWidth;
  ScheduleBuilder b;
  const SpaceId arena = b.Arena(ScheduleBuilder::kCpu, 2 * kPlaces * kBuffer);
  const auto buffer = [&](uint64_t layer, uint64_t place) {
    const uint64_t base = layer % 2 * kPlaces * kBuffer;
    return columns ? Strided(arena, base + place * kWidth, kWidth, kPlaces * kWidth, kRows)
                   : Bytes(arena, base + place * kBuffer, kBuffer);
  };
  std::mt19937 random(1);
  std::vector<StreamId> streams;
  for (uint32_t i = 0; i < kStreams; ++i) streams.push_back(b.Compute(ScheduleBuilder::kCpu, i));
  for (uint64_t place = 0; place < kPlaces; ++place) b.Launch(streams[place % kStreams], {}, {buffer(0, place)});
  for (uint64_t layer = 1; b.function().commands.size() < commands; ++layer) {
    // Everybody waits for everybody: the last layer is finished, its readers too.
    std::vector<EventId> events(kStreams);
    for (uint32_t i = 0; i < kStreams; ++i) b.Record(streams[i], &events[i]);
    for (uint32_t i = 0; i < kStreams; ++i) {
      for (uint32_t j = 0; j < kStreams; ++j) {
        if (i != j && (i + j + layer) % 2 == 0) b.Wait(streams[i], events[j]);
      }
    }
    for (uint32_t i = 0; i < kStreams; ++i) b.Record(streams[i], &events[i]);
    for (uint32_t i = 0; i < kStreams; ++i) b.Wait(streams[i], events[(i + 1) % kStreams]);
    for (uint64_t place = 0; place < kPlaces; ++place) {
      std::vector<Region> reads;
      for (int i = 0; i < 3; ++i) reads.push_back(buffer(layer - 1, random() % kPlaces));
      b.Launch(streams[place % kStreams], reads, {buffer(layer, place)});
    }
  }
  return b.schedule();
}

// A chain of tasks each on another stream than the last, every buffer its own: the map grows with the program.
Schedule Chain(size_t commands) {
  constexpr uint64_t kBuffer = 64;
  ScheduleBuilder b;
  const SpaceId arena = b.Arena(ScheduleBuilder::kCpu, commands * kBuffer);
  uint64_t tasks = 0;
  std::mt19937 random(1);
  StreamId last = b.Compute(ScheduleBuilder::kCpu, 0);
  b.Launch(last, {}, {Bytes(arena, 0, kBuffer)});
  while (b.function().commands.size() < commands) {
    const StreamId next = b.Compute(ScheduleBuilder::kCpu, random() % kStreams);
    if (next != last) b.Join(last, next);
    b.Launch(next, {Bytes(arena, tasks * kBuffer, kBuffer)}, {Bytes(arena, (tasks + 1) * kBuffer, kBuffer)});
    ++tasks;
    last = next;
  }
  return b.schedule();
}

void Report(const char* name, const Schedule& schedule) {
  absl::Status status;
  const double check_ms = Milliseconds([&] { status = CheckSchedule(schedule, 0); });
  ASSERT_TRUE(status.ok()) << status;
  std::vector<uint8_t> bytes;
  const double write_ms = Milliseconds([&] { bytes = SerializeSchedule(schedule).value(); });
  absl::StatusOr<std::shared_ptr<const ScheduleFile>> file;
  const double read_ms = Milliseconds([&] { file = ReadScheduleBytes(bytes); });
  ASSERT_TRUE(file.ok()) << file.status();
  std::printf("%-8s commands %7zu  check %8.2f ms  write %8.2f ms  read with check %8.2f ms  file %.1f MB\n", name,
              schedule.functions[0].commands.size(), check_ms, write_ms, read_ms, static_cast<double>(bytes.size()) / 1e6);
}

TEST(ScheduleCheckerScaling, TimesOfLargeSchedules) {
  for (size_t commands : {size_t{10000}, size_t{100000}}) {
    Report("layers", Layers(commands, /*columns=*/false));
    Report("columns", Layers(commands, /*columns=*/true));
    Report("chain", Chain(commands));
  }
}

}  // namespace
}  // namespace autopar
