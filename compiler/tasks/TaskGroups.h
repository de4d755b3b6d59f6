// Which tensor ops become one task. Decides only; FormTasks.cpp writes.
//
// A group is what flows into one root: walking from users to producers, an op joins the group of its users
// when they are all in one group and the kernel can take it; otherwise it is the root of a new group. So a group has one
// result, every path out of it leads through its root, and no two groups can wait for each other, without any search for
// cycles. Generators and views cost nothing to repeat: each group that uses one gets a copy of its own.
#ifndef AUTOPAR_COMPILER_TASKS_TASKGROUPS_H
#define AUTOPAR_COMPILER_TASKS_TASKGROUPS_H

#include "dialect/Autopar.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace mlir::autopar {

/// Most tensor ops and operands of one fused task. A single op may have more operands (concat).
inline constexpr unsigned maxTaskOps = 64;
inline constexpr unsigned maxTaskOperands = 16;

struct TaskGroup {
  SmallVector<Operation *> ops;    ///< in program order, the root last; splat constants included
  SmallVector<Value> operands;     ///< what it needs from outside, in order of first use
  StringAttr pin;                  ///< device; null when free
  Operation *root() const { return ops.back(); }
};

struct TaskGroups {
  std::vector<TaskGroup> groups;   ///< in program order of their roots: every operand is defined before the root
  std::vector<Operation *> unused; ///< tensor ops that nothing needs, in program order
};

/// True for a level-1 op: what tasks are made of.
bool isTensorOp(Operation *op);
/// True for a constant with one value for all elements; it is written into the kernels that use it.
bool isSplatConstant(Operation *op);

/// Groups the tensor ops of a function of one block. Without `fuse`, one op per group (and its splat constants). Linear in
/// the ops and their operands.
TaskGroups groupOps(func::FuncOp function, bool fuse);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_TASKS_TASKGROUPS_H
