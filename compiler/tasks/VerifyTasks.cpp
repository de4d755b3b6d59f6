#include "compiler/tasks/VerifyTasks.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::autopar;

static StringRef labelOf(Operation *op) {
  if (auto task = dyn_cast<TaskOp>(op))
    return task.getLabel();
  return cast<SyntheticTaskOp>(op).getLabel();
}

static LogicalResult verifyReturn(func::ReturnOp end) {
  DenseSet<Value> returned;
  for (auto [index, value] : llvm::enumerate(end.getOperands())) {
    if (isa<TokenType>(value.getType()))
      continue;
    if (!isa_and_nonnull<TaskOp, SyntheticTaskOp>(value.getDefiningOp()))
      return end.emitError("result ") << index << " is not the result of a task; run --autopar-form-tasks";
    if (!returned.insert(value).second)
      return end.emitError("result ") << index << " is returned twice; run --autopar-form-tasks";
  }
  return success();
}

LogicalResult mlir::autopar::verifyTasks(func::FuncOp function) {
  llvm::StringMap<Operation *> labels;
  for (Operation &op : function.getBody().front()) {
    if (isa<ConstantOp>(op))
      continue;
    if (auto end = dyn_cast<func::ReturnOp>(op))
      return verifyReturn(end);
    if (!isa<TaskOp, SyntheticTaskOp>(op))
      return op.emitError("is not in a task; run --autopar-form-tasks");
    auto [entry, isNew] = labels.try_emplace(labelOf(&op), &op);
    if (!isNew) {
      InFlightDiagnostic error = op.emitError("has the label '") << labelOf(&op) << "' of another task; give it one of its own";
      error.attachNote(entry->second->getLoc()) << "the other task";
      return error;
    }
  }
  return success();
}
