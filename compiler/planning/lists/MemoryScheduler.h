// List scheduling within the memory of the devices.
//
// Every buffer is reserved when its task is placed: a task starts no earlier than the time from
// which on what it writes fits beside everything else, for good. Tasks are taken in a sequential
// order that needs little memory (LeanOrder.h), so that whatever is reserved is a closed prefix of
// an order that fits, and nothing can lock up. This is the activation scheme of memory-bounded tree
// scheduling (Agullo et al., "Robust memory-aware mapping for parallel multifrontal factorizations",
// 2016), with one ledger per device.
#ifndef AUTOPAR_COMPILER_PLANNING_LISTS_MEMORYSCHEDULER_H
#define AUTOPAR_COMPILER_PLANNING_LISTS_MEMORYSCHEDULER_H

#include <optional>
#include <span>
#include <vector>

#include "compiler/planning/model/Problem.h"

namespace autopar::planning {

/// A limit that no program reaches.
inline constexpr uint64_t kUnlimitedBytes = std::numeric_limits<uint64_t>::max() / 2;

/// Places the tasks in `order` (topological), each on the device where it finishes first among
/// those that have room, or where `devices` (by task; empty: any) says; ties go to the lower
/// device. `limits` are the bytes that may be used, by device. Nothing if the order does not fit,
/// or if the plan would take longer than `latestNs`. n log n; the caller checks the peaks of what
/// it gets: buffers that live for less than a nanosecond may meet in a plan.
std::optional<Plan>
scheduleWithinMemory(const Problem &problem, std::span<const TaskId> order,
                     std::span<const DeviceId> devices, std::span<const uint64_t> limits,
                     int64_t latestNs = std::numeric_limits<int64_t>::max());

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_LISTS_MEMORYSCHEDULER_H
