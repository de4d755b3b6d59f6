// Reads: the tensor ops of a function, their pins (autopar.device), tasks that are there already.
// Writes: one autopar.task per group of tensor ops, with its label and device. Afterwards the body holds constants with
// different elements, tasks, synthetic tasks and the return; every returned value is the result of a task, returned once.

#include "compiler/Passes.h"
#include "compiler/tasks/TaskGroups.h"
#include "compiler/tasks/TaskLabels.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::autopar {

#define GEN_PASS_DEF_FORMTASKSPASS
#include "compiler/Passes.h.inc"

namespace {

class FormTasks : public impl::FormTasksPassBase<FormTasks> {
public:
  using FormTasksPassBase::FormTasksPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (failed(checkBody(function)))
      return signalPassFailure();
    splitWideConcats(function);
    TaskGroups plan = groupOps(function, fuse);
    TaskLabels labels(function);
    writeTasks(plan, labels, function);
    writeIdentities(labels, function);
  }

private:
  static LogicalResult checkBody(func::FuncOp function);
  static void splitWideConcats(func::FuncOp function);
  static TaskOp writeTask(const TaskGroup &group, const DenseMap<Value, Value> &results, TaskLabels &labels);
  static void writeTasks(const TaskGroups &plan, TaskLabels &labels, func::FuncOp function);
  static void writeIdentities(TaskLabels &labels, func::FuncOp function);
};

LogicalResult FormTasks::checkBody(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("has branches; tasks are formed from straight-line programs");
  for (Operation &op : function.getBody().front())
    if (!isTensorOp(&op) && !isa<TaskOp, SyntheticTaskOp, func::ReturnOp>(op)) {
      if (isa<TransferOp>(op))
        return op.emitError("is planned already; tasks are formed before planning");
      return op.emitError("cannot be part of a task; run --autopar-check-program for what can");
    }
  return success();
}

/// Most operands of one concat kernel: each is copied by code of its own, and LLVM's time grows with its square.
constexpr size_t maxConcatOperands = 64;

/// A concat of more operands becomes a concat of concats.
void FormTasks::splitWideConcats(func::FuncOp function) {
  SmallVector<ConcatOp> wide;
  for (auto concat : function.getOps<ConcatOp>())
    if (concat.getOperands().size() > maxConcatOperands)
      wide.push_back(concat);
  for (ConcatOp concat : wide) {
    OpBuilder builder(concat);
    SmallVector<Value> parts(concat.getOperands());
    while (parts.size() > maxConcatOperands) {
      SmallVector<Value> joined;
      for (size_t first = 0; first < parts.size(); first += maxConcatOperands) {
        ValueRange chunk = ValueRange(parts).slice(first, std::min(maxConcatOperands, parts.size() - first));
        SmallVector<int64_t> shape(concat.getType().getShape());
        shape[concat.getAxis()] = 0;
        for (Value part : chunk)
          shape[concat.getAxis()] += cast<RankedTensorType>(part.getType()).getDimSize(concat.getAxis());
        auto part = ConcatOp::create(builder, concat.getLoc(), concat.getType().clone(shape), chunk, concat.getAxis());
        part->setDiscardableAttrs(concat->getDiscardableAttrDictionary());
        joined.push_back(part);
      }
      parts = std::move(joined);
    }
    concat.getOperandsMutable().assign(parts);
  }
}

/// A task whose region has a block with arguments and nothing else; leaves the builder at the block's end.
TaskOp startTask(OpBuilder &builder, Location loc, ValueRange inputs, Type result, const Twine &label, StringAttr pin) {
  OperationState state(loc, TaskOp::getOperationName());
  state.addOperands(inputs);
  state.addTypes(result);
  TaskOp::Properties &properties = state.getOrAddProperties<TaskOp::Properties>();
  properties.label = builder.getStringAttr(label);
  properties.device = pin;
  state.addRegion();
  auto task = cast<TaskOp>(builder.create(state));
  Block *block = builder.createBlock(&task.getBody());
  for (Value input : inputs)
    block->addArgument(input.getType(), input.getLoc());
  return task;
}

/// The task of one group, before the group's root. The ops are copied; the originals go when all tasks are written.
TaskOp FormTasks::writeTask(const TaskGroup &group, const DenseMap<Value, Value> &results, TaskLabels &labels) {
  Operation *root = group.root();
  OpBuilder builder(root);
  SmallVector<Value> inputs;
  for (Value operand : group.operands) {
    auto found = results.find(operand);
    inputs.push_back(found == results.end() ? operand : found->second);
  }
  TaskOp task = startTask(builder, root->getLoc(), inputs, root->getResult(0).getType(), labels.next(group.ops), group.pin);
  IRMapping mapping;
  mapping.map(group.operands, task.getBodyBlock()->getArguments());
  for (Operation *op : group.ops)
    builder.clone(*op, mapping)->removeDiscardableAttr(AutoparDialect::getDeviceAttrName());
  YieldOp::create(builder, root->getLoc(), mapping.lookup(root->getResult(0)));
  return task;
}

void FormTasks::writeTasks(const TaskGroups &plan, TaskLabels &labels, func::FuncOp function) {
  SmallVector<Operation *> originals, constants;
  for (Operation &op : function.getBody().front())
    if (isTensorOp(&op))
      (isa<ConstantOp>(op) && !isSplatConstant(&op) ? constants : originals).push_back(&op);
  DenseMap<Value, Value> results;
  results.reserve(plan.groups.size());
  for (const TaskGroup &group : plan.groups)
    results[group.root()->getResult(0)] = writeTask(group, results, labels).getResult(0);
  // What is left outside of the groups uses the tasks' results.
  for (auto [old, value] : results)
    old.replaceAllUsesWith(value);
  for (Operation *op : llvm::reverse(originals))
    op->erase();
  for (Operation *op : constants)
    if (op->use_empty())
      op->erase();
}

/// A returned argument, constant or a value that is returned twice gets a task of its own, which hands it on: every result
/// of the program then has exactly one writer.
void FormTasks::writeIdentities(TaskLabels &labels, func::FuncOp function) {
  Operation *end = function.getBody().front().getTerminator();
  DenseSet<Value> returned;
  for (OpOperand &operand : end->getOpOperands()) {
    Value value = operand.get();
    Operation *producer = value.getDefiningOp();
    if (isa<TokenType>(value.getType()) ||
        (isa_and_nonnull<TaskOp, SyntheticTaskOp>(producer) && returned.insert(value).second))
      continue;
    OpBuilder builder(end);
    TaskOp task = startTask(builder, value.getLoc(), value, value.getType(), labels.next("identity"), /*pin=*/{});
    YieldOp::create(builder, value.getLoc(), task.getBodyBlock()->getArgument(0));
    operand.set(task->getResult(0));
  }
}

} // namespace
} // namespace mlir::autopar
