#include "tools/autopar-run/simulate.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/simulator/simulator.h"
#include "tools/autopar-run/values.h"

namespace autopar {

absl::StatusOr<std::string> SimulationLine(const Schedule& schedule, const Flags& flags) {
  AUTOPAR_ASSIGN_OR_RETURN(const Function* function, ChooseFunction(schedule, flags.function));
  Machine machine = schedule.machine;
  if (flags.simulate != kOwnMachine) {
    AUTOPAR_ASSIGN_OR_RETURN(machine, LoadMachine(flags.simulate));
  }
  const absl::StatusOr<Simulation> simulation = Simulate(schedule, *function, machine);
  if (!simulation.ok()) {
    return absl::Status(simulation.status().code(),
                        absl::StrCat("--simulate: ", simulation.status().message()));
  }
  return absl::StrCat("simulated_makespan_ns=", simulation->makespan_ns,
                      " predicted_makespan_ns=", function->predicted_makespan_ns, "\n");
}

}  // namespace autopar
