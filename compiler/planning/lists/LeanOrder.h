// Sequential orders of a graph's tasks that need little memory.
#ifndef AUTOPAR_COMPILER_PLANNING_LISTS_LEANORDER_H
#define AUTOPAR_COMPILER_PLANNING_LISTS_LEANORDER_H

#include <vector>

#include "compiler/planning/model/TaskGraph.h"

namespace autopar::planning {

/// A topological order that needs little memory: of two depth-first orders (the task that became
/// ready last comes first; or, before it, one that gives back at least what it takes) the one with
/// the lower peak on a single device. Linear in tasks, values and uses.
std::vector<TaskId> leanOrder(const TaskGraph &graph);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_LISTS_LEANORDER_H
