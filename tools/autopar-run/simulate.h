// --simulate: how long the schedule takes on a machine that is only described.
#ifndef AUTOPAR_TOOLS_AUTOPAR_RUN_SIMULATE_H_
#define AUTOPAR_TOOLS_AUTOPAR_RUN_SIMULATE_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/schedule/schedule.h"
#include "tools/autopar-run/flags.h"

namespace autopar {

// One line: "simulated_makespan_ns=1200 predicted_makespan_ns=1200\n". The machine is the
// schedule's own, or the one that the flag names.
absl::StatusOr<std::string> SimulationLine(const Schedule& schedule, const Flags& flags);

}  // namespace autopar

#endif  // AUTOPAR_TOOLS_AUTOPAR_RUN_SIMULATE_H_
