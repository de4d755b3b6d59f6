#include "compiler/planning/RespectMemory.h"

#include <gtest/gtest.h>
#include <iostream>

#include "compiler/planning/Planner.h"
#include "compiler/planning/model/MemoryUse.h"
#include "compiler/planning/model/PlanValidator.h"
#include "test/compiler/planning/graphs/RandomGraphs.h"

namespace autopar::planning {
namespace {

struct Tight {
  RandomProblem problem;
  int64_t freeNs = 0; // without limits
  bool isTooMuch = false;
};

/// Random problem `seed`, each device with `percent` of the memory that its plan without limits
/// needs there, hosts with as much as they like half of the time.
Tight tightProblem(uint64_t seed, size_t mostTasks, int percent) {
  Tight tight{randomProblem(randomOptions(seed, 1, mostTasks))};
  PlannerOptions options;
  options.effort = 0;
  absl::StatusOr<Plan> free = planGraph(tight.problem.graph, tight.problem.machine, options);
  EXPECT_TRUE(free.ok()) << free.status();
  if (!free.ok())
    return tight;
  tight.freeNs = free->makespanNs;
  const std::vector<uint64_t> peaks =
      peakBytes(tight.problem.graph, MachineModel(tight.problem.machine, 0), *free);
  Random random(seed);
  const bool bigHost = random.chance(50);
  for (size_t device = 0; device < peaks.size(); ++device)
    if (!bigHost || tight.problem.machine.devices[device].kind != DeviceKind::kCpu)
      tight.problem.machine.devices[device].memory_bytes =
          1 + peaks[device] * uint64_t(percent) / 100;
  tight.isTooMuch =
      !fitsMemory(MachineModel(tight.problem.machine, 0),
                  peakBytes(tight.problem.graph, MachineModel(tight.problem.machine, 0), *free));
  return tight;
}

bool fits(const RandomProblem &problem, const Plan &plan) {
  const MachineModel model(problem.machine, 0);
  return fitsMemory(model, peakBytes(problem.graph, model, plan));
}

TEST(RespectMemory, WhatIsSaidToFitFits) {
  size_t mended = 0, refused = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed)
    for (int percent : {95, 75, 55, 40}) {
      const Tight tight = tightProblem(seed, 40, percent);
      if (!tight.isTooMuch)
        continue;
      PlannerOptions options;
      options.effort = int(seed % 2);
      absl::StatusOr<Plan> plan =
          planGraph(tight.problem.graph, tight.problem.machine, options);
      ASSERT_TRUE(plan.ok()) << plan.status();
      EXPECT_TRUE(validatePlan(tight.problem.graph, tight.problem.machine, *plan).ok());
      const bool saysSo = plan->planner.find("+memory") != std::string::npos;
      EXPECT_TRUE(!saysSo || fits(tight.problem, *plan))
          << "seed " << seed << ", " << percent << " %, " << plan->planner;
      mended += saysSo;
      refused += !fits(tight.problem, *plan);
    }
  EXPECT_GT(mended, 400u);
  EXPECT_GT(refused, 50u) << "some do not fit whatever the plan";
}

TEST(RespectMemory, MoreEffortIsNeverWorseAndOftenBetter) {
  size_t found = 0, shorter = 0;
  double ratios = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Tight tight = tightProblem(seed, 20, 70);
    if (!tight.isTooMuch)
      continue;
    std::vector<Plan> plans;
    for (int effort : {0, 1, 2}) {
      PlannerOptions options;
      options.effort = effort;
      absl::StatusOr<Plan> plan =
          planGraph(tight.problem.graph, tight.problem.machine, options);
      ASSERT_TRUE(plan.ok()) << plan.status();
      EXPECT_TRUE(validatePlan(tight.problem.graph, tight.problem.machine, *plan).ok());
      plans.push_back(*std::move(plan));
    }
    for (size_t effort : {1, 2}) {
      const Plan &less = plans[effort - 1], &more = plans[effort];
      if (fits(tight.problem, less)) {
        EXPECT_TRUE(fits(tight.problem, more)) << seed << ", effort " << effort;
        EXPECT_LE(more.makespanNs, less.makespanNs) << seed << ", effort " << effort;
      }
    }
    if (!fits(tight.problem, plans[0]) || plans[0].makespanNs == 0)
      continue;
    ++found;
    shorter += plans[2].makespanNs < plans[0].makespanNs;
    ratios += double(plans[2].makespanNs) / double(plans[0].makespanNs);
  }
  ASSERT_GT(found, 10u);
  EXPECT_GT(shorter, found / 4);
  std::cout << found << " plans, " << shorter << " shorter with effort 2, mean "
            << ratios / double(found) << " of effort 0\n";
}

} // namespace
} // namespace autopar::planning
