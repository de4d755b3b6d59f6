#include "compiler/planning/explain/Explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/planning/Planner.h"
#include "compiler/planning/explain/WhatIf.h"
#include "compiler/planning/model/PlanValidator.h"
#include "test/compiler/planning/graphs/TestGraphs.h"

namespace autopar::planning {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> sentencesOf(const TaskGraph &graph, const Machine &machine) {
  std::vector<std::string> sentences;
  for (const Explanation &entry : explainCriticalPath(graph, machine, *planGraph(graph, machine)))
    sentences.push_back(entry.task + " <- " + entry.waitsFor + ": " +
                        std::string(causeName(entry.cause)));
  return sentences;
}

TEST(Explanation, ChainWaitsForItsData) {
  EXPECT_THAT(sentencesOf(graphOf({{10}, {10}, {10}}, {{0, 1, 1}, {1, 2, 1}}), fullyConnected(1)),
              ElementsAre("t3 <- t2: data dependency", "t2 <- t1: data dependency"));
}

TEST(Explanation, IndependentTasksOnOneDeviceFindItFull) {
  EXPECT_THAT(sentencesOf(graphOf({{10}, {10}}, {}), fullyConnected(1)),
              ElementsAre("t2 <- t1: device full"));
}

TEST(Explanation, PinIsNamedAsTheCause) {
  TaskGraph graph(2);
  for (const char *label : {"a", "b"})
    graph.pin(graph.addTask(label, std::vector<int64_t>{10, 10}), DeviceId(size_t{0}));
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_THAT(sentencesOf(graph, fullyConnected(2)), ElementsAre("b <- a: pinned by the user"));
}

TEST(Explanation, QueueOnAnEngineIsNamed) {
  // Two inputs of 100 must pass one engine before their tasks of 1 can run.
  TaskGraph graph(3);
  for (size_t gpu : {1, 2}) {
    TaskId task = graph.addTask(gpu == 1 ? "a" : "b", std::vector<int64_t>{1, 1, 1});
    graph.pin(task, DeviceId(gpu));
    graph.addOperand(task, graph.addInput(DeviceId(size_t{0}), 100));
  }
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_THAT(
      sentencesOf(graph, gpusOnABus(2, 1)),
      ElementsAre("b <- program input #1: data dependency", "b <- copy of program input #0 to gpu0: engine busy"));
}

TEST(Explanation, TwoResultsOfOneTaskThatQueueAreToldApart) {
  TaskGraph graph(2);
  TaskId task = graph.addTask("a", std::vector<int64_t>{kCannotRun, 10});
  for (int i = 0; i < 3; ++i)
    graph.markProgramResult(graph.addValue(task, 100));
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_THAT(sentencesOf(graph, cpuAndGpus(1, 1, false)),
              ElementsAre("a <- copy of a #1 to cpu0: engine busy",
                          "copy of a #1 to cpu0 <- copy of a #0 to cpu0: engine busy"));
}

TEST(Explanation, ResultOnItsWayHomeLeadsToItsTask) {
  TaskGraph graph(2);
  TaskId first = graph.addTask("first", std::vector<int64_t>{kCannotRun, 10});
  TaskId second = graph.addTask("second", std::vector<int64_t>{kCannotRun, 10});
  graph.addOperand(second, graph.addToken(first));
  graph.markProgramResult(graph.addValue(second, 8));
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_THAT(sentencesOf(graph, cpuAndGpus(1, 1, false)),
              ElementsAre("second <- first: data dependency"));
}

TEST(Explanation, TransferThatCostsMoreThanItGainsIsNamed) {
  // Two tasks of 100 whose results of 400 bytes meet: the second would be 400 ns on its way.
  EXPECT_THAT(sentencesOf(graphOf({{100, 100}, {100, 100}, {10, 10}}, {{0, 2, 400}, {1, 2, 400}}),
                          fullyConnected(2)),
              ElementsAre("t3 <- t2: data dependency",
                          "t2 <- t1: transfer costs more than it gains"));
}

TEST(Explanation, TinyKernelsStandInLineForTheirLaunches) {
  Machine machine = fullyConnected(1);
  machine.devices[0].launch_ns = 2500;
  EXPECT_THAT(sentencesOf(graphOf({{100}, {100}}, {}), machine), ElementsAre("t2 <- t1: launch rate"));
}

/// Three tasks for two devices, the second of which has room for one result: b may start at once, but
/// what it writes has room only when a's result has been read, far away, by c.
struct Crowded {
  explicit Crowded(int64_t costOfB) {
    machine.devices[1].memory_bytes = 150;
    a = graph.addTask("a", std::vector<int64_t>{10, 10});
    c = graph.addTask("c", std::vector<int64_t>{10, 10});
    b = graph.addTask("b", std::vector<int64_t>{costOfB, costOfB});
    graph.pin(a, two);
    graph.pin(c, DeviceId(size_t{0}));
    graph.pin(b, two);
    graph.addOperand(c, graph.addValue(a, 100));
    graph.addValue(b, 100);
    EXPECT_TRUE(graph.finalize().ok());
  }
  Machine machine = fullyConnected(2);
  TaskGraph graph{2};
  TaskId a, b, c;
  const DeviceId two{size_t{1}};
};

TEST(Explanation, RoomForResultsIsWaitedFor) {
  Crowded crowded(10);
  absl::StatusOr<Plan> plan = planGraph(crowded.graph, crowded.machine);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->tasks[crowded.b.index()].startNs, 110);
  std::vector<IdleGap> gaps = explainIdleGaps(crowded.graph, crowded.machine, *plan, 0.05);
  auto gap = std::find_if(gaps.begin(), gaps.end(), [&](const IdleGap &entry) {
    return entry.device == crowded.two;
  });
  ASSERT_NE(gap, gaps.end());
  EXPECT_EQ(gap->startNs, 10);
  EXPECT_EQ(gap->reason.task, "b");
  EXPECT_EQ(causeName(gap->reason.cause), "buffer reuse");
}

