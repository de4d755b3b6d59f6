// PTX by LLVM's NVPTX back end.

#include "compiler/codegen/PtxCode.h"

#include "compiler/codegen/LlvmJobs.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace mlir;
using namespace mlir::autopar;

namespace {
constexpr llvm::StringLiteral ptxTriple = "nvptx64-nvidia-cuda";

/// Architectures, oldest first, each with a PTX version that knows it and that LLVM writes well.
struct Architecture {
  unsigned number, ptx;
};
constexpr Architecture architectures[] = {{75, 75}, {80, 80}, {86, 80}, {87, 80},  {89, 80},
                                          {90, 80}, {100, 86}, {103, 88}, {120, 87}, {121, 88}};

llvm::Error ptxError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

void initializeGpuTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

std::string compileGpuModule(llvm::Module &module, const GpuTarget &gpu, const llvm::StringMap<int64_t> &threads,
                    std::string &text) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(ptxTriple, gpu.name, "+" + gpu.feature, error);
  if (!machine)
    return error;
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", gpu.name);
    function.addFnAttr("target-features", "+" + gpu.feature);
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (auto found = threads.find(function.getName()); found != threads.end()) {
      function.setCallingConv(llvm::CallingConv::PTX_Kernel);
      function.addFnAttr("nvvm.reqntid", std::to_string(found->second));
    }
  }
  error = optimizeAndEmit(module, *machine, llvm::CodeGenFileType::AssemblyFile, text);
  if (error.empty() && text.find(".extern") != std::string::npos)
    return "code for GPUs needs a function of a device library, which is not linked";
  return error;
}
} // namespace

llvm::Expected<GpuTarget> mlir::autopar::findGpuTarget(llvm::StringRef arch) {
  unsigned number = architectures[0].number;
  llvm::StringRef digits = arch;
  if (!arch.empty() && (!digits.consume_front("sm_") || digits.consumeInteger(10, number) ||
                        !(digits.empty() || digits == "a" || digits == "f")))
    return ptxError("'" + arch + "' is no architecture of a GPU; write sm_75, sm_80, sm_90 or the like");
  const Architecture *best = nullptr;
  for (const Architecture &known : architectures)
    if (known.number <= number)
      best = &known;
  if (!best)
    return ptxError("the GPU architecture " + arch + " is older than sm_75, the oldest that code is made for");
  return GpuTarget{"sm_" + std::to_string(best->number), "ptx" + std::to_string(best->ptx)};
}

llvm::Expected<std::vector<std::string>> mlir::autopar::compileToPtx(llvm::ArrayRef<ModuleOp> modules,
                                                                    const GpuTarget &target,
                                                                    const llvm::StringMap<int64_t> &threads) {
  initializeGpuTarget();
  return runLlvmJobs(modules, [&](llvm::Module &module, std::string &text) {
    return compileGpuModule(module, target, threads, text);
  });
}
