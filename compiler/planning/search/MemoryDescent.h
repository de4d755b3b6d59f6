// Local search where memory binds: the evaluation of an order is list scheduling within the memory
// of the devices (lists/MemoryScheduler.h), which is a hundred times dearer than Evaluator.h, so
// that there is no more to it than taking what is not worse.
#ifndef AUTOPAR_COMPILER_PLANNING_SEARCH_MEMORYDESCENT_H
#define AUTOPAR_COMPILER_PLANNING_SEARCH_MEMORYDESCENT_H

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/planning/model/Problem.h"

namespace autopar::planning {

/// The effort: whichever is reached first.
struct MemoryDescentOptions {
  uint64_t placements = 0;  ///< Tasks placed in all evaluations together.
  uint64_t evaluations = 0; ///< Orders tried.
};

/// `plan` or a shorter one that fits. `plan` must fit and be what scheduleWithinMemory() makes of
/// `order` on its devices within `limits`. A move puts a task elsewhere in the order, or it and its
/// co-location group on another device. Stops early at a makespan of at most `enoughNs`. Everything
/// is counted, nothing timed: the same input gives the same plan.
Plan improveWithinMemory(const Problem &problem, Plan plan, std::vector<TaskId> order,
                         std::span<const uint64_t> limits, int64_t enoughNs,
                         const MemoryDescentOptions &options);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_SEARCH_MEMORYDESCENT_H
