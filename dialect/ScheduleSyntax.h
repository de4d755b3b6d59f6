// The custom directives of ScheduleOps.td: short spellings of devices, streams and buffers. Only for the file that
// includes the generated op definitions.
#ifndef AUTOPAR_DIALECT_SCHEDULESYNTAX_H
#define AUTOPAR_DIALECT_SCHEDULESYNTAX_H

#include "dialect/Autopar.h"

namespace mlir::autopar {

/// `@gpu0`
ParseResult parseDeviceName(OpAsmParser &parser, StringAttr &device);
void printDeviceName(OpAsmPrinter &printer, Operation *op, StringAttr device);

/// `@gpu0[0]`, `@gpu0[in]`, `@gpu0[out]`, `@gpu0[to @gpu1]`; of a copy stream that is not the first of its link the number
/// as well: `@gpu0[in 1]`
ParseResult parseStream(OpAsmParser &parser, StreamAttr &stream);
void printStream(OpAsmPrinter &printer, Operation *op, StreamAttr stream);

/// `@gpu0[64 for 256]`, `arg0@gpu0[0 for 256]`, `result0@cpu0[0 for 256]`, `const0@gpu0[0 for 256]`
ParseResult parseBuffer(OpAsmParser &parser, BufferAttr &buffer);
void printBuffer(OpAsmPrinter &printer, Operation *op, BufferAttr buffer);

/// `(` buffers, separated by commas, `)`
ParseResult parseBuffers(OpAsmParser &parser, ArrayAttr &buffers);
void printBuffers(OpAsmPrinter &printer, Operation *op, ArrayAttr buffers);

} // namespace mlir::autopar

#endif // AUTOPAR_DIALECT_SCHEDULESYNTAX_H
