#include "compiler/planning/search/LocalSearch.h"

#include <gtest/gtest.h>
#include <limits>

#include "compiler/planning/Planner.h"
#include "compiler/planning/bounds/LowerBound.h"
#include "compiler/planning/model/PlanValidator.h"
#include "test/compiler/planning/graphs/TestGraphs.h"

namespace autopar::planning {
namespace {

/// A graph on a machine, ready to plan.
struct Setting {
  Setting(TaskGraph graphIn, Machine machineIn, uint32_t maxStreams = 0)
      : graph(std::move(graphIn)), machine(std::move(machineIn)), model(machine, maxStreams),
        maxStreams(maxStreams) {
    status = TaskTable::create(graph, model, table);
  }
  Problem problem() const { return {graph, model, table}; }
  /// What the search is to improve.
  Plan start() const {
    PlannerOptions options;
    options.maxStreams = maxStreams;
    absl::StatusOr<Plan> plan = planGraph(graph, machine, options);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *std::move(plan) : Plan();
  }
  std::optional<Plan> improve(const Plan &from, uint64_t placements, int64_t enoughNs = 0,
                              uint64_t seed = 1) const {
    std::optional<Plan> plan = improvePlan(problem(), from, enoughNs, {placements, seed});
    if (plan) {
      absl::Status valid = validatePlan(graph, machine, *plan, maxStreams);
      EXPECT_TRUE(valid.ok()) << valid;
      EXPECT_LT(plan->makespanNs, from.makespanNs);
    }
    return plan;
  }

