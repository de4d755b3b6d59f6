// Reads: placements, transfers, buffers. Writes: the ops in issue order, with autopar.record and autopar.wait between.
#include "compiler/MachineAttr.h"
#include "compiler/Passes.h"
#include "compiler/waits/FunctionOrders.h"

namespace mlir::autopar {
#define GEN_PASS_DEF_INSERTWAITSPASS
#include "compiler/Passes.h.inc"
} // namespace mlir::autopar

using namespace mlir;
using namespace mlir::autopar;
using ::autopar::Machine;

namespace {

WaitReason toAttribute(OrderReason reason) {
  switch (reason) {
  case OrderReason::data:
    return WaitReason::data;
  case OrderReason::token:
    return WaitReason::token;
  case OrderReason::reuse:
    return WaitReason::reuse;
  case OrderReason::capacity:
    return WaitReason::capacity;
  }
  return WaitReason::data;
}

class InsertWaits : public mlir::autopar::impl::InsertWaitsPassBase<InsertWaits> {
public:
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isDeclaration())
      return;
    FailureOr<Machine> machine = getMachine(func);
    if (failed(machine))
      return signalPassFailure();
    FailureOr<PlacedFunction> function = readPlacedFunction(func, *machine);
    if (failed(function) || failed(verifyResidence(*function, *machine)))
      return signalPassFailure();
    // A program that was printed after this stage: its waits are planned again.
    for (Operation &op : llvm::make_early_inc_range(func.getBody().front()))
      if (isa<RecordOp, WaitOp>(op))
        op.erase();

    FunctionGraph graph = buildFunctionGraph(*function);
    FailureOr<std::vector<uint32_t>> order = orderCommands(*function, graph.graph);
    if (failed(order))
      return signalPassFailure();
    FailureOr<std::vector<OrderEdge>> edges = collectOrders(*function, *machine, graph.graph, *order);
    if (failed(edges))
      return signalPassFailure();
    WaitPlan plan = planWaits(graph.graph, *order, *edges);
    if (std::optional<OrderEdge> broken = findBrokenOrder(graph.graph, *order, *edges, plan)) {
      function->commands[broken->after].op->emitOpError("internal error: does not wait for a command it needs");
      return signalPassFailure();
    }
    apply(*function, *machine, graph, *order, plan);
  }

private:
  void apply(const PlacedFunction &function, const Machine &machine, const FunctionGraph &graph,
             const std::vector<uint32_t> &order, const WaitPlan &plan) {
    std::vector<StreamAttr> streams;
    for (const StreamKey &stream : graph.streams)
      streams.push_back(getStreamAttr(&getContext(), stream, machine));
    Operation *end = function.func.getBody().front().getTerminator();
    OpBuilder builder(end);
    uint32_t wait = 0, event = 0;
    for (ConstantOp constant : function.constants)
      constant->moveBefore(end);
    for (uint32_t id : order) {
      Operation *op = function.commands[id].op;
      StreamAttr stream = streams[graph.graph.commands[id].stream];
      for (; wait < plan.waits.size() && plan.waits[wait].command == id; ++wait)
        WaitOp::create(builder, op->getLoc(), builder.getI64IntegerAttr(plan.waits[wait].event), stream,
                       WaitReasonAttr::get(&getContext(), toAttribute(plan.waits[wait].reason)));
      op->moveBefore(end);
      if (event < plan.events.size() && plan.events[event] == id)
        RecordOp::create(builder, op->getLoc(), builder.getI64IntegerAttr(event++), stream);
    }
  }
};

} // namespace
