// List scheduling: the loops that place tasks one by one into a ScheduleBuilder, and the published
// planners that are a few lines of them. Lookahead.h and Clusters.h hold the larger ones.
//
// A placing function takes an empty builder and places every task, or returns false where some
// operand cannot reach any device that may run its user. All of them keep pins, co-location groups
// and shares, book transfers on engines as they go, and count the way home of program results.
#ifndef AUTOPAR_COMPILER_PLANNING_LISTS_LISTSCHEDULER_H
#define AUTOPAR_COMPILER_PLANNING_LISTS_LISTSCHEDULER_H

#include <optional>
#include <span>
#include <vector>

#include "compiler/planning/lists/Ranks.h"
#include "compiler/planning/model/Problem.h"

namespace autopar::planning {

/// In a table of extra ticks: a device to be used only where no other can be.
inline constexpr int64_t kAvoid = -1;

/// Places the tasks in `order` (topological), each on the device where it (and what the host gets
/// of it) finishes first; ties go to the lower device. `extraTicks` ([task][device], may be empty)
/// is added to the finish before devices are compared.
bool placeByEarliestFinish(const Problem &problem, std::span<const TaskId> order,
                           ScheduleBuilder &builder, std::span<const int64_t> extraTicks = {});

/// Places the tasks in `order` on the given devices (by task).
bool placeOn(std::span<const TaskId> order, std::span<const DeviceId> devices,
             ScheduleBuilder &builder);

/// HEFT (Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002): earliest finish with insertion, in the
/// order of upward ranks.
bool placeHeft(const Problem &problem, MeanCost mean, ScheduleBuilder &builder);

/// CPOP (ibid.): the tasks of one critical path go to the device that runs them fastest, the others
/// where they finish first; the ready task with the longest path through it is next.
bool placeCpop(const Problem &problem, ScheduleBuilder &builder);

/// PEFT (Arabnejad, Barbosa, IEEE TPDS 25(3), 2014): earliest finish plus optimistic cost of what
/// follows; the ready task with the highest mean optimistic cost is next.
bool placePeft(const Problem &problem, ScheduleBuilder &builder);

/// Earliest finish on devices whose price for the task is near its cheapest price: the prices of
/// device time are those of areaPrices(), the order is HEFT's. Good on wide graphs with unlike
/// devices. False too where prices do not tell devices apart.
bool placePriced(const Problem &problem, ScheduleBuilder &builder);

/// The devices on which tasks run when everything that may runs on `device`; the rest on its
/// cheapest device.
std::vector<DeviceId> devicesAround(const Problem &problem, DeviceId device);

/// Times the tasks in `order` on the given devices.
std::optional<Plan> scheduleOn(const Problem &problem, const std::vector<TaskId> &order,
                               const std::vector<DeviceId> &devices, ScheduleBuilder::Mode mode);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_LISTS_LISTSCHEDULER_H
