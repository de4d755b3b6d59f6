// The elementwise tensor ops on one element, or on a vector of elements.
#ifndef AUTOPAR_COMPILER_CODEGEN_ELEMENTOPS_H
#define AUTOPAR_COMPILER_CODEGEN_ELEMENTOPS_H

#include "compiler/codegen/LaneBuilder.h"
#include "dialect/Autopar.h"

namespace mlir::autopar {

/// What `op` makes of `operands`. `table` is the table of sin and cos (getReductionTable), null for other ops. A null value
/// for an op that is not elementwise.
Value emitElementOp(LaneBuilder &b, Operation *op, ArrayRef<Value> operands, Value table);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_CODEGEN_ELEMENTOPS_H
