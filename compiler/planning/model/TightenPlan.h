// Slack taken out of a plan: list schedulers and searches leave some, a schedule does not run with
// it.
#ifndef AUTOPAR_COMPILER_PLANNING_MODEL_TIGHTENPLAN_H
#define AUTOPAR_COMPILER_PLANNING_MODEL_TIGHTENPLAN_H

#include "compiler/planning/model/MachineModel.h"
#include "compiler/planning/model/Plan.h"

namespace autopar::planning {

/// Moves tasks and transfers of a valid plan to the earliest times that its own choices allow: the
/// devices, the transfers and their links, on each engine and each full device the order. Nothing
/// gets later, so the plan stays valid and its makespan does not grow; streams and figures are
/// assigned anew.
///
/// Afterwards every task starts when its last operand is there or when another task of its device
/// finishes whose share it needs, and every transfer when its value is there or when another one
/// leaves one of its engines: the times at which a schedule with these orders really runs.
///
/// A plan that fits the devices' memory, and would not afterwards, is left as it is: its slack was
/// put there on purpose.
///
/// Repeats a pass in the order of the starts until nothing moves: almost always the second pass
/// finds nothing. A pass is n log n. Deterministic.
void tightenPlan(const TaskGraph &graph, const MachineModel &machine, Plan &plan);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_MODEL_TIGHTENPLAN_H
