// Reads: placements. Writes: autopar.transfer, and rewires the operands of tasks and the function's results to the copies.
#include "compiler/MachineAttr.h"
#include "compiler/Passes.h"
#include "compiler/planning/PlanAttr.h"
#include "compiler/transfers/PlacedFunction.h"
#include "compiler/transfers/TransferPlan.h"

namespace mlir::autopar {
#define GEN_PASS_DEF_INSERTTRANSFERSPASS
#include "compiler/Passes.h.inc"
} // namespace mlir::autopar

using namespace mlir;
using namespace mlir::autopar;
using ::autopar::DeviceId;
using ::autopar::Machine;

namespace {

/// An operand of a task or of the return that is not where it is needed.
struct RemoteUse {
  OpOperand *operand = nullptr;
  uint32_t value = 0;
};

/// A use in a task must not start before the value is there: a plan that says so is broken.
LogicalResult verifyTimes(const PlacedFunction &function) {
  for (uint32_t id = 0; id < function.commands.size(); ++id) {
    const PlacedFunction::Command &command = function.commands[id];
    for (auto [number, operand] : llvm::enumerate(function.operands(id))) {
      uint32_t producer = function.values[operand].producer;
      if (producer == PlacedFunction::none || command.link.valid() ||
          function.commands[producer].link.valid())
        continue;
      int64_t finishNs = function.commands[producer].finishNs;
      if (finishNs <= command.startNs)
        continue;
      auto error = command.op->emitOpError() << "starts at " << command.startNs << " ns, before its operand "
                                             << number << " is finished at " << finishNs << " ns";
      error.attachNote(function.commands[producer].op->getLoc()) << "the operand is made here";
      return failure();
    }
  }
  return success();
}

class InsertTransfers : public mlir::autopar::impl::InsertTransfersPassBase<InsertTransfers> {
public:
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isDeclaration())
      return;
    FailureOr<Machine> machine = getMachine(func);
    if (failed(machine))
      return signalPassFailure();
    FailureOr<PlacedFunction> function = readPlacedFunction(func, *machine);
    if (failed(function) || failed(verifyTimes(*function)))
      return signalPassFailure();

    TransferDemand demand;
    std::vector<RemoteUse> uses;
    collect(*function, *machine, demand, uses);
    TransferPlan plan = planTransfers(demand, *machine);
    if (plan.unreachableUse) {
      reportUnreachable(*function, *machine, demand, uses, *plan.unreachableUse);
      return signalPassFailure();
    }
    if (std::optional<PlanAttr> planned = getPlan(func))
      adoptTimes(demand, *planned, plan);
    assignCopyStreams(plan.transfers, *machine,
                      mostCopyStreams(function->commands.size() + plan.transfers.size(), *machine));
    apply(*function, *machine, demand, plan, uses);

    FailureOr<PlacedFunction> rewritten = readPlacedFunction(func, *machine);
    if (failed(rewritten) || failed(verifyResidence(*rewritten, *machine)))
      signalPassFailure();
  }

