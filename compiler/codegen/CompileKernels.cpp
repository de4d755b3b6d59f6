// Reads: the module's kernels; for GPUs, the machine and where tasks are placed. Writes: one autopar.binary with the CPU's
// code of all kernels, and some with PTX of those that may run on a GPU; older ones are replaced.

#include "compiler/MachineAttr.h"
#include "compiler/Passes.h"
#include "compiler/codegen/GpuEmitter.h"
#include "compiler/codegen/KernelEmitter.h"
#include "compiler/codegen/Linker.h"
#include "compiler/codegen/LowerToLLVM.h"
#include "compiler/codegen/ObjectCode.h"
#include "compiler/codegen/PtxCode.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <thread>
#include <tuple>

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
  LogicalResult compileForCpu(ArrayRef<KernelOp> kernels);
  LogicalResult compileForGpu(ArrayRef<KernelOp> kernels);
  /// The architecture that all GPUs of the machine can run, "" for the baseline; nothing without GPUs.
  FailureOr<std::optional<std::string>> findArchitecture(const ::autopar::Machine *machine);
  void addBinary(StringRef base, StringRef target, ArrayRef<StringRef> features, DictionaryAttr launches,
                 StringRef image);
  LogicalResult fail(llvm::Error error) { return getOperation().emitError() << llvm::toString(std::move(error)); }
};

/// As many modules as there are threads and work for them, and each kernel's.
struct Parts {
  Parts(Location loc, size_t kernels) {
    size_t count = std::clamp<size_t>((kernels + kernelsPerModule - 1) / kernelsPerModule, 1,
                                      std::clamp<size_t>(std::thread::hardware_concurrency(), 1, maxModules));
    for (size_t number = 0; number < count; ++number) {
      owners.push_back(ModuleOp::create(loc));
      modules.push_back(*owners.back());
    }
  }
  ModuleOp of(size_t kernel) { return modules[kernel % modules.size()]; }

  std::vector<OwningOpRef<ModuleOp>> owners;
  SmallVector<ModuleOp> modules;
};

void CompileKernels::addBinary(StringRef base, StringRef target, ArrayRef<StringRef> features, DictionaryAttr launches,
                               StringRef image) {
  ModuleOp module = getOperation();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  std::string name = base.str();
  while (SymbolTable::lookupSymbolIn(module, name))
    name += "_";
  CodeOp::create(builder, module.getLoc(), builder.getStringAttr(name), builder.getStringAttr(target),
                 builder.getStrArrayAttr(features), launches, builder.getStringAttr(image));
}

LogicalResult CompileKernels::compileForCpu(ArrayRef<KernelOp> kernels) {
  llvm::Expected<CpuTarget> target = findCpuTarget(targetCpu);
  if (!target)
    return fail(target.takeError());
  Parts parts(getOperation().getLoc(), kernels.size());
  for (auto [number, kernel] : llvm::enumerate(kernels))
    if (failed(emitKernel(kernel, parts.of(number))))
      return failure();
  for (ModuleOp part : parts.modules)
    if (failed(lowerToLLVM(part)))
      return failure();
  llvm::Expected<std::vector<std::string>> objects = compileModules(parts.modules, *target);
  if (!objects)
    return fail(objects.takeError());
  llvm::Expected<std::string> image = linkSharedObject(*objects);
  if (!image)
    return fail(image.takeError());
  SmallVector<StringRef> required(target->required.begin(), target->required.end());
  addBinary("code", target->name, required, DictionaryAttr(), *image);
  return success();
}

LogicalResult CompileKernels::compileForGpu(ArrayRef<KernelOp> kernels) {
  FailureOr<std::optional<std::string>> arch = std::optional<std::string>(std::string(gpuArch.getValue()));
  std::optional<::autopar::Machine> machine;
  if (getOperation()->hasAttr(AutoparDialect::getMachineAttrName())) {
    FailureOr<::autopar::Machine> found = getMachine(getOperation());
    if (failed(found))
      return failure();
    machine = std::move(*found);
  }
  if (gpuArch.getValue().empty())
    arch = findArchitecture(machine ? &*machine : nullptr);
  if (failed(arch) || !*arch)
    return failure(failed(arch));
  llvm::Expected<GpuTarget> target = findGpuTarget(**arch);
  if (!target)
    return fail(target.takeError());

  // A kernel all of whose tasks are placed elsewhere needs no code here.
  llvm::StringSet<> elsewhere, wanted;
  getOperation().walk([&](TaskOp task) {
    if (!task.getKernel())
      return;
    bool isElsewhere = false;
    if (auto placement = task.getPlacementAttr(); placement && machine) {
      StringRef name = placement.getDevice();
      ::autopar::DeviceId device = machine->FindDevice(std::string_view(name.data(), name.size()));
      isElsewhere = device.valid() && machine->devices[device.index()].kind != ::autopar::DeviceKind::kCuda;
    }
    (isElsewhere ? elsewhere : wanted).insert(*task.getKernel());
  });
  SmallVector<KernelOp> chosen;
  for (KernelOp kernel : kernels)
    if (wanted.contains(kernel.getSymName()) || !elsewhere.contains(kernel.getSymName()))
      chosen.push_back(kernel);
  if (chosen.empty())
    return success();

  Builder builder(&getContext());
  Parts parts(getOperation().getLoc(), chosen.size());
  std::vector<SmallVector<NamedAttribute>> launches(parts.modules.size());
  llvm::StringMap<int64_t> threads;
  for (auto [number, kernel] : llvm::enumerate(chosen)) {
    FailureOr<GpuLaunch> launch = emitGpuKernel(kernel, parts.of(number));
    if (failed(launch))
      return failure();
    launches[number % launches.size()].emplace_back(kernel.getSymNameAttr(),
                                                    builder.getDenseI64ArrayAttr({launch->grid, launch->block}));
    threads[kernel.getSymName()] = launch->block;
  }
  for (ModuleOp part : parts.modules)
    if (failed(lowerGpuToLLVM(part)))
      return failure();
  llvm::Expected<std::vector<std::string>> texts = compileToPtx(parts.modules, *target, threads);
  if (!texts)
    return fail(texts.takeError());
  for (auto [text, part] : llvm::zip_equal(*texts, launches)) {
    text.push_back('\0');
    addBinary("gpu_code", target->name, StringRef(target->feature), builder.getDictionaryAttr(part), text);
  }
  return success();
}

FailureOr<std::optional<std::string>> CompileKernels::findArchitecture(const ::autopar::Machine *machine) {
  std::optional<std::string> oldest;
  unsigned oldestNumber = 0;
  if (machine)
    for (const ::autopar::Device &device : machine->devices) {
      if (device.kind != ::autopar::DeviceKind::kCuda)
        continue;
      llvm::Expected<GpuTarget> target = findGpuTarget(device.arch);
      if (!target)
        return getOperation().emitError() << "device '" << device.name << "': " << llvm::toString(target.takeError());
      unsigned number = 0;
      StringRef(target->name).drop_front(3).getAsInteger(10, number);
      if (!oldest || number < oldestNumber)
        std::tie(oldest, oldestNumber) = std::pair(target->name, number);
    }
  return oldest;
}

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
  return failure(failed(compileForCpu(kernels)) || failed(compileForGpu(kernels)));
}
} // namespace
