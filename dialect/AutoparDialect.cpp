// Registration of the dialect, and the checks of its discardable attributes.

#include "dialect/Autopar.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::autopar;

#include "dialect/AutoparDialect.cpp.inc"
#include "dialect/AutoparEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/AutoparTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/AutoparAttrs.cpp.inc"

void AutoparDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/AutoparTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/AutoparAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/AutoparOps.cpp.inc"
      >();
}

Operation *AutoparDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                               Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

/// The discardable attributes that a program may carry: a pin (a device's name) and the machine.
static LogicalResult verifyDiscardable(Operation *op, NamedAttribute attr) {
  if (attr.getName() == AutoparDialect::getDeviceAttrName()) {
    auto device = dyn_cast<StringAttr>(attr.getValue());
    if (!device || device.empty())
      return op->emitOpError("autopar.device must be the name of a device, as a string");
    return success();
  }
  if (attr.getName() == AutoparDialect::getMachineAttrName()) {
    if (!isa<StringAttr>(attr.getValue()))
      return op->emitOpError("autopar.machine must be a machine description in JSON, as a string");
    return success();
  }
  if (attr.getName() == AutoparDialect::getStageAttrName()) {
    if (!isa<StringAttr>(attr.getValue()))
      return op->emitOpError("autopar.stage must be the name of a stage, as a string");
    return success();
  }
  if (attr.getName() == AutoparDialect::getPlanAttrName()) {
    if (!isa<DictionaryAttr>(attr.getValue()))
      return op->emitOpError("autopar.plan must be a dictionary");
    return success();
  }
  return op->emitOpError("unknown attribute '")
         << attr.getName().getValue()
         << "'; known ones are autopar.device, autopar.machine, autopar.plan and autopar.stage";
}

LogicalResult AutoparDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  return verifyDiscardable(op, attr);
}

LogicalResult AutoparDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                       NamedAttribute attr) {
  return verifyDiscardable(op, attr);
}

LogicalResult AutoparDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                                          NamedAttribute attr) {
  return verifyDiscardable(op, attr);
}

LogicalResult PlacementAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef device,
                                    int64_t stream, int64_t startNs, int64_t finishNs) {
  if (device.empty())
    return emitError() << "a placement must name a device";
  if (stream < 0)
    return emitError() << "a placement's stream must not be negative, got " << stream;
  if (startNs < 0 || finishNs < startNs)
    return emitError() << "a placement must start at 0 or later and not finish before it starts, got "
                       << startNs << " to " << finishNs;
  return success();
}

LogicalResult BufferAttr::verify(function_ref<InFlightDiagnostic()> emitError, SpaceKind, int64_t index,
                                 StringRef device, int64_t offset, int64_t bytes) {
  if (device.empty())
    return emitError() << "a buffer must name a device";
  if (index < 0 || offset < 0 || bytes < 0)
    return emitError() << "a buffer's index, offset and size must not be negative";
  return success();
}
