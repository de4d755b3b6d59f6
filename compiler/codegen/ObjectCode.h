// From LLVM modules to object code for one processor.
#ifndef AUTOPAR_COMPILER_CODEGEN_OBJECTCODE_H
#define AUTOPAR_COMPILER_CODEGEN_OBJECTCODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace mlir::autopar {

/// A processor to compile for.
struct CpuTarget {
  std::string name;                  ///< LLVM's name: "znver4", "x86-64-v3"
  std::string features;              ///< LLVM's feature string, "+avx2,-sse4a,…"; empty: what the name implies
  std::vector<std::string> required; ///< what the processor must have, in the words of /proc/cpuinfo
};

/// "native" is this machine's processor. An error names what is wrong with the processor: unknown, or one without fused
/// multiply-add, on which kernels would be slow and round differently.
llvm::Expected<CpuTarget> findCpuTarget(llvm::StringRef name);

/// One object file per module (LLVM dialect). Modules are compiled on as many threads as there are modules.
llvm::Expected<std::vector<std::string>> compileModules(llvm::ArrayRef<ModuleOp> modules, const CpuTarget &target);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_CODEGEN_OBJECTCODE_H
