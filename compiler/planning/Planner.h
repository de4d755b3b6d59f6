// The planner: task graph and machine in, plan out. The one entry point that the compiler calls.
#ifndef AUTOPAR_COMPILER_PLANNING_PLANNER_H
#define AUTOPAR_COMPILER_PLANNING_PLANNER_H

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/planning/model/Plan.h"
#include "runtime/machine/machine.h"

namespace autopar::planning {

struct PlannerOptions {
  /// 0 to 3, see Effort.h. Decided by counts and bounds, never by time: deterministic.
  int effort = 1;
  /// One of plannerNames(); "auto" keeps the best of those that the effort allows.
  std::string plannerName = "auto";
  /// Most compute streams per device; 0: as many as the machine says.
  uint32_t maxStreams = 0;
};

/// "auto"; those of Portfolio.h ("heft", "reverse-heft", "cpop", …); "one-device". A named
/// planner's own plan is returned unless it is longer than one device, one stream.
const std::vector<std::string_view> &plannerNames();

/// Plans `graph` (finalized, for the devices of `machine` in order). The plan is never longer than
/// the one that runs everything on the best single device in one stream. The same input gives the
/// same plan. Errors are one sentence.
absl::StatusOr<Plan> planGraph(const TaskGraph &graph, const Machine &machine,
                               const PlannerOptions &options = {});

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_PLANNER_H
