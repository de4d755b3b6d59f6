// What each member of the portfolio is there for, on graphs where it shows.
#include "compiler/planning/Portfolio.h"

#include <gtest/gtest.h>

#include "compiler/planning/Planner.h"
#include "compiler/planning/lists/Clusters.h"
#include "compiler/planning/lists/Prices.h"
#include "compiler/planning/model/PlanValidator.h"
#include "test/compiler/planning/graphs/TestGraphs.h"

namespace autopar::planning {
namespace {

Plan planBy(std::string_view planner, const TaskGraph &graph, const Machine &machine) {
  PlannerOptions options;
  options.plannerName = planner;
  absl::StatusOr<Plan> plan = planGraph(graph, machine, options);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok())
    return Plan();
  EXPECT_TRUE(validatePlan(graph, machine, *plan).ok());
  return *std::move(plan);
}

/// What planners get to see, with the parts that they refer to.
struct Setting {
  Setting(const TaskGraph &graph, const Machine &machine)
      : graph(graph), machine(machine), model(machine, 0) {
    EXPECT_TRUE(TaskTable::create(graph, model, table).ok());
  }
  Problem problem() const { return {graph, model, table}; }
  const TaskGraph &graph;
  const Machine &machine;
  MachineModel model;
  TaskTable table;
};

// Two chains' ends meet; each transfer costs as much as a task. Going forward, both producers start
// apart and one of them has to cross.
TEST(Portfolio, ReversedPlannerKeepsTheProducersOfAJoinTogether) {
  TaskGraph graph = graphOf({{10, 10}, {10, 10}, {10, 10}}, {{0, 2, 100}, {1, 2, 100}});
  Machine machine = fullyConnected(2);
  EXPECT_EQ(planBy("reverse-heft", graph, machine).makespanNs, 30);
  EXPECT_EQ(planBy("reverse-heft", graph, machine).planner, "reverse-heft");
}

// Heavy edges pair the four producers of two joins crosswise to their numbers; a light edge ties it
// all together. Only who sees the pairs first keeps each on one device.
TEST(Portfolio, ClustersFindTheHeavyPairs) {
  TaskGraph graph =
      graphOf({{10, 10}, {10, 10}, {10, 10}, {10, 10}, {10, 10}, {10, 10}, {1, 1}},
              {{0, 4, 100}, {2, 4, 100}, {1, 5, 100}, {3, 5, 100}, {4, 6, 1}, {5, 6, 1}});
  Machine machine = fullyConnected(2);
  EXPECT_EQ(planBy("clusters", graph, machine).makespanNs, 32);
  EXPECT_EQ(planBy("dsc", graph, machine).makespanNs, 32);
}

// Plain earliest finish puts the root where it is cheapest; its successor cannot run there, and the
// way is long.
TEST(Portfolio, PeftAndLookaheadSeeWhatFollows) {
  TaskGraph graph = graphOf({{10, 12}, {kCannotRun, 10}}, {{0, 1, 100}});
  Machine machine = fullyConnected(2);
  for (const char *planner : {"peft", "lookahead"}) {
    Plan plan = planBy(planner, graph, machine);
    EXPECT_EQ(plan.makespanNs, 22);
    EXPECT_EQ(plan.planner, planner);
  }
  EXPECT_EQ(planBy("heft", graph, machine).planner, "one-device") << "its own takes 120";
}

TEST(Portfolio, CriticalPathStaysOnItsDevice) {
  // A chain of three, best on device 1 as a whole though its first task is not.
  TaskGraph graph = graphOf({{9, 10}, {20, 10}, {20, 10}}, {{0, 1, 3}, {1, 2, 3}});
  Plan plan = planBy("cpop", graph, fullyConnected(2));
  EXPECT_EQ(plan.makespanNs, 30);
}

// ---- clusters
// -------------------------------------------------------------------------------------------------

TEST(Clusters, SeriesGrowsByTheHeaviestEdges) {
  TaskGraph graph =
      graphOf({{10, 10}, {10, 10}, {10, 10}, {10, 10}}, {{0, 1, 5}, {1, 2, 50}, {2, 3, 20}});
  Machine machine = fullyConnected(2);
  Setting setting(graph, machine);
  std::vector<Clusters> series = thresholdClusters(setting.problem(), 4);
  ASSERT_EQ(series.size(), 4u);
  EXPECT_EQ(series[0].of, (std::vector<uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(series[1].of, (std::vector<uint32_t>{0, 1, 1, 2}));
  EXPECT_EQ(series[2].of, (std::vector<uint32_t>{0, 1, 1, 1}));
  EXPECT_EQ(series[3].of, (std::vector<uint32_t>{0, 0, 0, 0}));
  EXPECT_EQ(series[1].work, (std::vector<int64_t>{10, 10, 20, 20, 10, 10}));
}

TEST(Clusters, GroupsAreTogetherAndDevicesThatExcludeEachOtherApart) {
  TaskGraph graph(2);
  TaskId a = graph.addTask("a", std::vector<int64_t>{10, kCannotRun});
  TaskId b = graph.addTask("b", std::vector<int64_t>{kCannotRun, 10});
  TaskId c = graph.addTask("c", std::vector<int64_t>{10, 10});
  TaskId d = graph.addTask("d", std::vector<int64_t>{10, 10});
  graph.addOperand(b, graph.addValue(a, 1000));
  graph.addOperand(c, graph.addValue(b, 500));
  graph.colocate(a, 7);
  graph.colocate(d, 7);
  ASSERT_TRUE(graph.finalize().ok());
  Machine machine = fullyConnected(2);
  Setting setting(graph, machine);
  std::vector<Clusters> series = thresholdClusters(setting.problem(), 4);
  ASSERT_GE(series.size(), 2u);
  EXPECT_EQ(series.front().of, (std::vector<uint32_t>{0, 1, 2, 0}));
  EXPECT_EQ(series.back().of, (std::vector<uint32_t>{0, 1, 1, 0}));
  EXPECT_EQ(series.back().work, (std::vector<int64_t>{20, -1, -1, 20}));
}

TEST(Clusters, TaskStaysApartFromASlowDeviceThatCostsMoreThanTheTransfer) {
  // Task 1 is forced onto the slow device 0; task 0 costs 100 more there, its value 50 to send.
  for (auto [bytes, together] : {std::pair{50, false}, {150, true}}) {
    TaskGraph graph = graphOf({{110, 10}, {10, kCannotRun}}, {{0, 1, uint64_t(bytes)}});
    Machine machine = fullyConnected(2);
    Setting setting(graph, machine);
    Clusters last = thresholdClusters(setting.problem(), 2).back();
    EXPECT_EQ(last.of[0] == last.of[1], together) << bytes;
  }
}

// ---- prices
// ---------------------------------------------------------------------------------------------------

TEST(Prices, EqualDevicesCostTheSameAndATwiceAsFastOneTwice) {
  TaskGraph equal = graphOf(std::vector<std::vector<int64_t>>(40, {10, 10}), {});
  Machine machine = fullyConnected(2);
  Setting same(equal, machine);
  std::vector<double> prices = areaPrices(same.problem());
  EXPECT_NEAR(prices[0], 0.5, 0.05);
  EXPECT_NEAR(prices[0] + prices[1], 1, 1e-9);
  TaskGraph unlike = graphOf(std::vector<std::vector<int64_t>>(40, {20, 10}), {});
  Setting faster(unlike, machine);
  prices = areaPrices(faster.problem());
  EXPECT_NEAR(prices[1] / prices[0], 2, 0.2);
}

// A slow device beside a fast one: half of the tasks take 4 times as long there, half 20 times.
// Whoever only looks at the earliest finish gives it some of the latter when the queue is long.
TEST(Portfolio, PricesGiveTheSlowDeviceWhatItIsLeastBadAt) {
  std::vector<std::vector<int64_t>> costs;
  for (int i = 0; i < 60; ++i)
    costs.push_back({i % 2 == 0 ? 40 : 200, 10});
  TaskGraph graph = graphOf(costs, {});
  Plan plan = planBy("priced", graph, fullyConnected(2));
  EXPECT_LT(plan.makespanNs, planBy("heft", graph, fullyConnected(2)).makespanNs);
  EXPECT_EQ(plan.makespanNs, 480); // 12 of the former on the slow device
  for (size_t i = 1; i < 60; i += 2)
    EXPECT_EQ(plan.tasks[i].device.index(), 1u) << i;
}

} // namespace
} // namespace autopar::planning
