// The dialect's one header: types, attributes and ops of all three levels.
#ifndef AUTOPAR_DIALECT_AUTOPAR_H
#define AUTOPAR_DIALECT_AUTOPAR_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/AutoparDialect.h.inc"
#include "dialect/AutoparEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/AutoparTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/AutoparAttrs.h.inc"

namespace mlir::autopar {

/// Whether the type carries no encoding and 8 bytes times its dimensions, zero dimensions counted as 1, are at most 2^62.
/// The shape must be static.
bool isAddressable(RankedTensorType type);

/// The ops of level 1 (TensorOps.td). `op->hasTrait<IsTensorOp>()` asks for it.
template <typename ConcreteType>
class IsTensorOp : public OpTrait::TraitBase<ConcreteType, IsTensorOp> {};

} // namespace mlir::autopar

#define GET_OP_CLASSES
#include "dialect/AutoparOps.h.inc"

#endif // AUTOPAR_DIALECT_AUTOPAR_H
