#include "compiler/tasks/TaskLabels.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::autopar;

TaskLabels::TaskLabels(func::FuncOp function) {
  for (Operation &op : function.getBody().front()) {
    if (auto task = dyn_cast<TaskOp>(op))
      taken.insert(task.getLabel());
    else if (auto task = dyn_cast<SyntheticTaskOp>(op))
      taken.insert(task.getLabel());
  }
}

/// The name that the program gives to a place, cut to what a label may hold; empty if there is none.
static std::string nameOf(Location loc) {
  constexpr size_t longest = 40;
  std::string name;
  if (auto named = dyn_cast<NameLoc>(loc))
    for (char c : named.getName().getValue().take_front(longest))
      name += llvm::isAlnum(c) ? c : '_';
  return name;
}

std::string TaskLabels::next(ArrayRef<Operation *> ops) {
  constexpr unsigned mostNames = 3;
  std::string stem = nameOf(ops.back()->getLoc());
  StringRef last;
  unsigned names = 0;
  for (Operation *op : ops) {
    StringRef name = op->getName().stripDialect();
    if ((isa<ConstantOp, BroadcastOp, ReshapeOp>(op) && op != ops.back()) || name == last)
      continue;
    last = name;
    if (names++ < mostNames)
      stem += (stem.empty() ? "" : "_") + name.str();
  }
  if (names > mostNames)
    stem += "_etc";
  return next(stem);
}

std::string TaskLabels::next(StringRef stem) {
  std::string label;
  do
    label = (stem + "_" + Twine(number++)).str();
  while (!taken.insert(label).second);
  return label;
}
