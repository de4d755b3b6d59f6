// Tabu search on (order, devices), for problems where nothing queues and no device is shared: there
// a schedule is a graph of longest paths, and where a task would fit best can be estimated without
// decoding.
//
// Each step takes some tasks of the longest paths out, estimates every device and every gap between
// the last producer and the first user by (longest path to there) + duration + (longest path from
// there), and applies the best estimate that is not forbidden, even if the makespan grows. A task
// may not return to the device that it left for a while, unless that would beat the best schedule.
// After many steps without improvement a few random moves lead away from the best schedule.
// (Neighbourhood: Dell'Amico and Trubian, Annals of Operations Research 41, 1993, for job shops.)
#ifndef AUTOPAR_COMPILER_PLANNING_SEARCH_TABUSEARCH_H
#define AUTOPAR_COMPILER_PLANNING_SEARCH_TABUSEARCH_H

#include "compiler/planning/search/SearchState.h"

namespace autopar::planning {

bool canSearchTabu(const Evaluator &evaluator);

/// Starts at the incumbent and improves it; needs canSearchTabu(). The passes over the longest
/// paths count as placements.
void searchTabu(Evaluator &evaluator, const Units &units, const SearchGoal &goal,
                SearchRandom &random, Incumbent &incumbent);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_SEARCH_TABUSEARCH_H
