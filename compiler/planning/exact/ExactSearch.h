// The exact search: finds a shorter plan than a given one or proves that there is none, where
// transfers never queue and every task fills its device.
#ifndef AUTOPAR_COMPILER_PLANNING_EXACT_EXACTSEARCH_H
#define AUTOPAR_COMPILER_PLANNING_EXACT_EXACTSEARCH_H

#include <cstdint>
#include <optional>

#include "compiler/planning/lists/ListScheduler.h"
#include "compiler/planning/model/Plan.h"

namespace autopar::planning {

struct ExactResult {
  std::optional<Plan> plan; ///< Shorter than `best`, if one was found.
  bool proved = false;      ///< Nothing shorter than min(best, plan) exists.
  uint64_t nodes = 0;
};

/// Whether the model in which the search is exact holds: every task fills its device on each device
/// where it may run, links on which a transfer of this graph could travel never queue (no engines),
/// memory is not considered; at most 64 tasks and 32 devices.
bool exactSearchApplies(const Problem &problem);

/// Branch and bound from `best` downwards (ExactBounds, ExactBranching), on the graph or, if that
/// has fewer tasks that wait for nothing, on the reversed one. `lowerBoundNs`: no plan is shorter,
/// as the caller knows. Stops undecided after `maxNodes` nodes. Deterministic. Where the model does
/// not hold it proves nothing unless `best` is at the bound.
ExactResult searchExactly(const Problem &problem, const Plan &best, int64_t lowerBoundNs,
                          uint64_t maxNodes);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_EXACT_EXACTSEARCH_H
