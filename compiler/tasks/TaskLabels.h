// Labels of tasks: readable, unique within their function, the same in every run: "matmul_0", "add_relu_3".
#ifndef AUTOPAR_COMPILER_TASKS_TASKLABELS_H
#define AUTOPAR_COMPILER_TASKS_TASKLABELS_H

#include "dialect/Autopar.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace mlir::autopar {

class TaskLabels {
public:
  /// Starts with the labels of the tasks that the function has already. Where several have the same one, as after
  /// unrolling, all but the first get a number: "step", "step_1", "step_2".
  explicit TaskLabels(func::FuncOp function);

  /// A new label for a task of these ops, in program order. A name in the last one's location comes first; then the ops'
  /// names, without generators, views and repetitions, at most three; then a running number over the function.
  std::string next(ArrayRef<Operation *> ops);
  /// Alike, for a task without ops.
  std::string next(StringRef stem);

private:
  llvm::StringSet<> taken;
  unsigned number = 0;
};

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_TASKS_TASKLABELS_H
