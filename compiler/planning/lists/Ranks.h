// Priorities of tasks for list scheduling, and the orders that follow from them.
#ifndef AUTOPAR_COMPILER_PLANNING_LISTS_RANKS_H
#define AUTOPAR_COMPILER_PLANNING_LISTS_RANKS_H

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/planning/model/Problem.h"

namespace autopar::planning {

/// One number for a task's cost on unlike devices. Mean is what the papers use; Harmonic keeps a
/// slow device, which no sensible plan uses, from distorting the ranks.
enum class MeanCost { Arithmetic, Harmonic };

/// Mean duration in nanoseconds over the devices that may run `task`.
double meanDurationNs(const Problem &problem, TaskId task, MeanCost mean);

/// Upward rank in nanoseconds: length of the longest path from the start of the task to the end,
/// with mean costs and mean transfers (Topcuoglu 2002). With `clusterOf` (by task) values within a
/// cluster take no time.
std::vector<double> upwardRanks(const Problem &problem, MeanCost mean,
                                std::span<const uint32_t> clusterOf = {});

/// Downward rank in nanoseconds: longest path from the start of the program to the start of the
/// task.
std::vector<double> downwardRanks(const Problem &problem, MeanCost mean);

/// The optimistic cost table of PEFT (Arabnejad 2014) in ticks, [task][device]: the least time from
/// the finish of the task on the device to the end if nothing queues. Program results count with
/// their way home.
std::vector<int64_t> optimisticCosts(const Problem &problem);

/// By decreasing rank, then topological order. Topological if `ranks` are upward ranks.
std::vector<TaskId> orderByRank(const TaskGraph &graph, const std::vector<double> &ranks);

/// Of the tasks whose producers have all been taken, the one of highest priority, then lowest
/// number, is next. Topological for any priorities.
std::vector<TaskId> orderByPriority(const TaskGraph &graph, const std::vector<double> &priorities);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_LISTS_RANKS_H
