// The ladder of efforts: which planners and searches run at `--effort=0..3`, and how long. Effort
// is counted in placements and nodes, never in time: deterministic.
#ifndef AUTOPAR_COMPILER_PLANNING_EFFORT_H
#define AUTOPAR_COMPILER_PLANNING_EFFORT_H

#include <span>

#include "compiler/planning/Portfolio.h"
#include "compiler/planning/model/Problem.h"

namespace autopar::planning {

/// A makespan at which nothing better needs to be looked for: the largest lower bound; at effort 0
/// only the cheap ones, and on big graphs a tenth more.
int64_t enoughNs(const Problem &problem, int effort);

/// Climbs the ladder: effort 0 is the first step, each further effort adds the next one to what has
/// been done.
class Climb {
public:
  /// Refers to both.
  Climb(const Problem &problem, BestPlan &best)
      : problem(problem), best(best), portfolio(problem) {}

  /// Offers what `effort` adds, until `best` is good enough. Efforts come in order, from 0.
  void step(int effort);

private:
  void search(std::span<const Plan> starts, uint64_t placements, uint64_t seed);
  void searchAll(uint64_t nodes);

  const Problem &problem;
  BestPlan &best;
  Portfolio portfolio;
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_EFFORT_H
