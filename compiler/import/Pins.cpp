#include "compiler/import/Pins.h"

#include "dialect/Autopar.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::autopar;

void mlir::autopar::inheritPin(Operation *outer, Operation *inner) {
  StringRef name = AutoparDialect::getDeviceAttrName();
  Attribute pin = outer->getDiscardableAttr(name);
  // A constant is wherever it is needed.
  if (!pin || inner->hasAttr(name) || isa<ConstantOp>(inner))
    return;
  if (auto task = dyn_cast<TaskOp>(inner); task && task.getDeviceAttr())
    return;
  if (auto task = dyn_cast<SyntheticTaskOp>(inner); task && task.getDeviceAttr())
    return;
  if (isa_and_nonnull<AutoparDialect, scf::SCFDialect>(inner->getDialect()) || isa<func::CallOp>(inner))
    inner->setDiscardableAttr(name, pin);
}
