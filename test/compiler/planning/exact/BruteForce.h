// The optimum of a small problem by enumeration, in the model that Plan.h states. Shares nothing
// with planners and bounds: the yardstick of both.
#ifndef AUTOPAR_TEST_COMPILER_PLANNING_EXACT_BRUTEFORCE_H
#define AUTOPAR_TEST_COMPILER_PLANNING_EXACT_BRUTEFORCE_H

#include <cstdint>
#include <optional>

#include "compiler/planning/model/TaskGraph.h"
#include "runtime/machine/machine.h"

namespace autopar::planning {

/// The least makespan of any plan, or `knownNs`, that of a plan that is known, if none is shorter.
/// Nothing if it would take more than `mostNodes` steps.
///
/// Every choice of devices makes a fixed set of activities (tasks, and transfers that use engines).
/// They are started in the order of their starts, each as early as it fits; every schedule in which
/// nothing can start earlier alone is found so, an optimal one among them. Sensible up to 7 or 8
/// tasks. Tasks without duration take a stream for an instant, and no share of the device.
std::optional<int64_t> bruteForceOptimum(const TaskGraph &graph, const Machine &machine,
                                         int64_t knownNs, uint64_t mostNodes);

} // namespace autopar::planning

#endif // AUTOPAR_TEST_COMPILER_PLANNING_EXACT_BRUTEFORCE_H
