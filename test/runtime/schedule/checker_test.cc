// Order and definedness: what may run at the same time, what may not, and the sentence that says so.
#include "runtime/schedule/checker.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "test/runtime/schedule/schedule_builder.h"

namespace autopar {
namespace {

constexpr DeviceId kCpu = ScheduleBuilder::kCpu, kGpu0 = ScheduleBuilder::kGpu0;

absl::Status Check(const Schedule& schedule) { return CheckSchedule(schedule, schedule.constants.size()); }

#define EXPECT_ACCEPTED(builder) EXPECT_TRUE(Check((builder).schedule()).ok()) << Check((builder).schedule())
#define EXPECT_REFUSED(builder, part)                                                  \
  do {                                                                                 \
    const absl::Status status = Check((builder).schedule());                           \
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);                      \
    EXPECT_TRUE(absl::StrContains(std::string(status.message()), part)) << status;     \
  } while (false)

// Two streams of the CPU and an arena of 1,024 bytes.
struct TwoStreams : ScheduleBuilder {
  SpaceId arena = Arena(kCpu, 1024);
  StreamId s0 = Compute(kCpu, 0), s1 = Compute(kCpu, 1);
};

TEST(ScheduleChecker, UnorderedReadAfterWriteIsRefusedByName) {
  TwoStreams b;
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 256)}, {}, "producer");
  b.Launch(b.s1, {Bytes(b.arena, 192, 128)}, {}, {}, "consumer");
  EXPECT_REFUSED(b,
                 "function 'main': command 1 (launch @kernel_.128__ 'consumer' on @cpu0[1]) reads @cpu0[192 for 128] while "
                 "command 0 (launch @kernel__.256_ 'producer' on @cpu0[0]) may still be writing @cpu0[0 for 256]: both touch "
                 "@cpu0[192 for 64] and nothing orders them; let @cpu0[1] wait for an event that @cpu0[0] records after "
                 "command 0");
}

TEST(ScheduleChecker, UnorderedWritesAreRefused) {
  TwoStreams b;
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 256)});
  b.Launch(b.s1, {}, {Bytes(b.arena, 255, 8)});
  EXPECT_REFUSED(b, "both touch @cpu0[255 for 1] and nothing orders them");
}

TEST(ScheduleChecker, UnorderedWriteAfterReadIsRefused) {
  TwoStreams b;
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 256)});
  b.Join(b.s0, b.s1);
  b.Launch(b.s1, {Bytes(b.arena, 0, 256)}, {});
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 256)});
  EXPECT_REFUSED(b, "command 4 (launch @kernel__.256_ 'task' on @cpu0[0]) writes @cpu0[0 for 256] while command 3 "
                    "(launch @kernel_.256__ 'task' on @cpu0[1]) may still be reading @cpu0[0 for 256]");
}

// Neighbours share no byte.
TEST(ScheduleChecker, AdjacentBuffersAreIndependent) {
  TwoStreams b;
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 256)});
  b.Launch(b.s1, {}, {Bytes(b.arena, 256, 256)});
  EXPECT_ACCEPTED(b);
}

TEST(ScheduleChecker, OneStreamNeedsNoWaits) {
  TwoStreams b;
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 256)});
  b.Launch(b.s0, {Bytes(b.arena, 0, 256)}, {Bytes(b.arena, 256, 256)});
  b.Launch(b.s0, {Bytes(b.arena, 256, 256)}, {Bytes(b.arena, 0, 256)});
  EXPECT_ACCEPTED(b);
}

// Order is transitive, also through streams that only pass it on.
TEST(ScheduleChecker, OrderThroughAThirdStreamCounts) {
  TwoStreams b;
  const StreamId s2 = b.Compute(kCpu, 2);
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 8)});
  b.Join(b.s0, b.s1);
  b.Join(b.s1, s2);
  b.Launch(s2, {Bytes(b.arena, 0, 8)}, {});
  EXPECT_ACCEPTED(b);
}

// A record tells of the commands before it, not of those after it.
TEST(ScheduleChecker, RecordBeforeTheWriteOrdersNothing) {
  TwoStreams b;
  EventId event;
  b.Record(b.s0, &event);
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 8)});
  b.Wait(b.s1, event);
  b.Launch(b.s1, {Bytes(b.arena, 0, 8)}, {});
  EXPECT_REFUSED(b, "nothing orders them");
}

