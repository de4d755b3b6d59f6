// When an op may, and should, join the task of its users. Each rule is a function of its own; TaskGroups.cpp asks them in
// order. What one kernel can hold is code generation's to say (compiler/codegen/KernelShape.h).
#ifndef AUTOPAR_COMPILER_TASKS_FUSIONRULES_H
#define AUTOPAR_COMPILER_TASKS_FUSIONRULES_H

#include "dialect/Autopar.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::autopar {

/// Yardstick times (one tabled core, no machine: the same program always makes the same tasks) of the ops of a block, and
/// when each value could be there if every op ran as soon as its operands are. Nanoseconds.
class OpEstimates {
public:
  explicit OpEstimates(Block &block);

  /// The op's own computation.
  double computeNs(Operation *op) const { return lookup(op).computeNs; }
  /// When its result is there; 0 for block arguments.
  double finishNs(Value value) const;
  /// Computation of the op and of everything that would be fused below it: the chains that only it uses.
  double coneNs(Operation *op) const { return lookup(op).coneNs; }

private:
  struct Estimate {
    double computeNs = 0, coneNs = 0, finishNs = 0;
  };
  Estimate lookup(Operation *op) const { return estimates.lookup(op); }

  llvm::DenseMap<Operation *, Estimate> estimates;
};

/// An op that might join a group which holds all its users, or a copy of which might.
struct Candidate {
  Operation *op;
  ArrayRef<Operation *> users;      ///< those in the group
  ArrayRef<Operation *> group;      ///< the group's ops, its root first
  ArrayRef<Value> groupOperands;    ///< what the group needs from outside; the op's result among it
  double groupNs;                   ///< the group's computation
  double groupElements;             ///< of the largest value in it
  bool isRepeated;                  ///< a broadcast stands between the op and the root
  bool hasViews;                    ///< the group holds a view other than a broadcast: elements move
  StringAttr pin, groupPin;         ///< null when free
};

/// The device that an op is pinned to; null when it is free.
StringAttr getPin(Operation *op);

/// What is pinned to different devices never fuses. What is free goes along with a pinned op only while its own work is
/// worth less than the traffic saved: it gives up the choice of another device.
bool pinsAgree(const Candidate &candidate, const OpEstimates &estimates);

/// One kernel can hold the group, which is one already, and the op.
bool kernelHolds(const Candidate &candidate);

/// The traffic and the launch saved are worth more than what is lost: work that could have run beside the group's other
/// operands, and work repeated for every element that a broadcast makes.
bool isWorthFusing(const Candidate &candidate, const OpEstimates &estimates);

/// Generators and views of values from elsewhere: a copy in every task that uses one costs less than its traffic.
bool isCheapToRepeat(Operation *op, const OpEstimates &estimates);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_TASKS_FUSIONRULES_H
