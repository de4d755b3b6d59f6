// List scheduling that looks one step ahead.
#ifndef AUTOPAR_COMPILER_PLANNING_LISTS_LOOKAHEAD_H
#define AUTOPAR_COMPILER_PLANNING_LISTS_LOOKAHEAD_H

#include "compiler/planning/model/Problem.h"

namespace autopar::planning {

/// HEFT with lookahead (Bittencourt, Sakellariou, Madeira, PDP 2010): in the order of upward ranks
/// (arithmetic means) each task goes to the device from which the latest of the tasks that use its
/// values can finish soonest, each of them taken alone on its best device; then to where it
/// finishes first itself.
///
/// Looks at no more than `mostUsers` uses of what a task makes, those by the users of highest rank.
/// Time O(e P^2 log n) for e edges that are looked at; what a task waits for is kept up to date
/// when its producers are placed, so that tasks with many operands cost no more. False: as in
/// ListScheduler.h.
bool placeLookahead(const Problem &problem, size_t mostUsers, ScheduleBuilder &builder);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_LISTS_LOOKAHEAD_H
