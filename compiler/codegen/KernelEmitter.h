// From a kernel's body to a function over memory: loops, loads, arithmetic, stores. No tensors, no bufferization.
#ifndef AUTOPAR_COMPILER_CODEGEN_KERNELEMITTER_H
#define AUTOPAR_COMPILER_CODEGEN_KERNELEMITTER_H

#include "compiler/codegen/BodyEmitter.h"
#include "compiler/codegen/KernelShape.h"
#include "compiler/codegen/LoopBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::autopar {

/// The private function's name that implements kernel `name`; the entry point is a wrapper with the kernel's name.
std::string implementationName(StringRef name);

/// Adds to `module` the function `implementationName(kernel)`: arguments are one memref per buffer (in the launch's order),
/// then the range of tiles [begin, end) as index, or of rows and columns for an epilogue. Fails with a diagnostic at the
/// kernel. Only for kernels that have code.
LogicalResult emitKernel(KernelOp kernel, ModuleOp module);

/// What the emitters of the kinds of kernel work with.
struct KernelContext {
  const KernelShape &shape;
  OpBuilder &builder;
  Location loc;
  KernelBuffers buffers;
  SmallVector<Value> results;  ///< one memref per yielded tensor
  SmallVector<Value, 4> range; ///< tile begin and end; rows and columns for an epilogue
  func::FuncOp function;

  LoopBuilder loops() { return LoopBuilder(builder, loc); }
  /// Runs `body` for each item of the tile range.
  void forEachItem(llvm::function_ref<void(Value)> body);
};

/// The shape of a kernel that is to be compiled, or a diagnostic at the kernel.
FailureOr<KernelShape> shapeOfKernel(KernelOp kernel);
/// Adds the function `name` to `module`: one memref per buffer, noalias, then `rangeCount` indices. The context's builder,
/// which must outlive it, stands in the body; the caller adds the return.
KernelContext startKernel(KernelOp kernel, const KernelShape &shape, ModuleOp module, OpBuilder &builder,
                          StringRef name, unsigned rangeCount);

void emitElementwise(KernelContext &context);
void emitTranspose(KernelContext &context);
void emitConcat(KernelContext &context);
void emitProduct(KernelContext &context);
void emitEpilogue(KernelContext &context);
void emitRow(KernelContext &context);
void emitColumn(KernelContext &context);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_CODEGEN_KERNELEMITTER_H
