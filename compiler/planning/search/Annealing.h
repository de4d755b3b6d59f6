// Simulated annealing on (order, devices): a random move is kept if the makespan grows by no more
// than an exponentially distributed threshold, which is drawn first, so that the evaluation can
// stop as soon as it is passed. The temperature falls geometrically over the effort.
#ifndef AUTOPAR_COMPILER_PLANNING_SEARCH_ANNEALING_H
#define AUTOPAR_COMPILER_PLANNING_SEARCH_ANNEALING_H

#include "compiler/planning/search/SearchState.h"

namespace autopar::planning {

/// Starts at the incumbent and improves it. `heat`: the first temperature is
/// min(0.05, heat / tasks) of the makespan.
void anneal(Evaluator &evaluator, const Units &units, const SearchGoal &goal, double heat,
            SearchRandom &random, Incumbent &incumbent);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_SEARCH_ANNEALING_H
