#include "compiler/planning/Planner.h"

#include <ctime>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>

#include "compiler/planning/bounds/LowerBound.h"
#include "compiler/planning/model/PlanValidator.h"
#include "test/compiler/planning/graphs/TestGraphs.h"

namespace autopar::planning {
namespace {

using ::testing::HasSubstr;

const DeviceId kCpu(size_t{0}), kGpu0(size_t{1}), kGpu1(size_t{2});

PlannerOptions named(std::string name, int effort = 0) {
  PlannerOptions options;
  options.plannerName = std::move(name);
  options.effort = effort;
  return options;
}

Plan planOf(const TaskGraph &graph, const Machine &machine, const PlannerOptions &options = {}) {
  absl::StatusOr<Plan> plan = planGraph(graph, machine, options);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok())
    return Plan();
  absl::Status valid = validatePlan(graph, machine, *plan, options.maxStreams);
  EXPECT_TRUE(valid.ok()) << valid;
  return *std::move(plan);
}

bool samePlan(const Plan &a, const Plan &b) {
  auto task = [](const TaskPlacement &p) {
    return std::tuple(p.device, p.stream, p.startNs, p.finishNs);
  };
  auto transfer = [](const PlannedTransfer &t) {
    return std::tuple(t.value, t.from, t.to, t.link, t.startNs, t.finishNs);
  };
  return a.planner == b.planner && a.makespanNs == b.makespanNs && a.serialNs == b.serialNs &&
         std::equal(a.tasks.begin(), a.tasks.end(), b.tasks.begin(), b.tasks.end(),
                    [&](auto &x, auto &y) { return task(x) == task(y); }) &&
         std::equal(a.transfers.begin(), a.transfers.end(), b.transfers.begin(), b.transfers.end(),
                    [&](auto &x, auto &y) { return transfer(x) == transfer(y); });
}

// ---- random graphs
// ---------------------------------------------------------------------------------------------

TEST(Planner, RandomPlansAreValidNeverWorseThanOneDeviceAndTheSameTwice) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Machine machine = randomMachine(random);
    TaskGraph graph = randomGraph(random, machine, size_t(random.between(1, 80)));
    for (std::string_view name : plannerNames()) {
      // Local search takes its time; PlannerFuzzTest has more of it.
      PlannerOptions options = named(std::string(name), seed % 50 == 0 ? 2 : int(seed % 2));
      options.maxStreams = uint32_t(random.between(0, 3));
      Plan plan = planOf(graph, machine, options);
      ASSERT_FALSE(HasFailure());
      ASSERT_LE(plan.makespanNs, plan.serialNs);
      ASSERT_GE(plan.makespanNs, lowerBound(graph, machine).ns);
      ASSERT_TRUE(samePlan(plan, planOf(graph, machine, options)));
    }
  }
}

/// What planGraph must not exceed, recomputed by hand: all inputs brought to `device` at once,
/// every task in turn.
int64_t oneDeviceByHand(const TaskGraph &graph, const Machine &machine, DeviceId device) {
  int64_t time = 0;
  for (size_t task = 0; task < graph.taskCount(); ++task) {
    if (graph.costNs(TaskId(task), device) < 0)
      return std::numeric_limits<int64_t>::max();
    time += graph.costNs(TaskId(task), device) + machine.devices[device.index()].launch_ns;
  }
  return time;
}

TEST(Planner, SerialTimeIsTheSumOnTheBestDeviceWhereNothingMoves) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    Machine machine = fullyConnected(size_t(random.between(1, 5)));
    TaskGraph graph = layeredGraph(size_t(random.between(1, 60)), 6, 20, machine.devices.size());
    int64_t expected = std::numeric_limits<int64_t>::max();
    for (size_t device = 0; device < machine.devices.size(); ++device)
      expected = std::min(expected, oneDeviceByHand(graph, machine, DeviceId(device)));
    EXPECT_EQ(planOf(graph, machine).serialNs, expected) << "seed " << seed;
  }
}