// The event holds what its stream knew when it was recorded, not what it learnt later.
TEST(ScheduleChecker, WaitAfterTheRecordIsNotPublished) {
  TwoStreams b;
  const StreamId s2 = b.Compute(kCpu, 2);
  EventId written, relayed;
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 8)});
  b.Record(b.s0, &written);
  b.Record(b.s1, &relayed);
  b.Wait(b.s1, written);
  b.Wait(s2, relayed);
  b.Launch(s2, {Bytes(b.arena, 0, 8)}, {});
  EXPECT_REFUSED(b, "nothing orders them");
}

TEST(ScheduleChecker, OneEventServesManyWaits) {
  TwoStreams b;
  EventId event;
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 8)});
  b.Record(b.s0, &event);
  for (uint32_t i = 1; i < 16; ++i) {
    b.Wait(b.Compute(kCpu, i), event);
    b.Launch(b.Compute(kCpu, i), {Bytes(b.arena, 0, 8)}, {});
  }
  EXPECT_ACCEPTED(b);
}

TEST(ScheduleChecker, ReuseAfterOrderedUsesIsAccepted) {
  TwoStreams b;
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 64)});
  b.Join(b.s0, b.s1);
  b.Launch(b.s0, {Bytes(b.arena, 0, 64)}, {});
  b.Launch(b.s1, {Bytes(b.arena, 0, 64)}, {});
  b.Join(b.s1, b.s0, WaitReason::kReuse);
  b.Launch(b.s0, {}, {Bytes(b.arena, 32, 64)});
  EXPECT_ACCEPTED(b);
}

// ---- definedness --------------------------------------------------------------------------------------------------

TEST(ScheduleChecker, ReadBeforeWriteIsRefused) {
  TwoStreams b;
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 100)});
  b.Launch(b.s0, {Bytes(b.arena, 0, 101)}, {});
  EXPECT_REFUSED(b, "reads @cpu0[0 for 101], whose bytes @cpu0[100 for 1] no command before it writes");
}

TEST(ScheduleChecker, ScratchHoldsNothing) {
  TwoStreams b;
  const uint32_t user = b.Launch(b.s0, {}, {}, {Bytes(b.arena, 0, 64)});
  b.Launch(b.s0, {Bytes(b.arena, 0, 64)}, {});
  EXPECT_REFUSED(b, "hold only what the scratch of command " + std::to_string(user));
}

TEST(ScheduleChecker, ScratchCountsAsAWrite) {
  TwoStreams b;
  b.Launch(b.s0, {}, {}, {Bytes(b.arena, 0, 64)});
  b.Launch(b.s1, {}, {}, {Bytes(b.arena, 63, 64)});
  EXPECT_REFUSED(b, "nothing orders them");
}

TEST(ScheduleChecker, UnwrittenResultByteIsRefused) {
  ScheduleBuilder b;
  const SpaceId out = b.Result(kCpu, 256);
  b.Launch(b.Compute(kCpu, 0), {}, {Bytes(out, 0, 100)});
  b.Launch(b.Compute(kCpu, 0), {}, {Bytes(out, 101, 155)});
  EXPECT_REFUSED(b, "no command writes the bytes result0[100 for 1] of result 0");
  b.Launch(b.Compute(kCpu, 0), {}, {Bytes(out, 100, 1)});
  EXPECT_ACCEPTED(b);
}

TEST(ScheduleChecker, ResultThatOnlyServedAsScratchIsRefused) {
  ScheduleBuilder b;
  b.Launch(b.Compute(kCpu, 0), {}, {}, {Bytes(b.Result(kCpu, 256), 0, 256)});
  EXPECT_REFUSED(b, "of result 0");
}

TEST(ScheduleChecker, ResultMayBeReadAgain) {
  ScheduleBuilder b;
  const SpaceId out = b.Result(kCpu, 256), second = b.Result(kCpu, 256);
  b.Launch(b.Compute(kCpu, 0), {}, {Bytes(out, 0, 256)});
  b.Launch(b.Compute(kCpu, 0), {Bytes(out, 0, 256)}, {Bytes(second, 0, 256)});
  EXPECT_ACCEPTED(b);
}

