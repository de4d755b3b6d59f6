// Kernels: the verifier.

#include "dialect/Autopar.h"

using namespace mlir;
using namespace mlir::autopar;

LogicalResult KernelOp::verify() {
  Block *block = getBodyBlock();
  if (block->empty() || !isa<YieldOp>(block->back()))
    return emitOpError("region must end with autopar.yield");
  if (static_cast<int64_t>(getTileCount()) < 0 || static_cast<int64_t>(getScratchBytes()) < 0)
    return emitOpError("tile count and scratch bytes must not be negative");
  for (int64_t operand : getReads())
    if (operand < 0 || operand >= block->getNumArguments() ||
        !isa<RankedTensorType>(block->getArgument(operand).getType()))
      return emitOpError() << "reads operand " << operand << ", which is no tensor operand of the body";
  if ((getForm() == KernelForm::matmul) != getProduct().has_value())
    return emitOpError("a matmul kernel has a product, a native kernel has none");
  if (getForm() == KernelForm::matmul && getReads().size() < 2)
    return emitOpError("a matmul kernel reads at least two operands");
  return success();
}
