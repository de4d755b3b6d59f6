// Plans that keep to the memory of the devices, and plans that need less of it.
//
// List scheduling in which every buffer is reserved when its task is placed: a task starts no
// earlier than the time from which on what it writes fits beside everything else, for good. Tasks
// are taken in a sequential order that needs little memory (depth first: finish what was begun), so
// that whatever is reserved is a closed prefix of an order that fits, and nothing can lock up. This
// is the activation scheme of memory-bounded tree scheduling (Agullo et al., "Robust memory-aware
// mapping for parallel multifrontal factorizations", 2016), with one ledger per device.
#ifndef AUTOPAR_COMPILER_PLANNING_LISTS_MEMORYSCHEDULER_H
#define AUTOPAR_COMPILER_PLANNING_LISTS_MEMORYSCHEDULER_H

#include <optional>
#include <vector>

#include "compiler/planning/lists/ListScheduler.h"

namespace autopar::planning {

/// A sequential order that needs little memory: of two depth-first orders (the task that became ready
/// last comes first; or, before it, one that gives back at least what it takes) the one with the
/// lower peak on a single device.
std::vector<TaskId> leanOrder(const TaskGraph &graph);

/// Places the tasks in `order`, each on the device where it finishes first among those that have
/// room, or where `devices` (by task; empty: any) says. `limits` are the bytes that may be used, by
/// device. Nothing if the order does not fit.
std::optional<Plan> scheduleWithinMemory(const Problem &problem, const std::vector<TaskId> &order,
                                         const std::vector<DeviceId> &devices,
                                         const std::vector<uint64_t> &limits);

/// `plan`, if it fits and no other plan as short needs much less memory; otherwise a plan that fits,
/// if one is found. Where a device's memory is nowhere near full, only plans that are not longer
/// replace it.
Plan respectMemory(const Problem &problem, Plan plan);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_LISTS_MEMORYSCHEDULER_H
