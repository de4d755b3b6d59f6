// Random problems of every kind, planned with every effort: what must hold of every plan.
// 2,000 cases; 100,000 with AUTOPAR_FULL_TESTS. Case n is `random_graph --any=n` but for its size.
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>

#include "compiler/planning/Planner.h"
#include "compiler/planning/bounds/LowerBound.h"
#include "compiler/planning/model/MemoryUse.h"
#include "compiler/planning/model/PlanValidator.h"
#include "test/compiler/planning/graphs/RandomGraphs.h"

namespace autopar::planning {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kUsualCases = 300;
#else
constexpr uint64_t kUsualCases = 2'000;
#endif

uint64_t caseCount() {
  const char *full = std::getenv("AUTOPAR_FULL_TESTS");
  return full && *full ? 100'000 : kUsualCases;
}

struct Case {
  RandomGraphOptions graph;
  PlannerOptions planner;
  bool hasLittleMemory = false;
};

/// Mostly the default effort; search only where it ends soon.
Case makeCase(uint64_t seed) {
  Random random(seed + 1'000'000'007);
  Case result;
  const int64_t kind = random.between(1, 100);
  size_t most = 40;
  if (kind <= 6) {
    result.planner.effort = 3;
    most = 12;
  } else if (kind <= 20) {
    result.planner.effort = 2;
    most = 25;
  } else if (kind <= 50) {
    result.planner.effort = 0;
  }
  if (kind > 96)
    most = 150;
  result.graph = randomOptions(seed, 1, most);
  if (random.chance(20))
    result.planner.maxStreams = uint32_t(random.between(1, 3));
  result.hasLittleMemory = random.chance(10);
  return result;
}

bool samePlan(const Plan &a, const Plan &b) {
  auto sameTask = [](const TaskPlacement &x, const TaskPlacement &y) {
    return x.device == y.device && x.stream == y.stream && x.startNs == y.startNs &&
           x.finishNs == y.finishNs;
  };
  auto sameTransfer = [](const PlannedTransfer &x, const PlannedTransfer &y) {
    return x.value == y.value && x.link == y.link && x.startNs == y.startNs;
  };
  return a.makespanNs == b.makespanNs && a.serialNs == b.serialNs && a.planner == b.planner &&
         std::equal(a.tasks.begin(), a.tasks.end(), b.tasks.begin(), b.tasks.end(), sameTask) &&
         std::equal(a.transfers.begin(), a.transfers.end(), b.transfers.begin(), b.transfers.end(),
                    sameTransfer);
}

class PlannerFuzz : public ::testing::Test {
protected:
  Plan plan(const RandomProblem &problem, const PlannerOptions &options) {
    absl::StatusOr<Plan> plan = planGraph(problem.graph, problem.machine, options);
    EXPECT_TRUE(plan.ok()) << plan.status();
    if (!plan.ok())
      return Plan();
    const absl::Status valid =
        validatePlan(problem.graph, problem.machine, *plan, options.maxStreams);
    EXPECT_TRUE(valid.ok()) << valid;
    return *std::move(plan);
  }

  /// Each GPU holds between half of what the plan without limits needs there and all of it.
  static void limitMemory(RandomProblem &problem, const Plan &plan, Random &random) {
    const MachineModel model(problem.machine, 0);
    const std::vector<uint64_t> peaks = peakBytes(problem.graph, model, plan);
    for (size_t device = 0; device < peaks.size(); ++device)
      if (problem.machine.devices[device].kind != DeviceKind::kCpu)
        problem.machine.devices[device].memory_bytes =
            1 + peaks[device] * uint64_t(random.between(50, 100)) / 100;
  }

  void check(const Case &item) {
    RandomProblem problem = randomProblem(item.graph);
    const Plan best = plan(problem, item.planner);
    if (HasFailure())
      return;
    EXPECT_LE(best.makespanNs, best.serialNs);
    PlannerOptions other = item.planner;
    other.plannerName = "one-device";
    EXPECT_LE(best.makespanNs, plan(problem, other).makespanNs);
    if (item.planner.effort > 0) {
      other = item.planner;
      --other.effort;
      EXPECT_LE(best.makespanNs, plan(problem, other).makespanNs) << "less effort is better";
    }
    EXPECT_TRUE(samePlan(best, plan(problem, item.planner))) << "another plan the second time";

    // One more than the plan, so that a bound that is too high shows.
    const int effort = item.planner.effort == 0 ? 0 : 1;
    const LowerBound bound =
        lowerBound(problem.graph, problem.machine, {best.makespanNs + 1, effort});
    EXPECT_LE(bound.ns, best.makespanNs) << bound.name;
    if (best.makespanNs > 0)
      sumOfRatios += double(best.makespanNs) / double(std::max<int64_t>(1, bound.ns));
    proved += bound.ns == best.makespanNs;

    if (item.hasLittleMemory) {
      Random random(item.graph.seed);
      limitMemory(problem, best, random);
      const Plan small = plan(problem, item.planner);
      EXPECT_LE(bound.ns, small.makespanNs);
      EXPECT_TRUE(samePlan(small, plan(problem, item.planner)));
    }
  }

  double sumOfRatios = 0;
  uint64_t proved = 0;
};

TEST_F(PlannerFuzz, EveryPlanIsValidDeterministicAndWithinItsBounds) {
  const uint64_t cases = caseCount();
  for (uint64_t seed = 1; seed <= cases && !HasFailure(); ++seed) {
    const Case item = makeCase(seed);
    SCOPED_TRACE(describe(item.graph) + ", effort " + std::to_string(item.planner.effort) +
                 ", at most " + std::to_string(item.planner.maxStreams) + " streams");
    check(item);
  }
  std::cout << cases << " cases, mean makespan/bound " << sumOfRatios / double(cases) << ", "
            << 100.0 * double(proved) / double(cases) << " % proved by the bound\n";
}

} // namespace
} // namespace autopar::planning
