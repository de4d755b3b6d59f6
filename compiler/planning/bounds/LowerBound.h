// Lower bounds on the makespan of any plan of a graph on a machine, in the model that Plan.h
// states.
#ifndef AUTOPAR_COMPILER_PLANNING_BOUNDS_LOWERBOUND_H
#define AUTOPAR_COMPILER_PLANNING_BOUNDS_LOWERBOUND_H

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "compiler/planning/model/MachineModel.h"
#include "compiler/planning/model/TaskGraph.h"

namespace autopar::planning {

inline constexpr int64_t kNoUpperBound = std::numeric_limits<int64_t>::max() / 4;

struct LowerBound {
  std::string name; ///< "critical path", "area", "link traffic of engine 'gpu0.in'", …
  int64_t ns = 0;
};

/// Longest path with the cheapest device for each step, where a task's operands are made on its
/// device one after the other or cross from others (HeadsAndTails.h).
LowerBound criticalPathBound(const TaskGraph &graph, const MachineModel &machine);
/// Work over capacity, each task's work priced on the device where it is cheapest (WorkBounds.h).
LowerBound areaBound(const TaskGraph &graph, const MachineModel &machine);
/// Bytes that must enter or leave a device because of pins, inputs and results, over an engine that
/// all of them share.
LowerBound linkTrafficBound(const TaskGraph &graph, const MachineModel &machine);

struct BoundOptions {
  /// The makespan of a plan, if one is known. No bound is above it, and whether the bound can reach
  /// it is asked first, which is cheaper than to find the largest bound.
  int64_t upperNs = kNoUpperBound;
  /// How far "forced co-location" goes. Counted in steps, not seconds; on graphs of 10 to 30 tasks:
  /// 0 takes about 0.1 ms, 1 about 0.5 ms, 2 up to 0.1 s and 3 up to 1 s.
  int effort = 1;
};

/// The bounds above; "work between heads and tails"; and "forced co-location" (DestructiveTest.h;
/// up to DestructiveTest::kMostTasks tasks, else 0), which raises the largest of the others. All
/// hold for any engines, shares and streams.
std::vector<LowerBound> lowerBounds(const TaskGraph &graph, const Machine &machine,
                                    const BoundOptions &options = {});
/// The largest one; the first of equal ones. O(n) on big graphs: 10^5 tasks in about 0.05 s.
LowerBound lowerBound(const TaskGraph &graph, const Machine &machine,
                      const BoundOptions &options = {});

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_BOUNDS_LOWERBOUND_H
