#include "compiler/planning/Effort.h"

#include <algorithm>

#include "compiler/planning/ExactSearch.h"
#include "compiler/planning/LocalSearch.h"
#include "compiler/planning/LowerBound.h"

namespace autopar::planning {

namespace {

/// Placements for one local search at effort 2: many evaluations on small graphs, where they are
/// cheap; bounded on big ones.
uint64_t placementsFor(uint64_t tasks) {
  constexpr uint64_t kMost = 50'000'000;
  return tasks < 10'000 ? std::min(kMost, tasks * (10'000 + 100 * tasks)) : kMost;
}

void search(const Problem &problem, uint64_t placements, uint64_t seed, BestPlan &best) {
  // Evaluating anything takes a table of edges x devices^2.
  constexpr size_t kMostTasks = 100'000;
  if (best.empty() || best.isEnough() || problem.graph.taskCount() > kMostTasks)
    return;
  SearchOptions options;
  options.placements = placements;
  options.seed = seed;
  best.offer(improvePlan(problem, best.plan(), best.enough(), options));
}

void searchAll(const Problem &problem, uint64_t nodes, BestPlan &best) {
  if (best.empty() || best.isEnough() || !exactSearchApplies(problem))
    return;
  ExactResult result = searchExactly(problem, best.plan(), best.enough(), nodes);
  best.offer(std::move(result.plan));
  if (result.proved)
    best.setProved();
}

} // namespace

int64_t enoughNs(const Problem &problem, int effort) {
  if (effort > 0)
    return lowerBound(problem.graph, problem.machine.description()).ns;
  // The critical path takes as long as a plan where tasks have many operands.
  constexpr size_t kBig = 20'000;
  const int64_t enough = std::max(areaBound(problem.graph, problem.machine).ns,
                                  linkTrafficBound(problem.graph, problem.machine).ns);
  if (problem.graph.taskCount() > kBig)
    return enough + enough / 10;
  return std::max(enough, criticalPathBound(problem.graph, problem.machine).ns);
}

void planAtEffort(const Problem &problem, int effort, BestPlan &best) {
  Portfolio portfolio(problem);
  for (const char *name : {"heft-harmonic", "priced", "reverse-heft-harmonic"})
    if (!best.isEnough())
      portfolio.run(name, best);
  if (effort >= 1)
    portfolio.runAll(best);
  const uint64_t placements = placementsFor(problem.graph.taskCount());
  if (effort >= 2) {
    // Where the exact search is done soon, most of the local search is not needed.
    search(problem, placements / 8, /*seed=*/1, best);
    searchAll(problem, /*nodes=*/20'000, best);
    search(problem, placements, /*seed=*/2, best);
  }
  if (effort >= 3) {
    search(problem, 4 * placements, /*seed=*/3, best);
    searchAll(problem, /*nodes=*/2'000'000, best);
    for (uint64_t seed : {4, 5})
      search(problem, 4 * placements, seed, best);
  }
}

} // namespace autopar::planning
