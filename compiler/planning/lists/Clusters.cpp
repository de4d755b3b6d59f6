#include "compiler/planning/lists/Clusters.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace autopar::planning {

int64_t workTicks(const Problem &problem, TaskId task, DeviceId device) {
  const int64_t duration = problem.table.duration(task, device);
  if (duration < 0)
    return -1;
  // Split, so that the product stays in range.
  const int64_t share = problem.table.share(task, device);
  return duration / kFullOccupancy * share + duration % kFullOccupancy * share / kFullOccupancy;
}

namespace {

// ---- merging
// --------------------------------------------------------------------------------------------------

/// Disjoint sets of tasks and devices (numbered behind the tasks); a set that holds a device runs
/// there.
class Partition {
public:
  explicit Partition(const Problem &problem)
      : numTasks(problem.graph.taskCount()), numDevices(problem.machine.deviceCount()),
        parent(numTasks + numDevices), work((numTasks + numDevices) * numDevices, -1) {
    std::iota(parent.begin(), parent.end(), 0);
    std::vector<size_t> firstOfGroup;
    for (size_t task = 0; task < numTasks; ++task)
      for (size_t device = 0; device < numDevices; ++device)
        work[task * numDevices + device] = workTicks(problem, TaskId(task), DeviceId(device));
    for (size_t device = 0; device < numDevices; ++device)
      work[deviceNode(DeviceId(device)) * numDevices + device] = 0;
    for (size_t task = 0; task < numTasks; ++task) {
      uint32_t group = problem.graph.task(TaskId(task)).colocationGroup;
      if (group == kNoGroup)
        continue;
      if (group >= firstOfGroup.size())
        firstOfGroup.resize(group + 1, numTasks);
      if (firstOfGroup[group] == numTasks)
        firstOfGroup[group] = task;
      else
        unite(find(firstOfGroup[group]), find(task));
    }
  }

  size_t deviceNode(DeviceId device) const { return numTasks + device.index(); }

  /// Unites the sets of `a` and `b` if some device may run both and their work on their best
  /// devices does not grow by more than `savedTicks`. Whether it did.
  bool tryMerge(size_t a, size_t b, int64_t savedTicks) {
    a = find(a);
    b = find(b);
    if (a == b)
      return false;
    constexpr int64_t kNone = std::numeric_limits<int64_t>::max() / 4;
    int64_t leastA = kNone, leastB = kNone, leastBoth = kNone;
    for (size_t device = 0; device < numDevices; ++device) {
      int64_t workA = work[a * numDevices + device], workB = work[b * numDevices + device];
      if (workA >= 0)
        leastA = std::min(leastA, workA);
      if (workB >= 0)
        leastB = std::min(leastB, workB);
      if (workA >= 0 && workB >= 0)
        leastBoth = std::min(leastBoth, workA + workB);
    }
    if (leastBoth == kNone || leastBoth - leastA - leastB > savedTicks)
      return false;
    unite(a, b);
    return true;
  }

  Clusters clusters() {
    Clusters result;
    result.of.resize(numTasks);
    std::vector<uint32_t> number(parent.size(), kNoGroup);
    for (size_t task = 0; task < numTasks; ++task) {
      const size_t root = find(task);
      if (number[root] == kNoGroup) {
        number[root] = uint32_t(result.count++);
        result.work.insert(result.work.end(), &work[root * numDevices],
                           &work[root * numDevices] + numDevices);
      }
      result.of[task] = number[root];
    }
    return result;
  }

private:
  size_t find(size_t node) {
    while (parent[node] != node) {
      parent[node] = parent[parent[node]];
      node = parent[node];
    }
    return node;
  }

  // Lower numbers stay roots; halving the paths alone keeps find() logarithmic.
  void unite(size_t a, size_t b) {
    if (b < a)
      std::swap(a, b);
    parent[b] = uint32_t(a);
    for (size_t device = 0; device < numDevices; ++device) {
      int64_t &sum = work[a * numDevices + device];
      const int64_t more = work[b * numDevices + device];
      sum = sum < 0 || more < 0 ? -1 : sum + more;
    }
  }

  size_t numTasks, numDevices;
  std::vector<uint32_t> parent;
  std::vector<int64_t> work; // [node][device], valid for roots
};

struct WeightedEdge {
  double ns;
  size_t from, to; // nodes of a Partition
};

/// Heaviest first.
std::vector<WeightedEdge> edgesByWeight(const Problem &problem, const Partition &partition) {
  const TaskGraph &graph = problem.graph;
  std::vector<WeightedEdge> edges;
  for (size_t index = 0; index < graph.valueCount(); ++index) {
    const Value &value = graph.value(ValueId(index));
    if (!value.needsTransfer() || (!value.producer.valid() && !value.residentDevice.valid()))
      continue;
    const double ns = problem.machine.meanTransferNs(value.bytes);
    const size_t from = value.producer.valid() ? value.producer.index()
                                               : partition.deviceNode(value.residentDevice);
    for (TaskId user : graph.users(ValueId(index)))
      edges.push_back({ns, from, user.index()});
    if (value.producer.valid())
      for (const ProgramResult &result : graph.resultsOf(ValueId(index)))
        if (DeviceId to = problem.machine.destination(result); to.valid())
          edges.push_back({ns, from, partition.deviceNode(to)});
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const WeightedEdge &a, const WeightedEdge &b) { return a.ns > b.ns; });
  return edges;
}

} // namespace

