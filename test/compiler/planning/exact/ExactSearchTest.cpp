#include "compiler/planning/exact/ExactSearch.h"

#include <gtest/gtest.h>

#include "compiler/planning/Planner.h"
#include "compiler/planning/bounds/LowerBound.h"
#include "compiler/planning/exact/ExactBounds.h"
#include "compiler/planning/exact/ExactBranching.h"
#include "compiler/planning/exact/ExactProblem.h"
#include "compiler/planning/exact/SeenStates.h"
#include "compiler/planning/model/PlanValidator.h"
#include "test/compiler/planning/exact/BruteForce.h"
#include "test/compiler/planning/graphs/PaperGraphs.h"
#include "test/compiler/planning/graphs/RandomGraphs.h"
#include "test/compiler/planning/graphs/TestGraphs.h"

namespace autopar::planning {
namespace {

constexpr uint64_t kManyNodes = 100'000'000;

/// Graph and machine with what the search takes, which refers to them.
struct Prepared {
  Prepared(TaskGraph taskGraph, Machine description)
      : graph(std::move(taskGraph)), machine(std::move(description)),
        model(machine, /*maxStreams=*/0) {
    absl::Status status = TaskTable::create(graph, model, table);
    EXPECT_TRUE(status.ok()) << status;
  }
  Prepared(const Prepared &) = delete;
  Problem problem() const { return {graph, model, table}; }

  /// The makespan that the search proves, from `start` down; -1 if it proves nothing. Its plan is
  /// checked.
  int64_t optimumFrom(const Plan &start, uint64_t maxNodes = kManyNodes) const {
    ExactResult result = searchExactly(problem(), start, /*lowerBoundNs=*/0, maxNodes);
    if (result.plan) {
      absl::Status valid = validatePlan(graph, machine, *result.plan);
      EXPECT_TRUE(valid.ok()) << valid;
      EXPECT_LT(result.plan->makespanNs, start.makespanNs);
    }
    if (!result.proved)
      return -1;
    return result.plan ? result.plan->makespanNs : start.makespanNs;
  }

