// From a module of schedules, kernels and machine code to the schedule file.
#ifndef AUTOPAR_COMPILER_SCHEDULE_EMITSCHEDULE_H
#define AUTOPAR_COMPILER_SCHEDULE_EMITSCHEDULE_H

#include "mlir/IR/BuiltinOps.h"
#include "runtime/schedule/schedule.h"

namespace mlir::autopar {

/// The module after the stage schedule as the runtime's struct, constants included. Emits an error at the op and fails
/// where something does not fit together. Linear in the module, and n log n in the constants.
FailureOr<::autopar::Schedule> buildSchedule(ModuleOp module);

/// Builds the schedule, has the independent checker prove it safe, and writes it to `path` (beside, then renamed).
LogicalResult writeSchedule(ModuleOp module, StringRef path);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_SCHEDULE_EMITSCHEDULE_H
