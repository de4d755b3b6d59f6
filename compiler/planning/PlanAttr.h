// What a function's plan says beside the placements of its tasks: the attribute `autopar.plan` of
// func.func, so that a printed module can be resumed and reported on. A dictionary of makespan_ns,
// lower_bound_ns, serial_ns (i64), binding_bound, planner (strings), transfers (array<i64>, five
// numbers each) and, if it was limited, max_streams (i64).
#ifndef AUTOPAR_COMPILER_PLANNING_PLANATTR_H
#define AUTOPAR_COMPILER_PLANNING_PLANATTR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace mlir::autopar {

struct PlanAttr {
  int64_t makespanNs = 0;
  int64_t lowerBoundNs = 0;
  int64_t serialNs = 0;
  StringRef bindingBound;
  StringRef planner;
  /// Per transfer, by start: value (arguments of the function first, then results of its ops in
  /// order), number of the device it comes from, of the device it goes to, start and finish in
  /// nanoseconds.
  ArrayRef<int64_t> transfers;
  uint32_t maxStreams = 0; ///< Most compute streams of a device; 0: as many as the machine says.
  static constexpr size_t numbersPerTransfer = 5;
};

/// Nothing if the function has no plan, or a damaged one. The views are the attribute's.
std::optional<PlanAttr> getPlan(func::FuncOp func);
void setPlan(func::FuncOp func, const PlanAttr &plan);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_PLANNING_PLANATTR_H
