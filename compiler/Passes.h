// Declarations of all passes of Passes.td. Each is implemented in the file that bears its name.
#ifndef AUTOPAR_COMPILER_PASSES_H
#define AUTOPAR_COMPILER_PASSES_H

#include "dialect/Autopar.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::autopar {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Passes.h.inc"

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_PASSES_H
