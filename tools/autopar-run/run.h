// What autopar-run does once its flags are read.
#ifndef AUTOPAR_TOOLS_AUTOPAR_RUN_RUN_H_
#define AUTOPAR_TOOLS_AUTOPAR_RUN_RUN_H_

#include "absl/status/status.h"
#include "tools/autopar-run/flags.h"

namespace autopar {

// The error is the sentence that the tool prints.
absl::Status Run(const Flags& flags);

}  // namespace autopar

#endif  // AUTOPAR_TOOLS_AUTOPAR_RUN_RUN_H_