// ---- operands of one command --------------------------------------------------------------------------------------

TEST(ScheduleChecker, WorkInPlaceIsAccepted) {
  TwoStreams b;
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 64)});
  b.Launch(b.s0, {Bytes(b.arena, 0, 64), Bytes(b.arena, 0, 64)}, {Bytes(b.arena, 0, 64)});
  EXPECT_ACCEPTED(b);
}

TEST(ScheduleChecker, StridedWorkInPlaceIsAccepted) {
  TwoStreams b;
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 640)});
  b.Launch(b.s0, {Strided(b.arena, 5, 4, 10, 9)}, {Strided(b.arena, 5, 4, 10, 9)});
  EXPECT_ACCEPTED(b);
}

// Nine rows of ten bytes without a gap are ninety bytes.
TEST(ScheduleChecker, WorkInPlaceIsAcceptedHoweverItsBytesAreWrittenDown) {
  TwoStreams b;
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 640)});
  b.Launch(b.s0, {Bytes(b.arena, 1, 90)}, {Strided(b.arena, 1, 10, 10, 9)});
  EXPECT_ACCEPTED(b);
}

TEST(ScheduleChecker, PartialOverlapOfReadAndWriteIsRefused) {
  for (const Region& written : {Bytes(SpaceId(size_t{0}), 32, 64), Bytes(SpaceId(size_t{0}), 0, 32),
                                Strided(SpaceId(size_t{0}), 60, 2, 8, 32)}) {
    TwoStreams b;
    b.Launch(b.s0, {}, {Bytes(b.arena, 0, 1024)});
    b.Launch(b.s0, {Bytes(b.arena, 0, 64)}, {written});
    EXPECT_REFUSED(b, "through another operand");
  }
}

// One read fits, another does not.
TEST(ScheduleChecker, WorkInPlaceBesideAnOverlappingReadIsRefused) {
  TwoStreams b;
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 128)});
  b.Launch(b.s0, {Bytes(b.arena, 0, 64), Bytes(b.arena, 60, 8)}, {Bytes(b.arena, 0, 64)});
  EXPECT_REFUSED(b, "writes @cpu0[0 for 64] and reads @cpu0[60 for 4] through another operand");
}

TEST(ScheduleChecker, OverlappingWritesOfOneCommandAreRefused) {
  TwoStreams b;
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 64), Bytes(b.arena, 0, 64)});
  EXPECT_REFUSED(b, "through another operand");
}

TEST(ScheduleChecker, ScratchMustBeApart) {
  for (int operand = 0; operand < 2; ++operand) {
    TwoStreams b;
    b.Launch(b.s0, {}, {Bytes(b.arena, 0, 128)});
    b.Launch(b.s0, {Bytes(b.arena, 0, 64)}, {Bytes(b.arena, 64, 64)}, {Bytes(b.arena, operand == 0 ? 0 : 64, 64)});
    EXPECT_REFUSED(b, "through another operand");
  }
}

TEST(ScheduleChecker, MatmulInPlaceIsRefused) {
  TwoStreams b;
  const KernelId matmul = b.AddKernel({.name = "mm", .kind = KernelKind::kMatmul, .tile_count = 1, .reads = 2, .writes = 1,
                                       .scratch = 0, .operand_bytes = {256, 256, 256}, .codes = {},
                                       .matmul = {.batch = 1, .m = 8, .n = 8, .k = 8}});
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 512)});
  b.Launch(matmul, b.s0, {Bytes(b.arena, 0, 256), Bytes(b.arena, 256, 256)}, {Bytes(b.arena, 0, 256)});
  EXPECT_REFUSED(b, "through another operand");
}

TEST(ScheduleChecker, CopyOntoItselfIsRefused) {
  TwoStreams b;
  b.Launch(b.s0, {}, {Bytes(b.arena, 0, 512)});
  b.Copy(b.s0, Bytes(b.arena, 0, 64), Bytes(b.arena, 64, 64));
  EXPECT_ACCEPTED(b);
  b.Copy(b.s0, Bytes(b.arena, 0, 64), Bytes(b.arena, 0, 64));
  EXPECT_REFUSED(b, "through another operand");
}

