// Linking object code into a shared object, with lld in a child process: as a library lld resets LLVM's option registry,
// after which passes of the same process silently do something else.
#ifndef AUTOPAR_COMPILER_CODEGEN_LINKER_H
#define AUTOPAR_COMPILER_CODEGEN_LINKER_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::autopar {

/// Must be called first in main of every program that compiles kernels: if this process was started as the linker (a
/// hidden first argument says so), links and returns the exit status. Nothing otherwise.
std::optional<int> maybeRunLinker(int argc, char **argv);

/// The bytes of the shared object made of `objects`, which may need symbols of libm and libc only. Starts this program again and
/// waits for it; temporary files in TMPDIR are removed. Undefined symbols are an error that names them.
llvm::Expected<std::string> linkSharedObject(llvm::ArrayRef<std::string> objects);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_CODEGEN_LINKER_H
