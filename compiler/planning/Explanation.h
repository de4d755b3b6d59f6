// Why not parallel? What each step of the critical path of a plan waits for.
#ifndef AUTOPAR_COMPILER_PLANNING_EXPLANATION_H
#define AUTOPAR_COMPILER_PLANNING_EXPLANATION_H

#include <string>
#include <string_view>
#include <vector>

#include "compiler/planning/Plan.h"
#include "runtime/machine/machine.h"

namespace autopar::planning {

enum class WaitCause {
  DataDependency, ///< On a value or token of another task.
  EngineBusy,     ///< Its operand queues behind another transfer.
  DeviceFull,     ///< The shares of the tasks on its device leave no room.
  Pinned,         ///< The same, on a device that the user has chosen.
};

/// "data dependency", "engine busy", "device full", "pinned".
std::string_view causeName(WaitCause cause);

struct Explanation {
  std::string
      task; ///< Label of the task that waits; of the producer where a result on its way home waits.
  std::string
      waitsFor; ///< Label of a task; "program input" where a transfer of an input is waited for.
  WaitCause cause;
};

/// From the last finish of the plan backwards: what the start of each task and transfer on the way
/// waited for, until something starts at 0. n log n.
std::vector<Explanation> explainCriticalPath(const TaskGraph &graph, const Machine &machine,
                                             const Plan &plan);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_EXPLANATION_H