// ---- nothing ------------------------------------------------------------------------------------------------------

TEST(ScheduleChecker, EmptyTensorsTouchNothing) {
  ScheduleBuilder b;
  const SpaceId empty_arena = b.Arena(kCpu, 0), none = b.Argument(kCpu, 0), out = b.Result(kCpu, 0);
  const SpaceId gpu = b.Arena(kGpu0, 64);
  const StreamId s0 = b.Compute(kCpu, 0), s1 = b.Compute(kCpu, 1);
  b.Launch(s0, {Bytes(none, 0, 0)}, {Bytes(empty_arena, 0, 0)});
  b.Launch(s1, {Bytes(empty_arena, 0, 0)}, {Bytes(out, 0, 0)});
  b.Copy(b.Copying(kCpu, kGpu0), Bytes(none, 0, 0), Bytes(gpu, 64, 0));
  // No rows, or rows of no bytes, whatever the rest says.
  b.Launch(b.Compute(kGpu0, 0), {Strided(gpu, 0, 32, 64, 0), Strided(gpu, 64, 0, 0, 1000)}, {Bytes(gpu, 0, 64)});
  EXPECT_ACCEPTED(b);
}

TEST(ScheduleChecker, FunctionWithoutCommandsIsAccepted) {
  ScheduleBuilder b;
  EXPECT_ACCEPTED(b);
  b.Argument(kCpu, 64);
  b.Compute(kCpu, 3);
  b.Arena(kCpu, 128);
  EXPECT_ACCEPTED(b);
}

// ---- tokens -------------------------------------------------------------------------------------------------------

TEST(ScheduleChecker, TokenWithoutAWaitIsRefused) {
  TwoStreams b;
  const uint32_t before = b.Launch(b.s0, {}, {Bytes(b.arena, 0, 8)}, {}, "first");
  const uint32_t after = b.Launch(b.s1, {}, {Bytes(b.arena, 8, 8)}, {}, "second");
  EXPECT_ACCEPTED(b);
  b.Order(before, after);
  EXPECT_REFUSED(b, "command 1 (launch @kernel__.8_ 'second' on @cpu0[1]) starts without waiting for command 0 (launch "
                    "@kernel__.8_ 'first' on @cpu0[0]), though a token orders them");
}

TEST(ScheduleChecker, TokensAreKeptByWaitsAndByStreams) {
  TwoStreams b;
  const uint32_t first = b.Launch(b.s0, {}, {Bytes(b.arena, 0, 8)});
  const uint32_t second = b.Launch(b.s0, {}, {Bytes(b.arena, 8, 8)});
  b.Join(b.s0, b.s1, WaitReason::kToken);
  const uint32_t third = b.Launch(b.s1, {}, {Bytes(b.arena, 16, 8)});
  // Out of order and one of them twice.
  b.Order(second, third);
  b.Order(first, second);
  b.Order(first, third);
  b.Order(second, third);
  EXPECT_ACCEPTED(b);
}

TEST(ScheduleChecker, EveryFunctionIsChecked) {
  Schedule schedule = SampleSchedule();
  TwoStreams b;
  b.Launch(b.s0, {Bytes(b.arena, 0, 8)}, {});
  schedule.functions.push_back(b.function());
  schedule.functions[1].name = "other";
  schedule.kernels = b.schedule().kernels;
  Schedule both = b.schedule();
  both.functions.insert(both.functions.begin(), ScheduleBuilder().function());
  both.functions[1].name = "other";
  const absl::Status status = Check(both);
  EXPECT_TRUE(absl::StrContains(std::string(status.message()), "function 'other'")) << status;
}

// ---- strided regions ----------------------------------------------------------------------------------------------

