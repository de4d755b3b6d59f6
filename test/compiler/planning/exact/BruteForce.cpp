#include "test/compiler/planning/exact/BruteForce.h"

#include <algorithm>
#include <map>
#include <vector>

namespace autopar::planning {

namespace {

/// A task on its device, or a transfer on its engines.
struct Activity {
  struct Predecessor {
    size_t activity;
    int64_t lagNs; // from its finish to the start of this one
  };
  bool isTask = false;
  size_t device = 0; // of a task
  uint32_t share = 0;
  std::vector<uint32_t> engines; // of a transfer
  int64_t durationNs = 0;
  std::vector<Predecessor> predecessors; // earlier in the list
  int64_t startNs = -1;                  // -1: not scheduled
  int64_t tailNs = 0;                    // least time from its start to the end
};

class BruteForce {
public:
  BruteForce(const TaskGraph &graph, const Machine &machine, int64_t knownNs, uint64_t mostNodes)
      : graph(graph), machine(machine), best(knownNs), nodesLeft(mostNodes),
        host(machine.HostDevice()), deviceOf(graph.taskCount()) {}

  std::optional<int64_t> run() {
    chooseDevices(0);
    if (exhausted)
      return std::nullopt;
    return best;
  }

private:
  // ---- devices

  void chooseDevices(size_t position) {
    if (exhausted)
      return;
    if (position == graph.taskCount()) {
      if (makeActivities() && computeTails() < best)
        schedule(0, 0);
      return;
    }
    const TaskId task = graph.topologicalOrder()[position];
    const Task &description = graph.task(task);
    for (size_t device = 0; device < machine.devices.size(); ++device) {
      if (graph.costNs(task, DeviceId(device)) < 0 ||
          (description.pinnedDevice.valid() && description.pinnedDevice != DeviceId(device)))
        continue;
      if (description.colocationGroup != kNoGroup) {
        bool apart = false;
        for (size_t before = 0; before < position; ++before) {
          TaskId other = graph.topologicalOrder()[before];
          apart |= graph.task(other).colocationGroup == description.colocationGroup &&
                   deviceOf[other.index()] != device;
        }
        if (apart)
          continue;
      }
      deviceOf[task.index()] = device;
      chooseDevices(position + 1);
    }
  }

  // ---- activities

  /// Index of the activity that brings `value` to `to`; -1 without a way.
  int64_t copyTo(ValueId value, size_t to) {
    if (auto known = copies.find({value, to}); known != copies.end())
      return int64_t(known->second);
    const Value &description = graph.value(value);
    const size_t from = description.producer.valid() ? deviceOf[description.producer.index()]
                                                     : description.residentDevice.index();
    LinkId link = machine.FindLink(DeviceId(from), DeviceId(to));
    Activity copy;
    if (link.valid()) {
      if (description.producer.valid())
        copy.predecessors.push_back({activityOf[description.producer.index()], 0});
    } else {
      if (!host.valid() || from == host.index() || to == host.index())
        return -1;
      int64_t hop = copyTo(value, host.index());
      link = machine.FindLink(host, DeviceId(to));
      if (hop < 0 || !link.valid())
        return -1;
      copy.predecessors.push_back({size_t(hop), 0});
    }
    copy.engines = machine.links[link.index()].engines;
    copy.durationNs = TransferNs(machine.links[link.index()], description.bytes);
    activities.push_back(std::move(copy));
    copies[{value, to}] = activities.size() - 1;
    return int64_t(activities.size()) - 1;
  }

  bool addOperand(Activity &task, ValueId operand) {
    const Value &value = graph.value(operand);
    const int64_t wait = machine.devices[task.device].wait_ns;
    if (!value.producer.valid() &&
        (!value.residentDevice.valid() || value.residentDevice.index() == task.device ||
         !value.needsTransfer()))
      return true;
    if (value.producer.valid() && deviceOf[value.producer.index()] == task.device) {
      task.predecessors.push_back({activityOf[value.producer.index()], 0});
      return true;
    }
    if (!value.needsTransfer()) {
      task.predecessors.push_back({activityOf[value.producer.index()], wait});
      return true;
    }
    int64_t copy = copyTo(operand, task.device);
    if (copy >= 0)
      task.predecessors.push_back({size_t(copy), wait});
    return copy >= 0;
  }

