// Reads: the module's kernels. Writes: one autopar.binary with the machine code of all of them; an older one is replaced.

#include "compiler/Passes.h"
#include "compiler/codegen/KernelEmitter.h"
#include "compiler/codegen/Linker.h"
#include "compiler/codegen/LowerToLLVM.h"
#include "compiler/codegen/ObjectCode.h"

#include <algorithm>
#include <thread>

namespace mlir::autopar {
#define GEN_PASS_DEF_COMPILEKERNELSPASS
#include "compiler/Passes.h.inc"
} // namespace mlir::autopar

using namespace mlir;
using namespace mlir::autopar;

namespace {
/// Fewer kernels than this are not worth a thread.
constexpr size_t kernelsPerModule = 16;
constexpr size_t maxModules = 8;

struct CompileKernels : mlir::autopar::impl::CompileKernelsPassBase<CompileKernels> {
  using CompileKernelsPassBase::CompileKernelsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<AutoparDialect>();
    registerCodegenDialects(registry);
  }
  void runOnOperation() override {
    if (failed(compile()))
      signalPassFailure();
  }

private:
  LogicalResult compile();
};

LogicalResult CompileKernels::compile() {
  ModuleOp module = getOperation();
  SmallVector<KernelOp> kernels;
  for (auto kernel : module.getOps<KernelOp>())
    if (kernel.hasCode())
      kernels.push_back(kernel);
  for (auto old : llvm::make_early_inc_range(module.getOps<CodeOp>()))
    old.erase();
  if (kernels.empty())
    return success();
  auto fail = [&](llvm::Error error) { return module.emitError() << llvm::toString(std::move(error)); };
  llvm::Expected<CpuTarget> target = findCpuTarget(targetCpu);
  if (!target)
    return fail(target.takeError());

  size_t moduleCount = std::clamp<size_t>((kernels.size() + kernelsPerModule - 1) / kernelsPerModule, 1,
                                          std::clamp<size_t>(std::thread::hardware_concurrency(), 1, maxModules));
  std::vector<OwningOpRef<ModuleOp>> owners;
  SmallVector<ModuleOp> modules;
  for (size_t number = 0; number < moduleCount; ++number) {
    owners.push_back(ModuleOp::create(module.getLoc()));
    modules.push_back(*owners.back());
  }
  for (auto [number, kernel] : llvm::enumerate(kernels))
    if (failed(emitKernel(kernel, modules[number % moduleCount])))
      return failure();
  for (ModuleOp part : modules)
    if (failed(lowerToLLVM(part)))
      return failure();
  llvm::Expected<std::vector<std::string>> objects = compileModules(modules, *target);
  if (!objects)
    return fail(objects.takeError());
  llvm::Expected<std::string> image = linkSharedObject(*objects);
  if (!image)
    return fail(image.takeError());

  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  std::string name = "code";
  while (SymbolTable::lookupSymbolIn(module, name))
    name += "_";
  SmallVector<StringRef> required(target->required.begin(), target->required.end());
  CodeOp::create(builder, module.getLoc(), builder.getStringAttr(name), builder.getStringAttr(target->name),
                 builder.getStrArrayAttr(required), builder.getStringAttr(*image));
  return success();
}
} // namespace
