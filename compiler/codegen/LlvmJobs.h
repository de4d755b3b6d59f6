// From modules in the LLVM dialect to text or bytes by LLVM's back ends: one job a module, in threads of their own.
#ifndef AUTOPAR_COMPILER_CODEGEN_LLVMJOBS_H
#define AUTOPAR_COMPILER_CODEGEN_LLVMJOBS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>
#include <vector>

namespace mlir::autopar {

/// For one processor; an empty pointer and an error text if LLVM does not know the triple. Sums are never contracted with
/// products: every op rounds.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(llvm::StringRef triple, llvm::StringRef processor,
                                                       llvm::StringRef features, std::string &error);

/// Sets the module's target, optimises it (-O3 without unrolling) and writes it as `type`. Returns an error text, empty if
/// all went well.
std::string optimizeAndEmit(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                            std::string &output);

/// Translates each module to LLVM's IR (in this thread) and runs `compile` on it, in a thread for each. `compile` returns an
/// error text, empty if all went well. The outputs, in the modules' order.
llvm::Expected<std::vector<std::string>>
runLlvmJobs(llvm::ArrayRef<ModuleOp> modules,
            llvm::function_ref<std::string(llvm::Module &module, std::string &output)> compile);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_CODEGEN_LLVMJOBS_H
