// A pin (`autopar.device`) on a call or a loop holds for every op inside it that has none of its own.
#ifndef AUTOPAR_COMPILER_IMPORT_PINS_H
#define AUTOPAR_COMPILER_IMPORT_PINS_H

#include "mlir/IR/Operation.h"

namespace mlir::autopar {

/// Gives `inner` the pin of `outer`, if `outer` has one and `inner` can have one and has none.
void inheritPin(Operation *outer, Operation *inner);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_IMPORT_PINS_H
