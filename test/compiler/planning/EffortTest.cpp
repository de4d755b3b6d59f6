// The ladder of efforts: more effort is never worse, reaches known optima, and says when it has
// proved one.
#include "compiler/planning/Effort.h"

#include <gtest/gtest.h>

#include "compiler/planning/Planner.h"
#include "compiler/planning/bounds/LowerBound.h"
#include "compiler/planning/model/PlanValidator.h"
#include "test/compiler/planning/graphs/PaperGraphs.h"
#include "test/compiler/planning/graphs/RandomGraphs.h"
#include "test/compiler/planning/graphs/TestGraphs.h"

namespace autopar::planning {
namespace {

Plan planAt(int effort, const TaskGraph &graph, const Machine &machine) {
  PlannerOptions options;
  options.effort = effort;
  absl::StatusOr<Plan> plan = planGraph(graph, machine, options);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok())
    return Plan();
  absl::Status valid = validatePlan(graph, machine, *plan);
  EXPECT_TRUE(valid.ok()) << valid;
  return *std::move(plan);
}

bool isProved(const Plan &plan, const TaskGraph &graph, const Machine &machine) {
  return plan.provedOptimal || plan.makespanNs == lowerBound(graph, machine).ns;
}

TEST(Effort, TwoReachesAndThreeProvesThePapersOptima) {
  const Machine machine = fullyConnected(3);
  for (auto [graph, optimum] :
       {std::pair{topcuogluGraph(), 73}, std::pair{arabnejadGraph(), 113}}) {
    EXPECT_EQ(planAt(2, graph, machine).makespanNs, optimum);
    Plan proved = planAt(3, graph, machine);
    EXPECT_EQ(proved.makespanNs, optimum);
    EXPECT_TRUE(isProved(proved, graph, machine));
  }
}

TEST(Effort, TwoReachesAndThreeProvesTheOptimumOfEveryExample) {
  const std::vector<PaperGraph> examples = paperGraphs();
  if (examples.empty())
    GTEST_SKIP() << "set AUTOPAR_TEST_DATA to the folder of paper_examples.tgs";
  ASSERT_EQ(examples.size(), 16u);
  for (const PaperGraph &example : examples) {
    const Machine machine = fullyConnected(example.devices);
    const int64_t optimum = example.expected.at("optimal");
    EXPECT_EQ(planAt(2, example.graph, machine).makespanNs, optimum) << example.name;
    Plan proved = planAt(3, example.graph, machine);
    EXPECT_EQ(proved.makespanNs, optimum) << example.name;
    EXPECT_TRUE(isProved(proved, example.graph, machine)) << example.name;
  }
}

TEST(Effort, MoreIsNeverWorseAndOnlyTheOptimumIsCalledProved) {
  size_t improved = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const RandomGraphOptions options = randomOptions(seed, 5, 14);
    SCOPED_TRACE(describe(options));
    const RandomProblem problem = randomProblem(options);
    Plan plans[3];
    for (int effort = 0; effort <= 2; ++effort)
      plans[effort] = planAt(effort, problem.graph, problem.machine);
    ASSERT_FALSE(HasFailure());
    for (int effort = 1; effort <= 2; ++effort) {
      EXPECT_LE(plans[effort].makespanNs, plans[effort - 1].makespanNs);
      improved += plans[effort].makespanNs < plans[effort - 1].makespanNs;
      if (plans[effort - 1].provedOptimal) {
        EXPECT_EQ(plans[effort].makespanNs, plans[effort - 1].makespanNs);
      }
    }
  }
  EXPECT_GE(improved, 20u);
}

} // namespace
} // namespace autopar::planning
