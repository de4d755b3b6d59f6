// LLVM's optimiser and back end, once per module, in threads of their own.

#include "compiler/codegen/ObjectCode.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <memory>
#include <mutex>
#include <thread>

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

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const CpuTarget &cpu, std::string &error) {
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  // No product is ever contracted with a sum: every op rounds.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      llvm::Triple(triple), cpu.name, cpu.features, options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Default));
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false; // costs up to five times the compile time and makes narrow rows slower
  tuning.LoopVectorization = true;
  tuning.LoopInterleaving = true;
  tuning.SLPVectorization = true;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

/// Returns an error text, empty if all went well.
std::string compile(llvm::Module &module, const CpuTarget &cpu, std::string &object) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(cpu, error);
  if (!machine)
    return error;
  module.setTargetTriple(llvm::Triple(triple));
  module.setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", cpu.name);
    if (!cpu.features.empty())
      function.addFnAttr("target-features", cpu.features);
    // LLVM tunes this generic level for processors of 2017 that slowed down at 512 bits.
    if (cpu.name == "x86-64-v4")
      function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  optimize(module, *machine);
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return "the target cannot write object files";
  passes.run(module);
  object = bytes.str().str();
  return {};
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
  struct Job {
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module;
    std::string object, error;
  };
  std::vector<std::unique_ptr<Job>> jobs;
  for (ModuleOp module : modules) {
    auto job = std::make_unique<Job>();
    job->module = translateModuleToLLVMIR(module, job->context, "kernels");
    if (!job->module)
      return fail("a kernel cannot be translated to LLVM's IR");
    jobs.push_back(std::move(job));
  }
  auto run = [&](Job &job) { job.error = compile(*job.module, target, job.object); };
  std::vector<std::thread> threads;
  for (size_t number = 1; number < jobs.size(); ++number)
    threads.emplace_back(run, std::ref(*jobs[number]));
  if (!jobs.empty())
    run(*jobs[0]);
  for (std::thread &thread : threads)
    thread.join();
  std::vector<std::string> objects;
  for (auto &job : jobs) {
    if (!job->error.empty())
      return fail(job->error);
    objects.push_back(std::move(job->object));
  }
  return objects;
}
