// Reads: autopar.machine; of each task cost_ns, occupancy, memory_bytes, device, colocate; pins of
// arguments and results. Writes: placement of each task; autopar.plan of the function.

#include "compiler/MachineAttr.h"
#include "compiler/Passes.h"
#include "compiler/planning/FunctionTasks.h"
#include "compiler/planning/LowerBound.h"
#include "compiler/planning/PlanAttr.h"
#include "compiler/planning/PlanValidator.h"
#include "compiler/planning/Planner.h"

namespace mlir::autopar {
#define GEN_PASS_DEF_PLANSCHEDULEPASS
#include "compiler/Passes.h.inc"
} // namespace mlir::autopar

using namespace mlir;
using namespace mlir::autopar;
namespace planning = ::autopar::planning;

namespace {

class PlanSchedule : public mlir::autopar::impl::PlanSchedulePassBase<PlanSchedule> {
public:
  using PlanSchedulePassBase::PlanSchedulePassBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isDeclaration())
      return;
    FailureOr<::autopar::Machine> machine = getMachine(func);
    if (failed(machine))
      return signalPassFailure();
    FailureOr<FunctionTasks> tasks = readFunctionTasks(func, *machine);
    if (failed(tasks))
      return signalPassFailure();
    if (!tasks->transfers.empty()) {
      auto error =
          tasks->transfers.front()->emitOpError("stands in a function that is yet to be planned");
      error.attachNote() << "start again from the program before its transfers were inserted";
      return signalPassFailure();
    }

    planning::PlannerOptions options;
    options.effort = static_cast<int>(effort);
    options.plannerName = planner.empty() ? "auto" : planner.getValue();
    options.maxStreams = maxStreams;
    absl::StatusOr<planning::Plan> plan = planning::planGraph(tasks->graph, *machine, options);
    if (!plan.ok()) {
      func.emitError(std::string(plan.status().message()));
      return signalPassFailure();
    }
    // Checked before anything is written, by code that shares nothing with the planners.
    if (absl::Status valid = planning::validatePlan(tasks->graph, *machine, *plan, maxStreams);
        !valid.ok()) {
      func.emitError(std::string(valid.message())).attachNote() << "this is a bug of the planner";
      return signalPassFailure();
    }
    write(func, *tasks, *machine, *plan);
  }

private:
  void write(func::FuncOp func, const FunctionTasks &tasks, const ::autopar::Machine &machine,
             const planning::Plan &plan) {
    for (auto [op, place] : llvm::zip_equal(tasks.tasks, plan.tasks)) {
      auto attr = PlacementAttr::get(&getContext(), machine.devices[place.device.index()].name,
                                     place.stream, place.startNs, place.finishNs);
      if (auto task = dyn_cast<TaskOp>(op))
        task.setPlacementAttr(attr);
      else
        cast<SyntheticTaskOp>(op).setPlacementAttr(attr);
    }
    planning::LowerBound bound = planning::lowerBound(tasks.graph, machine);
    SmallVector<int64_t> transfers;
    transfers.reserve(plan.transfers.size() * PlanAttr::numbersPerTransfer);
    for (const planning::PlannedTransfer &transfer : plan.transfers)
      transfers.append({transfer.value.value, transfer.from.value, transfer.to.value,
                        transfer.startNs, transfer.finishNs});
    setPlan(func, {plan.makespanNs, bound.ns, plan.serialNs, bound.name, plan.planner, transfers});
  }
};

} // namespace
