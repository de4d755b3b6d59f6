#include "compiler/planning/search/LocalSearch.h"

#include <algorithm>

#include "compiler/planning/search/Annealing.h"
#include "compiler/planning/search/TabuSearch.h"

namespace autopar::planning {

namespace {

/// See anneal(). More is better on 30 tasks, less on thousands; this is between.
constexpr double kHeat = 0.4;

/// The order in which a plan starts its tasks, and its devices.
Encoding encodingOf(const Problem &problem, const Plan &plan) {
  Encoding encoding;
  encoding.order.assign(problem.graph.topologicalOrder().begin(),
                        problem.graph.topologicalOrder().end());
  std::stable_sort(encoding.order.begin(), encoding.order.end(), [&](TaskId a, TaskId b) {
    return plan.tasks[a.index()].startNs < plan.tasks[b.index()].startNs;
  });
  for (const TaskPlacement &place : plan.tasks)
    encoding.devices.push_back(place.device);
  return encoding;
}

/// FNV-1a over what the search sees of a graph.
class ContentHash {
public:
  void add(uint64_t number) { hash = (hash ^ number) * 0x100000001b3ull; }
  uint64_t value() const { return hash; }

private:
  uint64_t hash = 0xcbf29ce484222325ull;
};

uint64_t hashOf(const Problem &problem) {
  const TaskGraph &graph = problem.graph;
  ContentHash hash;
  hash.add(graph.taskCount());
  hash.add(graph.deviceCount());
  for (size_t task = 0; task < graph.taskCount(); ++task) {
    for (size_t device = 0; device < graph.deviceCount(); ++device)
      hash.add(uint64_t(problem.table.duration(TaskId(task), DeviceId(device))));
    for (ValueId operand : graph.operands(TaskId(task)))
      hash.add(operand.value);
  }
  for (size_t value = 0; value < graph.valueCount(); ++value)
    hash.add(graph.value(ValueId(value)).bytes);
  return hash.value();
}

class LocalSearch {
public:
  LocalSearch(const Problem &problem, int64_t enoughNs, const SearchOptions &options)
      : problem(problem), enoughNs(enoughNs), options(options), evaluator(problem),
        units(problem, evaluator), incumbent(evaluator),
        random(options.seed * 0x9e3779b97f4a7c15ull ^ hashOf(problem)) {}

  std::optional<Plan> run(std::span<const Plan> starts);

private:
  void searchFrom(Incumbent &from, uint64_t until);
  std::optional<Plan> build() const;

  const Problem &problem;
  int64_t enoughNs;
  SearchOptions options;
  Evaluator evaluator;
  Units units;
  Incumbent incumbent;
  SearchRandom random;
};

void LocalSearch::searchFrom(Incumbent &from, uint64_t until) {
  const uint64_t begin = evaluator.placements(), all = until - begin;
  const size_t tasks = problem.graph.taskCount();
  auto done = [&] { return from.makespanNs() <= enoughNs; };
  auto annealing = [&](uint64_t end) {
    if (!done())
      anneal(evaluator, units, {end, enoughNs}, kHeat, random, from);
  };
  auto tabu = [&](uint64_t end) {
    if (!done())
      searchTabu(evaluator, units, {end, enoughNs}, random, from);
  };
  if (!canSearchTabu(evaluator))
    return annealing(until);
  // With little effort the targeted moves first, with much the ones that lead far away.
  if (all / tasks < 300 * tasks) {
    tabu(begin + all / 4);
    annealing(until);
  } else {
    annealing(begin + all - all / 4);
    tabu(until);
  }
}

std::optional<Plan> LocalSearch::build() const {
  const Encoding &best = incumbent.encoding();
  std::optional<Plan> plan =
      scheduleOn(problem, best.order, best.devices, ScheduleBuilder::Mode::Append);
  std::optional<Plan> inserted =
      scheduleOn(problem, best.order, best.devices, ScheduleBuilder::Mode::Insert);
  if (inserted && (!plan || inserted->makespanNs < plan->makespanNs))
    plan = std::move(inserted);
  return plan;
}

std::optional<Plan> LocalSearch::run(std::span<const Plan> starts) {
  SearchState state(evaluator, units);
  int64_t shortest = starts[0].makespanNs;
  for (const Plan &start : starts) {
    shortest = std::min(shortest, start.makespanNs);
    if (state.load(encodingOf(problem, start)))
      incumbent.offer(state);
  }
  if (incumbent.encoding().order.empty())
    return std::nullopt;
  searchFrom(incumbent, evaluator.placements() + options.placements);
  std::optional<Plan> plan = build();
  if (!plan || plan->makespanNs >= shortest)
    return std::nullopt;
  plan->planner = "search";
  plan->serialNs = starts[0].serialNs;
  return plan;
}

} // namespace

std::optional<Plan> improvePlan(const Problem &problem, std::span<const Plan> starts,
                                int64_t enoughNs, const SearchOptions &options) {
  if (starts.empty() || problem.graph.taskCount() < 2 ||
      options.placements < problem.graph.taskCount())
    return std::nullopt;
  for (const Plan &start : starts)
    if (start.makespanNs <= enoughNs)
      return std::nullopt;
  return LocalSearch(problem, enoughNs, options).run(starts);
}

std::optional<Plan> improvePlan(const Problem &problem, const Plan &start, int64_t enoughNs,
                                const SearchOptions &options) {
  return improvePlan(problem, std::span<const Plan>(&start, 1), enoughNs, options);
}

} // namespace autopar::planning