// ---- what a plan must do
// ---------------------------------------------------------------------------------------

TEST(Planner, EmptyGraphHasAnEmptyPlan) {
  TaskGraph graph(2);
  ASSERT_TRUE(graph.finalize().ok());
  Plan plan = planOf(graph, fullyConnected(2));
  EXPECT_EQ(plan.makespanNs, 0);
  EXPECT_EQ(plan.serialNs, 0);
}

TEST(Planner, IndependentHalvesRunSideBySide) {
  Plan plan = planOf(graphOf({{100, 100}, {100, 100}}, {}), fullyConnected(2));
  EXPECT_EQ(plan.makespanNs, 100);
  EXPECT_EQ(plan.serialNs, 200);
}

TEST(Planner, SlowLinkKeepsEverythingOnOneDevice) {
  // Fork and join whose transfers cost more than the parallel half gains.
  TaskGraph graph = graphOf({{10, 10}, {50, 50}, {50, 50}, {10, 10}},
                            {{0, 1, 500}, {0, 2, 500}, {1, 3, 500}, {2, 3, 500}});
  Plan plan = planOf(graph, fullyConnected(2));
  EXPECT_EQ(plan.makespanNs, 120);
  EXPECT_TRUE(plan.transfers.empty());
  EXPECT_EQ(plan.planner, "one-device");
}

TEST(Planner, ComputeAndCopyBackOverlap) {
  // Four products on the GPU whose results return: only the last copy shows.
  Machine machine = cpuAndGpus(1, 1, false);
  TaskGraph graph(2);
  for (int i = 0; i < 4; ++i)
    graph.markProgramResult(
        graph.addValue(graph.addTask("product", std::vector<int64_t>{kCannotRun, 100}), 95));
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_EQ(planOf(graph, machine).makespanNs, 4 * 100 + 100);
}

TEST(Planner, WayHomeIsPartOfTheChoice) {
  // The GPU is faster by 10, the way back costs 105.
  TaskGraph graph(2);
  graph.markProgramResult(graph.addValue(graph.addTask("t", std::vector<int64_t>{50, 40}), 100));
  ASSERT_TRUE(graph.finalize().ok());
  Plan plan = planOf(graph, cpuAndGpus(1, 1, false), named("heft"));
  EXPECT_EQ(plan.tasks[0].device, kCpu);
  EXPECT_EQ(plan.makespanNs, 50);
}

TEST(Planner, InputIsUsedWhereItIs) {
  TaskGraph graph(3);
  TaskId task = graph.addTask("t", std::vector<int64_t>{100, 100, 100});
  graph.addOperand(task, graph.addInput(kGpu1, 5000));
  ASSERT_TRUE(graph.finalize().ok());
  Plan plan = planOf(graph, cpuAndGpus(2, 1, true));
  EXPECT_EQ(plan.tasks[0].device, kGpu1);
  EXPECT_EQ(plan.makespanNs, 100);
}

TEST(Planner, ConstantIsEverywhere) {
  TaskGraph graph(2);
  TaskId task = graph.addTask("t", std::vector<int64_t>{100, 10});
  graph.addOperand(task, graph.addInput(DeviceId(), 5000));
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_EQ(planOf(graph, fullyConnected(2)).makespanNs, 10);
}

TEST(Planner, OneCopyServesAllUsersOnADevice) {
  Machine machine = cpuAndGpus(1, 1, false);
  TaskGraph graph(2);
  ValueId input = graph.addInput(kCpu, 50);
  for (int i = 0; i < 5; ++i)
    graph.addOperand(graph.addTask("t", std::vector<int64_t>{kCannotRun, 10}), input);
  ASSERT_TRUE(graph.finalize().ok());
  Plan plan = planOf(graph, machine);
  EXPECT_EQ(plan.transfers.size(), 1u);
  EXPECT_EQ(plan.makespanNs, 55 + 5 * 10);
}

