#include "compiler/planning/Effort.h"

#include <algorithm>
#include <string_view>

#include "compiler/planning/bounds/LowerBound.h"
#include "compiler/planning/exact/ExactSearch.h"
#include "compiler/planning/search/LocalSearch.h"

namespace autopar::planning {

namespace {

/// Evaluating anything takes a table of edges x devices^2: no local search on more tasks.
constexpr size_t kMostTasks = 100'000;

/// More tasks than this are planned with an eye on the time that planning takes.
constexpr size_t kBig = 20'000;

/// Placements for a round of local search: evaluations in proportion to the tasks (30 tasks:
/// 300,000, 0.05 s); bounded on big graphs (about 0.5 s).
uint64_t placementsFor(uint64_t tasks) {
  constexpr uint64_t kMost = 50'000'000, kEvaluationsPerTask = 10'000;
  return tasks < 100 ? std::min(kMost, kEvaluationsPerTask * tasks * tasks) : kMost;
}

/// How many different starts share a round: a small graph is soon searched from each, on a big one
/// the best start needs all of the effort.
uint64_t startsFor(uint64_t tasks) {
  constexpr uint64_t kMost = 12, kEvaluationsPerTask = 1000;
  const uint64_t evaluations = placementsFor(tasks) / std::max<uint64_t>(tasks, 1);
  return std::clamp<uint64_t>(evaluations / (kEvaluationsPerTask * std::max<uint64_t>(tasks, 1)), 1,
                              kMost);
}

} // namespace

int64_t enoughNs(const Problem &problem, int effort) {
  if (effort > 0)
    return lowerBound(problem.graph, problem.machine.description()).ns;
  // The critical path takes as long as a plan where tasks have many operands.
  const int64_t enough = std::max(areaBound(problem.graph, problem.machine).ns,
                                  linkTrafficBound(problem.graph, problem.machine).ns);
  if (problem.graph.taskCount() > kBig)
    return enough + enough / 10;
  return std::max(enough, criticalPathBound(problem.graph, problem.machine).ns);
}

/// A round of local search from each of `starts` in turn.
void Climb::search(std::span<const Plan> starts, uint64_t placements, uint64_t seed) {
  SearchOptions options;
  options.placements = placements / std::max<size_t>(starts.size(), 1);
  for (const Plan &start : starts) {
    options.seed = ++seed;
    if (!best.isEnough() && problem.graph.taskCount() <= kMostTasks)
      best.offer(improvePlan(problem, start, best.enough(), options));
  }
}

/// The exact search, where it applies.
void Climb::searchAll(uint64_t nodes) {
  if (best.empty() || best.isEnough() || !exactSearchApplies(problem))
    return;
  ExactResult result = searchExactly(problem, best.plan(), best.enough(), nodes);
  best.offer(std::move(result.plan));
  if (result.proved)
    best.setProved();
}

void Climb::step(int effort) {
  const uint64_t tasks = problem.graph.taskCount(), placements = placementsFor(tasks);
  switch (effort) {
  case 0:
    // Of big graphs of 12 families, the plan that follows prices was never the shortest.
    for (std::string_view name : {"heft-harmonic", "priced", "reverse-heft-harmonic"})
      if (!best.isEnough() && (name != "priced" || tasks <= kBig))
        portfolio.run(name, best);
    return;
  case 1:
    return portfolio.runAll(best);
  case 2:
    // Where the exact search is done soon, most of the local search is not needed.
    search(best.starts(1), placements / 30, /*seed=*/0);
    searchAll(/*nodes=*/20'000);
    search(best.starts(startsFor(tasks)), placements, /*seed=*/100);
    return;
  case 3:
    if (best.empty() || best.isEnough())
      return;
    best.raiseEnough(
        lowerBound(problem.graph, problem.machine.description(), {best.makespanNs(), effort}).ns);
    for (uint64_t seed : {200, 300})
      search(best.starts(startsFor(tasks)), placements, seed);
    searchAll(/*nodes=*/1'000'000);
    return;
  }
}

} // namespace autopar::planning
