#include "compiler/planning/explain/Explanation.h"

#include <algorithm>

#include "compiler/planning/explain/StartReasons.h"

namespace autopar::planning {

std::string_view causeName(WaitCause cause) {
  switch (cause) {
  case WaitCause::DataDependency:
    return "data dependency";
  case WaitCause::BufferReuse:
    return "buffer reuse";
  case WaitCause::EngineBusy:
    return "engine busy";
  case WaitCause::DeviceFull:
    return "device full";
  case WaitCause::TransferTooCostly:
    return "transfer costs more than it gains";
  case WaitCause::SlowerElsewhere:
    return "slower elsewhere";
  case WaitCause::Pinned:
    return "pinned by the user";
  case WaitCause::LaunchRate:
    return "launch rate";
  case WaitCause::CannotRun:
    return "no task can run there";
  case WaitCause::NothingLeft:
    return "no task is left";
  }
  return "";
}

namespace {

constexpr size_t kNone = StartReasons::kNone;

class PathWalker {
public:
  PathWalker(const TaskGraph &graph, const Machine &machine, const Plan &plan)
      : graph(graph), plan(plan), reasons(graph, machine, plan) {}

  std::vector<Explanation> walk() {
    start();
    while (task != kNone || transfer != kNone) {
      if (transfer != kNone)
        stepFromTransfer();
      else
        stepFromTask();
    }
    return std::move(path);
  }

private:
  void start() {
    int64_t last = -1;
    for (size_t index = 0; index < plan.tasks.size(); ++index)
      if (plan.tasks[index].finishNs > last) {
        last = plan.tasks[index].finishNs;
        task = index;
      }
    for (size_t index = 0; index < plan.transfers.size(); ++index)
      if (plan.transfers[index].finishNs > last) {
        last = plan.transfers[index].finishNs;
        transfer = index;
        // A result on its way home: what waits is its producer's result.
        waitingId = graph.value(plan.transfers[index].value).producer;
        waiting = reasons.producerName(plan.transfers[index].value);
      }
    if (transfer != kNone)
      task = kNone;
  }

  void stepFromTransfer() {
    reasons.skipTransfer(transfer);
    std::optional<StartReasons::Reason> reason = reasons.ofTransfer(transfer);
    transfer = task = kNone;
    if (!reason)
      return;
    // That a transfer waits for its producer has been said of the task that waits for the transfer.
    if (reason->cause != WaitCause::DataDependency) {
      path.push_back({waitingId, waiting, reason->waitsFor, reason->cause});
      waiting = reason->waitsFor;
      waitingId = graph.value(plan.transfers[reason->transfer].value).producer;
    }
    task = reason->task;
    transfer = reason->transfer;
  }

  void stepFromTask() {
    TaskId current(task);
    reasons.skipTask(current);
    std::optional<StartReasons::Reason> reason = reasons.ofTask(current);
    transfer = task = kNone;
    if (!reason)
      return;
    path.push_back({current, graph.task(current).label, reason->waitsFor, reason->cause});
    waitingId = current;
    waiting = graph.task(current).label;
    task = reason->task;
    transfer = reason->transfer;
  }

  const TaskGraph &graph;
  const Plan &plan;
  StartReasons reasons;
  size_t task = kNone, transfer = kNone; // where the walk stands: one of the two
  TaskId waitingId;                      // for what the transfer is made
  std::string waiting;
  std::vector<Explanation> path;
};

class GapFinder {
public:
  GapFinder(const TaskGraph &graph, const Machine &machine, const Plan &plan, double share)
      : graph(graph), plan(plan), reasons(graph, machine, plan),
        shortestNs(std::max<int64_t>(1, int64_t(share * double(plan.makespanNs)))),
        onDevice(machine.devices.size()) {
    for (size_t task = 0; task < plan.tasks.size(); ++task)
      onDevice[plan.tasks[task].device.index()].push_back(TaskId(task));
    for (std::vector<TaskId> &tasks : onDevice)
      std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
        int64_t startA = plan.tasks[a.index()].startNs, startB = plan.tasks[b.index()].startNs;
        return startA != startB ? startA < startB : a < b;
      });
  }

