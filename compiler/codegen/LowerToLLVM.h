// The emitted functions as LLVM dialect, with the entry points that the runtime calls.
#ifndef AUTOPAR_COMPILER_CODEGEN_LOWERTOLLVM_H
#define AUTOPAR_COMPILER_CODEGEN_LOWERTOLLVM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LLVM.h"

namespace mlir::autopar {

/// Every dialect and interface that emission and lowering use.
void registerCodegenDialects(DialectRegistry &registry);

/// Lowers a module of emitted functions and gives each an entry point with its name minus the suffix of
/// implementationName: (void *const *buffers, int64_t...). Fails with a diagnostic.
LogicalResult lowerToLLVM(ModuleOp module);

/// The same for functions of emitGpuKernel, which are entry points as they are. Nothing becomes a call of a device library.
LogicalResult lowerGpuToLLVM(ModuleOp module);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_CODEGEN_LOWERTOLLVM_H