  TaskGraph graph;
  Machine machine;
  MachineModel model;
  TaskTable table;
  uint32_t maxStreams;
  absl::Status status;
};

std::vector<std::tuple<DeviceId, uint32_t, int64_t, int64_t>> placesOf(const Plan &plan) {
  std::vector<std::tuple<DeviceId, uint32_t, int64_t, int64_t>> places;
  for (const TaskPlacement &place : plan.tasks)
    places.push_back({place.device, place.stream, place.startNs, place.finishNs});
  return places;
}

// ---- the papers' optima
// -------------------------------------------------------------------------------------------

TEST(LocalSearch, FindsThePapersOptima) {
  Setting topcuoglu(topcuogluGraph(), fullyConnected(3));
  std::optional<Plan> plan = topcuoglu.improve(topcuoglu.start(), 10'000 * 10);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->makespanNs, 73);
  EXPECT_EQ(plan->planner, "search");
  Setting arabnejad(arabnejadGraph(), fullyConnected(3));
  plan = arabnejad.improve(arabnejad.start(), 10'000 * 10);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->makespanNs, 113);
}

// ---- any problem
// --------------------------------------------------------------------------------------------------

TEST(LocalSearch, RandomPlansAreValidShorterAndTheSameTwice) {
  size_t improved = 0, tried = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Machine machine = randomMachine(random);
    TaskGraph graph = randomGraph(random, machine, size_t(random.between(1, 60)));
    Setting setting(std::move(graph), std::move(machine), uint32_t(random.between(0, 3)));
    ASSERT_TRUE(setting.status.ok()) << setting.status;
    const Plan start = setting.start();
    const uint64_t placements = uint64_t(random.between(0, 40'000));
    std::optional<Plan> plan = setting.improve(start, placements, 0, seed);
    std::optional<Plan> again = setting.improve(start, placements, 0, seed);
    ASSERT_FALSE(HasFailure());
    ASSERT_EQ(plan.has_value(), again.has_value());
    ++tried;
    if (!plan)
      continue;
    ++improved;
    EXPECT_GE(plan->makespanNs, lowerBound(setting.graph, setting.machine).ns);
    EXPECT_EQ(plan->serialNs, start.serialNs);
    EXPECT_EQ(placesOf(*plan), placesOf(*again));
  }
  EXPECT_GT(improved, tried / 3);
}

TEST(LocalSearch, NeverSendsAValueWhereNoRouteLeads) {
  size_t improved = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    // Two GPUs that only meet the CPU, which cannot send to the second.
    Machine machine = cpuAndGpus(2, 1, /*peerLinks=*/false);
    std::erase_if(machine.links, [](const Link &link) {
      return link.from == DeviceId(size_t{0}) && link.to == DeviceId(size_t{2});
    });
    TaskGraph graph = randomGraph(random, machine, 20);
    Setting setting(std::move(graph), std::move(machine));
    if (!setting.status.ok())
      continue;
    absl::StatusOr<Plan> start = planGraph(setting.graph, setting.machine);
    if (start.ok())
      improved += setting.improve(*start, 20'000).has_value();
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(improved, 20u);
}

TEST(LocalSearch, GroupsMoveTogether) {
  // Two chains of which each is a group, all on one device to begin with.
  TaskGraph graph(2);
  std::vector<int64_t> costs = {10, 10};
  for (uint32_t group = 0; group < 2; ++group)
    for (int i = 0; i < 4; ++i)
      graph.colocate(graph.addTask("t", costs), group);
  ASSERT_TRUE(graph.finalize().ok());
  Setting setting(std::move(graph), fullyConnected(2));
  std::vector<TaskId> order(setting.graph.topologicalOrder().begin(),
                            setting.graph.topologicalOrder().end());
  std::optional<Plan> start =
      scheduleOn(setting.problem(), order, std::vector<DeviceId>(8, DeviceId(size_t{0})),
                 ScheduleBuilder::Mode::Append);
  ASSERT_TRUE(start.has_value());
  ASSERT_EQ(start->makespanNs, 80);
  std::optional<Plan> plan = setting.improve(*start, 8'000);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->makespanNs, 40);
}

// ---- effort and early ends
// ----------------------------------------------------------------------------------------

TEST(LocalSearch, WithoutEffortThereIsNothing) {
  Setting setting(topcuogluGraph(), fullyConnected(3));
  EXPECT_FALSE(setting.improve(setting.start(), 0).has_value());
}

TEST(LocalSearch, StopsWhenItIsGoodEnough) {
  Setting setting(layeredGraph(80, 8, 40, 4), fullyConnected(4));
  PlannerOptions oneDevice;
  oneDevice.plannerName = "one-device";
  const Plan start = *planGraph(setting.graph, setting.machine, oneDevice);
  std::optional<Plan> full = setting.improve(start, 1'000'000);
  std::optional<Plan> enough = setting.improve(start, 1'000'000, start.makespanNs - 1);
  ASSERT_TRUE(full.has_value() && enough.has_value());
  EXPECT_GT(enough->makespanNs, full->makespanNs) << "the first improvement is enough";
  EXPECT_FALSE(setting.improve(start, 1'000'000, start.makespanNs).has_value()) << "nothing to do";
}

TEST(LocalSearch, TheOptimumIsNotImproved) {
  // A chain belongs on one device.
  Setting setting(chainGraph(30, 2), fullyConnected(2));
  const Plan start = setting.start();
  ASSERT_EQ(start.makespanNs, 3000);
  EXPECT_FALSE(setting.improve(start, 100'000).has_value());
}

TEST(LocalSearch, NothingIsToBeDoneForNoTasks) {
  TaskGraph graph(2);
  ASSERT_TRUE(graph.finalize().ok());
  Setting setting(std::move(graph), fullyConnected(2));
  EXPECT_FALSE(setting.improve(setting.start(), 1000, -1).has_value());
}

TEST(LocalSearch, StartsAtTheBestOfSeveralPlans) {
  Setting setting(arabnejadGraph(), fullyConnected(3));
  PlannerOptions oneDevice;
  oneDevice.plannerName = "one-device";
  std::vector<Plan> starts = {*planGraph(setting.graph, setting.machine, oneDevice),
                              setting.start()};
  ASSERT_LT(starts[1].makespanNs, starts[0].makespanNs);
  std::optional<Plan> plan =
      improvePlan(setting.problem(), std::span<const Plan>(starts), 0, {100'000, 1});
  ASSERT_TRUE(plan.has_value());
  EXPECT_LT(plan->makespanNs, starts[1].makespanNs);
}

} // namespace
} // namespace autopar::planning
