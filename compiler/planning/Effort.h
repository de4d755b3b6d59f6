// The ladder of efforts: which planners and searches run at `--effort=0..3`, and how long. Effort
// is counted in placements and nodes, never in time: deterministic.
#ifndef AUTOPAR_COMPILER_PLANNING_EFFORT_H
#define AUTOPAR_COMPILER_PLANNING_EFFORT_H

#include "compiler/planning/Portfolio.h"
#include "compiler/planning/Problem.h"

namespace autopar::planning {

/// A makespan at which nothing better needs to be looked for: the largest lower bound; at effort 0
/// only the cheap ones, and on big graphs a tenth more.
int64_t enoughNs(const Problem &problem, int effort);

/// Offers what `effort` allows, until `best` is good enough. Each effort begins with all that the
/// ones below it do, so that more effort never gives a longer plan.
void planAtEffort(const Problem &problem, int effort, BestPlan &best);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_EFFORT_H
