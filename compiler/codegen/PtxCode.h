// From LLVM modules to PTX, the text that a GPU's driver assembles.
#ifndef AUTOPAR_COMPILER_CODEGEN_PTXCODE_H
#define AUTOPAR_COMPILER_CODEGEN_PTXCODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace mlir::autopar {

/// An architecture to compile for, and the PTX version.
struct GpuTarget {
  std::string name;    ///< "sm_75"
  std::string feature; ///< "ptx75"
};

/// The newest architecture known here that `arch` ("sm_90", "sm_90a"; empty: the baseline, sm_75) can run: PTX for one
/// runs on all newer ones. An error for what is older than the baseline or no architecture at all.
llvm::Expected<GpuTarget> findGpuTarget(llvm::StringRef arch);

/// One PTX text per module (LLVM dialect, of lowerGpuToLLVM); public functions become kernels of `threads[name]` threads a
/// block. A text that needs a function it does not have is an error: no device library is linked.
llvm::Expected<std::vector<std::string>> compileToPtx(llvm::ArrayRef<ModuleOp> modules, const GpuTarget &target,
                                                      const llvm::StringMap<int64_t> &threads);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_CODEGEN_PTXCODE_H
