// Clustering: tasks that had better stay together are put on one device, whichever that will be.
// What greedy choices of devices cannot see (that a join's producers should share a device, that a
// heavy edge is not worth crossing) is decided before any device is chosen.
#ifndef AUTOPAR_COMPILER_PLANNING_LISTS_CLUSTERS_H
#define AUTOPAR_COMPILER_PLANNING_LISTS_CLUSTERS_H

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/planning/model/Problem.h"

namespace autopar::planning {

/// A partition of the tasks. Co-location groups are never apart, and every cluster has a device
/// that may run all of it.
struct Clusters {
  size_t count = 0;
  std::vector<uint32_t> of; ///< By task: its cluster, below count.
  /// [cluster][device]: duration times share of its tasks in device-ticks; -1: not allowed there.
  std::vector<int64_t> work;
};

/// Duration times share of `task` on `device` in device-ticks, rounded down; -1: not allowed there.
int64_t workTicks(const Problem &problem, TaskId task, DeviceId device);

/// Threshold clusters: a series that starts with every task (or co-location group) for itself; each
/// next one has the n/`steps` heaviest further edges inside clusters. An edge is merged only where
/// that does not lengthen the clusters' work on their best devices by more than the transfer that
/// it saves. Inputs and program results count as edges to the device that has or wants them.
/// Time O(e log e + steps n P).
std::vector<Clusters> thresholdClusters(const Problem &problem, size_t steps);

/// Clusters after DSC (Yang, Gerasoulis, IEEE TPDS 5(9), 1994), simplified: tasks in the order of
/// the longest path through them; each joins the cluster of that producer which lets it start
/// earliest, unless it would start earlier alone. Priorities are not updated beyond what has been
/// clustered, there is no partial-free-task rule, and at most `mostCandidates` producers are tried.
Clusters sequenceClusters(const Problem &problem, size_t mostCandidates);

/// How a cluster gets its device.
enum class ClusterRule {
  FirstTask,    ///< Where the first of its tasks that comes up finishes first.
  WholeCluster, ///< Where the cluster would finish first, behind what has been assigned there.
  ByLoad,       ///< Beforehand, the largest clusters first, to the device that is done first.
};

/// List scheduling with insertion in `order`, all tasks of a cluster on one device. As in
/// ListScheduler.h.
bool placeClusters(const Problem &problem, const Clusters &clusters, std::span<const TaskId> order,
                   ClusterRule rule, ScheduleBuilder &builder);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_LISTS_CLUSTERS_H
