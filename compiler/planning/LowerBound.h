// Lower bounds on the makespan of any plan of a graph on a machine, in the model that Plan.h
// states.
#ifndef AUTOPAR_COMPILER_PLANNING_LOWERBOUND_H
#define AUTOPAR_COMPILER_PLANNING_LOWERBOUND_H

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/planning/MachineModel.h"
#include "compiler/planning/TaskGraph.h"

namespace autopar::planning {

struct LowerBound {
  std::string name; ///< "critical path", "area", "link traffic of engine 'gpu0.in'", …
  int64_t ns = 0;
};

/// Longest path with the cheapest device for each step and the transfers that a change of device
/// costs, alone on the machine.
LowerBound criticalPathBound(const TaskGraph &graph, const MachineModel &machine);
/// Work over capacity, each task's work priced on the device where it is cheapest (dual of the
/// assignment problem).
LowerBound areaBound(const TaskGraph &graph, const MachineModel &machine);
/// Bytes that must enter or leave a device because of pins, inputs and results, over an engine that
/// all of them share.
LowerBound linkTrafficBound(const TaskGraph &graph, const MachineModel &machine);

/// The bounds above.
std::vector<LowerBound> lowerBounds(const TaskGraph &graph, const Machine &machine);
/// The largest one; the first of equal ones.
LowerBound lowerBound(const TaskGraph &graph, const Machine &machine);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_LOWERBOUND_H
