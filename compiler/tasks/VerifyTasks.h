// What a function must look like when the tasks stage is done. The stages after it rely on this and check no more.
#ifndef AUTOPAR_COMPILER_TASKS_VERIFYTASKS_H
#define AUTOPAR_COMPILER_TASKS_VERIFYTASKS_H

#include "dialect/Autopar.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::autopar {

/// The body holds constants, tasks, synthetic tasks and the return, nothing else; labels are unique; every returned tensor
/// is the result of a task and returned once. Emits an error at the first op where that is not so. Linear.
LogicalResult verifyTasks(func::FuncOp function);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_TASKS_VERIFYTASKS_H