TEST(Explanation, EveryLongGapHasAReason) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    Machine machine = randomMachine(random);
    TaskGraph graph = randomGraph(random, machine, size_t(random.between(1, 60)));
    absl::StatusOr<Plan> plan = planGraph(graph, machine);
    ASSERT_TRUE(plan.ok()) << plan.status();
    std::vector<IdleGap> gaps = explainIdleGaps(graph, machine, *plan, 0.05);
    for (const IdleGap &gap : gaps) {
      if (gap.reason.id.valid()) {
        EXPECT_NE(gap.reason.waitsFor, graph.task(gap.reason.id).label) << seed << ": waits for itself";
      }
      EXPECT_LE(20 * (gap.finishNs - gap.startNs + 1), 20 * plan->makespanNs + 20);
      EXPECT_FALSE(causeName(gap.reason.cause).empty());
      EXPECT_NE(gap.reason.cause, WaitCause::DeviceFull) << seed << ": of an idle device";
      for (const TaskPlacement &place : plan->tasks)
        EXPECT_FALSE(place.device == gap.device && place.startNs < gap.finishNs &&
                     place.finishNs > gap.startNs)
            << seed << ": something runs in the gap";
    }
    // A device on which nothing runs has one gap: all of the plan.
    for (size_t device = 0; device < machine.devices.size(); ++device)
      if (plan->busyNs[device] == 0 && plan->makespanNs > 0 &&
          std::none_of(plan->tasks.begin(), plan->tasks.end(),
                       [&](const TaskPlacement &place) { return place.device.index() == device; })) {
        EXPECT_EQ(std::count_if(gaps.begin(), gaps.end(),
                                [&](const IdleGap &gap) { return gap.device.index() == device; }),
                  1)
            << seed;
      }
  }
}

/// Why each device that has no task at all is idle: "task <- waits for: cause".
std::vector<std::string> idleSentencesOf(const TaskGraph &graph, const Machine &machine) {
  absl::StatusOr<Plan> plan = planGraph(graph, machine);
  std::vector<std::string> sentences;
  for (const IdleGap &gap : explainIdleGaps(graph, machine, *plan, 0.05))
    if (plan->busyNs[gap.device.index()] == 0)
      sentences.push_back(gap.reason.task + " <- " + gap.reason.waitsFor + ": " +
                          std::string(causeName(gap.reason.cause)));
  return sentences;
}

TEST(Explanation, EqualDevicesAreNoFaster) {
  EXPECT_THAT(idleSentencesOf(graphOf({{100, 100, 100}}, {}), fullyConnected(3)),
              ElementsAre("t1 <- : no faster there", "t1 <- : no faster there"));
}

TEST(Explanation, ChainLeavesOtherDevicesIdleForItsData) {
  EXPECT_THAT(idleSentencesOf(graphOf({{10, 10}, {10, 10}}, {{0, 1, 1}}), fullyConnected(2)),
              ElementsAre("t2 <- t1: data dependency"));
}