TEST(Planner, DevicesWithoutALinkMeetAtTheHost) {
  Machine machine = cpuAndGpus(2, 1, /*peerLinks=*/false);
  TaskGraph graph(3);
  TaskId make = graph.addTask("make", std::vector<int64_t>{10, 10, 10});
  TaskId use = graph.addTask("use", std::vector<int64_t>{10, 10, 10});
  graph.pin(make, kGpu0);
  graph.pin(use, kGpu1);
  graph.addOperand(use, graph.addValue(make, 20));
  ASSERT_TRUE(graph.finalize().ok());
  Plan plan = planOf(graph, machine);
  ASSERT_EQ(plan.transfers.size(), 2u);
  EXPECT_EQ(plan.transfers[0].to, kCpu);
  EXPECT_EQ(plan.transfers[1].from, kCpu);
  EXPECT_EQ(plan.makespanNs, 10 + 25 + 25 + 10);
}

TEST(Planner, SharedEngineMakesTransfersQueue) {
  Machine machine = gpusOnABus(2, 1);
  TaskGraph graph(3);
  for (DeviceId device : {kGpu0, kGpu1}) {
    TaskId task = graph.addTask("t", std::vector<int64_t>{1, 1, 1});
    graph.pin(task, device);
    graph.addOperand(task, graph.addInput(kCpu, 95));
  }
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_EQ(planOf(graph, machine).makespanNs, 201);
  EXPECT_EQ(planOf(graph, cpuAndGpus(2, 1, true)).makespanNs, 101) << "engines apart";
}

