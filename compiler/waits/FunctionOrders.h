// Every order that a function with placed buffers needs, and how its streams are written in IR.
#ifndef AUTOPAR_COMPILER_WAITS_FUNCTIONORDERS_H
#define AUTOPAR_COMPILER_WAITS_FUNCTIONORDERS_H

#include "compiler/memory/MemoryPlan.h"
#include "compiler/waits/WaitPlan.h"

namespace mlir::autopar {

/// Data and token edges; those of the devices' capacity; and, where two buffers of an arena share bytes, from every last use of the earlier one to the
/// definition of the later one. Emits an error and fails where a command has no buffers, or where buffers share bytes
/// while both are in use. `order` is the issue order.
FailureOr<std::vector<OrderEdge>> collectOrders(const PlacedFunction &function, const ::autopar::Machine &machine,
                                                const CommandGraph &graph, const std::vector<uint32_t> &order);

StreamAttr getStreamAttr(MLIRContext *context, const StreamKey &stream, const ::autopar::Machine &machine);

/// The `buffers` attribute of a task or transfer; null if it has none.
ArrayAttr getBuffers(Operation *op);
/// The `scratch` attribute of a task; null if it has none.
ArrayAttr getScratch(Operation *op);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_WAITS_FUNCTIONORDERS_H
