// The figures of a module's plans, for scripts (JSON) and for people (one screen a function).
#ifndef AUTOPAR_COMPILER_PLANNING_REPORT_H
#define AUTOPAR_COMPILER_PLANNING_REPORT_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::autopar {

/// Reports on each function with a body, in order; they must have been planned, and may have gone
/// through the later stages up to waits, which fill in memory and waits (before that: null). Times
/// in nanoseconds.
///
/// `path`: file for the JSON, one object a function, each on one line; "-": standard output; empty:
/// none. `text`: prints the same for people on standard output. Emits an error and fails where a
/// function has no plan or the file cannot be written.
LogicalResult writeReport(ModuleOp module, StringRef path, bool text);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_PLANNING_REPORT_H
