// The rules of simulator.h, one by one, on schedules made by hand. All expected times are computed
// on paper.
#include "runtime/simulator/simulator.h"

#include <gtest/gtest.h>

#include <limits>

#include "runtime/schedule/checker.h"
#include "test/runtime/schedule/schedule_builder.h"

namespace autopar {
namespace {

constexpr DeviceId kCpu = ScheduleBuilder::kCpu, kGpu0 = ScheduleBuilder::kGpu0,
                   kGpu1 = ScheduleBuilder::kGpu1;

// The machine of ScheduleBuilder: 1 byte per nanosecond after 1000 ns from and to the host, each
// GPU with an engine in and one out; 2 bytes per nanosecond without latency or engine between the
// GPUs.
class SimulatorTest : public testing::Test {
 protected:
  // A synthetic task without operands.
  void Task(StreamId stream, int64_t work_ns) {
    Kernel kernel;
    kernel.name = "task";
    kernel.kind = KernelKind::kSynthetic;
    const uint32_t launch = b_.Launch(b_.AddKernel(kernel), stream, {}, {});
    b_.function().commands[launch].duration_ns = work_ns;
  }
  // Copies `bytes` from the start of one arena to the start of the other.
  void Copy(DeviceId from, DeviceId to, uint64_t bytes) {
    b_.Copy(b_.Copying(from, to), Bytes(Arena(from), 0, bytes), Bytes(Arena(to), 0, bytes));
  }
  SpaceId Arena(DeviceId device) {
    const auto& spaces = b_.function().spaces;
    for (size_t i = 0; i < spaces.size(); ++i) {
      if (spaces[i].device == device) return SpaceId(i);
    }
    return b_.Arena(device, 1 << 20);
  }
  Device& device(DeviceId id) { return b_.schedule().machine.devices[id.index()]; }

  Simulation Run(const Machine& machine) {
    const absl::StatusOr<Simulation> simulation = Simulate(b_.schedule(), b_.function(), machine);
    EXPECT_TRUE(simulation.ok()) << simulation.status();
    return simulation.value_or(Simulation());
  }
  Simulation Run() { return Run(b_.schedule().machine); }
  int64_t FinishOf(const Simulation& simulation, size_t command) {
    return simulation.commands[command].finish_ns;
  }

