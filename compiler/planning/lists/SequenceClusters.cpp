#include <algorithm>
#include <queue>

#include "compiler/planning/lists/Clusters.h"
#include "compiler/planning/lists/Ranks.h"

namespace autopar::planning {

namespace {

/// Builds the clusters as if there were a device of its own for each, all devices alike.
class SequenceClustering {
public:
  SequenceClustering(const Problem &problem, size_t mostCandidates)
      : problem(problem), graph(problem.graph), numDevices(problem.machine.deviceCount()),
        mostCandidates(mostCandidates), toEnd(upwardRanks(problem, MeanCost::Harmonic)),
        fromStart(graph.taskCount(), 0), finish(graph.taskCount(), 0) {
    result.of.assign(graph.taskCount(), kNoGroup);
  }

  Clusters run() {
    std::vector<uint32_t> missing(graph.taskCount(), 0);
    using Entry = std::pair<double, TaskId>; // path length; lower tasks first among equals
    auto later = [](const Entry &a, const Entry &b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    };
    std::priority_queue<Entry, std::vector<Entry>, decltype(later)> ready(later);
    for (size_t task = 0; task < graph.taskCount(); ++task) {
      for (ValueId operand : graph.operands(TaskId(task)))
        missing[task] += graph.value(operand).producer.valid();
      if (missing[task] == 0)
        ready.push({toEnd[task], TaskId(task)});
    }
    while (!ready.empty()) {
      TaskId task = ready.top().second;
      ready.pop();
      add(task);
      for (ValueId value : graph.produced(task)) {
        const double arrival = finish[task.index()] + transferNs(value);
        for (TaskId user : graph.users(value)) {
          fromStart[user.index()] = std::max(fromStart[user.index()], arrival);
          if (--missing[user.index()] == 0)
            ready.push({fromStart[user.index()] + toEnd[user.index()], user});
        }
      }
    }
    return std::move(result);
  }

private:
  struct Arrival {
    double remote; // on another device
    double local;  // on the producer's
    uint32_t cluster;
  };

  double transferNs(ValueId id) const {
    const Value &value = graph.value(id);
    return value.needsTransfer() ? problem.machine.meanTransferNs(value.bytes) : 0;
  }

  void add(TaskId task) {
    collectArrivals(task);
    const uint32_t group = graph.task(task).colocationGroup;
    if (group != kNoGroup && group >= clusterOfGroup.size())
      clusterOfGroup.resize(group + 1, kNoGroup);
    uint32_t cluster = group == kNoGroup ? kNoGroup : clusterOfGroup[group];
    double start = fromStart[task.index()];
    if (cluster != kNoGroup)
      start = startIn(cluster);
    else
      cluster = bestCluster(task, start);
    if (cluster == kNoGroup) {
      cluster = uint32_t(result.count++);
      ends.push_back(0);
      result.work.resize(result.count * numDevices, 0);
    }
    for (size_t device = 0; device < numDevices; ++device) {
      int64_t &sum = result.work[cluster * numDevices + device];
      const int64_t more = workTicks(problem, task, DeviceId(device));
      sum = sum < 0 || more < 0 ? -1 : sum + more;
    }
    result.of[task.index()] = cluster;
    if (group != kNoGroup)
      clusterOfGroup[group] = cluster;
    finish[task.index()] = start + meanDurationNs(problem, task, MeanCost::Harmonic);
    ends[cluster] = std::max(ends[cluster], finish[task.index()]);
  }

  /// Latest first.
  void collectArrivals(TaskId task) {
    arrivals.clear();
    for (ValueId operand : graph.operands(task))
      if (TaskId producer = graph.value(operand).producer; producer.valid())
        arrivals.push_back({finish[producer.index()] + transferNs(operand),
                            finish[producer.index()], result.of[producer.index()]});
    std::stable_sort(arrivals.begin(), arrivals.end(),
                     [](const Arrival &a, const Arrival &b) { return a.remote > b.remote; });
  }

  double startIn(uint32_t cluster) const {
    double start = ends[cluster];
    for (const Arrival &arrival : arrivals)
      start = std::max(start, arrival.cluster == cluster ? arrival.local : arrival.remote);
    return start;
  }

  bool mayJoin(TaskId task, uint32_t cluster) const {
    for (size_t device = 0; device < numDevices; ++device)
      if (result.work[cluster * numDevices + device] >= 0 &&
          problem.table.duration(task, DeviceId(device)) >= 0)
        return true;
    return false;
  }

  /// The producer's cluster in which `task` can start earliest, no later than at `start`, which is
  /// brought up to date; kNoGroup: it starts earlier alone.
  uint32_t bestCluster(TaskId task, double &start) const {
    uint32_t best = kNoGroup;
    for (size_t i = 0; i < std::min(arrivals.size(), mostCandidates); ++i) {
      const uint32_t cluster = arrivals[i].cluster;
      if (cluster == best || !mayJoin(task, cluster))
        continue;
      const double there = startIn(cluster);
      if (there < start || (best == kNoGroup && there == start)) {
        best = cluster;
        start = there;
      }
    }
    return best;
  }

  const Problem &problem;
  const TaskGraph &graph;
  const size_t numDevices, mostCandidates;
  const std::vector<double> toEnd;       // by task: rank, the task included
  std::vector<double> fromStart, finish; // by task
  std::vector<double> ends;              // by cluster
  std::vector<uint32_t> clusterOfGroup;
  std::vector<Arrival> arrivals; // of the task in hand
  Clusters result;
};

} // namespace

Clusters sequenceClusters(const Problem &problem, size_t mostCandidates) {
  return SequenceClustering(problem, mostCandidates).run();
}

} // namespace autopar::planning
