// The dump is a text that people and FileCheck read: its exact spelling is tested here, and nowhere else.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "runtime/schedule/schedule_file.h"
#include "test/runtime/schedule/schedule_builder.h"

namespace autopar {
namespace {

TEST(DumpSchedule, SampleIsSpelledLikeThis) {
  const std::string text = DumpSchedule(SampleSchedule());
  const size_t at = text.find("module #0");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_EQ(text.substr(at), R"(module #0 elf x86-64-v3 features(avx2, fma) bytes = 7
module #1 ptx sm_75 features(ptx75) bytes = 5
kernel @add native tiles = 3 reads(256, 256) writes(256) scratch(64) code #0 @add_cpu code #1 @add_ptx grid = 4 block = 128
kernel @matmul_0 matmul tiles = 2 reads(256, 256) writes(256) batch = 1 m = 8 n = 8 k = 8 a_batch = 1 b_batch = 1 transpose_a tile = 4x8 code #0 @relu
kernel @task synthetic tiles = 1 reads(256) writes(256) spin seed = 42
kernel @move native tiles = 1 reads(0, 256) writes(256, 0) code #0 @move
schedule @main {
  argument 0 'x' 256xi8 on @cpu0
  argument 1 256xi8 on @gpu0
  argument 2 'none' 0xi8 on @cpu0
  result 0 'out' 512xi8 on @cpu0
  result 1 0xi8 on @cpu0
  constant const[0 for 256] on @gpu0 bytes = 256
  constant const[256 for 256] on @cpu0 bytes = 256
  arena @gpu0 bytes = 1024
  arena @gpu1 bytes = 512
  arena @cpu0 bytes = 1024
  predicted 123.456us bound 120.000us
  copy on @gpu0[in] arg0[0 for 256] to @gpu0[0 for 256] at 0.000us..1.000us label 'x to gpu0'
  record #0 on @gpu0[in]
  wait #0 on @gpu0[0] because data
  launch @matmul_0 on @gpu0[0] reads(@gpu0[0 for 256], const[0 for 256]) writes(@gpu0[256 for 256]) at 4.500us..5.500us label 'layer 1'
  record #1 on @gpu0[0]
  wait #1 on @gpu0[to gpu1] because data
  copy on @gpu0[to gpu1] @gpu0[256 for 16 x 8 by 32] to @gpu1[0 for 16 x 8 by 32] at 9.000us..10.000us label 'left half'
  copy on @gpu0[to gpu1] @gpu0[272 for 16 x 8 by 32] to @gpu1[16 for 16 x 8 by 32] at 10.500us..11.500us label 'right half'
  record #2 on @gpu0[to gpu1]
  wait #2 on @gpu1[0] because data
  launch @task on @gpu1[0] reads(@gpu1[0 for 256]) writes(@gpu1[256 for 256]) for 1.000us at 15.000us..16.000us label 'layer 2'
  record #3 on @gpu1[0]
  wait #3 on @gpu1[out] because data
  copy on @gpu1[out] @gpu1[256 for 256] to result0[0 for 256] at 19.500us..20.500us label 'out'
  wait #2 on @gpu0[1] because reuse
  launch @add on @gpu0[1] reads(arg1[0 for 256], const[0 for 256]) writes(@gpu0[256 for 256]) scratch(@gpu0[512 for 64]) at 22.500us..23.500us label 'unused sum'
  launch @add on @cpu0[0] reads(arg0[0 for 256], const[256 for 256]) writes(@cpu0[0 for 256]) scratch(@cpu0[256 for 64]) at 24.000us..25.000us label 'sum'
  launch @move on @cpu0[0] reads(arg2[0 for 0], @cpu0[0 for 256]) writes(result0[256 for 256], result1[0 for 0]) at 25.500us..26.500us label 'moved sum'
  record #4 on @cpu0[0]
  wait #4 on @gpu0[0] because token
  launch @task on @gpu0[0] reads(arg1[0 for 256]) writes(@gpu0[0 for 256]) for 1.000us at 30.000us..31.000us label 'after the sum'
  order 16 before 20
}
)");
}

TEST(DumpSchedule, MachineStandsBeforeThePrograms) {
  const std::string text = DumpSchedule(SampleSchedule());
  EXPECT_TRUE(absl::StartsWith(text, "producer 'autopar-opt \\\"0.1.0\\\"'\nmachine fingerprint = 0x")) << text;
  EXPECT_TRUE(absl::StrContains(text, "  device @cpu0 cpu cores = 4 streams = 16\n")) << text;
  EXPECT_TRUE(absl::StrContains(text, "  link @gpu0 to @cpu0 bytes_per_s = 1000000000 latency_ns = 1000\n")) << text;
}

// One command is one line, whatever a name holds.
TEST(DumpSchedule, NamesAreEscaped) {
  ScheduleBuilder b;
  const SpaceId arena = b.Arena(ScheduleBuilder::kCpu, 8);
  b.Launch(b.Compute(ScheduleBuilder::kCpu, 0), {}, {Bytes(arena, 0, 8)}, {}, "two\nlines");
  b.schedule().kernels[0].name = "a b";
  const std::string text = DumpSchedule(b.schedule());
  EXPECT_TRUE(absl::StrContains(text, "launch @\"a b\" on @cpu0[0]")) << text;
  EXPECT_TRUE(absl::StrContains(text, "label 'two\\nlines'\n")) << text;
}

TEST(DumpSchedule, FurtherCopyStreamsOfALinkAreNumbered) {
  Schedule schedule = SampleSchedule();
  for (Stream& stream : schedule.functions[0].streams) {
    if (stream.kind == StreamKind::kCopy) stream.ordinal = 3;
  }
  const std::string text = DumpSchedule(schedule);
  EXPECT_TRUE(absl::StrContains(text, "copy on @gpu0[in 3] ")) << text;
  EXPECT_TRUE(absl::StrContains(text, "copy on @gpu1[out 3] ")) << text;
  EXPECT_TRUE(absl::StrContains(text, "copy on @gpu0[to gpu1 3] ")) << text;
}

// The dump is for looking at what went wrong, so it takes what the checker refuses.
TEST(DumpSchedule, BrokenScheduleIsPrinted) {
  Schedule schedule = SampleSchedule();
  for (Command& command : schedule.functions[0].commands) {
    command.stream = StreamId(size_t{77});
    command.kernel = KernelId();
    command.first_region = 4000000000u;
    command.label = 9999;
  }
  schedule.functions[0].spaces[0].device = DeviceId();
  schedule.functions[0].arguments[1].space = SpaceId();
  const std::string text = DumpSchedule(schedule);
  EXPECT_TRUE(absl::StrContains(text, "copy on @stream?77 region?4000000000 to region?4000000001 at")) << text;
}

}  // namespace
}  // namespace autopar
