// Interim: weak stand-ins for passes that do not exist yet. Removed when all do.
#include "compiler/Passes.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
using namespace mlir;
namespace {
struct MissingPass : PassWrapper<MissingPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MissingPass)
  MissingPass(std::string n) : n(n) {}
  StringRef getName() const override { return n; }
  StringRef getArgument() const override { return n; }
  void runOnOperation() override {  }
  std::string n;
};
}
namespace mlir::autopar {
#define STUB(N) __attribute__((weak)) std::unique_ptr<Pass> create##N() { return std::make_unique<MissingPass>(#N); }
#define STUBO(N) STUB(N) __attribute__((weak)) std::unique_ptr<Pass> create##N(N##Options) { return std::make_unique<MissingPass>(#N); }
STUB(InlineCallsPass) STUBO(UnrollLoopsPass) STUB(CheckProgramPass) STUBO(AttachMachinePass) STUBO(FormTasksPass) STUBO(EstimateCostsPass)
STUBO(PlanSchedulePass) STUB(InsertTransfersPass) STUB(PlanMemoryPass) STUB(InsertWaitsPass) STUB(OutlineKernelsPass) STUBO(CompileKernelsPass)
STUB(LowerToSchedulePass)
__attribute__((weak)) LogicalResult writeReport(ModuleOp, StringRef, bool) { return success(); }
__attribute__((weak)) LogicalResult writeSchedule(ModuleOp, StringRef) { return success(); }
__attribute__((weak)) std::optional<int> maybeRunLinker(int, char **) { return std::nullopt; }
}
