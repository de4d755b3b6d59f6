#include "compiler/planning/bounds/LowerBound.h"

#include <gtest/gtest.h>
#include <iostream>

#include "compiler/planning/Planner.h"
#include "compiler/planning/exact/ExactSearch.h"
#include "test/compiler/planning/graphs/RandomGraphs.h"
#include "test/compiler/planning/graphs/TestGraphs.h"

namespace autopar::planning {
namespace {

const DeviceId kCpu(size_t{0}), kGpu(size_t{1});

TEST(LowerBound, CriticalPathCountsOnlyUnavoidableTransfers) {
  // On p0 alone the chain takes 10 + 10; the transfer of 100 is avoidable.
  Machine machine = fullyConnected(2);
  TaskGraph graph = graphOf({{10, 20}, {10, 5}}, {{0, 1, 100}});
  EXPECT_EQ(criticalPathBound(graph, MachineModel(machine, 0)).ns, 20);
}

TEST(LowerBound, CriticalPathCountsPinnedTransfersAndTheWayHome) {
  Machine machine = cpuAndGpus(1, 1, false);
  TaskGraph graph(2);
  TaskId task = graph.addTask("t", std::vector<int64_t>{kCannotRun, 100});
  graph.addOperand(task, graph.addInput(kCpu, 50));
  graph.markProgramResult(graph.addValue(task, 30));
  ASSERT_TRUE(graph.finalize().ok());
  LowerBound bound = criticalPathBound(graph, MachineModel(machine, 0));
  EXPECT_EQ(bound.ns, (50 + 5) + 100 + (30 + 5));
  EXPECT_EQ(planGraph(graph, machine)->makespanNs, bound.ns);
}

TEST(LowerBound, AreaOfIdenticalDevicesIsWorkOverDevices) {
  Machine machine = fullyConnected(4);
  TaskGraph graph = graphOf(std::vector<std::vector<int64_t>>(8, {10, 10, 10, 10}), {});
  EXPECT_EQ(areaBound(graph, MachineModel(machine, 0)).ns, 20);
}

TEST(LowerBound, AreaPricesUnlikeDevices) {
  // 100 tasks, 10 on the fast device or 30 on the slow: at best 75 and 25 of them, 750 in all.
  Machine machine = fullyConnected(2);
  TaskGraph graph = graphOf(std::vector<std::vector<int64_t>>(100, {10, 30}), {});
  int64_t ns = areaBound(graph, MachineModel(machine, 0)).ns;
  EXPECT_LE(ns, 750);
  EXPECT_GE(ns, 740);
}

TEST(LowerBound, LinkTrafficForcedByPinsIsSummedOverTheSharedEngine) {
  Machine machine = cpuAndGpus(1, 1, false);
  TaskGraph graph(2);
  for (int i = 0; i < 10; ++i) {
    TaskId task = graph.addTask("t", std::vector<int64_t>{1, 1});
    graph.pin(task, kGpu);
    graph.addOperand(task, graph.addInput(kCpu, 95));
  }
  ASSERT_TRUE(graph.finalize().ok());
  LowerBound bound = lowerBound(graph, machine);
  EXPECT_EQ(bound.ns, 10 * (95 + 5));
  EXPECT_EQ(bound.name, "link traffic of engine 'gpu0.in'");
}

TEST(LowerBound, NoPlanIsBelowIt) {
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    Random random(seed);
    Machine machine = randomMachine(random);
    TaskGraph graph = randomGraph(random, machine, size_t(random.between(1, 12)));
    absl::StatusOr<Plan> plan = planGraph(graph, machine);
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (const LowerBound &bound : lowerBounds(graph, machine))
      ASSERT_LE(bound.ns, plan->makespanNs) << bound.name << ", seed " << seed;
  }
}

TEST(LowerBound, ProvedOptimaAreNotExceeded) {
  for (int effort = 0; effort <= 3; ++effort) {
    EXPECT_LE(lowerBound(topcuogluGraph(), fullyConnected(3), {kNoUpperBound, effort}).ns, 73);
    EXPECT_LE(lowerBound(arabnejadGraph(), fullyConnected(3), {kNoUpperBound, effort}).ns, 113);
  }
}

TEST(LowerBound, TasksThatFitSideBySideAreNotAddedUp) {
  // Two streams and shares that add up to 1: both run at once. (Half the device for the small one,
  // as if each stream owned its part, would give 140.)
  Machine machine = fullyConnected(1);
  machine.devices[0].streams = 2;
  TaskGraph graph(1);
  for (uint32_t share : {900'000u, 100'000u})
    graph.setOccupancy(graph.addTask("t", std::vector<int64_t>{100}), kCpu, share);
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_EQ(lowerBound(graph, machine).ns, 100);
}

TEST(LowerBound, StreamsLimitSmallTasks) {
  Machine machine = fullyConnected(1);
  machine.devices[0].streams = 4;
  TaskGraph graph(1);
  for (int i = 0; i < 12; ++i)
    graph.setOccupancy(graph.addTask("t", std::vector<int64_t>{100}), kCpu, 1000);
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_EQ(lowerBound(graph, machine).ns, 300);
}

TEST(LowerBound, NamesTheLaunchRate) {
  Machine machine = fullyConnected(1);
  machine.devices[0].launch_ns = 60;
  TaskGraph graph = graphOf(std::vector<std::vector<int64_t>>(10, {40}), {});
  LowerBound bound = lowerBound(graph, machine);
  EXPECT_EQ(bound.ns, 1000);
  EXPECT_EQ(bound.name, "launch rate");
  machine.devices[0].launch_ns = 30;
  EXPECT_EQ(lowerBound(graph, machine).name, "area");
}

TEST(LowerBound, AskingForAPlanIsAnsweredExactly) {
  // A fork whose children are best split three to two: 10 + 30, or 10 + 5 + 20 elsewhere.
  std::vector<Edge> edges;
  for (size_t task = 1; task <= 5; ++task)
    edges.push_back({0, task, 5});
  TaskGraph graph = graphOf(std::vector<std::vector<int64_t>>(6, {10, 10}), edges);
  Machine machine = fullyConnected(2);
  EXPECT_EQ(planGraph(graph, machine)->makespanNs, 40);
  EXPECT_EQ(lowerBound(graph, machine, {40, 1}).ns, 40);
  EXPECT_LE(lowerBound(graph, machine, {41, 3}).ns, 40);
}

// The bound is as good as the documentation says: mean optimum over bound, all families.
TEST(LowerBound, IsCloseToProvedOptima) {
  double sum = 0;
  int count = 0, tight = 0;
  for (size_t family = 0; family < kFamilyCount; ++family)
    for (double ccr : {0.1, 1.0, 2.0, 10.0})
      for (size_t devices : {2, 4, 8}) {
        RandomGraphOptions options;
        options.family = Family(family);
        options.tasks = 10;
        options.ccr = ccr;
        options.devices = devices;
        RandomProblem random = randomProblem(options);
        MachineModel machine(random.machine, 0);
        TaskTable table;
        ASSERT_TRUE(TaskTable::create(random.graph, machine, table).ok());
        const Problem problem{random.graph, machine, table};
        const Plan plan = *planGraph(random.graph, random.machine);
        const ExactResult exact = searchExactly(problem, plan, 0, 1'000'000);
        ASSERT_TRUE(exact.proved) << describe(options);
        const int64_t optimum = exact.plan ? exact.plan->makespanNs : plan.makespanNs;
        const int64_t bound = lowerBound(random.graph, random.machine).ns;
        EXPECT_LE(bound, optimum) << describe(options);
        sum += double(optimum) / double(bound);
        tight += bound == optimum;
        ++count;
      }
  std::cout << "mean optimum/bound " << sum / count << ", tight on " << 100 * tight / count
            << " % of " << count << "\n";
  EXPECT_LE(sum / count, 1.015);
  EXPECT_GE(tight, count * 6 / 10);
}

} // namespace
} // namespace autopar::planning