TEST(Explanation, FasterDeviceIsTooFarFromAChain) {
  // The input of 1000 bytes is on device 0; device 1 would take half.
  TaskGraph graph(2);
  TaskId first = graph.addTask("first", std::vector<int64_t>{100, 50});
  TaskId second = graph.addTask("second", std::vector<int64_t>{100, 50});
  graph.addOperand(first, graph.addInput(DeviceId(size_t{0}), 1000));
  graph.addOperand(second, graph.addValue(first, 1000));
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_THAT(idleSentencesOf(graph, fullyConnected(2)),
              ElementsAre("first <- : transfer costs more than it gains"));
}

TEST(Explanation, IndependentTasksThatDoNotWaitLeaveSlowDevicesIdle) {
  // Two chains on two devices; the second step waits for the first one's data, but that is not why the slow device idles.
  EXPECT_THAT(idleSentencesOf(graphOf({{10, 10, 99}, {10, 10, 99}, {10, 10, 99}, {10, 10, 99}},
                                      {{0, 2, 500}, {1, 3, 500}}),
                              fullyConnected(3)),
              ElementsAre(::testing::EndsWith(" <- : no faster there")));
}

TEST(Explanation, GroupKeepsItsTasksFromAnIdleDevice) {
  TaskGraph graph(2);
  for (const char *label : {"a", "b"})
    graph.colocate(graph.addTask(label, std::vector<int64_t>{10, 10}), 0);
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_THAT(idleSentencesOf(graph, fullyConnected(2)),
              ElementsAre("b <- a: co-located with other tasks"));
}

TEST(Explanation, IdleDeviceThatWouldNotShortenTheProgram) {
  // "side" waits on device 0, though it would end earlier on device 1: "long" decides anyway.
  TaskGraph graph = graphOf({{100, kCannotRun}, {10, 20}}, {});
  Plan plan;
  plan.tasks = {{DeviceId(size_t{0}), 0, 0, 100}, {DeviceId(size_t{0}), 0, 100, 110}};
  plan.makespanNs = 110;
  std::vector<IdleGap> gaps = explainIdleGaps(graph, fullyConnected(2), plan, 0.05);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(causeName(gaps[0].reason.cause), "no shorter plan found");
}

TEST(Explanation, ResultsOnTheirWayLeaveDevicesIdle) {
  TaskGraph graph(2);
  TaskId task = graph.addTask("only", std::vector<int64_t>{kCannotRun, 10});
  graph.markProgramResult(graph.addValue(task, 1000));
  ASSERT_TRUE(graph.finalize().ok());
  Machine machine = cpuAndGpus(1, 1, false);
  std::vector<IdleGap> gaps = explainIdleGaps(graph, machine, *planGraph(graph, machine), 0.05);
  ASSERT_EQ(gaps.size(), 2u);
  EXPECT_EQ(causeName(gaps[0].reason.cause), "no task can run there");
  EXPECT_EQ(causeName(gaps[1].reason.cause), "no task is left");
}

TEST(WhatIf, NothingHelpsAnOptimalPlanHoweverShort) {
  for (int64_t costNs : {1, 10, 99, 1000}) {
    TaskGraph graph = graphOf({{costNs, costNs}}, {});
    Machine machine = fullyConnected(2);
    EXPECT_TRUE(changesThatHelp(graph, machine, *planGraph(graph, machine), 3).best.empty()) << costNs;
  }
}

TEST(WhatIf, ADeviceMoreHelpsWhatIsBoundByItsArea) {
  Machine machine = fullyConnected(2);
  std::vector<std::vector<int64_t>> costs(12, {100, 100});
  TaskGraph graph = graphOf(costs, {});
  absl::StatusOr<Plan> plan = planGraph(graph, machine);
  ASSERT_TRUE(plan.ok());
  std::vector<MachineChange> changes = changesThatHelp(graph, machine, *plan, 3).best;
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_THAT(changes[0].what, ::testing::StartsWith("another device like "));
  EXPECT_EQ(changes[0].makespanNs, 400);
}

