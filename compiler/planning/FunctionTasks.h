// From a function of tasks to the planner's task graph.
#ifndef AUTOPAR_COMPILER_PLANNING_FUNCTIONTASKS_H
#define AUTOPAR_COMPILER_PLANNING_FUNCTIONTASKS_H

#include "compiler/planning/model/TaskGraph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/machine/machine.h"
#include <vector>

namespace mlir::autopar {

struct FunctionTasks {
  explicit FunctionTasks(size_t deviceCount) : graph(deviceCount) {}

  ::autopar::planning::TaskGraph graph;
  std::vector<Operation *> tasks;     ///< By task.
  std::vector<Operation *> transfers; ///< autopar.transfer, in order.
  std::vector<Value> values;          ///< By value: the original, never a transfer's result.
  DenseMap<Value, ::autopar::planning::ValueId> valueIds; ///< Results of transfers too.
};

/// Reads the one block of `func`: its arguments are values 0, 1, …, then come the results of each
/// op in order. Transfers, records and waits are looked through: a transfer's result is the value
/// that it copies. An argument without a pin is on the host device, in a machine without one on the
/// first device; a result without one returns to the host device.
///
/// Emits an error at the op and fails where an op is no task, a device is unknown, or no device can
/// run a task.
FailureOr<FunctionTasks> readFunctionTasks(func::FuncOp func, const ::autopar::Machine &machine);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_PLANNING_FUNCTIONTASKS_H