  bool makeActivities() {
    activities.clear();
    copies.clear();
    activityOf.assign(graph.taskCount(), 0);
    for (TaskId id : graph.topologicalOrder()) {
      Activity task;
      task.isTask = true;
      task.device = deviceOf[id.index()];
      task.share = graph.occupancy(id, DeviceId(task.device));
      task.durationNs =
          graph.costNs(id, DeviceId(task.device)) + machine.devices[task.device].launch_ns;
      for (ValueId operand : graph.operands(id))
        if (!addOperand(task, operand))
          return false;
      activityOf[id.index()] = activities.size();
      activities.push_back(std::move(task));
    }
    for (const ProgramResult &result : graph.programResults()) {
      const Value &value = graph.value(result.value);
      const DeviceId to = result.device.valid() ? result.device : host;
      if (!to.valid() || !value.needsTransfer())
        continue;
      const bool isThere = value.producer.valid()
                               ? deviceOf[value.producer.index()] == to.index()
                               : !value.residentDevice.valid() || value.residentDevice == to;
      if (!isThere && copyTo(result.value, to.index()) < 0)
        return false;
    }
    return true;
  }

  /// Length of the longest chain.
  int64_t computeTails() {
    int64_t longest = 0;
    for (Activity &activity : activities)
      activity.tailNs = activity.durationNs;
    for (size_t index = activities.size(); index-- > 0;) {
      longest = std::max(longest, activities[index].tailNs);
      for (const Activity::Predecessor &before : activities[index].predecessors) {
        Activity &earlier = activities[before.activity];
        earlier.tailNs =
            std::max(earlier.tailNs, earlier.durationNs + before.lagNs + activities[index].tailNs);
      }
    }
    return longest;
  }

  // ---- times

  bool fits(const Activity &activity, int64_t start) const {
    const int64_t finish = start + activity.durationNs;
    if (activity.isTask)
      return fitsOnDevice(activity, start, finish);
    for (const Activity &other : activities) {
      if (other.isTask || other.startNs < 0 || other.durationNs == 0 || activity.durationNs == 0 ||
          other.startNs >= finish || start >= other.startNs + other.durationNs)
        continue;
      for (uint32_t engine : activity.engines)
        if (std::find(other.engines.begin(), other.engines.end(), engine) != other.engines.end())
          return false;
    }
    return true;
  }

  /// Capacity and number of streams can only be exceeded where something starts.
  bool fitsOnDevice(const Activity &activity, int64_t start, int64_t finish) const {
    const uint32_t streams = std::max(1u, machine.devices[activity.device].streams);
    auto isBeside = [&](const Activity &other) {
      return other.isTask && other.startNs >= 0 && other.device == activity.device;
    };
    // Tasks that begin before `time` and end after it.
    auto containing = [&](int64_t time) {
      return uint32_t(
          std::count_if(activities.begin(), activities.end(), [&](const Activity &other) {
            return isBeside(other) && other.startNs < time &&
                   other.startNs + other.durationNs > time;
          }));
    };
    if (start == finish)
      return containing(start) + 1 <= streams;
    auto isFullAt = [&](int64_t time) {
      uint64_t used = activity.share;
      uint32_t running = 1;
      for (const Activity &other : activities)
        if (isBeside(other) && other.startNs <= time && other.startNs + other.durationNs > time) {
          used += other.share;
          ++running;
        }
      return used > kFullOccupancy || running > streams;
    };
    if (isFullAt(start))
      return false;
    for (const Activity &other : activities) {
      if (!isBeside(other) || other.startNs <= start || other.startNs >= finish)
        continue;
      if (other.durationNs == 0 ? containing(other.startNs) + 2 > streams : isFullAt(other.startNs))
        return false;
    }
    return true;
  }

