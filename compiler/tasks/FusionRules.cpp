#include "compiler/tasks/FusionRules.h"

#include "compiler/codegen/KernelShape.h"
#include "compiler/tasks/CostModel.h"
#include "compiler/tasks/CostTable.h"
#include "compiler/tasks/TaskGroups.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::autopar;

// ---- estimates ------------------------------------------------------------------------------------------------------

/// Smallest of a task's costs: when its result could be there at best.
static double leastCostNs(DictionaryAttr costs) {
  double least = 0;
  bool any = false;
  for (NamedAttribute entry : costs ? costs.getValue() : ArrayRef<NamedAttribute>()) {
    double cost = 0;
    if (auto number = dyn_cast<FloatAttr>(entry.getValue()))
      cost = number.getValueAsDouble();
    else if (auto number = dyn_cast<IntegerAttr>(entry.getValue()))
      cost = static_cast<double>(number.getInt());
    least = any ? std::min(least, cost) : cost;
    any = true;
  }
  return least;
}

static double ownNs(Operation *op, double &computeNs) {
  if (auto task = dyn_cast<TaskOp>(op))
    return leastCostNs(task.getCostNsAttr());
  if (auto task = dyn_cast<SyntheticTaskOp>(op))
    return leastCostNs(task.getCostNsAttr());
  if (!isTensorOp(op) || isa<ConstantOp>(op))
    return 0;
  Work work = workOfOp(op);
  computeNs = yardstickNs(work);
  for (Value operand : op->getOperands())
    work.bytes += storedBytes(operand.getType());
  work.bytes += storedBytes(op->getResult(0).getType());
  return yardstickNs(work);
}

OpEstimates::OpEstimates(Block &block) {
  estimates.reserve(block.getOperations().size());
  for (Operation &op : block) {
    Estimate estimate;
    double own = ownNs(&op, estimate.computeNs);
    estimate.coneNs = estimate.computeNs;
    for (Value operand : op.getOperands()) {
      estimate.finishNs = std::max(estimate.finishNs, finishNs(operand));
      Operation *producer = operand.getDefiningOp();
      if (producer && operand.hasOneUse() && isTensorOp(producer) && !isa<MatmulOp, SoftmaxOp, ReduceOp>(producer))
        estimate.coneNs += coneNs(producer);
    }
    estimate.finishNs += own;
    estimates[&op] = estimate;
  }
}

double OpEstimates::finishNs(Value value) const {
  Operation *op = value.getDefiningOp();
  return op ? lookup(op).finishNs : 0;
}

// ---- rules ----------------------------------------------------------------------------------------------------------

StringAttr mlir::autopar::getPin(Operation *op) {
  return op->getAttrOfType<StringAttr>(AutoparDialect::getDeviceAttrName());
}

/// What fusing saves: the result is neither written nor read again, does not cross to another device, and one kernel less
/// is launched.
static double savedNs(Operation *op) {
  double bytes = storedBytes(op->getResult(0).getType());
  return costs::fusionSavedNs + bytes * costs::fusionSavedNsPerByte;
}

bool mlir::autopar::pinsAgree(const Candidate &candidate, const OpEstimates &estimates) {
  if (candidate.pin == candidate.groupPin)
    return true;
  if (candidate.pin && candidate.groupPin)
    return false;
  double freeNs = candidate.pin ? candidate.groupNs : estimates.coneNs(candidate.op);
  return freeNs <= savedNs(candidate.op);
}

/// Cases that need no look at the whole group; without them, growing a group would be quadratic in its size.
/// An elementwise op: the kernel loads its result by some index, and its operands, of the same shape, by that very index.
/// A broadcast where no elements move: its operand is read in row-major order with some dimensions left out.
static bool holdsTrivially(const Candidate &candidate) {
  Operation *op = candidate.op;
  if (candidate.isRepeated)
    return false;
  if (isa<BroadcastOp>(op))
    return !candidate.hasViews && candidate.group.front()->hasTrait<OpTrait::Elementwise>() &&
           llvm::all_of(candidate.users, [](Operation *user) { return user->hasTrait<OpTrait::Elementwise>(); });
  if (!op->hasTrait<OpTrait::Elementwise>())
    return false;
  return llvm::all_of(candidate.users, [](Operation *user) {
    return user->hasTrait<OpTrait::Elementwise>() || isa<ReduceOp, ArgmaxOp, SoftmaxOp, ReshapeOp>(user);
  });
}

bool mlir::autopar::kernelHolds(const Candidate &candidate) {
  if (holdsTrivially(candidate))
    return true;
  // Its splat constants come along: they decide how a product is done.
  SmallVector<Operation *> ops;
  for (Value operand : candidate.op->getOperands())
    if (Operation *constant = operand.getDefiningOp(); isSplatConstant(constant) && !llvm::is_contained(ops, constant))
      ops.push_back(constant);
  ops.push_back(candidate.op);
  ops.append(candidate.group.rbegin(), candidate.group.rend());
  return succeeded(classifyKernel(ops, candidate.group.front()->getResult(0)));
}

/// Work that the group would no longer do beside the rest: the op and its chain could have started before the group's
/// other operands are there.
static double lostParallelNs(const Candidate &candidate, const OpEstimates &estimates) {
  double coneNs = estimates.coneNs(candidate.op);
  double startNs = std::max(0.0, estimates.finishNs(candidate.op->getResult(0)) - coneNs);
  double othersNs = 0;
  for (Value operand : candidate.groupOperands)
    if (operand != candidate.op->getResult(0))
      othersNs = std::max(othersNs, estimates.finishNs(operand));
  return std::min(coneNs, std::max(0.0, othersNs - startNs));
}

/// Work that a broadcast in the group repeats: the kernel computes the op once for every element of the broadcast.
static double repeatedNs(const Candidate &candidate, const OpEstimates &estimates) {
  double elements = elementCount(candidate.op->getResult(0).getType());
  if (!candidate.isRepeated || elements == 0)
    return 0;
  return estimates.coneNs(candidate.op) * std::max(0.0, candidate.groupElements / elements - 1);
}

bool mlir::autopar::isWorthFusing(const Candidate &candidate, const OpEstimates &estimates) {
  double lost = lostParallelNs(candidate, estimates) + repeatedNs(candidate, estimates);
  return lost <= savedNs(candidate.op);
}

bool mlir::autopar::isCheapToRepeat(Operation *op, const OpEstimates &estimates) {
  if (isa<IotaOp>(op) || isSplatConstant(op))
    return true;
  if (!isa<BroadcastOp, ReshapeOp>(op))
    return false;
  // A view of what is in memory anyway; a view of a fused chain would repeat the chain.
  Operation *producer = op->getOperand(0).getDefiningOp();
  return !producer || !isTensorOp(producer) || isa<ConstantOp>(producer) || !op->getOperand(0).hasOneUse();
}
