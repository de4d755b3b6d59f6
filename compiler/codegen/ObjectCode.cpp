// Object code for x86-64.

#include "compiler/codegen/ObjectCode.h"

#include "compiler/codegen/LlvmJobs.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <mutex>

using namespace mlir;
using namespace mlir::autopar;

namespace {
constexpr llvm::StringLiteral triple = "x86_64-unknown-linux-gnu";

/// LLVM's name and the kernel's name of the features that generated code may use.
constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> featureNames[] = {
    {"sse3", "pni"},
    {"ssse3", "ssse3"},
    {"sse4.1", "sse4_1"},
    {"sse4.2", "sse4_2"},
    {"sse4a", "sse4a"},
    {"cx16", "cx16"},
    {"popcnt", "popcnt"},
    {"lzcnt", "abm"},
    {"movbe", "movbe"},
    {"bmi", "bmi1"},
    {"bmi2", "bmi2"},
    {"avx", "avx"},
    {"avx2", "avx2"},
    {"fma", "fma"},
    {"f16c", "f16c"},
    {"gfni", "gfni"},
    {"avxvnni", "avx_vnni"},
    {"avx512f", "avx512f"},
    {"avx512bw", "avx512bw"},
    {"avx512cd", "avx512cd"},
    {"avx512dq", "avx512dq"},
    {"avx512vl", "avx512vl"},
    {"avx512ifma", "avx512ifma"},
    {"avx512vbmi", "avx512vbmi"},
    {"avx512vbmi2", "avx512_vbmi2"},
    {"avx512vnni", "avx512_vnni"},
    {"avx512bitalg", "avx512_bitalg"},
    {"avx512vpopcntdq", "avx512_vpopcntdq"},
    {"avx512bf16", "avx512_bf16"},
    {"avx512fp16", "avx512_fp16"},
    {"avx512vp2intersect", "avx512_vp2intersect"},
};

llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

/// LLVM prefers 256 bits on all of Intel's processors and on the generic level x86-64-v4. Only those of 2017 to 2020 lower
/// their clock for wider vectors; on Sapphire Rapids exp, tanh and sin are 1.2 to 1.6 times as fast with 512 bits.
bool slowsDownAt512Bits(llvm::StringRef name) {
  return llvm::is_contained({"skylake-avx512", "skx", "cascadelake", "cooperlake", "cannonlake"}, name);
}

std::string compile(llvm::Module &module, const CpuTarget &cpu, std::string &object) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(triple, cpu.name, cpu.features, error);
  if (!machine)
    return error;
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", cpu.name);
    if (!cpu.features.empty())
      function.addFnAttr("target-features", cpu.features);
    if (!slowsDownAt512Bits(cpu.name))
      function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  return optimizeAndEmit(module, *machine, llvm::CodeGenFileType::ObjectFile, object);
}
} // namespace

llvm::Expected<CpuTarget> mlir::autopar::findCpuTarget(llvm::StringRef name) {
  CpuTarget cpu;
  llvm::StringMap<bool> has;
  if (name == "native") {
    cpu.name = llvm::sys::getHostCPUName().str();
    // The processor may lack (or hide) what its name implies.
    for (const auto &[llvmName, kernelName] : featureNames)
      has[llvmName] = false;
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      if (has.contains(feature.getKey()))
        has[feature.getKey()] = feature.getValue();
    llvm::raw_string_ostream features(cpu.features);
    for (const auto &[llvmName, kernelName] : featureNames)
      features << (features.tell() ? "," : "") << (has[llvmName] ? "+" : "-") << llvmName;
  } else {
    llvm::SmallVector<llvm::StringRef> known;
    llvm::X86::fillValidCPUArchList(known, /*Only64Bit=*/true);
    if (!llvm::is_contained(known, name))
      return fail("no processor is called '" + name + "'; use native, x86-64-v3, x86-64-v4 or one of LLVM's names");
    cpu.name = name.str();
    llvm::SmallVector<llvm::StringRef> implied;
    llvm::X86::getFeaturesForCPU(name, implied);
    for (llvm::StringRef feature : implied)
      has[feature.starts_with("+") ? feature.drop_front() : feature] = true;
  }
  for (const auto &[llvmName, kernelName] : featureNames)
    if (has.lookup(llvmName))
      cpu.required.push_back(kernelName.str());
  if (!has.lookup("fma") || !has.lookup("avx2"))
    return fail("the processor '" + cpu.name + "' lacks avx2 or fma, which kernels need; use x86-64-v3 or newer");
  return cpu;
}

llvm::Expected<std::vector<std::string>> mlir::autopar::compileModules(llvm::ArrayRef<ModuleOp> modules,
                                                                      const CpuTarget &target) {
  initializeTarget();
  return runLlvmJobs(modules, [&](llvm::Module &module, std::string &object) { return compile(module, target, object); });
}
