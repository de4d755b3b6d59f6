#include "test/compiler/planning/exact/BruteForce.h"

#include <gtest/gtest.h>

#include "compiler/planning/Planner.h"
#include "compiler/planning/bounds/LowerBound.h"
#include "compiler/planning/model/PlanValidator.h"
#include "test/compiler/planning/graphs/RandomGraphs.h"
#include "test/compiler/planning/graphs/TestGraphs.h"

namespace autopar::planning {
namespace {

constexpr uint64_t kNoLimit = 1'000'000'000;

int64_t optimum(const TaskGraph &graph, const Machine &machine) {
  return bruteForceOptimum(graph, machine, 1'000'000, kNoLimit).value();
}

TEST(BruteForce, SplitsNumbers) {
  // 7 + 5 | 4 + 4 + 3 would be 12 | 11; one device more: 7 | 5 + 3 | 4 + 4.
  const std::vector<int64_t> numbers = {7, 5, 4, 4, 3};
  for (auto [devices, expected] : {std::pair{1, 23}, {2, 12}, {3, 8}}) {
    std::vector<std::vector<int64_t>> costs;
    for (int64_t number : numbers)
      costs.push_back(std::vector<int64_t>(size_t(devices), number));
    EXPECT_EQ(optimum(graphOf(costs, {}), fullyConnected(size_t(devices))), expected);
  }
}

TEST(BruteForce, TransfersShareAnEngine) {
  // Two inputs of 10 + 5 for the GPU, over one engine; the second task starts when its input is
  // there.
  Machine machine = cpuAndGpus(1, 1, false);
  TaskGraph graph(2);
  for (int i = 0; i < 2; ++i)
    graph.addOperand(graph.addTask("t", std::vector<int64_t>{kCannotRun, 20}),
                     graph.addInput(DeviceId(size_t{0}), 10));
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_EQ(optimum(graph, machine), 15 + 20 + 20);
  TaskGraph shorter(2);
  for (int i = 0; i < 2; ++i)
    shorter.addOperand(shorter.addTask("t", std::vector<int64_t>{kCannotRun, 5}),
                       shorter.addInput(DeviceId(size_t{0}), 10));
  ASSERT_TRUE(shorter.finalize().ok());
  EXPECT_EQ(optimum(shorter, machine), 15 + 15 + 5);
}

TEST(BruteForce, WaitingCanBeBest) {
  // The device idles until the long chain's head is ready, though the other task is ready at once.
  Machine machine = fullyConnected(2);
  TaskGraph graph = graphOf({{3, 3}, {10, kCannotRun}, {kCannotRun, 20}, {8, kCannotRun}},
                            {{0, 1, 0}, {1, 2, 1}});
  EXPECT_EQ(optimum(graph, machine), 3 + 10 + 1 + 20);
}

TEST(BruteForce, SharesAndStreamsLimitWhatRunsTogether) {
  Machine machine = fullyConnected(1);
  auto graphOfShares = [](std::vector<uint32_t> shares) {
    TaskGraph graph(1);
    for (uint32_t share : shares)
      graph.setOccupancy(graph.addTask("t", std::vector<int64_t>{10}), DeviceId(size_t{0}), share);
    EXPECT_TRUE(graph.finalize().ok());
    return graph;
  };
  machine.devices[0].streams = 8;
  EXPECT_EQ(optimum(graphOfShares({900'000, 100'000}), machine), 10);
  EXPECT_EQ(optimum(graphOfShares({900'000, 100'001}), machine), 20);
  EXPECT_EQ(optimum(graphOfShares({400'000, 400'000, 400'000, 400'000}), machine), 20);
  machine.devices[0].streams = 2;
  EXPECT_EQ(optimum(graphOfShares({1, 1, 1, 1, 1}), machine), 30);
}

TEST(BruteForce, GivesUpWhenToldTo) {
  EXPECT_FALSE(bruteForceOptimum(topcuogluGraph(), fullyConnected(3), 80, 1000).has_value());
}

// The yardstick of the bounds, over all features together.
TEST(BruteForce, IsBetweenBoundsAndPlans) {
  constexpr uint64_t kSeeds = 4000;
  uint64_t solved = 0;
  double sumOfRatios = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    RandomGraphOptions options = randomOptions(seed, 1, 7);
    options.devices = std::min<size_t>(options.devices, 3);
    SCOPED_TRACE(describe(options));
    RandomProblem problem = randomProblem(options);
    absl::StatusOr<Plan> plan = planGraph(problem.graph, problem.machine);
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_TRUE(validatePlan(problem.graph, problem.machine, *plan).ok());
    std::optional<int64_t> best =
        bruteForceOptimum(problem.graph, problem.machine, plan->makespanNs, 20'000);
    if (!best)
      continue;
    ++solved;
    for (const LowerBound &bound : lowerBounds(problem.graph, problem.machine))
      EXPECT_LE(bound.ns, *best) << bound.name;
    sumOfRatios += double(*best) / double(lowerBound(problem.graph, problem.machine).ns);
  }
  std::cout << solved << " of " << kSeeds << " solved, mean optimum/bound "
            << sumOfRatios / double(solved) << "\n";
  EXPECT_GE(solved, kSeeds * 8 / 10);
}

} // namespace
} // namespace autopar::planning
