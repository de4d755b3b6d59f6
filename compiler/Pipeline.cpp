// The story: which passes run, in which order, and why each stands where it does.

#include "compiler/Pipeline.h"

#include "compiler/Passes.h"
#include "compiler/tasks/Profile.h"
#include "dialect/Autopar.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::autopar;

static constexpr StringLiteral names[] = {"import", "tasks", "planning", "transfers",
                                          "memory", "waits", "codegen",  "schedule"};

StringRef mlir::autopar::stageName(Stage stage) { return names[static_cast<int>(stage)]; }

std::optional<Stage> mlir::autopar::parseStage(StringRef name) {
  for (auto [index, known] : llvm::enumerate(names))
    if (name == known)
      return static_cast<Stage>(index);
  return std::nullopt;
}

std::string mlir::autopar::stageNames() { return llvm::join(std::begin(names), std::end(names), ", "); }

static void addStage(OpPassManager &pm, Stage stage, const PipelineOptions &options) {
  OpPassManager &functions = pm;
  switch (stage) {
  case Stage::Import:
    // Calls first: a loop's body may be a function, and only what is inlined can be unrolled.
    pm.addPass(createInlineCallsPass());
    functions.addNestedPass<func::FuncOp>(createUnrollLoopsPass());
    // Before clean-up, so that an op nobody can take is reported even where its result is unused.
    pm.addPass(createCheckProgramPass());
    // The same product twice is one product; what nobody uses is not scheduled. Synthetic tasks are not pure and stay.
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
    return;
  case Stage::Tasks: {
    // Costs and pins need the machine, so it is written into the module before anything else.
    AttachMachinePassOptions attach;
    attach.machine = options.machine;
    attach.ignorePins = options.ignorePins;
    pm.addPass(createAttachMachinePass(attach));
    FormTasksPassOptions form;
    form.fuse = options.fuse;
    functions.addNestedPass<func::FuncOp>(createFormTasksPass(form));
    // After fusion: the cost of a task is that of its whole kernel.
    EstimateCostsPassOptions costs;
    costs.profile = options.profile;
    functions.addNestedPass<func::FuncOp>(createEstimateCostsPass(costs));
    return;
  }
  case Stage::Planning: {
    PlanSchedulePassOptions plan;
    plan.effort = options.effort;
    plan.planner = options.planner;
    plan.maxStreams = options.maxStreams;
    functions.addNestedPass<func::FuncOp>(createPlanSchedulePass(plan));
    return;
  }
  case Stage::Transfers:
    // The plan says where tasks run; only now it is known which values cross.
    functions.addNestedPass<func::FuncOp>(createInsertTransfersPass());
    return;
  case Stage::Memory:
    // After transfers, whose destinations need room too.
    functions.addNestedPass<func::FuncOp>(createPlanMemoryPass());
    return;
  case Stage::Waits:
    // After memory: reuse of bytes adds order of its own.
    functions.addNestedPass<func::FuncOp>(createInsertWaitsPass());
    return;
  case Stage::Codegen: {
    // Equal bodies become one kernel before anything is compiled.
    pm.addPass(createOutlineKernelsPass());
    CompileKernelsPassOptions compile;
    compile.targetCpu = options.targetCpu;
    pm.addPass(createCompileKernelsPass(compile));
    return;
  }
  case Stage::Schedule:
    pm.addPass(createLowerToSchedulePass());
    return;
  }
}

namespace {

/// Runs the stages that a module has not seen yet. A dynamic pipeline, because only the module says which those are.
class RunStages : public PassWrapper<RunStages, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RunStages)

  explicit RunStages(PipelineOptions options) : options(std::move(options)) {}

  StringRef getName() const override { return "autopar-run-stages"; }

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<AutoparDialect, func::FuncDialect, arith::ArithDialect, scf::SCFDialect>();
    for (int stage = 0; stage <= static_cast<int>(options.stopAfter); ++stage) {
      OpPassManager pm(ModuleOp::getOperationName());
      addStage(pm, static_cast<Stage>(stage), options);
      pm.getDependentDialects(registry);
    }
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    int next = 0;
    if (auto reached = module->getAttrOfType<StringAttr>(AutoparDialect::getStageAttrName())) {
      std::optional<Stage> stage = parseStage(reached.getValue());
      if (!stage) {
        module.emitError("autopar.stage names no stage: '")
            << reached.getValue() << "'; stages are " << stageNames();
        return signalPassFailure();
      }
      next = static_cast<int>(*stage) + 1;
      if (StringRef flag = flagOfFinishedStage(next); !flag.empty()) {
        emitError(UnknownLoc::get(&getContext()))
            << flag << " comes too late: this module is past the stage that it steers, having reached '"
            << reached.getValue() << "'; resume it without the flag, or start again from the program";
        return signalPassFailure();
      }
    }
    if (!options.profile.empty() && failed(checkProfile(module)))
      return signalPassFailure();
    for (int stage = next; stage <= static_cast<int>(options.stopAfter); ++stage) {
      OpPassManager pm(ModuleOp::getOperationName());
      addStage(pm, static_cast<Stage>(stage), options);
      if (failed(runPipeline(pm, module)))
        return signalPassFailure();
      module->setAttr(AutoparDialect::getStageAttrName(),
                      StringAttr::get(&getContext(), stageName(static_cast<Stage>(stage))));
    }
  }

private:
  /// The costs are a function's: that none of the functions is meant shows here alone.
  LogicalResult checkProfile(ModuleOp module) {
    FailureOr<Profile> profile = Profile::read(options.profile, module.getLoc());
    if (failed(profile))
      return failure();
    StringRef function = profile->functionName();
    if (!function.empty() && !SymbolTable::lookupSymbolIn(module, function))
      module.emitWarning() << "profile '" << options.profile << "' is of '" << function
                           << "', which this program does not have: it is not used";
    return success();
  }

  /// A flag given for a stage before `next`, or an empty string.
  StringRef flagOfFinishedStage(int next) const {
    if (next > static_cast<int>(Stage::Tasks)) {
      if (!options.machine.empty())
        return "--machine";
      if (options.ignorePins)
        return "--ignore-pins";
      if (!options.fuse)
        return "--fuse=off";
      if (!options.profile.empty())
        return "--profile";
    }
    if (next > static_cast<int>(Stage::Planning)) {
      if (options.effort != PipelineOptions().effort)
        return "--effort";
      if (!options.planner.empty())
        return "--planner";
      if (options.maxStreams != 0)
        return "--max-streams";
    }
    if (next > static_cast<int>(Stage::Codegen) && options.targetCpu != PipelineOptions().targetCpu)
      return "--target-cpu";
    return "";
  }

  PipelineOptions options;
};

} // namespace

void mlir::autopar::buildPipeline(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(std::make_unique<RunStages>(options));
}
