// LLVM's optimiser and back end, once per module, in threads of their own.

#include "compiler/codegen/LlvmJobs.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetOptions.h"

#include <thread>

using namespace mlir;
using namespace mlir::autopar;

namespace {
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
} // namespace

std::unique_ptr<llvm::TargetMachine> mlir::autopar::makeTargetMachine(llvm::StringRef triple,
                                                                      llvm::StringRef processor,
                                                                      llvm::StringRef features, std::string &error) {
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(llvm::Triple(triple), processor, features, options, llvm::Reloc::PIC_, std::nullopt,
                                  llvm::CodeGenOptLevel::Default));
}

std::string mlir::autopar::optimizeAndEmit(llvm::Module &module, llvm::TargetMachine &machine,
                                           llvm::CodeGenFileType type, std::string &output) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  optimize(module, machine);
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return "the target cannot write this kind of file";
  passes.run(module);
  output = bytes.str().str();
  return {};
}

llvm::Expected<std::vector<std::string>>
mlir::autopar::runLlvmJobs(llvm::ArrayRef<ModuleOp> modules,
                           llvm::function_ref<std::string(llvm::Module &, std::string &)> compile) {
  auto fail = [](const llvm::Twine &message) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
  };
  struct Job {
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module;
    std::string output, error;
  };
  std::vector<std::unique_ptr<Job>> jobs;
  for (ModuleOp module : modules) {
    auto job = std::make_unique<Job>();
    job->module = translateModuleToLLVMIR(module, job->context, "kernels");
    if (!job->module)
      return fail("a kernel cannot be translated to LLVM's IR");
    jobs.push_back(std::move(job));
  }
  auto run = [&](Job &job) { job.error = compile(*job.module, job.output); };
  std::vector<std::thread> threads;
  for (size_t number = 1; number < jobs.size(); ++number)
    threads.emplace_back(run, std::ref(*jobs[number]));
  if (!jobs.empty())
    run(*jobs[0]);
  for (std::thread &thread : threads)
    thread.join();
  std::vector<std::string> outputs;
  for (auto &job : jobs) {
    if (!job->error.empty())
      return fail(job->error);
    outputs.push_back(std::move(job->output));
  }
  return outputs;
}