  TaskGraph graph;
  Machine machine;
  MachineModel model;
  TaskTable table;
};

Plan planOf(const TaskGraph &graph, const Machine &machine, const char *planner = "auto") {
  PlannerOptions options;
  options.plannerName = planner;
  absl::StatusOr<Plan> plan = planGraph(graph, machine, options);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *std::move(plan) : Plan();
}

/// A plan that stands for any of this length: the search looks only at the makespan.
Plan planOfLength(int64_t ns) {
  Plan plan;
  plan.makespanNs = ns;
  return plan;
}

// ---- published optima

TEST(ExactSearch, ProvesThePapersOptima) {
  Machine machine = fullyConnected(3);
  for (auto [graph, optimum] :
       {std::pair{topcuogluGraph(), 73}, std::pair{arabnejadGraph(), 113}}) {
    Prepared prepared(graph, machine);
    EXPECT_EQ(prepared.optimumFrom(planOf(graph, machine, "heft")), optimum);
    EXPECT_EQ(prepared.optimumFrom(planOf(graph, machine, "one-device")), optimum);
    EXPECT_EQ(prepared.optimumFrom(planOfLength(optimum)), optimum) << "nothing is shorter";
  }
}

TEST(ExactSearch, ProvesThePublishedOptimaOfTheCollection) {
  std::vector<PaperGraph> papers = paperGraphs();
  if (papers.empty())
    GTEST_SKIP() << "AUTOPAR_TEST_DATA does not name the folder of the published graphs";
  EXPECT_EQ(papers.size(), 16u);
  for (const PaperGraph &paper : papers) {
    SCOPED_TRACE(paper.name);
    Machine machine = fullyConnected(paper.devices);
    Prepared prepared(paper.graph, machine);
    EXPECT_EQ(prepared.optimumFrom(planOf(paper.graph, machine)), paper.expected.at("optimal"));
  }
}

// ---- brute force

/// A problem in the search's model with anything else drawn.
RandomGraphOptions drawOptions(uint64_t seed, size_t least, size_t most) {
  RandomGraphOptions options = randomOptions(seed, least, most);
  options.links = LinkSet::Free;
  options.sharePercent = 0;
  options.streams = 1;
  options.devices = std::min<size_t>(options.devices, options.tasks > 6 ? 3 : 4);
  return options;
}

/// The same graph, with `percent` of the costs 0.
TaskGraph withFreeTasks(const TaskGraph &graph, int percent, Random &random) {
  TaskGraph copy(graph.deviceCount());
  std::vector<int64_t> costs(graph.deviceCount());
  for (size_t task = 0; task < graph.taskCount(); ++task) {
    for (size_t device = 0; device < costs.size(); ++device) {
      costs[device] = graph.costNs(TaskId(task), DeviceId(device));
      if (costs[device] > 0 && random.chance(percent))
        costs[device] = 0;
    }
    const Task &description = graph.task(TaskId(task));
    TaskId id = copy.addTask(description.label, costs);
    copy.pin(id, description.pinnedDevice);
    copy.colocate(id, description.colocationGroup);
  }
  for (size_t index = 0; index < graph.valueCount(); ++index) {
    const Value &value = graph.value(ValueId(index));
    ValueId id = !value.producer.valid() ? copy.addInput(value.residentDevice, value.bytes)
                 : value.isToken         ? copy.addToken(value.producer)
                                         : copy.addValue(value.producer, value.bytes);
    for (TaskId user : graph.users(id))
      copy.addOperand(user, id);
    for (const ProgramResult &result : graph.resultsOf(id))
      copy.markProgramResult(id, result.device);
  }
  EXPECT_TRUE(copy.finalize().ok());
  return copy;
}

/// Half of the problems have links of different speeds, a quarter tasks without cost.
RandomProblem drawProblem(const RandomGraphOptions &options) {
  RandomProblem problem = randomProblem(options);
  Random random(options.seed);
  if (random.chance(50))
    for (Link &link : problem.machine.links)
      link.bytes_per_s /= uint64_t(random.between(1, 4));
  if (random.chance(25)) {
    problem.graph = withFreeTasks(problem.graph, 40, random);
    for (Device &device : problem.machine.devices)
      device.launch_ns = 0;
  }
  return problem;
}

TEST(ExactSearch, AgreesWithBruteForce) {
  int compared = 0, searched = 0, improved = 0;
  for (uint64_t seed = 1; seed <= 800; ++seed) {
    RandomGraphOptions options = drawOptions(seed, 1, 8);
    SCOPED_TRACE(describe(options));
    RandomProblem random = drawProblem(options);
    Prepared prepared(random.graph, random.machine);
    ASSERT_TRUE(exactSearchApplies(prepared.problem()));
    Plan start = planOf(random.graph, random.machine, "heft");
    std::optional<int64_t> optimum =
        bruteForceOptimum(random.graph, random.machine, start.makespanNs, 200'000);
    if (!optimum)
      continue;
    ++compared;
    improved += *optimum < start.makespanNs;
    ASSERT_EQ(prepared.optimumFrom(start), *optimum);
    ASSERT_EQ(prepared.optimumFrom(planOfLength(3 * start.makespanNs + 5)), *optimum);
    searched += searchExactly(prepared.problem(), start, 0, kManyNodes).nodes > 0;
  }
  std::cout << compared << " compared, " << searched << " not proved by bounds alone, " << improved
            << " starts improved\n";
  EXPECT_GE(compared, 700);
  EXPECT_GE(searched, 100);
  EXPECT_GE(improved, 80);
}

// ---- forward and reversed

/// Whether a plan ends by `target` (in ticks). The plan found must keep its promise when it is
/// timed afresh.
bool isMet(const ExactProblem &problem, const ExactProblem &reversed, int64_t target) {
  ExactBounds bounds(problem, reversed);
  if (!bounds.propagate(target))
    return false;
  ExactBranching branching(problem);
  ExactBranching::Outcome outcome = branching.run(bounds, target, kManyNodes);
  EXPECT_NE(outcome, ExactBranching::Outcome::OutOfNodes);
  if (outcome != ExactBranching::Outcome::Found)
    return false;
  EXPECT_LE(endOf(problem, startsInOrder(problem, branching.order(), branching.devices()),
                  branching.devices()),
            target);
  return true;
}

TEST(ExactSearch, TimeCanRunBackwards) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    RandomGraphOptions options = drawOptions(seed, 6, 12);
    SCOPED_TRACE(describe(options));
    RandomProblem random = drawProblem(options);
    Prepared prepared(random.graph, random.machine);
    const int64_t optimum = prepared.optimumFrom(planOf(random.graph, random.machine));
    ASSERT_GE(optimum, 0);
    ExactProblem forward = ExactProblem::create(prepared.problem()), backward = forward.reversed();
    ExactProblem again = backward.reversed();
    const int64_t target = (optimum << forward.shift()) - 1; // just missed
    ASSERT_FALSE(isMet(forward, backward, target));
    ASSERT_FALSE(isMet(backward, forward, target));
    ASSERT_FALSE(isMet(again, backward, target));
    const int64_t nextNs = int64_t{1} << forward.shift();
    ASSERT_TRUE(isMet(forward, backward, target + nextNs));
    ASSERT_TRUE(isMet(backward, forward, target + nextNs));
    ASSERT_TRUE(isMet(again, backward, target + nextNs));
  }
}

// ---- what the problem is made of

TEST(ExactProblem, FindsTwinsAndClasses) {
  // t1 and t2 alike, t3 costs more; p0 and p1 alike, p2 slower.
  Machine machine = fullyConnected(3);
  TaskGraph graph =
      graphOf({{1, 1, 2}, {5, 5, 6}, {5, 5, 6}, {6, 6, 6}}, {{0, 1, 3}, {0, 2, 3}, {0, 3, 3}});
  Prepared prepared(graph, machine);
  ExactProblem problem = ExactProblem::create(prepared.problem());
  EXPECT_EQ(problem.twinBefore(1), ExactProblem::kNone);
  EXPECT_EQ(problem.twinBefore(2), 1u);
  EXPECT_EQ(problem.twinBefore(3), ExactProblem::kNone);
  EXPECT_EQ(problem.deviceClass(1), 0u);
  EXPECT_EQ(problem.deviceClass(2), 2u);
  EXPECT_EQ(problem.sourceCount(), 1u);
  EXPECT_EQ(problem.reversed().sourceCount(), 3u);
}

TEST(ExactProblem, DifferentWaysToTheHostTellDevicesApart) {
  Machine machine = cpuAndGpus(2, 1, /*peerLinks=*/true);
  for (Link &link : machine.links)
    link.engines.clear();
  TaskGraph graph = graphOf({{9, 5, 5}, {9, 5, 5}}, {{0, 1, 100}});
  EXPECT_EQ(ExactProblem::create(Prepared(graph, machine).problem()).deviceClass(2), 1u);
  machine.links[0].latency_ns += 1;
  EXPECT_EQ(ExactProblem::create(Prepared(graph, machine).problem()).deviceClass(2), 2u);
}

TEST(ExactBounds, JoinsWhatMustStayTogether) {
  // Producers of 10 whose values take 100 to travel: for a target of 40 all is on one device, and
  // 10 + 10 + 10 + 10 just fits; three devices have room for more, one has not.
  Machine machine = fullyConnected(3);
  TaskGraph graph = graphOf({{10, 10, 10}, {10, 10, 10}, {10, 10, 10}, {10, 10, 10}},
                            {{0, 3, 100}, {1, 3, 100}, {2, 3, 100}});
  Prepared prepared(graph, machine);
  ExactProblem problem = ExactProblem::create(prepared.problem()), reversed = problem.reversed();
  ExactBounds bounds(problem, reversed);
  ASSERT_TRUE(bounds.propagate(40));
  for (uint32_t task = 1; task < 4; ++task)
    EXPECT_EQ(bounds.cluster(task), bounds.cluster(0));
  EXPECT_EQ(bounds.head(3, 0), 30);
  EXPECT_FALSE(bounds.propagate(39));
}

TEST(ExactBounds, PricesSeeUnrelatedWork) {
  // Two tasks good on p0, two good on p1: 2 x 10 each; a target below is refuted without a search.
  Machine machine = fullyConnected(2);
  TaskGraph graph = graphOf({{10, 50}, {10, 50}, {50, 10}, {50, 10}}, {});
  Prepared prepared(graph, machine);
  ExactProblem problem = ExactProblem::create(prepared.problem()), reversed = problem.reversed();
  ExactBounds bounds(problem, reversed);
  EXPECT_TRUE(bounds.propagate(20));
  EXPECT_FALSE(bounds.propagate(19));
}

TEST(JoinedArrival, ChoosesHowManyOperandsAreMadeHere) {
  constexpr int64_t kNever = ExactProblem::kNever;
  // The latest two here, one after the other (5 + 5), the third from elsewhere at 8.
  std::vector<JoinItem> items = {{30, 0, 5}, {8, 0, 5}, {40, 0, 5}};
  EXPECT_EQ(joinedArrival(items.data(), items.size()), 10);
  // The latest cannot be made here.
  items = {{30, 0, kNever}, {8, 0, 5}};
  EXPECT_EQ(joinedArrival(items.data(), items.size()), 30);
  // Cannot come from elsewhere, and starts late.
  items = {{kNever, 20, 5}, {8, 0, 5}};
  EXPECT_EQ(joinedArrival(items.data(), items.size()), 25);
  EXPECT_EQ(joinedArrival(items.data(), 0), 0);
}

TEST(SeenStates, RemembersWhatWasInserted) {
  SeenStates seen;
  Random keys(1);
  for (int i = 0; i < 100'000; ++i)
    ASSERT_FALSE(seen.insert(keys.next()));
  Random again(1);
  int known = 0;
  for (int i = 0; i < 100'000; ++i)
    known += seen.insert(again.next());
  EXPECT_GE(known, 99'000) << "few are displaced while there is room";
  EXPECT_FALSE(seen.insert(0));
  EXPECT_TRUE(seen.insert(0));
}

// ---- when it applies and when it stops

TEST(ExactSearch, StopsAtTheCallersBound) {
  Prepared prepared(topcuogluGraph(), fullyConnected(3));
  ExactResult result = searchExactly(prepared.problem(), planOfLength(80), 80, kManyNodes);
  EXPECT_TRUE(result.proved);
  EXPECT_FALSE(result.plan.has_value());
  EXPECT_EQ(result.nodes, 0u);
}

TEST(ExactSearch, ProvesNothingWithoutNodes) {
  Prepared prepared(topcuogluGraph(), fullyConnected(3));
  ExactResult result = searchExactly(prepared.problem(), planOfLength(74), 0, /*maxNodes=*/10);
  EXPECT_FALSE(result.proved);
  EXPECT_EQ(result.nodes, 10u);
}

TEST(ExactSearch, SameTwice) {
  Prepared prepared(topcuogluGraph(), fullyConnected(3));
  ExactResult a = searchExactly(prepared.problem(), planOfLength(200), 0, kManyNodes);
  ExactResult b = searchExactly(prepared.problem(), planOfLength(200), 0, kManyNodes);
  EXPECT_EQ(a.nodes, b.nodes);
  ASSERT_TRUE(a.plan && b.plan);
  for (size_t task = 0; task < a.plan->tasks.size(); ++task) {
    EXPECT_EQ(a.plan->tasks[task].device, b.plan->tasks[task].device);
    EXPECT_EQ(a.plan->tasks[task].startNs, b.plan->tasks[task].startNs);
  }
}

TEST(ExactSearchApplies, OnlyWhereNothingQueuesAndTasksFillTheirDevices) {
  auto applies = [](const TaskGraph &graph, const Machine &machine) {
    return exactSearchApplies(Prepared(graph, machine).problem());
  };
  EXPECT_TRUE(applies(topcuogluGraph(), fullyConnected(3)));
  Machine queueing = fullyConnected(3);
  queueing.engines = {"bus"};
  for (Link &link : queueing.links)
    link.engines = {0};
  EXPECT_FALSE(applies(topcuogluGraph(), queueing));
  // Nothing travels, or only over the link that does not queue.
  EXPECT_TRUE(applies(graphOf({{1, 1, 1}, {1, 1, 1}}, {}), queueing));
  queueing.links[0].engines.clear();
  ASSERT_EQ(queueing.links[0].to, DeviceId(size_t{1}));
  TaskGraph oneWay =
      graphOf({{1, kCannotRun, kCannotRun}, {kCannotRun, 1, kCannotRun}}, {{0, 1, 10}});
  EXPECT_TRUE(applies(oneWay, queueing));
  // Shares: the device's streams let two tasks run side by side if their shares fit.
  Machine streams = fullyConnected(1);
  streams.devices[0].streams = 2;
  TaskGraph shares(1);
  TaskId task = shares.addTask("t", std::vector<int64_t>{5});
  ASSERT_TRUE(shares.finalize().ok());
  EXPECT_TRUE(applies(shares, streams));
  shares.setOccupancy(task, DeviceId(size_t{0}), kFullOccupancy / 2);
  EXPECT_FALSE(applies(shares, streams));
  EXPECT_TRUE(applies(chainGraph(64, 2), fullyConnected(2)));
  EXPECT_FALSE(applies(chainGraph(65, 2), fullyConnected(2)));
}

TEST(ExactSearch, LeavesOtherModelsAlone) {
  Machine machine = gpusOnABus(2, 1);
  TaskGraph graph = graphOf({{5, 5, 5}, {5, 5, 5}}, {{0, 1, 10}});
  Prepared prepared(graph, machine);
  ExactResult result = searchExactly(prepared.problem(), planOfLength(100), 0, kManyNodes);
  EXPECT_FALSE(result.proved);
  EXPECT_FALSE(result.plan.has_value());
}

TEST(ExactSearch, SixtyFourTasksAreNotTooMany) {
  TaskGraph graph = chainGraph(64, 3);
  Machine machine = fullyConnected(3);
  EXPECT_EQ(Prepared(graph, machine).optimumFrom(planOfLength(64 * 100 + 7)), 64 * 100);
}

} // namespace
} // namespace autopar::planning