// Two halves of the columns of one matrix, on two streams: their bounding ranges overlap, their bytes do not.
TEST(ScheduleChecker, InterleavedColumnSlicesAreIndependent) {
  for (uint64_t rows : {2u, 3u, 4u, 15u}) {
    for (uint64_t offset : {0u, 1u, 16u, 40u, 63u}) {
      TwoStreams b;
      b.Launch(b.s0, {}, {Strided(b.arena, offset, 32, 64, rows)});
      b.Launch(b.s1, {}, {Strided(b.arena, offset + 32, 32, 64, rows)});
      b.Join(b.s1, b.s0);
      b.Launch(b.s0, {Bytes(b.arena, offset, rows * 64)}, {});
      EXPECT_ACCEPTED(b);
      b.Launch(b.s0, {Bytes(b.arena, offset, rows * 64 + 1)}, {});
      EXPECT_REFUSED(b, "no command before it writes");
    }
  }
}

TEST(ScheduleChecker, ColumnSlicesThatShareAColumnAreRefused) {
  for (uint64_t rows : {2u, 3u, 4u, 15u}) {
    for (uint64_t offset : {0u, 1u, 16u, 40u, 63u}) {
      TwoStreams b;
      b.Launch(b.s0, {}, {Strided(b.arena, offset, 33, 64, rows)});
      b.Launch(b.s1, {}, {Strided(b.arena, offset + 32, 31, 64, rows)});
      EXPECT_REFUSED(b, " for 1] and nothing orders them");
    }
  }
}

// Tiles of a matrix: rows and columns are cut.
TEST(ScheduleChecker, TilesOfAMatrixAreIndependent) {
  ScheduleBuilder b;
  const SpaceId arena = b.Arena(kCpu, 100 + 32 * 64);
  for (uint32_t tile = 0; tile < 16; ++tile) {
    b.Launch(b.Compute(kCpu, tile), {}, {Strided(arena, 100 + tile / 4 * 8 * 64 + tile % 4 * 16, 16, 64, 8)});
  }
  EXPECT_ACCEPTED(b);
  b.Launch(b.Compute(kCpu, 5), {}, {Strided(arena, 100 + 9 * 64 + 16, 16, 64, 8)});
  EXPECT_REFUSED(b, "nothing orders them");
}

// A new buffer with another row length in the bytes of a dead one.
TEST(ScheduleChecker, OtherPitchInReusedBytesIsExact) {
  TwoStreams b;
  b.Launch(b.s0, {}, {Strided(b.arena, 0, 32, 64, 16)});
  b.Launch(b.s1, {}, {Strided(b.arena, 32, 32, 64, 16)});
  // Rows of 96 bytes, of which the first 32 belong to stream 0 in even rows, to stream 1 in odd ones.
  b.Launch(b.s0, {}, {Strided(b.arena, 0, 32, 192, 5)});
  b.Launch(b.s1, {}, {Strided(b.arena, 96, 32, 192, 5)});
  EXPECT_ACCEPTED(b);
  b.Launch(b.s0, {}, {Strided(b.arena, 0, 32, 96, 10)});
  EXPECT_REFUSED(b, "may still be writing @cpu0[96 for 32 x 5 by 192]: both touch @cpu0[864 for 32]");
}

// Rows by the billion cost nothing; nor do they where pitches clash.
TEST(ScheduleChecker, HugeStridedRegionsAreChecked) {
  ScheduleBuilder b;
  constexpr uint64_t kRows = uint64_t{1} << 30;
  const SpaceId arena = b.Arena(kCpu, kRows * 64);
  const StreamId s0 = b.Compute(kCpu, 0), s1 = b.Compute(kCpu, 1);
  b.Launch(s0, {}, {Strided(arena, 0, 32, 64, kRows)});
  b.Launch(s1, {}, {Strided(arena, 32, 32, 64, kRows)});
  b.Join(s0, s1);
  b.Join(s1, s0);
  // Ordered behind both: reuse as a matrix of another shape.
  for (uint64_t column = 0; column < 4; ++column) {
    b.Launch(column % 2 == 0 ? s0 : s1, {}, {Strided(arena, column * 24, 24, 96, kRows * 2 / 3)});
  }
  EXPECT_ACCEPTED(b);
  b.Launch(s0, {Strided(arena, 24, 24, 96, 1000)}, {});
  EXPECT_REFUSED(b, "nothing orders them");
}

}  // namespace
}  // namespace autopar
