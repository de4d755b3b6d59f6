// Which command waits for which, and why: the fewest waits that keep every order that is needed. Knows no MLIR.
//
// An order is kept if a path of stream order and waits leads from one command to the other. A wait is planned only if the
// vector clocks do not imply it already: the waits are the transitive reduction of the orders, given the streams' own
// order, which is unique. Each command that is waited for records one event, shared by all that wait for it.
#ifndef AUTOPAR_COMPILER_WAITS_WAITPLAN_H
#define AUTOPAR_COMPILER_WAITS_WAITPLAN_H

#include <optional>
#include <vector>

#include "compiler/memory/CommandGraph.h"

namespace mlir::autopar {

/// If several hold, the first one in this list is the reason of the wait.
enum class OrderReason : uint8_t { data, token, reuse, capacity };

/// `after` must not start before `before` has finished.
struct OrderEdge {
  uint32_t before = 0, after = 0;
  OrderReason reason = OrderReason::data;
};

struct WaitPlan {
  struct Wait {
    uint32_t command = 0; ///< That waits: the wait stands right before it, on its stream.
    uint32_t event = 0;
    OrderReason reason = OrderReason::data;
  };
  std::vector<uint32_t> events; ///< By event: the command right after which it is recorded. In issue order.
  std::vector<Wait> waits;      ///< In issue order.
};

/// `graph.edges` are not read: `edges` hold them all. `order` is a topological order of `edges` that keeps streams.
/// n log n in the number of edges, times the number of streams.
WaitPlan planWaits(const CommandGraph &graph, const std::vector<uint32_t> &order, const std::vector<OrderEdge> &edges);

/// An edge that the plan's waits and the streams do not keep, if there is one. Starts from nothing but the plan.
std::optional<OrderEdge> findBrokenOrder(const CommandGraph &graph, const std::vector<uint32_t> &order,
                                         const std::vector<OrderEdge> &edges, const WaitPlan &plan);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_WAITS_WAITPLAN_H