std::vector<Clusters> thresholdClusters(const Problem &problem, size_t steps) {
  Partition partition(problem);
  const std::vector<WeightedEdge> edges = edgesByWeight(problem, partition);
  const double ticksPerNs = double(1ull << problem.table.shift());
  std::vector<Clusters> series = {partition.clusters()};
  size_t merges = 0, step = 1;
  for (const WeightedEdge &edge : edges) {
    if (step == steps)
      break;
    merges += partition.tryMerge(edge.from, edge.to, int64_t(edge.ns * ticksPerNs));
    if (merges == 0 || merges < step * problem.graph.taskCount() / steps)
      continue;
    series.push_back(partition.clusters());
    while (step < steps && merges >= step * problem.graph.taskCount() / steps)
      ++step;
  }
  return series;
}

// ---- devices for clusters
// -----------------------------------------------------------------------------------

namespace {

class ClusterPlacer {
public:
  ClusterPlacer(const Problem &problem, const Clusters &clusters, ClusterRule rule,
                ScheduleBuilder &builder)
      : problem(problem), clusters(clusters), rule(rule), builder(builder),
        numDevices(problem.machine.deviceCount()), devices(clusters.count), load(numDevices, 0) {}

  bool run(std::span<const TaskId> order) {
    if (rule == ClusterRule::ByLoad)
      assignByLoad();
    for (TaskId task : order) {
      DeviceId &device = devices[clusters.of[task.index()]];
      if (!device.valid())
        device = choose(task);
      if (!device.valid() || !builder.place(task, device))
        return false;
    }
    return true;
  }

private:
  int64_t work(size_t cluster, size_t device) const {
    return clusters.work[cluster * numDevices + device];
  }

  void assignByLoad() {
    std::vector<int64_t> size(clusters.count, -1);
    for (size_t cluster = 0; cluster < clusters.count; ++cluster)
      for (size_t device = 0; device < numDevices; ++device)
        if (int64_t ticks = work(cluster, device);
            ticks >= 0 && (size[cluster] < 0 || ticks < size[cluster]))
          size[cluster] = ticks;
    std::vector<uint32_t> bySize(clusters.count);
    std::iota(bySize.begin(), bySize.end(), 0);
    std::stable_sort(bySize.begin(), bySize.end(),
                     [&](uint32_t a, uint32_t b) { return size[a] > size[b]; });
    for (uint32_t cluster : bySize) {
      DeviceId best;
      for (size_t device = 0; device < numDevices; ++device)
        if (work(cluster, device) >= 0 &&
            (!best.valid() || load[device] + work(cluster, device) <
                                  load[best.index()] + work(cluster, best.index())))
          best = DeviceId(device);
      devices[cluster] = best;
      if (best.valid())
        load[best.index()] += work(cluster, best.index());
    }
  }

  /// For the first task of a cluster.
  DeviceId choose(TaskId task) {
    const uint32_t cluster = clusters.of[task.index()];
    DeviceId best;
    int64_t bestTime = ScheduleBuilder::kNoLimit;
    for (size_t index = 0; index < numDevices; ++index) {
      DeviceId device(index);
      if (work(cluster, index) < 0)
        continue;
      ScheduleBuilder::Estimate estimate = builder.estimate(task, device, bestTime);
      if (estimate.returned == ScheduleBuilder::kUnreachable)
        continue;
      int64_t time = estimate.returned;
      if (rule == ClusterRule::WholeCluster) {
        int64_t rest = work(cluster, index) - workTicks(problem, task, device);
        time = std::max({time, estimate.finish + rest, load[index] + work(cluster, index)});
      }
      if (time < bestTime) {
        best = device;
        bestTime = time;
      }
    }
    if (best.valid())
      load[best.index()] += work(cluster, best.index());
    return best;
  }

  const Problem &problem;
  const Clusters &clusters;
  const ClusterRule rule;
  ScheduleBuilder &builder;
  const size_t numDevices;
  std::vector<DeviceId> devices; // by cluster
  std::vector<int64_t> load;     // by device: work of the clusters on it
};

} // namespace

bool placeClusters(const Problem &problem, const Clusters &clusters, std::span<const TaskId> order,
                   ClusterRule rule, ScheduleBuilder &builder) {
  return ClusterPlacer(problem, clusters, rule, builder).run(order);
}

} // namespace autopar::planning