  int64_t readyNs(const Activity &activity) const {
    int64_t ready = 0;
    for (const Activity::Predecessor &before : activity.predecessors) {
      const Activity &earlier = activities[before.activity];
      ready = std::max(ready, earlier.startNs + earlier.durationNs + before.lagNs);
    }
    return ready;
  }

  int64_t earliestStart(const Activity &activity) const {
    const int64_t ready = readyNs(activity);
    if (fits(activity, ready))
      return ready;
    std::vector<int64_t> candidates;
    for (const Activity &other : activities)
      if (other.startNs >= 0 && other.startNs + other.durationNs > ready)
        candidates.push_back(other.startNs + other.durationNs);
    std::sort(candidates.begin(), candidates.end());
    for (int64_t start : candidates)
      if (fits(activity, start))
        return start;
    return candidates.back();
  }

  /// No completion of what is scheduled ends before `best`.
  bool isHopeless(int64_t lastStart) {
    earliest.resize(activities.size());
    for (size_t index = 0; index < activities.size(); ++index) {
      const Activity &activity = activities[index];
      earliest[index] = activity.startNs;
      if (activity.startNs >= 0)
        continue;
      earliest[index] = lastStart;
      for (const Activity::Predecessor &before : activity.predecessors)
        earliest[index] =
            std::max(earliest[index], earliest[before.activity] +
                                          activities[before.activity].durationNs + before.lagNs);
      if (earliest[index] + activity.tailNs >= best)
        return true;
    }
    return false;
  }

  void schedule(size_t scheduled, int64_t lastStart) {
    if (exhausted || nodesLeft-- == 0) {
      exhausted = true;
      nodesLeft = 0;
      return;
    }
    if (isHopeless(lastStart))
      return;
    if (scheduled == activities.size()) {
      int64_t end = 0;
      for (const Activity &activity : activities)
        end = std::max(end, activity.startNs + activity.durationNs);
      best = std::min(best, end);
      return;
    }
    struct Choice {
      size_t activity;
      int64_t startNs;
    };
    std::vector<Choice> choices;
    for (size_t index = 0; index < activities.size(); ++index) {
      const Activity &activity = activities[index];
      auto isDone = [&](const auto &before) { return activities[before.activity].startNs >= 0; };
      if (activity.startNs < 0 &&
          std::all_of(activity.predecessors.begin(), activity.predecessors.end(), isDone))
        choices.push_back({index, earliestStart(activity)});
    }
    for (const Choice &choice : choices) {
      // Starts come in order; and what starts while another one could have been there and gone
      // belongs to a schedule in which that other one can start earlier.
      auto isPassedOver = [&](const Choice &other) {
        return other.startNs < choice.startNs &&
               other.startNs + activities[other.activity].durationNs <= choice.startNs;
      };
      if (choice.startNs < lastStart || std::any_of(choices.begin(), choices.end(), isPassedOver))
        continue;
      activities[choice.activity].startNs = choice.startNs;
      schedule(scheduled + 1, choice.startNs);
      activities[choice.activity].startNs = -1;
    }
  }

  const TaskGraph &graph;
  const Machine &machine;
  int64_t best;
  uint64_t nodesLeft;
  bool exhausted = false;
  DeviceId host;
  std::vector<size_t> deviceOf, activityOf; // by task
  std::vector<Activity> activities;         // every one after its predecessors
  std::map<std::pair<ValueId, size_t>, size_t> copies;
  std::vector<int64_t> earliest; // by activity
};

} // namespace

std::optional<int64_t> bruteForceOptimum(const TaskGraph &graph, const Machine &machine,
                                         int64_t knownNs, uint64_t mostNodes) {
  return BruteForce(graph, machine, knownNs, mostNodes).run();
}

} // namespace autopar::planning
