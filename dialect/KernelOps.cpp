// Kernels: the verifier.

#include "dialect/Autopar.h"

using namespace mlir;
using namespace mlir::autopar;

std::optional<std::pair<int64_t, int64_t>> CodeOp::getLaunch(StringAttr name) {
  DictionaryAttr launches = getLaunchesAttr();
  auto launch = launches ? dyn_cast_or_null<DenseI64ArrayAttr>(launches.get(name)) : DenseI64ArrayAttr();
  if (!launch)
    return std::nullopt;
  return std::pair(launch[0], launch[1]);
}

LogicalResult CodeOp::verify() {
  DictionaryAttr launches = getLaunchesAttr();
  if (!launches)
    return success();
  for (NamedAttribute launch : launches) {
    auto sizes = dyn_cast<DenseI64ArrayAttr>(launch.getValue());
    if (!sizes || sizes.size() != 2 || sizes[0] < 1 || sizes[1] < 1)
      return emitOpError() << "says of " << launch.getName() << " " << launch.getValue()
                           << ", expected array<i64: blocks, threads>";
  }
  return success();
}

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
