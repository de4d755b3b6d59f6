// The order that a device's capacity demands. Knows no MLIR.
//
// A device has capacity 1, a task fills a share of it while it runs, and the plan lets tasks run side by side only while
// their shares fit. Streams alone would not keep that when a task is late. So shares are handed on like batons: a task
// takes its share from tasks that the plan lets finish before it starts, and must come after them (a partial order
// schedule by chaining; Policella et al. 2007). Whatever the real times, what runs at once then fits.
#ifndef AUTOPAR_COMPILER_WAITS_CAPACITYORDER_H
#define AUTOPAR_COMPILER_WAITS_CAPACITYORDER_H

#include <vector>

#include "compiler/planning/model/TaskGraph.h"
#include "compiler/waits/WaitPlan.h"

namespace mlir::autopar {

/// A task on one device.
struct CapacityUse {
  uint32_t command = 0;
  uint32_t device = 0;
  /// Of planning::kFullOccupancy; below 1/4096 of it it counts as that.
  uint32_t share = ::autopar::planning::kFullOccupancy;
};

/// Edges with reason capacity, `uses` in issue order. A task that overlaps others beyond the capacity already in the plan
/// gets what is left and no edge for the rest. n log n.
std::vector<OrderEdge> orderByCapacity(const CommandGraph &graph, const std::vector<CapacityUse> &uses,
                                       uint32_t deviceCount);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_WAITS_CAPACITYORDER_H
