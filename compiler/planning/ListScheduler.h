// List scheduling: ranks, orders, and the loops that place tasks one by one. Each planner is a few
// lines of these.
#ifndef AUTOPAR_COMPILER_PLANNING_LISTSCHEDULER_H
#define AUTOPAR_COMPILER_PLANNING_LISTSCHEDULER_H

#include <optional>
#include <vector>

#include "compiler/planning/ScheduleBuilder.h"

namespace autopar::planning {

/// What a problem consists of; passed around together.
struct Problem {
  const TaskGraph &graph;
  const MachineModel &machine;
  const TaskTable &table;
};

/// One number for a task's cost on unlike devices. Mean is what the papers use; Harmonic keeps a
/// slow device, which no sensible plan uses, from distorting the ranks.
enum class MeanCost { Arithmetic, Harmonic };

/// Upward rank: length of the longest path from the start of the task to the end, with mean costs
/// and mean transfers.
std::vector<double> upwardRanks(const Problem &problem, MeanCost mean);

/// By decreasing rank, then topological order. Topological if `ranks` are upward ranks.
std::vector<TaskId> orderByRank(const TaskGraph &graph, const std::vector<double> &ranks);

/// Places the tasks in `order` (topological), each on the device where it (and what the host gets
/// of it) finishes first; ties go to the lower device. Nothing if some operand cannot reach any
/// allowed device.
std::optional<Plan> scheduleEarliestFinish(const Problem &problem, const std::vector<TaskId> &order,
                                           ScheduleBuilder::Mode mode);

/// Times the tasks in `order` on the given devices.
std::optional<Plan> scheduleOn(const Problem &problem, const std::vector<TaskId> &order,
                               const std::vector<DeviceId> &devices, ScheduleBuilder::Mode mode);

/// HEFT: earliest finish with insertion, in the order of upward ranks.
std::optional<Plan> planHeft(const Problem &problem, MeanCost mean);

/// HEFT on the graph with all edges turned round; its plan, mirrored, gives devices and order,
/// which are then timed forward. Good where tasks join (plain HEFT does not see that two producers
/// should share a device).
std::optional<Plan> planReverseHeft(const Problem &problem, MeanCost mean);

/// The devices on which tasks run when everything that may runs on `device`; the rest on its
/// cheapest device.
std::vector<DeviceId> devicesAround(const Problem &problem, DeviceId device);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_LISTSCHEDULER_H