private:
  static void collect(const PlacedFunction &function, const Machine &machine, TransferDemand &demand,
                      std::vector<RemoteUse> &uses) {
    demand.values.resize(function.values.size());
    int64_t endNs = 0;
    for (auto [id, value] : llvm::enumerate(function.values)) {
      int64_t readyNs = value.producer == PlacedFunction::none ? 0 : function.commands[value.producer].finishNs;
      demand.values[id] = {value.device, value.bytes, readyNs};
      endNs = std::max(endNs, readyNs);
    }
    auto add = [&](OpOperand &operand, uint32_t id, DeviceId device, int64_t neededNs) {
      const PlacedFunction::ValueInfo &value = function.values[id];
      if (value.kind == PlacedFunction::ValueKind::token || !value.device.valid() || !device.valid() ||
          value.device == device)
        return;
      demand.uses.push_back({id, device, neededNs});
      uses.push_back({&operand, id});
    };
    for (uint32_t id = 0; id < function.commands.size(); ++id) {
      const PlacedFunction::Command &command = function.commands[id];
      if (command.link.valid())
        continue; // a transfer that was there before: a resumed program
      for (auto [number, value] : llvm::enumerate(function.operands(id)))
        if (function.values[value].bytes > 0) // nothing to copy: an order at most
          add(command.op->getOpOperand(number), value, command.device, command.startNs);
    }
    Operation *result = function.func.getBody().front().getTerminator();
    for (auto [number, value] : llvm::enumerate(function.returned))
      add(result->getOpOperand(number), value, function.resultDevice[number], endNs);
  }

  /// The planner has booked the same transfers together with the tasks: its times are the better ones, if the program is
  /// still the planner's.
  static void adoptTimes(const TransferDemand &demand, const PlanAttr &planned, TransferPlan &plan) {
    DenseMap<std::pair<int64_t, int64_t>, const int64_t *> byTarget; // (value, to)
    ArrayRef<int64_t> numbers = planned.transfers;
    for (; numbers.size() >= PlanAttr::numbersPerTransfer; numbers = numbers.drop_front(PlanAttr::numbersPerTransfer))
      byTarget[{numbers[0], numbers[2]}] = numbers.data();
    TransferPlan adopted = plan;
    for (PlannedTransfer &transfer : adopted.transfers) {
      if (demand.values[transfer.value].bytes == 0)
        continue; // an empty result, which costs the planner nothing
      const int64_t *found = byTarget.lookup({transfer.value, transfer.to.value});
      if (!found || found[1] != transfer.from.value || found[3] < demand.values[transfer.value].readyNs ||
          found[4] < found[3])
        return;
      transfer.startNs = found[3];
      transfer.finishNs = found[4];
    }
    plan = std::move(adopted);
  }

  static void reportUnreachable(const PlacedFunction &function, const Machine &machine,
                                const TransferDemand &demand, const std::vector<RemoteUse> &uses,
                                uint32_t use) {
    DeviceId from = demand.values[uses[use].value].home, to = demand.uses[use].device;
    auto error = uses[use].operand->getOwner()->emitOpError()
                 << "needs a value from '" << machine.devices[from.index()].name << "' on '"
                 << machine.devices[to.index()].name << "', but no link leads there";
    error.attachNote(function.values[uses[use].value].value.getLoc())
        << "the value is made here; give the machine a direct link, or links over its first CPU";
  }

  static void apply(const PlacedFunction &function, const Machine &machine, const TransferDemand &demand,
                    const TransferPlan &plan, const std::vector<RemoteUse> &uses) {
    OpBuilder builder(function.func.getContext());
    // Transfers stand by value: the copies of value v are copies[firstCopy[v] .. firstCopy[v + 1]).
    std::vector<uint32_t> firstCopy(function.values.size() + 1, 0);
    for (const PlannedTransfer &transfer : plan.transfers)
      ++firstCopy[transfer.value + 1];
    for (size_t value = 0; value < function.values.size(); ++value)
      firstCopy[value + 1] += firstCopy[value];
    std::vector<Value> copies(plan.transfers.size());
    auto findCopy = [&](uint32_t value, DeviceId device) {
      for (uint32_t copy = firstCopy[value]; copy < firstCopy[value + 1]; ++copy)
        if (plan.transfers[copy].to == device)
          return copies[copy];
      return function.values[value].value;
    };
    Operation *lastOfArguments = nullptr, *previous = nullptr;
    uint32_t previousValue = PlacedFunction::none;
    for (auto [id, transfer] : llvm::enumerate(plan.transfers)) {
      const PlacedFunction::ValueInfo &value = function.values[transfer.value];
      // After the value's earlier copies, else after its producer, else at the start, in argument order.
      Operation *after = previousValue == transfer.value ? previous : value.value.getDefiningOp();
      if (!after)
        after = lastOfArguments;
      if (after)
        builder.setInsertionPointAfter(after);
      else
        builder.setInsertionPointToStart(&function.func.getBody().front());
      auto op = TransferOp::create(
          builder, value.value.getLoc(), value.value.getType(), findCopy(transfer.value, transfer.from),
          builder.getStringAttr(machine.devices[transfer.from.index()].name),
          builder.getStringAttr(machine.devices[transfer.to.index()].name),
          builder.getI64IntegerAttr(transfer.startNs), builder.getI64IntegerAttr(transfer.finishNs),
          /*buffers=*/ArrayAttr(), builder.getI64IntegerAttr(transfer.stream));
      copies[id] = op.getResult();
      previous = op;
      previousValue = transfer.value;
      if (value.producer == PlacedFunction::none)
        lastOfArguments = op;
    }
    for (auto [id, use] : llvm::enumerate(uses))
      use.operand->set(findCopy(use.value, demand.uses[id].device));
  }
};

} // namespace
