// Plans that fit the memory of the devices, and plans that need less of it. The last step of every
// effort; lists/MemoryScheduler.h makes the candidates.
#ifndef AUTOPAR_COMPILER_PLANNING_RESPECTMEMORY_H
#define AUTOPAR_COMPILER_PLANNING_RESPECTMEMORY_H

#include "compiler/planning/model/Problem.h"

namespace autopar::planning {

/// Whether the peaks of `plan` are within every device's memory_bytes.
bool fitsMemory(const Problem &problem, const Plan &plan);

/// `plan`, if it fits and no other plan as short needs much less memory; otherwise a plan that fits
/// ("+memory"), if one is found, and `plan` itself if not: what is missing is said, with its sizes,
/// when memory is planned. Whatever is returned under another name fits. Where a device's memory is
/// nowhere near full, only plans that are not longer replace it.
///
/// `effort` (0 to 3) is what may be spent on a plan that does not fit: two orders on two choices of
/// devices, from 1 on more orders, from 2 on a search. Stops early at a makespan of at most
/// `enoughNs`. The same input gives the same plan.
Plan respectMemory(const Problem &problem, Plan plan, int effort, int64_t enoughNs);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_RESPECTMEMORY_H