  std::vector<IdleGap> find() {
    if (plan.tasks.empty())
      return {};
    for (size_t device = 0; device < onDevice.size(); ++device) {
      int64_t until = 0;
      for (TaskId task : onDevice[device]) {
        const TaskPlacement &place = plan.tasks[task.index()];
        if (place.startNs - until >= shortestNs)
          addBefore(DeviceId(device), until, task);
        until = std::max(until, place.finishNs);
      }
      if (plan.makespanNs - until >= shortestNs)
        addAtEnd(DeviceId(device), until);
    }
    return std::move(gaps);
  }

private:
  void add(DeviceId device, int64_t startNs, int64_t finishNs, TaskId task, std::string waitsFor,
           WaitCause cause) {
    gaps.push_back({device, startNs, finishNs,
                    {task, task.valid() ? graph.task(task).label : std::string(),
                     std::move(waitsFor), cause}});
  }

  void addBefore(DeviceId device, int64_t startNs, TaskId task) {
    std::optional<StartReasons::Reason> reason = reasons.ofTask(task);
    if (!reason)
      return;
    // A copy that queues is what holds the task up, not the task that made it.
    if (reason->transfer != kNone)
      if (std::optional<StartReasons::Reason> queue = reasons.ofTransfer(reason->transfer);
          queue && queue->cause != WaitCause::DataDependency)
        reason = queue;
    add(device, startNs, plan.tasks[task.index()].startNs, task, reason->waitsFor, reason->cause);
  }

  /// Nothing runs on `device` from `startNs` to the end of the plan.
  void addAtEnd(DeviceId device, int64_t startNs) {
    bool someLeft = false;
    TaskId pinned, longest, last; // of those free to run here: that waits longest after `startNs`; that ends last
    int64_t longestNs = 0;
    for (size_t index = 0; index < plan.tasks.size(); ++index) {
      TaskId task(index);
      const TaskPlacement &place = plan.tasks[index];
      someLeft |= place.finishNs > startNs;
      if (place.finishNs <= startNs || place.device == device || graph.costNs(task, device) < 0)
        continue;
      if (!graph.mayRunOn(task, device) || graph.task(task).pinnedDevice.valid()) {
        if (!pinned.valid())
          pinned = task;
        continue;
      }
      if (!last.valid() || place.finishNs > plan.tasks[last.index()].finishNs)
        last = task;
      if (int64_t waited = reasons.waitedNs(task); waited > longestNs) {
        longestNs = waited;
        longest = task;
      }
    }
    if (longest.valid()) {
      std::optional<StartReasons::Reason> reason = reasons.ofTask(longest);
      WaitCause cause = reasons.against(longest, device).value_or(WaitCause::DeviceFull);
      add(device, startNs, plan.makespanNs, longest, reason ? reason->waitsFor : std::string(), cause);
    } else if (last.valid()) {
      std::optional<StartReasons::Reason> reason = reasons.ofTask(last);
      // It has started at once where it is: here it would be no earlier.
      WaitCause cause = reason ? WaitCause::DataDependency
                               : reasons.against(last, device).value_or(WaitCause::DataDependency);
      add(device, startNs, plan.makespanNs, last, reason ? reason->waitsFor : std::string(), cause);
    } else {
      add(device, startNs, plan.makespanNs, pinned, std::string(),
          pinned.valid() ? WaitCause::Pinned
          : someLeft     ? WaitCause::CannotRun
                         : WaitCause::NothingLeft);
    }
  }

  const TaskGraph &graph;
  const Plan &plan;
  StartReasons reasons;
  int64_t shortestNs;
  std::vector<std::vector<TaskId>> onDevice; // by start
  std::vector<IdleGap> gaps;
};

} // namespace

std::vector<Explanation> explainCriticalPath(const TaskGraph &graph, const Machine &machine,
                                             const Plan &plan) {
  return PathWalker(graph, machine, plan).walk();
}

std::vector<IdleGap> explainIdleGaps(const TaskGraph &graph, const Machine &machine,
                                     const Plan &plan, double share) {
  return GapFinder(graph, machine, plan, share).find();
}

} // namespace autopar::planning
