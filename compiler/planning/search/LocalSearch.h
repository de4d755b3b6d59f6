// Local search: improves plans by moving tasks between devices and in the order, with the whole
// model (queues on engines, shares, results home) inside each evaluation.
//
// The search knows only (order, devices); see Evaluator.h. It is tabu search (TabuSearch.h), where
// the problem allows it, and simulated annealing (Annealing.h): a quarter and three quarters of the
// effort. Everything is counted, nothing timed: the same input gives the same plan.
#ifndef AUTOPAR_COMPILER_PLANNING_SEARCH_LOCALSEARCH_H
#define AUTOPAR_COMPILER_PLANNING_SEARCH_LOCALSEARCH_H

#include <cstdint>
#include <optional>
#include <span>

#include "compiler/planning/lists/ListScheduler.h"

namespace autopar::planning {

struct SearchOptions {
  /// Tasks placed in all evaluations together: the effort. An evaluation places at most all tasks.
  uint64_t placements = 0;
  /// Mixed with the graph's content.
  uint64_t seed = 0;
};

/// A plan shorter than `start` (which is a plan for `problem`), named "search", or nothing. Stops
/// early at a makespan of at most `enoughNs`.
std::optional<Plan> improvePlan(const Problem &problem, const Plan &start, int64_t enoughNs,
                                const SearchOptions &options);

/// The same from the best of several plans; the others are where later rounds begin, if the effort
/// is enough for several. The plan is shorter than all of them.
std::optional<Plan> improvePlan(const Problem &problem, std::span<const Plan> starts,
                                int64_t enoughNs, const SearchOptions &options);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_SEARCH_LOCALSEARCH_H