  ScheduleBuilder b_;
};

TEST_F(SimulatorTest, NothingTakesNoTime) {
  const Simulation simulation = Run();
  EXPECT_EQ(simulation.makespan_ns, 0);
  EXPECT_EQ(simulation.device_busy_ns, (std::vector<int64_t>{0, 0, 0}));
  EXPECT_EQ(simulation.engine_busy_ns.size(), b_.schedule().machine.engines.size());
}

TEST_F(SimulatorTest, AStreamIsInOrderAndStreamsRunSideBySide) {
  const StreamId s0 = b_.Compute(kGpu0, 0), s1 = b_.Compute(kGpu0, 1);
  Task(s0, 100);
  Task(s0, 50);
  Task(s1, 120);
  const Simulation simulation = Run();
  EXPECT_EQ(simulation.commands[1].start_ns, 100);
  EXPECT_EQ(simulation.commands[2].start_ns, 0);
  EXPECT_EQ(simulation.makespan_ns, 150);
  EXPECT_EQ(simulation.device_busy_ns, (std::vector<int64_t>{0, 150, 0})) << "not 270";
}

TEST_F(SimulatorTest, BusyTimeLeavesGapsOut) {
  const StreamId s0 = b_.Compute(kGpu0, 0), s1 = b_.Compute(kGpu0, 1), c = b_.Compute(kCpu, 0);
  Task(c, 500);
  b_.Join(c, s0);
  Task(s0, 10);  // 500 to 510
  Task(s1, 100);
  const Simulation simulation = Run();
  EXPECT_EQ(simulation.makespan_ns, 510);
  EXPECT_EQ(simulation.device_busy_ns, (std::vector<int64_t>{500, 110, 0}));
}

TEST_F(SimulatorTest, EveryLaunchPaysItsDevicesOverhead) {
  device(kGpu0).launch_ns = 7;
  Task(b_.Compute(kGpu0, 0), 100);
  Task(b_.Compute(kGpu0, 0), 100);
  Task(b_.Compute(kGpu1, 0), 100);
  const Simulation simulation = Run();
  EXPECT_EQ(FinishOf(simulation, 1), 214);
  EXPECT_EQ(FinishOf(simulation, 2), 100);
}

TEST_F(SimulatorTest, OtherKernelsTakeWhatWasPlanned) {
  device(kGpu0).launch_ns = 7;
  const StreamId stream = b_.Compute(kGpu0, 0);
  const uint32_t launch = b_.Launch(stream, {}, {Bytes(Arena(kGpu0), 0, 16)});
  b_.function().commands[launch].start_ns = 5000;
  b_.function().commands[launch].finish_ns = 5107;
  EXPECT_EQ(Run().makespan_ns, 107) << "its launch_ns is in the plan already";
  Machine slow = b_.schedule().machine;
  slow.devices[1].launch_ns = 30;
  EXPECT_EQ(Run(slow).makespan_ns, 130);
  b_.function().commands[launch].finish_ns = 5003;  // a damaged plan
  EXPECT_EQ(Run().makespan_ns, 7);
  b_.function().commands[launch].start_ns = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(Run().makespan_ns, 7);
}

TEST_F(SimulatorTest, AWaitHoldsItsStreamUntilTheEvent) {
  const StreamId s0 = b_.Compute(kGpu0, 0), s1 = b_.Compute(kGpu0, 1);
  EventId event;
  Task(s0, 100);
  b_.Record(s0, &event);
  Task(s0, 1000);
  b_.Wait(s1, event);
  Task(s1, 10);
  const Simulation simulation = Run();
  EXPECT_EQ(simulation.commands[4].start_ns, 100) << "the record stands before the long task";
  EXPECT_EQ(simulation.makespan_ns, 1100);
}

TEST_F(SimulatorTest, AnEventThatIsPastHoldsNobody) {
  device(kGpu0).wait_ns = 20;
  const StreamId s0 = b_.Compute(kGpu0, 0), p0 = b_.Compute(kGpu1, 0);
  EventId event;
  Task(p0, 30);
  b_.Record(p0, &event);
  Task(s0, 100);
  b_.Wait(s0, event);
  Task(s0, 1);
  EXPECT_EQ(Run().makespan_ns, 101);
}

TEST_F(SimulatorTest, HearingOfAnotherDeviceTakesWaitNs) {
  device(kGpu0).wait_ns = 20;
  device(kGpu1).wait_ns = 3;
  device(kCpu).wait_ns = 1000;  // nobody waits there
  const StreamId s0 = b_.Compute(kGpu0, 0), s1 = b_.Compute(kGpu0, 1), p0 = b_.Compute(kGpu1, 0);
  Task(s0, 100);
  b_.Join(s0, s1);  // the same device: free
  Task(s1, 10);     // 3: to 110
  b_.Join(s1, p0, WaitReason::kToken);
  Task(p0, 10);  // 6: 113 to 123
  EXPECT_EQ(Run().makespan_ns, 123);
}

TEST_F(SimulatorTest, OnlyTheConsumerOfACopyPaysForWaiting) {
  device(kCpu).wait_ns = device(kGpu0).wait_ns = device(kGpu1).wait_ns = 20;
  const StreamId c = b_.Compute(kCpu, 0), s0 = b_.Compute(kGpu0, 0);
  const StreamId in = b_.Copying(kCpu, kGpu0), across = b_.Copying(kGpu0, kGpu1);
  Task(c, 50);
  b_.Join(c, in);          // a copy starts at once
  Copy(kCpu, kGpu0, 200);  // 3: 50 to 1250
  b_.Join(in, across);
  Copy(kGpu0, kGpu1, 200);  // 6: 1250 to 1350
  EventId arrived;
  b_.Record(in, &arrived);
  b_.Wait(s0, arrived);
  Task(s0, 10);  // 9: 1270 to 1280
  b_.Join(across, s0);
  Task(s0, 1);  // 12: 1370 to 1371
  const Simulation simulation = Run();
  EXPECT_EQ(simulation.commands[3].start_ns, 50);
  EXPECT_EQ(simulation.commands[6].start_ns, 1250);
  EXPECT_EQ(simulation.commands[6].finish_ns, 1350);
  EXPECT_EQ(simulation.commands[9].start_ns, 1270);
  EXPECT_EQ(simulation.makespan_ns, 1371);
}

TEST_F(SimulatorTest, CopiesTakeLatencyAndBytesRoundedUp) {
  b_.schedule().machine.links[0].bytes_per_s = 3'000'000'000;
  Copy(kCpu, kGpu0, 100);
  EXPECT_EQ(Run().makespan_ns, 1034);
  b_.function().commands.clear();
  b_.Copy(b_.Copying(kCpu, kGpu0), Strided(Arena(kCpu), 0, 10, 64, 9),
          Strided(Arena(kGpu0), 0, 10, 10, 9));
  EXPECT_EQ(Run().makespan_ns, 1030) << "90 bytes, wherever they lie";
}

TEST_F(SimulatorTest, EmptyCopiesTakeNothing) {
  Copy(kCpu, kGpu0, 100);  // to 1100
  Copy(kGpu0, kCpu, 0);
  Copy(kCpu, kGpu0, 0);
  const Simulation simulation = Run();
  EXPECT_EQ(FinishOf(simulation, 1), 0);
  EXPECT_EQ(FinishOf(simulation, 2), 1100) << "but keep the order of their stream";
  EXPECT_EQ(simulation.engine_busy_ns[0], 1100);
}

TEST_F(SimulatorTest, CopiesOnOneEngineGoInIssueOrder) {
  Machine& machine = b_.schedule().machine;
  machine.engines = {"bus", "lane"};
  for (Link& link : machine.links) link.engines = {0};
  machine.links[0].engines = {0, 1};
  const StreamId c = b_.Compute(kCpu, 0);
  Task(c, 400);
  Copy(kCpu, kGpu1, 10);  // 1: 0 to 1010
  b_.Join(c, b_.Copying(kCpu, kGpu0));
  Copy(kCpu, kGpu0, 20);   // 4: ready at 400, 1010 to 2030
  Copy(kGpu0, kCpu, 30);   // 5: ready at 0, but issued later: 2030 to 3060
  Copy(kGpu0, kGpu1, 40);  // 6: 3060 to 3080
  const Simulation simulation = Run();
  EXPECT_EQ(simulation.commands[4].start_ns, 1010);
  EXPECT_EQ(simulation.commands[5].start_ns, 2030);
  EXPECT_EQ(simulation.commands[6].start_ns, 3060);
  EXPECT_EQ(simulation.makespan_ns, 3080);
  EXPECT_EQ(simulation.engine_busy_ns, (std::vector<int64_t>{3080, 1020}));
}

TEST_F(SimulatorTest, EnginesOfTheirOwnDoNotQueue) {
  Copy(kCpu, kGpu0, 10);
  Copy(kCpu, kGpu1, 20);
  Copy(kGpu0, kCpu, 30);
  const Simulation simulation = Run();
  for (size_t copy = 0; copy < 3; ++copy) EXPECT_EQ(simulation.commands[copy].start_ns, 0);
  EXPECT_EQ(simulation.makespan_ns, 1030);
}

TEST_F(SimulatorTest, CopiesInsideADeviceTakeWhatWasPlanned) {
  const StreamId s0 = b_.Compute(kGpu0, 0);
  const uint32_t copy = b_.Copy(s0, Bytes(Arena(kGpu0), 0, 64), Bytes(Arena(kGpu0), 64, 64));
  b_.function().commands[copy].start_ns = 10;
  b_.function().commands[copy].finish_ns = 35;
  const Simulation simulation = Run();
  EXPECT_EQ(simulation.makespan_ns, 25);
  EXPECT_EQ(simulation.device_busy_ns[1], 0) << "a copy is no launch";
}

TEST_F(SimulatorTest, AnotherMachineIsMatchedByNames) {
  const StreamId s0 = b_.Compute(kGpu0, 0);
  Copy(kCpu, kGpu0, 1000);  // to 2000
  b_.Join(b_.Copying(kCpu, kGpu0), s0);
  Task(s0, 10);
  EXPECT_EQ(Run().makespan_ns, 2010);
  Machine other;  // other numbers, and a device that nobody asks for
  for (const char* name : {"gpu7", "gpu0", "cpu0"}) {
    Device device;
    device.name = name;
    device.kind = name[0] == 'c' ? DeviceKind::kCpu : DeviceKind::kCuda;
    other.devices.push_back(device);
  }
  other.devices[1].wait_ns = 5;
  other.links.push_back({.from = DeviceId(size_t{2}),
                         .to = DeviceId(size_t{1}),
                         .bytes_per_s = 500'000'000,
                         .latency_ns = 1,
                         .engines = {0}});
  other.engines = {"e"};
  const Simulation simulation = Run(other);
  EXPECT_EQ(simulation.makespan_ns, 2001 + 5 + 10);
  EXPECT_EQ(simulation.device_busy_ns, (std::vector<int64_t>{0, 10, 0}));
  EXPECT_EQ(simulation.engine_busy_ns, (std::vector<int64_t>{2001}));
}

TEST_F(SimulatorTest, WhatAMachineLacksIsNamed) {
  Task(b_.Compute(kGpu0, 2), 10);
  Copy(kCpu, kGpu1, 10);
  const auto sentence = [&](auto change) {
    Machine machine = b_.schedule().machine;
    change(&machine);
    return std::string(Simulate(b_.schedule(), b_.function(), machine).status().message());
  };
  EXPECT_EQ(sentence([](Machine* m) { m->devices[1].name = "gpu9"; }),
            "the schedule uses the device 'gpu0', which the machine does not have; its devices are "
            "cpu0, gpu9, gpu1");
  EXPECT_EQ(sentence([](Machine* m) { m->devices[1].streams = 2; }),
            "the schedule uses compute stream 2 of the device 'gpu0', which has 2 on this machine; "
            "plan again with "
            "autopar-opt --machine=");
  EXPECT_EQ(sentence([](Machine* m) { m->links.clear(); }),
            "the schedule copies from 'cpu0' to 'gpu1', and the machine has no link there; add "
            "one, or plan again with "
            "autopar-opt --machine=");
  EXPECT_EQ(sentence([](Machine* m) { m->devices[2].streams = 1; }), "") << "gpu1 runs nothing";
}

TEST_F(SimulatorTest, TimesStopAtTheLargest) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  device(kGpu0).wait_ns = 100;
  b_.schedule().machine.links[0].bytes_per_s = 1;
  const StreamId s0 = b_.Compute(kGpu0, 0), p0 = b_.Compute(kGpu1, 0);
  Task(p0, kMost - 10);
  Task(p0, 100);
  b_.Join(p0, s0);
  Task(s0, kMost);
  b_.Join(s0, b_.Copying(kCpu, kGpu0));
  Copy(kCpu, kGpu0, 100);
  Copy(kCpu, kGpu0, 100);
  const Simulation simulation = Run();
  EXPECT_EQ(simulation.makespan_ns, kMost);
  EXPECT_EQ(simulation.device_busy_ns[2], kMost);
}

TEST_F(SimulatorTest, ASafeScheduleOfEveryKindOfCommandIsReplayed) {
  const Schedule schedule = SampleSchedule();
  ASSERT_TRUE(CheckSchedule(schedule, schedule.constants.size()).ok());
  const absl::StatusOr<Simulation> simulation =
      Simulate(schedule, schedule.functions[0], schedule.machine);
  ASSERT_TRUE(simulation.ok());
  // x to gpu0: 1256. The product, planned for 1000: 2256. Its halves: 64 ns each, 2384. Layer 2:
  // 3384. Home: 4640.
  EXPECT_EQ(simulation->makespan_ns, 4640);
  EXPECT_EQ(simulation->commands.size(), schedule.functions[0].commands.size());
}

}  // namespace
}  // namespace autopar
