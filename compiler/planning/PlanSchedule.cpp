// Reads: autopar.machine; of each task cost_ns, occupancy, memory_bytes, device, colocate; pins of
// arguments and results. Writes: placement of each task; autopar.plan of the function.

#include "compiler/MachineAttr.h"
#include "compiler/Passes.h"
#include "compiler/planning/FunctionTasks.h"
#include "compiler/planning/PlanAttr.h"
#include "compiler/planning/Planner.h"
#include "compiler/planning/bounds/LowerBound.h"
#include "compiler/planning/explain/Explanation.h"
#include "compiler/planning/model/PlanValidator.h"
#include "compiler/planning/model/TightenPlan.h"
#include "mlir/IR/Remarks.h"

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
    // What is written must be the times at which the schedule will run.
    planning::tightenPlan(tasks->graph, planning::MachineModel(*machine, maxStreams), *plan);
    // Checked before anything is written, by code that shares nothing with the planners.
    if (absl::Status valid = planning::validatePlan(tasks->graph, *machine, *plan, maxStreams);
        !valid.ok()) {
      func.emitError(std::string(valid.message())).attachNote() << "this is a bug of the planner";
      return signalPassFailure();
    }
    write(func, *tasks, *machine, *plan);
    remark(func, *tasks, *machine, *plan);
  }

private:
  /// `--remarks-filter=autopar-plan`: why each step of the longest path, and each long gap of a device,
  /// is not shorter.
  void remark(func::FuncOp func, const FunctionTasks &tasks, const ::autopar::Machine &machine,
              const planning::Plan &plan) {
    if (!getContext().getRemarkEngine())
      return;
    auto say = [&](StringRef name, const planning::Explanation &entry, const planning::IdleGap *gap) {
      Location loc = entry.id.valid() ? tasks.tasks[entry.id.index()]->getLoc() : func.getLoc();
      auto note = remark::missed(
          loc, remark::RemarkOpts::name(name).category("autopar-plan").function(func.getSymName()));
      using Arg = remark::detail::Remark::Arg;
      std::string_view cause = planning::causeName(entry.cause);
      note << Arg("reason", StringRef(cause.data(), cause.size()));
      if (!entry.task.empty())
        note << Arg("task", entry.task);
      if (!entry.waitsFor.empty())
        note << Arg("waits_for", entry.waitsFor);
      if (gap)
        note << Arg("device", machine.devices[gap->device.index()].name)
             << Arg("start_ns", gap->startNs) << Arg("finish_ns", gap->finishNs);
    };
    for (const planning::Explanation &entry :
         planning::explainCriticalPath(tasks.graph, machine, plan))
      say("Waits", entry, nullptr);
    constexpr double longGap = 0.05;
    for (const planning::IdleGap &gap :
         planning::explainIdleGaps(tasks.graph, machine, plan, longGap))
      say("Idle", gap.reason, &gap);
  }

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
    planning::LowerBound bound = planning::lowerBound(
        tasks.graph, machine,
        {plan.makespanNs, plan.provedOptimal ? 1 : static_cast<int>(effort)});
    if (plan.provedOptimal && bound.ns < plan.makespanNs)
      bound = {"exact search", plan.makespanNs};
    SmallVector<int64_t> transfers;
    transfers.reserve(plan.transfers.size() * PlanAttr::numbersPerTransfer);
    for (const planning::PlannedTransfer &transfer : plan.transfers)
      transfers.append({transfer.value.value, transfer.from.value, transfer.to.value,
                        transfer.startNs, transfer.finishNs});
    setPlan(func, {plan.makespanNs, bound.ns, plan.serialNs, bound.name, plan.planner, transfers,
                   maxStreams});
  }
};

} // namespace
