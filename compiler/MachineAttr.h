// The machine that a module carries: `autopar.machine`, the machine file's canonical JSON. Every stage after import reads
// it from there, so that a printed module can be resumed without repeating the command line.
#ifndef AUTOPAR_COMPILER_MACHINEATTR_H
#define AUTOPAR_COMPILER_MACHINEATTR_H

#include "mlir/IR/BuiltinOps.h"
#include "runtime/machine/machine.h"

namespace mlir::autopar {

/// The machine of the module that encloses `op`. Parses the JSON: call it once per pass, not per op. Without the
/// attribute, or with a damaged one, emits an error at the module and fails.
FailureOr<::autopar::Machine> getMachine(Operation *op);

/// Writes the machine into the module.
void setMachine(ModuleOp module, const ::autopar::Machine &machine);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_MACHINEATTR_H
