// autopar-opt's own flags, beside those of mlir-opt.
#ifndef AUTOPAR_TOOLS_AUTOPAR_OPT_OPTIONS_H
#define AUTOPAR_TOOLS_AUTOPAR_OPT_OPTIONS_H

#include "compiler/Pipeline.h"
#include "mlir/Support/LLVM.h"
#include <optional>
#include <string>

namespace mlir::autopar {

/// The flags as given; a plain copy, taken right after parsing.
struct OptOptions {
  PipelineOptions pipeline;
  bool stopGiven = false;   ///< --stop-after
  std::string reportFile;   ///< --report; empty: none
  bool reportText = false;  ///< --report-text
  std::string pipelineFlag; ///< the first flag given that only steers the compiler ("--machine"), or empty
};

/// Registers the flags with LLVM's command line. Call once, after mlir-opt's own are registered and before parsing.
void registerOptOptions();

/// The parsed flags, or a sentence that says what is wrong with them.
FailureOr<OptOptions> readOptOptions(std::string &error);

} // namespace mlir::autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_OPT_OPTIONS_H
