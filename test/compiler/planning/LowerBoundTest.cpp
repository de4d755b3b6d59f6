#include "compiler/planning/LowerBound.h"

#include <gtest/gtest.h>

#include "compiler/planning/Planner.h"
#include "test/compiler/planning/TestGraphs.h"

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
  EXPECT_LE(lowerBound(topcuogluGraph(), fullyConnected(3)).ns, 73);
  EXPECT_LE(lowerBound(arabnejadGraph(), fullyConnected(3)).ns, 113);
}

} // namespace
} // namespace autopar::planning
