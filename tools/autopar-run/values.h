// The arguments and results of one call: from the command line, to the command line.
#ifndef AUTOPAR_TOOLS_AUTOPAR_RUN_VALUES_H_
#define AUTOPAR_TOOLS_AUTOPAR_RUN_VALUES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/executor/program.h"
#include "runtime/io/tensor.h"
#include "runtime/schedule/schedule.h"
#include "tools/autopar-run/flags.h"

namespace autopar {

// The function that --function names; without a name `main`, or the only one.
absl::StatusOr<const Function*> ChooseFunction(const Schedule& schedule, const std::string& name);

// Are there as many --input, --output and --expected_output as the function takes, in forms that
// can be kept? Before anything is read or run.
absl::Status CheckCounts(const Function& function, const Flags& flags);

// Reads --input; each must have its argument's type.
absl::StatusOr<std::vector<Tensor>> ReadInputs(const Function& function, const Program& program,
                                                const Flags& flags);

// Memory for the results, within which GPUs copy directly. Undefined contents.
absl::StatusOr<std::vector<Tensor>> AllocateResults(const Function& function,
                                                    const Program& program);

// Writes and prints what --output asks for (all results are printed if neither --output nor
// --expected_output is given), then compares with --expected_output.
absl::Status DeliverResults(const Function& function, const Flags& flags,
                            const std::vector<Tensor>& results);

}  // namespace autopar

#endif  // AUTOPAR_TOOLS_AUTOPAR_RUN_VALUES_H_
