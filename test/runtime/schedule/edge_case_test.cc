// Orders that other systems got wrong, as schedules: each public report is a program of a few commands, its right
// schedule is accepted, and without any one of its waits it is refused. Waits are minimal in every one of them.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/schedule/checker.h"
#include "test/runtime/schedule/schedule_builder.h"

namespace autopar {
namespace {

constexpr DeviceId kCpu = ScheduleBuilder::kCpu, kGpu0 = ScheduleBuilder::kGpu0;

absl::Status Check(const Schedule& schedule) { return CheckSchedule(schedule, schedule.constants.size()); }

// The schedule without that command.
Schedule Without(Schedule schedule, uint32_t command) {
  Function& function = schedule.functions[0];
  function.commands.erase(function.commands.begin() + command);
  for (TokenEdge& edge : function.token_edges) {
    if (edge.before > command) --edge.before;
    if (edge.after > command) --edge.after;
  }
  return schedule;
}

// Accepted as it stands, refused without any one of its `waits` waits.
void ExpectEveryWaitIsNeeded(const Schedule& schedule, int waits) {
  EXPECT_TRUE(Check(schedule).ok()) << Check(schedule);
  int removed = 0;
  const auto& commands = schedule.functions[0].commands;
  for (uint32_t i = 0; i < commands.size(); ++i) {
    if (commands[i].kind != CommandKind::kWait) continue;
    ++removed;
    const absl::Status status = Check(Without(schedule, i));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << "accepted without the wait at " << i;
    const bool is_token = commands[i].reason == WaitReason::kToken;
    EXPECT_TRUE(absl::StrContains(std::string(status.message()), is_token ? "a token orders them" : "nothing orders them"))
        << status;
  }
  EXPECT_EQ(removed, waits);
}

// gpu0 with three streams, its two copy streams, and an arena.
struct Gpu : ScheduleBuilder {
  SpaceId arena = Arena(kGpu0, 4096);
  SpaceId host = Arena(kCpu, 4096);
  StreamId s0 = Compute(kGpu0, 0), s1 = Compute(kGpu0, 1), s2 = Compute(kGpu0, 2), cpu = Compute(kCpu, 0);
  StreamId in = Copying(kCpu, kGpu0), out = Copying(kGpu0, kCpu);
  Region a = Bytes(arena, 0, 64), b = Bytes(arena, 64, 64), c = Bytes(arena, 128, 64);
};

TEST(EdgeCase, SampleNeedsEveryWait) { ExpectEveryWaitIsNeeded(SampleSchedule(), 6); }

// A removed token edge needs no wait any more.
TEST(EdgeCase, SampleWithoutItsTokenNeedsNoTokenWait) {
  Schedule schedule = SampleSchedule();
  schedule.functions[0].token_edges.clear();
  for (uint32_t i = 0; i < schedule.functions[0].commands.size(); ++i) {
    if (schedule.functions[0].commands[i].reason != WaitReason::kToken) continue;
    EXPECT_TRUE(Check(Without(schedule, i)).ok());
    return;
  }
  FAIL() << "the sample has no token";
}

// A1: the bytes of `a` are free after its last reader on any stream, not after those that its own stream knows.
TEST(EdgeCase, A1_BytesAreFreeAfterTheLastReaderOnAnyStream) {
  Gpu g;
  g.Launch(g.s0, {}, {g.a});
  EventId made;
  g.Record(g.s0, &made);
  g.Wait(g.s1, made);
  g.Launch(g.s1, {g.a}, {g.b});
  EventId half;
  g.Record(g.s1, &half);
  g.Wait(g.s2, half);
  g.Launch(g.s2, {g.a, g.b}, {g.c});
  g.Join(g.s2, g.s0, WaitReason::kReuse);
  g.Launch(g.s0, {}, {g.a});
  ExpectEveryWaitIsNeeded(g.schedule(), 3);
}

// A2: a copy to the host reads its source until it has finished.
TEST(EdgeCase, A2_SourceOfACopyIsFreeAfterTheCopy) {
  Gpu g;
  g.Launch(g.s0, {}, {g.a});
  g.Join(g.s0, g.out);
  g.Copy(g.out, g.a, Bytes(g.host, 0, 64));
  g.Join(g.out, g.s0, WaitReason::kReuse);
  g.Launch(g.s0, {}, {g.a});
  ExpectEveryWaitIsNeeded(g.schedule(), 2);
}

// A3: a temporary that one stream fills belongs to no other, though nobody reads it.
TEST(EdgeCase, A3_ScratchOfOneStreamIsNotFreeForAnother) {
  Gpu g;
  g.Launch(g.s0, {}, {}, {g.a}, "memset");
  g.Join(g.s0, g.s1, WaitReason::kReuse);
  g.Launch(g.s1, {}, {g.a});
  ExpectEveryWaitIsNeeded(g.schedule(), 1);
}

// A4: the event that orders producer and consumer says nothing about the consumer's end.
TEST(EdgeCase, A4_ProducerWaitsForTheConsumerBeforeItReuses) {
  Gpu g;
  g.Launch(g.s1, {}, {g.a});
  g.Join(g.s1, g.s0);
  g.Launch(g.s0, {g.a}, {g.b});
  g.Join(g.s0, g.s1, WaitReason::kReuse);
  g.Launch(g.s1, {}, {g.a});
  ExpectEveryWaitIsNeeded(g.schedule(), 2);
}

// A5: weights on their way to the device.
TEST(EdgeCase, A5_ConsumerWaitsForTheCopy) {
  Gpu g;
  const SpaceId weights = g.Argument(kCpu, 64);
  g.Copy(g.in, Bytes(weights, 0, 64), g.a);
  g.Join(g.in, g.s0);
  g.Launch(g.s0, {g.a}, {g.b});
  ExpectEveryWaitIsNeeded(g.schedule(), 1);
}

// A6: a diamond on one stream needs no waits, on three it needs four.
TEST(EdgeCase, A6_SameGraphOnOneAndOnManyStreams) {
  for (bool on_many : {false, true}) {
    Gpu g;
    const StreamId left = on_many ? g.s1 : g.s0, right = on_many ? g.s2 : g.s0;
    g.Launch(g.s0, {}, {g.a});
    if (on_many) {
      EventId event;
      g.Record(g.s0, &event);
      g.Wait(left, event);
      g.Wait(right, event);
    }
    g.Launch(left, {g.a}, {g.b});
    g.Launch(right, {g.a}, {g.c});
    if (on_many) {
      g.Join(left, g.s0);
      g.Join(right, g.s0);
    }
    g.Launch(g.s0, {g.b, g.c}, {Bytes(g.arena, 192, 64)});
    ExpectEveryWaitIsNeeded(g.schedule(), on_many ? 4 : 0);
  }
}

// A7: fill on the default stream, five rounds of K = M M, M -= K on another, the norm on the default stream again.
TEST(EdgeCase, A7_UpdateInPlaceOnASideStream) {
  Gpu g;
  g.Launch(g.s0, {}, {g.a}, {}, "fill");
  g.Join(g.s0, g.s1);
  for (int round = 0; round < 5; ++round) {
    g.Launch(g.s1, {g.a, g.a}, {g.b}, {}, "K = M M");
    g.Launch(g.s1, {g.a, g.b}, {g.a}, {}, "M -= K");
  }
  g.Join(g.s1, g.s0);
  g.Launch(g.s0, {g.a}, {g.c}, {}, "norm");
  ExpectEveryWaitIsNeeded(g.schedule(), 2);
}

// A8: on the host A was freed before B was allocated in its bytes; the copy of A had only been enqueued.
TEST(EdgeCase, A8_ReuseWaitsForAnEnqueuedCopy) {
  Gpu g;
  const SpaceId x = g.Argument(kCpu, 64);
  g.Copy(g.in, Bytes(x, 0, 64), g.a, "copy A");
  g.Join(g.in, g.s0, WaitReason::kReuse);
  g.Launch(g.s0, {}, {g.a}, {}, "compute B");
  ExpectEveryWaitIsNeeded(g.schedule(), 1);
}

// A10: one value, readers on two streams, one buffer that is reused: all readers count together.
TEST(EdgeCase, A10_UsesAreCountedOverAllStreams) {
  Gpu g;
  g.Launch(g.s0, {}, {g.a}, {}, "div");
  g.Join(g.s0, g.s1);
  g.Launch(g.s0, {g.a}, {g.b}, {}, "shape");
  g.Launch(g.s1, {g.a}, {g.c}, {}, "gather");
  g.Launch(g.s1, {g.a}, {Bytes(g.arena, 192, 64)}, {}, "gather again");
  g.Join(g.s1, g.s0, WaitReason::kReuse);
  g.Launch(g.s0, {}, {g.a}, {}, "reuse");
  ExpectEveryWaitIsNeeded(g.schedule(), 2);
}

// A11: no value leads from the reader to the one that overwrites in place.
TEST(EdgeCase, A11_OverwritingInPlaceWaitsForTheReader) {
  Gpu g;
  g.Launch(g.s0, {}, {g.a});
  g.Join(g.s0, g.s1);
  g.Launch(g.s0, {g.a}, {g.b}, {}, "dispatch 0");
  g.Join(g.s0, g.s1, WaitReason::kReuse);
  g.Launch(g.s1, {g.a}, {g.a}, {}, "dispatch 1");
  // The second wait covers the first one, which is therefore not minimal: only the second is needed.
  EXPECT_TRUE(Check(g.schedule()).ok());
  EXPECT_TRUE(Check(Without(g.schedule(), 2)).ok());
  EXPECT_FALSE(Check(Without(g.schedule(), 5)).ok());
  ExpectEveryWaitIsNeeded(Without(g.schedule(), 2), 1);
}

// A12: a state that two dispatches update one after the other, each on its stream, loop unrolled.
TEST(EdgeCase, A12_UpdatesOfAStateKeepTheirOrder) {
  Gpu g;
  g.Launch(g.s0, {}, {g.a}, {}, "initial");
  for (int i = 0; i < 3; ++i) {
    g.Join(i % 2 == 0 ? g.s0 : g.s1, i % 2 == 0 ? g.s1 : g.s0);
    g.Launch(i % 2 == 0 ? g.s1 : g.s0, {g.a}, {g.a}, {}, absl::StrCat("update ", i));
  }
  ExpectEveryWaitIsNeeded(g.schedule(), 3);
}

// A13: the next iteration's write comes after this iteration's read.
TEST(EdgeCase, A13_WriterOfTheNextIterationWaitsForTheReader) {
  Gpu g;
  for (int i = 0; i < 3; ++i) {
    if (i != 0) g.Join(g.s1, g.s0, WaitReason::kReuse);
    g.Launch(g.s0, {}, {g.a}, {}, absl::StrCat("write ", i));
    g.Join(g.s0, g.s1);
    g.Launch(g.s1, {g.a}, {g.b}, {}, absl::StrCat("read ", i));
  }
  ExpectEveryWaitIsNeeded(g.schedule(), 5);
}

// A14: two readers of one value are not ordered, and no order is asked for.
TEST(EdgeCase, A14_ReadersAreIndependent) {
  Gpu g;
  const SpaceId x = g.Argument(kGpu0, 64), weights = g.Constant(kGpu0, 64);
  g.Launch(g.s0, {Bytes(x, 0, 64), Bytes(weights, 0, 64)}, {g.a});
  g.Launch(g.s1, {Bytes(x, 0, 64), Bytes(weights, 0, 64)}, {g.b});
  ExpectEveryWaitIsNeeded(g.schedule(), 0);
  g.Join(g.s0, g.s1);
  g.Launch(g.s1, {g.a}, {g.c});
  g.Launch(g.s0, {g.a}, {Bytes(g.arena, 192, 64)});
  ExpectEveryWaitIsNeeded(g.schedule(), 1);
}

// A22: a task of the CPU reads what a copy brings.
TEST(EdgeCase, A22_CpuTaskWaitsForTheCopyToTheHost) {
  Gpu g;
  g.Launch(g.s0, {}, {g.a});
  g.Join(g.s0, g.out);
  g.Copy(g.out, g.a, Bytes(g.host, 0, 64));
  g.Join(g.out, g.cpu);
  g.Launch(g.cpu, {Bytes(g.host, 0, 64)}, {Bytes(g.host, 64, 64)});
  ExpectEveryWaitIsNeeded(g.schedule(), 2);
}

}  // namespace
}  // namespace autopar
