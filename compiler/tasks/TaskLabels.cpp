#include "compiler/tasks/TaskLabels.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::autopar;

static StringAttr labelOf(Operation *op) {
  if (auto task = dyn_cast<TaskOp>(op))
    return task.getLabelAttr();
  if (auto task = dyn_cast<SyntheticTaskOp>(op))
    return task.getLabelAttr();
  return {};
}

static void setLabel(Operation *op, StringAttr label) {
  if (auto task = dyn_cast<TaskOp>(op))
    task.setLabelAttr(label);
  else
    cast<SyntheticTaskOp>(op).setLabelAttr(label);
}

TaskLabels::TaskLabels(func::FuncOp function) {
  SmallVector<Operation *> again; // tasks whose label another one has: an unrolled loop makes them
  for (Operation &op : function.getBody().front())
    if (StringAttr label = labelOf(&op))
      if (!taken.insert(label.getValue()).second)
        again.push_back(&op);
  llvm::StringMap<unsigned> counts;
  for (Operation *op : again) {
    StringRef stem = labelOf(op).getValue();
    unsigned &count = counts[stem];
    std::string label;
    do
      label = (stem + "_" + Twine(++count)).str();
    while (!taken.insert(label).second);
    setLabel(op, StringAttr::get(op->getContext(), label));
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
    if ((isa<ConstantOp, IotaOp, RandomUniformOp, BroadcastOp, ReshapeOp>(op) && op != ops.back()) || name == last)
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
