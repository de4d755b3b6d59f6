#include "compiler/planning/Portfolio.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "compiler/planning/lists/Clusters.h"
#include "compiler/planning/lists/LeanOrder.h"
#include "compiler/planning/lists/ListScheduler.h"
#include "compiler/planning/lists/Lookahead.h"

namespace autopar::planning {

void BestPlan::setSerial(int64_t ns) {
  serialNs = ns;
  if (best)
    best->serialNs = ns;
}

bool BestPlan::offer(ScheduleBuilder &builder, std::string_view planner) {
  const int64_t makespan = builder.makespanNs();
  const bool isBest = !best || makespan < best->makespanNs;
  auto same = std::find_if(runnersUp.begin(), runnersUp.end(),
                           [&](const Plan &plan) { return plan.planner == planner; });
  const bool isKept = keepsRunnersUp && (same == runnersUp.end() || makespan < same->makespanNs);
  if (!isBest && !isKept)
    return false;
  Plan plan = builder.finish();
  plan.planner = planner;
  plan.serialNs = serialNs;
  if (isKept && same == runnersUp.end())
    runnersUp.push_back(plan);
  else if (isKept)
    *same = plan;
  if (isBest)
    best = std::move(plan);
  return isBest;
}

bool BestPlan::offer(std::optional<Plan> plan) {
  if (!plan || (best && plan->makespanNs >= best->makespanNs))
    return false;
  best = std::move(plan);
  best->serialNs = serialNs;
  return true;
}

std::vector<Plan> BestPlan::starts(size_t most) const {
  std::vector<Plan> plans = runnersUp;
  if (best)
    plans.push_back(*best);
  std::stable_sort(plans.begin(), plans.end(),
                   [](const Plan &a, const Plan &b) { return a.makespanNs < b.makespanNs; });
  plans.erase(
      std::unique(plans.begin(), plans.end(),
                  [](const Plan &a, const Plan &b) { return a.makespanNs == b.makespanNs; }),
      plans.end());
  if (plans.size() > most)
    plans.resize(most);
  return plans;
}

namespace {

/// Fills a builder; false: there is no such plan.
using Placing = std::function<bool(const Problem &, ScheduleBuilder &)>;
/// Takes a way of placing all tasks; false: no more are wanted.
using Try = std::function<bool(const Placing &)>;

// ---- the planners
// ----------------------------------------------------------------------------------------------

void tryHeft(const Problem &, const Try &attempt) {
  attempt([](const Problem &problem, ScheduleBuilder &builder) {
    return placeHeft(problem, MeanCost::Arithmetic, builder);
  });
}

void tryHeftHarmonic(const Problem &, const Try &attempt) {
  attempt([](const Problem &problem, ScheduleBuilder &builder) {
    return placeHeft(problem, MeanCost::Harmonic, builder);
  });
}

void tryLookahead(const Problem &problem, const Try &attempt) {
  // On big graphs the users that matter will do.
  const size_t mostUsers =
      problem.graph.taskCount() <= 3000 ? std::numeric_limits<size_t>::max() : 16;
  attempt([&](const Problem &problem, ScheduleBuilder &builder) {
    return placeLookahead(problem, mostUsers, builder);
  });
}

constexpr ClusterRule kClusterRules[] = {ClusterRule::FirstTask, ClusterRule::WholeCluster,
                                         ClusterRule::ByLoad};

/// One schedule per rule. False: no more are wanted.
bool tryClusters(const Problem &problem, const Clusters &clusters, const Try &attempt) {
  const std::vector<TaskId> order =
      orderByRank(problem.graph, upwardRanks(problem, MeanCost::Harmonic, clusters.of));
  for (ClusterRule rule : kClusterRules)
    if (!attempt([&](const Problem &problem, ScheduleBuilder &builder) {
          return placeClusters(problem, clusters, order, rule, builder);
        }))
      return false;
  return true;
}

void tryThresholds(const Problem &problem, const Try &attempt) {
  const size_t steps = problem.graph.taskCount() <= 300 ? 16 : 8;
  for (const Clusters &clusters : thresholdClusters(problem, steps))
    if (!tryClusters(problem, clusters, attempt))
      return;
}

void trySequences(const Problem &problem, const Try &attempt) {
  constexpr size_t kMostCandidates = 8;
  tryClusters(problem, sequenceClusters(problem, kMostCandidates), attempt);
}

void tryDepthFirst(const Problem &, const Try &attempt) {
  attempt([](const Problem &problem, ScheduleBuilder &builder) {
    return placeByEarliestFinish(problem, leanOrder(problem.graph), builder);
  });
}

struct Planner {
  const char *name;
  void (*run)(const Problem &problem, const Try &attempt);
  size_t mostTasks; // left out by runAll() on more
};

constexpr size_t kAny = std::numeric_limits<size_t>::max();
const Planner kPlanners[] = {
    {"heft", tryHeft, kAny},
    {"heft-harmonic", tryHeftHarmonic, kAny},
    {"peft", [](const Problem &, const Try &attempt) { attempt(placePeft); }, kAny},
    {"cpop", [](const Problem &, const Try &attempt) { attempt(placeCpop); }, 100'000},
    {"lookahead", tryLookahead, kAny},
    {"priced", [](const Problem &, const Try &attempt) { attempt(placePriced); }, kAny},
    {"depth-first", tryDepthFirst, kAny},
    {"dsc", trySequences, 10'000},
    {"clusters", tryThresholds, 3'000},
};
constexpr char kReverse[] = "reverse-";

} // namespace

const std::vector<std::string> &Portfolio::names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> names;
    for (const Planner &planner : kPlanners) {
      names.push_back(planner.name);
      names.push_back(absl::StrCat(kReverse, planner.name));
    }
    return names;
  }();
  return names;
}

void Portfolio::run(std::string_view name, BestPlan &best) {
  const bool isReverse = name.starts_with(kReverse);
  const std::string_view plain = isReverse ? name.substr(sizeof(kReverse) - 1) : name;
  const auto *planner = std::find_if(std::begin(kPlanners), std::end(kPlanners),
                                     [&](const Planner &each) { return each.name == plain; });
  if (planner == std::end(kPlanners))
    return;
  done.push_back(std::string(name));
  auto newBuilder = [](const Problem &problem) {
    return ScheduleBuilder(problem.graph, problem.machine, problem.table,
                           ScheduleBuilder::Mode::Insert);
  };
  if (!isReverse)
    return planner->run(problem, [&](const Placing &place) {
      ScheduleBuilder builder = newBuilder(problem);
      if (place(problem, builder))
        best.offer(builder, name);
      return !best.isEnough();
    });

  if (!triedReversing)
    reversed = ReversedProblem::create(problem);
  triedReversing = true;
  if (!reversed)
    return;
  planner->run(reversed->problem(), [&](const Placing &place) {
    ScheduleBuilder planned = newBuilder(reversed->problem());
    if (!place(reversed->problem(), planned))
      return true;
    std::vector<DeviceId> devices(problem.graph.taskCount());
    for (size_t task = 0; task < devices.size(); ++task)
      devices[task] = planned.deviceOf(TaskId(task));
    ScheduleBuilder builder = newBuilder(problem);
    if (placeOn(mirroredOrder(problem.graph, planned), devices, builder))
      best.offer(builder, name);
    return !best.isEnough();
  });
}

void Portfolio::runAll(BestPlan &best) {
  for (const Planner &planner : kPlanners) {
    if (problem.graph.taskCount() > planner.mostTasks)
      continue;
    for (const char *direction : {"", kReverse}) {
      if (best.isEnough())
        return;
      std::string name = absl::StrCat(direction, planner.name);
      if (std::find(done.begin(), done.end(), name) == done.end())
        run(name, best);
    }
  }
}

} // namespace autopar::planning