TEST(Planner, SmallTasksShareADeviceUpToItsStreams) {
  TaskGraph graph(1);
  for (int i = 0; i < 8; ++i)
    graph.setOccupancy(graph.addTask("t", std::vector<int64_t>{10}), kCpu, 125'000);
  ASSERT_TRUE(graph.finalize().ok());
  Machine machine = fullyConnected(1);
  machine.devices[0].streams = 4;
  Plan plan = planOf(graph, machine);
  EXPECT_EQ(plan.makespanNs, 20);
  EXPECT_EQ(plan.streamsUsed[0], 4u);
  EXPECT_EQ(plan.busyNs[0], 20);
  PlannerOptions options;
  options.maxStreams = 1;
  EXPECT_EQ(planOf(graph, machine, options).makespanNs, 80);
}

TEST(Planner, OverheadsAreCounted) {
  Machine machine = fullyConnected(2);
  machine.devices[0].launch_ns = 3;
  machine.devices[1].launch_ns = 4;
  machine.devices[1].wait_ns = 7;
  TaskGraph graph = graphOf({{10, kCannotRun}, {kCannotRun, 10}}, {{0, 1, 20}});
  EXPECT_EQ(planOf(graph, machine).makespanNs, 3 + 10 + 20 + 7 + 4 + 10);
}

TEST(Planner, TokenOrdersWithoutATransfer) {
  Machine machine = fullyConnected(2);
  machine.links.clear(); // a token needs none
  TaskGraph graph(2);
  const TaskId first = graph.addTask("first", std::vector<int64_t>{10, kCannotRun});
  TaskId second = graph.addTask("second", std::vector<int64_t>{kCannotRun, 10});
  graph.addOperand(second, graph.addToken(first));
  ASSERT_TRUE(graph.finalize().ok());
  Plan plan = planOf(graph, machine);
  EXPECT_EQ(plan.makespanNs, 20);
  EXPECT_TRUE(plan.transfers.empty());
}

TEST(Planner, GroupStaysTogether) {
  TaskGraph graph(2);
  for (int i = 0; i < 4; ++i)
    graph.colocate(graph.addTask("t", std::vector<int64_t>{10, 10}), 1);
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_EQ(planOf(graph, fullyConnected(2)).makespanNs, 40);
}

TEST(Planner, ChainOfTasksWithoutCostTakesNoTime) {
  TaskGraph graph(2);
  ValueId last;
  for (int i = 0; i < 1000; ++i) {
    TaskId task = graph.addTask("t", std::vector<int64_t>{0, 0});
    if (last.valid())
      graph.addOperand(task, last);
    last = graph.addValue(task, 0);
  }
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_EQ(planOf(graph, fullyConnected(2)).makespanNs, 0);
}

// ---- bad input
// -------------------------------------------------------------------------------------------------

std::string errorOf(const TaskGraph &graph, const Machine &machine,
                    const PlannerOptions &options = {}) {
  return std::string(planGraph(graph, machine, options).status().message());
}

TEST(PlannerErrors, UnknownPlannerListsTheKnownOnes) {
  EXPECT_THAT(errorOf(topcuogluGraph(), fullyConnected(3), named("best")),
              HasSubstr("unknown planner 'best'; there are auto, heft"));
}

TEST(PlannerErrors, EffortOutOfRange) {
  EXPECT_THAT(errorOf(topcuogluGraph(), fullyConnected(3), named("auto", 4)),
              HasSubstr("effort is 4"));
}

TEST(PlannerErrors, GraphForAnotherMachine) {
  EXPECT_THAT(errorOf(topcuogluGraph(), fullyConnected(2)), HasSubstr("for 3 devices"));
}

TEST(PlannerErrors, ValueThatCannotReachItsUser) {
  Machine machine = fullyConnected(2);
  machine.links.clear();
  EXPECT_THAT(errorOf(graphOf({{1, kCannotRun}, {kCannotRun, 1}}, {{0, 1, 8}}), machine),
              HasSubstr("add links"));
}

TEST(PlannerErrors, ResultThatCannotReturn) {
  Machine machine = cpuAndGpus(1, 1, false);
  machine.links.pop_back();
  TaskGraph graph(2);
  graph.markProgramResult(
      graph.addValue(graph.addTask("far", std::vector<int64_t>{kCannotRun, 1}), 8));
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_THAT(errorOf(graph, machine),
              HasSubstr("'far' cannot get to the device where it is wanted"));
}

// gpu0 cannot send anything home, so a task whose result is wanted there pulls its group off it,
// wherever the group's first task would like to be.
TEST(Planner, GroupsKeepOffDevicesFromWhichOneResultCannotReturn) {
  Machine machine = cpuAndGpus(2, 1, false);
  std::erase_if(machine.links, [](const Link &link) { return link.from == DeviceId(size_t{1}); });
  for (const std::string_view planner : plannerNames())
    for (int effort : {0, 1, 2, 3}) {
      TaskGraph graph(3);
      const TaskId first = graph.addTask("first", std::vector<int64_t>{900, 1, 500});
      TaskId second = graph.addTask("second", std::vector<int64_t>{900, 1, 500});
      TaskId other = graph.addTask("other", std::vector<int64_t>{900, 1, 500});
      graph.addOperand(second, graph.addValue(first, 4));
      graph.addOperand(other, graph.addToken(first));
      graph.colocate(first, 0);
      graph.colocate(second, 0);
      graph.markProgramResult(graph.addValue(second, 8));
      ASSERT_TRUE(graph.finalize().ok());
      const PlannerOptions options = named(std::string(planner), effort);
      absl::StatusOr<Plan> plan = planGraph(graph, machine, options);
      ASSERT_TRUE(plan.ok()) << plan.status();
      absl::Status valid = validatePlan(graph, machine, *plan);
      EXPECT_TRUE(valid.ok()) << planner << ": " << valid;
      EXPECT_NE(plan->tasks[first.index()].device, DeviceId(size_t{1}));
      EXPECT_EQ(plan->tasks[first.index()].device, plan->tasks[second.index()].device);
    }
}

TEST(PlannerErrors, GroupWhoseResultsCannotAllReturnFromOneDevice) {
  Machine machine = cpuAndGpus(2, 1, false);
  std::erase_if(machine.links, [](const Link &link) { return link.from == DeviceId(size_t{1}); });
  TaskGraph graph(3);
  TaskId a = graph.addTask("a", std::vector<int64_t>{kCannotRun, 1, kCannotRun});
  TaskId b = graph.addTask("b", std::vector<int64_t>{kCannotRun, 1, 1});
  graph.colocate(a, 0);
  graph.colocate(b, 0);
  graph.addOperand(b, graph.addValue(a, 4));
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_TRUE(planGraph(graph, machine, named("auto", 0)).ok());

  TaskGraph wanted(3);
  a = wanted.addTask("a", std::vector<int64_t>{1, 1, kCannotRun});
  b = wanted.addTask("b", std::vector<int64_t>{1, 1, 1});
  wanted.colocate(a, 0);
  wanted.colocate(b, 0);
  // gpu1 has no way to gpu0 either: "a" is wanted on gpu0, "b" on the CPU.
  std::erase_if(machine.links, [](const Link &link) { return link.to == DeviceId(size_t{1}); });
  wanted.markProgramResult(wanted.addValue(a, 8), DeviceId(size_t{1}));
  wanted.markProgramResult(wanted.addValue(b, 8));
  ASSERT_TRUE(wanted.finalize().ok());
  EXPECT_THAT(errorOf(wanted, machine),
              HasSubstr("have no device from which all of their results can get to where they are "
                        "wanted"));
}

TEST(PlannerErrors, CostsBeyondAnyClock) {
  TaskGraph graph(1);
  for (int i = 0; i < 3; ++i)
    graph.addTask("t", std::vector<int64_t>{int64_t{1} << 60});
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_THAT(errorOf(graph, fullyConnected(1)), HasSubstr("more than a plan can express"));
}

// ---- size
// ------------------------------------------------------------------------------------------------------

double planSeconds(const TaskGraph &graph, const Machine &machine, Plan &plan) {
  std::clock_t start = std::clock();
  plan = *planGraph(graph, machine, named("auto", 0));
  return double(std::clock() - start) / CLOCKS_PER_SEC;
}

// Prints processor seconds at effort 0; the check is on growth (10 times the tasks may take 25
// times as long: caches), with a floor against noise. A quadratic step would make it 100 times.
TEST(PlannerScale, GrowthFromTenToAHundredThousandTasks) {
  struct Shape {
    const char *name;
    std::function<TaskGraph(size_t)> make;
    Machine machine;
  };
  Machine gpus = cpuAndGpus(4, 4, true), single = cpuAndGpus(4, 1, true), bus = gpusOnABus(4, 1);
  const std::vector<Shape> shapes = {
      {"chain", [](size_t n) { return chainGraph(n, 5); }, gpus},
      {"fan-out and join", [](size_t n) { return fanOutGraph(n, 5); }, gpus},
      {"layers of 200", [](size_t n) { return layeredGraph(n, 200, 40, 5); }, single},
      {"layers of 12, heavy transfers", [](size_t n) { return layeredGraph(n, 12, 400, 5); },
       single},
      {"layers of 12, bus", [](size_t n) { return layeredGraph(n, 12, 100, 5); }, bus},
      {"independent, shares", [](size_t n) { return independentGraph(n, 5); }, gpus},
      {"dense joins of 30", [](size_t n) { return denseGraph(n, 30, 5); }, single},
      {"reductions of one input", [](size_t n) { return reductionsGraph(n, 5); }, single},
  };
  for (const Shape &shape : shapes) {
    TaskGraph small = shape.make(10'000), big = shape.make(100'000);
    Plan smallPlan, bigPlan;
    double smallSeconds = planSeconds(small, shape.machine, smallPlan);
    double bigSeconds = planSeconds(big, shape.machine, bigPlan);
    std::cout << shape.name << ": 10k " << smallSeconds << " s, 100k " << bigSeconds << " s, "
              << bigPlan.planner << ", makespan/bound "
              << double(bigPlan.makespanNs) / double(lowerBound(big, shape.machine).ns) << "\n";
    EXPECT_LE(bigSeconds, 25 * smallSeconds + 0.5) << shape.name;
    EXPECT_TRUE(validatePlan(big, shape.machine, bigPlan).ok());
    EXPECT_LE(bigPlan.makespanNs, bigPlan.serialNs);
  }
}

} // namespace
} // namespace autopar::planning