TEST(WhatIf, SecondCpuHelpsAHostAlone) {
  Machine machine;
  machine.devices.emplace_back().name = "cpu0";
  TaskGraph graph = graphOf({{1000}, {1000}, {10}}, {{0, 2, 12}, {1, 2, 12}});
  absl::StatusOr<Plan> plan = planGraph(graph, machine);
  ASSERT_TRUE(plan.ok());
  MachineChanges changes = changesThatHelp(graph, machine, *plan, 3);
  EXPECT_THAT(changes.tried, ElementsAre("another device like cpu0 (cpu)"));
  ASSERT_EQ(changes.best.size(), 1u);
  EXPECT_EQ(changes.best[0].makespanNs, 1011); // 12 bytes at the usual speed of memory: 1 ns
  machine.devices[0].memory_bytes_per_s = 1'000'000'000;
  EXPECT_EQ(changesThatHelp(graph, machine, *plan, 3).best[0].makespanNs, 1022);
}

TEST(WhatIf, SecondCpuIsAsFarFromTheFirstAsOtherDevices) {
  Machine machine = withDeviceLike(cpuAndGpus(1, 1, false), DeviceId(size_t{0}));
  const DeviceId cpu(size_t{0}), gpu(size_t{1}), twin(size_t{2});
  EXPECT_EQ(machine.HostDevice(), cpu);
  auto link = [&](DeviceId from, DeviceId to) { return machine.links[machine.FindLink(from, to).index()]; };
  EXPECT_EQ(link(cpu, twin).bytes_per_s, link(cpu, gpu).bytes_per_s);
  // The GPU's engines are occupied from either CPU; between the CPUs they are not.
  EXPECT_EQ(link(twin, gpu).engines, link(cpu, gpu).engines);
  EXPECT_EQ(link(gpu, twin).engines, link(gpu, cpu).engines);
  EXPECT_THAT(machine.engines, ::testing::Contains("cpu0-twin.in"));
  EXPECT_NE(link(cpu, twin).engines, link(cpu, gpu).engines);
  EXPECT_NE(link(cpu, twin).engines, link(twin, cpu).engines);
}

TEST(WhatIf, FasterLinksHelpWhatIsBoundByThem) {
  Machine machine = cpuAndGpus(1, 1, false);
  TaskGraph graph(2);
  TaskId task = graph.addTask("t", std::vector<int64_t>{kCannotRun, 10});
  graph.addOperand(task, graph.addInput(DeviceId(size_t{0}), 1000));
  ASSERT_TRUE(graph.finalize().ok());
  absl::StatusOr<Plan> plan = planGraph(graph, machine);
  ASSERT_TRUE(plan.ok());
  std::vector<MachineChange> changes = changesThatHelp(graph, machine, *plan, 3).best;
  ASSERT_FALSE(changes.empty());
  EXPECT_THAT(changes[0].what, ::testing::HasSubstr("links twice as fast"));
  EXPECT_LT(changes[0].makespanNs, plan->makespanNs);
}

TEST(WhatIf, MoreMemoryHelpsWhatWaitsForRoom) {
  Crowded crowded(50);
  absl::StatusOr<Plan> plan = planGraph(crowded.graph, crowded.machine);
  ASSERT_TRUE(plan.ok());
  std::vector<MachineChange> changes = changesThatHelp(crowded.graph, crowded.machine, *plan, 9).best;
  EXPECT_TRUE(std::any_of(changes.begin(), changes.end(), [](const MachineChange &change) {
    return change.what.find("twice the memory on ") == 0;
  }));
}

TEST(WhatIf, TwinsKeepToTheRulesOfMachinesAndGraphs) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    Machine machine = randomMachine(random);
    TaskGraph graph = randomGraph(random, machine, size_t(random.between(1, 30)));
    DeviceId like(size_t(random.between(0, int64_t(machine.devices.size()) - 1)));
    Machine more = withDeviceLike(machine, like);
    EXPECT_TRUE(CheckMachine(more).ok()) << CheckMachine(more);
    TaskGraph wider = withDeviceLike(graph, like);
    absl::StatusOr<Plan> plan = planGraph(wider, more);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_TRUE(validatePlan(wider, more, *plan).ok());
  }
}

TEST(Explanation, WalkEndsOnEveryGraph) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    Machine machine = randomMachine(random);
    TaskGraph graph = randomGraph(random, machine, size_t(random.between(1, 60)));
    absl::StatusOr<Plan> plan = planGraph(graph, machine);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_LE(explainCriticalPath(graph, machine, *plan).size(),
              plan->tasks.size() + 2 * plan->transfers.size());
  }
}

} // namespace
} // namespace autopar::planning
