// autopar-opt: mlir-opt's flags and passes, plus the compiler from a tensor program to a schedule file.

#include "compiler/Passes.h"
#include "compiler/codegen/Linker.h"
#include "compiler/planning/Report.h"
#include "compiler/schedule/EmitSchedule.h"
#include "dialect/Autopar.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "runtime/schedule/file_layout.h"
#include "tools/autopar-opt/Options.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include <optional>

using namespace mlir;
using namespace mlir::autopar;

namespace {

/// Ends a pipeline: checks the schedule and writes it to a file.
class WriteSchedule : public PassWrapper<WriteSchedule, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WriteSchedule)
  explicit WriteSchedule(std::string path) : path(std::move(path)) {}
  StringRef getName() const override { return "autopar-write-schedule"; }
  void runOnOperation() override {
    if (failed(writeSchedule(getOperation(), path)))
      signalPassFailure();
  }

private:
  std::string path;
};

/// Writes the plan's figures, in the middle of a pipeline: after planning, before the functions become schedules.
class WriteReport : public PassWrapper<WriteReport, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WriteReport)
  WriteReport(std::string path, bool text) : path(std::move(path)), text(text) {}
  StringRef getName() const override { return "autopar-write-report"; }
  void runOnOperation() override {
    if (failed(writeReport(getOperation(), path, text)))
      signalPassFailure();
  }

private:
  std::string path;
  bool text;
};

} // namespace

static void registerPasses() {
  registerAutoparPasses();
  registerCanonicalizerPass();
  registerCSEPass();
  registerSymbolDCEPass();
}

static void registerDialects(DialectRegistry &registry) {
  registry.insert<AutoparDialect, func::FuncDialect, scf::SCFDialect, arith::ArithDialect>();
  func::registerInlinerExtension(registry);
}

/// Whether the flags ask for the compiler, rather than for passes named one by one.
static bool compiles(const OptOptions &options, StringRef output) {
  return output.ends_with(".sched") || options.stopGiven || !options.reportFile.empty() || options.reportText;
}

/// Whether passes were given on the command line.
static bool namesPasses(const MlirOptMainConfig &config) {
  MLIRContext context;
  PassManager pm(&context);
  return succeeded(config.setupPassPipeline(pm)) && !pm.empty();
}

/// The pipeline for what the flags ask. Reports need memory figures, so planning alone is not enough for them.
static void setPipeline(MlirOptMainConfig &config, const OptOptions &options, std::string schedulePath,
                        bool reportOnly) {
  config.setPassPipelineSetupFn([=](PassManager &pm) {
    bool report = !options.reportFile.empty() || options.reportText;
    PipelineOptions pipeline = options.pipeline;
    if (report) {
      PipelineOptions first = pipeline;
      first.stopAfter = std::min(Stage::Waits, pipeline.stopAfter);
      buildPipeline(pm, first);
      pm.addPass(std::make_unique<WriteReport>(options.reportFile, options.reportText));
      // The rest goes on from there: what steered the stages that have run is in the module.
      pipeline = PipelineOptions();
      pipeline.stopAfter = options.pipeline.stopAfter;
      pipeline.targetCpu = options.pipeline.targetCpu;
    }
    if (!reportOnly)
      buildPipeline(pm, pipeline);
    if (!schedulePath.empty())
      pm.addPass(std::make_unique<WriteSchedule>(schedulePath));
    return success();
  });
}

static int fail(const Twine &message) {
  llvm::errs() << "autopar-opt: error: " << message << '\n';
  return 1;
}

/// MLIR ends without a word where it cannot write remarks to a file. Why it cannot; empty if it can.
static std::string whyNoRemarks(const MlirOptMainConfig &config) {
  if (!config.shouldEmitRemarks() || config.getRemarkFormat() == RemarkFormat::REMARK_FORMAT_STDOUT)
    return "";
  std::string path = config.getRemarksOutputFile();
  if (path.empty())
    path = config.getRemarkFormat() == RemarkFormat::REMARK_FORMAT_YAML ? "mlir-remarks.yaml" : "mlir-remarks.bitstream";
  int file = -1;
  if (std::error_code problem = llvm::sys::fs::openFileForWrite(path, file, llvm::sys::fs::CD_OpenAlways))
    return "the remarks cannot be written to '" + path + "': " + problem.message() + "; name another file with --remarks-output-file=";
  (void)llvm::sys::Process::SafelyCloseFileDescriptor(file);
  return "";
}

static int runTool(int argc, char **argv) {
  DialectRegistry registry;
  registerDialects(registry);
  registerPasses();
  registerCLIOptions("autopar compiler driver", registry);
  registerOptOptions();
  auto [input, output] = parseCLIOptions(argc, argv, "autopar compiler driver\n");

  std::string error;
  FailureOr<OptOptions> options = readOptOptions(error);
  if (failed(options))
    return fail(error);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(input, &error);
  if (!buffer)
    return fail(error);
  if (buffer->getBuffer().starts_with(
          StringRef(reinterpret_cast<const char *>(::autopar::kScheduleMagic), sizeof ::autopar::kScheduleMagic)))
    return fail("'" + input + "' is a schedule file already: execute it with autopar-run");

  if (std::string why = whyNoRemarks(config); !why.empty())
    return fail(why);

  bool schedule = StringRef(output).ends_with(".sched");
  if (schedule && options->stopGiven)
    return fail("--stop-after prints IR, but -o " + output + " asks for a schedule file: drop one of the two");
  if (schedule && !config.inputSplitMarker().empty())
    return fail("a schedule file holds one module: drop --split-input-file or the output's name ending in .sched");
  if (options->stopGiven && options->pipeline.stopAfter < Stage::Planning &&
      (!options->reportFile.empty() || options->reportText))
    return fail("a report is on a plan, but --stop-after stops before the stage planning: drop one of the two");
  if (compiles(*options, output) && namesPasses(config))
    return fail("passes named one by one do not go with -o FILE.sched, --stop-after= or --report: drop one of the two");
  if (!compiles(*options, output) && !options->pipelineFlag.empty())
    return fail(options->pipelineFlag + " has no effect here: ask for a schedule (-o FILE.sched), for the IR after a "
                                        "stage (--stop-after=) or for a report (--report=, --report-text)");
  bool reportOnly = !schedule && !options->stopGiven;
  if (compiles(*options, output))
    setPipeline(config, *options, schedule ? output : "", reportOnly);
  bool printsIR = !schedule && (!compiles(*options, output) || options->stopGiven);
  if (!printsIR)
    return failed(MlirOptMain(llvm::nulls(), std::move(buffer), registry, config));

  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &error);
  if (!file)
    return fail(error);
  if (failed(MlirOptMain(file->os(), std::move(buffer), registry, config)))
    return 1;
  file->os().flush();
  if (std::error_code problem = file->os().error()) {
    file->os().clear_error(); // or its destructor aborts
    return fail("cannot write '" + output + "': " + problem.message());
  }
  file->keep();
  return 0;
}

int main(int argc, char **argv) {
  // The linker runs in a child process of its own: this program again, with a hidden first argument.
  if (std::optional<int> status = maybeRunLinker(argc, argv))
    return *status;
  llvm::InitLLVM init(argc, argv);
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "autopar-opt " AUTOPAR_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
  });
  return runTool(argc, argv);
}
