// memref, scf, vector, math and arith to the LLVM dialect.

#include "compiler/codegen/LowerToLLVM.h"

#include "compiler/codegen/KernelEmitter.h"
#include "compiler/codegen/MathRoutines.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::autopar;

void mlir::autopar::registerCodegenDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, NVVM::NVVMDialect, scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

namespace {
/// (ptr buffers, i64...) that loads the buffers' addresses and calls `implementation`, which then is inlined.
void addEntryPoint(LLVM::LLVMFuncOp implementation, StringRef name) {
  MLIRContext *context = implementation.getContext();
  OpBuilder builder(implementation);
  Location loc = implementation.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> types = {pointer};
  ArrayRef<Type> inner = implementation.getFunctionType().getParams();
  size_t buffers = llvm::count_if(inner, [](Type type) { return isa<LLVM::LLVMPointerType>(type); });
  types.append(inner.begin() + buffers, inner.end());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  auto entry = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  Block *block = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  SmallVector<Value> arguments;
  for (size_t number = 0; number < buffers; ++number) {
    Value place = LLVM::GEPOp::create(builder, loc, pointer, pointer, block->getArgument(0),
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
    arguments.push_back(LLVM::LoadOp::create(builder, loc, pointer, place));
  }
  arguments.append(block->args_begin() + 1, block->args_end());
  LLVM::CallOp::create(builder, loc, implementation, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange{});
  implementation.setLinkage(LLVM::Linkage::Internal);
}

/// What CPUs and GPUs share, once math has become arithmetic. Ops of the nvvm dialect pass through.
LogicalResult lowerDialects(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createFinalizeMemRefToLLVMConversionPass());
  ConvertFuncToLLVMPassOptions functionOptions;
  functionOptions.useBarePtrCallConv = true;
  passes.addPass(createConvertFuncToLLVMPass(functionOptions));
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  if (failed(passes.run(module)))
    return failure();
  // An op that no pattern took would fail later with a message that helps nobody.
  WalkResult result = module.walk([&](Operation *op) {
    if (op == module || isa<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError("was left over when kernels were lowered");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
} // namespace

LogicalResult mlir::autopar::lowerToLLVM(ModuleOp module) {
  if (failed(lowerMath(module)))
    return module.emitError("the kernels' math cannot be lowered");
  RewritePatternSet patterns(module.getContext());
  vector::populateVectorTransposeLoweringPatterns(patterns, vector::VectorTransposeLowering::Shuffle16x16);
  if (failed(applyPatternsGreedily(module, std::move(patterns))))
    return module.emitError("the kernels' transposes cannot be lowered");
  if (failed(lowerDialects(module)))
    return failure();
  std::string suffix = implementationName("");
  for (auto function : llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>())) {
    StringRef name = function.getSymName();
    if (!function.isExternal() && name.consume_back(suffix))
      addEntryPoint(function, name);
  }
  return success();
}

LogicalResult mlir::autopar::lowerGpuToLLVM(ModuleOp module) {
  lowerRemainder(module);
  if (failed(lowerMath(module)))
    return module.emitError("the kernels' math cannot be lowered");
  if (failed(lowerDialects(module)))
    return failure();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function.isPrivate())
      function.setLinkage(LLVM::Linkage::Internal);
  return success();
}
