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
  case WaitCause::Pinned:
    return "pinned by the user";
  case WaitCause::LaunchRate:
    return "launch rate";
  case WaitCause::NoFasterThere:
    return "no faster there";
  case WaitCause::Colocated:
    return "co-located with other tasks";
  case WaitCause::NoShorterPlan:
    return "no shorter plan found";
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
      for (size_t index = 0; index < onDevice[device].size(); ++index) {
        const TaskPlacement &place = plan.tasks[onDevice[device][index].index()];
        if (place.startNs - until >= shortestNs)
          addBefore(DeviceId(device), until, index);
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

  int64_t startOf(TaskId task) const { return plan.tasks[task.index()].startNs; }
  /// Whether what is waited for is room on `device` that a task leaves when it starts, at `time`.
  bool isBehindInstant(const StartReasons::Reason &reason, DeviceId device, int64_t time) const {
    return reason.cause != WaitCause::DataDependency && reason.task != kNone &&
           plan.tasks[reason.task].device == device && startOf(TaskId(reason.task)) == time;
  }

  /// Nothing runs on `device` from `startNs` to its task number `place`.
  void addBefore(DeviceId device, int64_t startNs, size_t place) {
    TaskId task = onDevice[device.index()][place];
    std::optional<StartReasons::Reason> reason = reasons.ofTask(task);
    // Behind a task that takes no time and starts when the gap ends: what that one, or another of them, waits for.
    for (size_t next = place + 1; reason && isBehindInstant(*reason, device, startOf(task)) &&
                                  next < onDevice[device.index()].size() &&
                                  startOf(onDevice[device.index()][next]) == startOf(task);
         ++next)
      reason = reasons.ofTask(task = onDevice[device.index()][next]);
    if (reason && isBehindInstant(*reason, device, startOf(task)))
      return add(device, startNs, startOf(task), task, "", WaitCause::NoShorterPlan);
    if (!reason)
      return;
    // A copy that queues is what holds the task up, not the task that made it.
    if (reason->transfer != kNone)
      if (std::optional<StartReasons::Reason> queue = reasons.ofTransfer(reason->transfer);
          queue && queue->cause != WaitCause::DataDependency)
        reason = queue;
    add(device, startNs, startOf(task), task, reason->waitsFor, reason->cause);
  }

  /// Why `task` runs elsewhere and not on `device`, which is idle.
  WaitCause whyElsewhere(TaskId task, DeviceId device) const {
    if (std::optional<WaitCause> cause = reasons.against(task, device))
      return *cause;
    return reasons.isFree(task) ? WaitCause::NoShorterPlan : WaitCause::Colocated;
  }

  /// Whether of any two of `tasks` one depends on the other.
  bool isChain(const std::vector<TaskId> &tasks) const {
    std::vector<uint32_t> length(graph.taskCount()); // of the longest chain of `tasks` that ends here
    std::vector<bool> isMember(graph.taskCount());
    for (TaskId task : tasks)
      isMember[task.index()] = true;
    for (TaskId task : graph.topologicalOrder()) {
      uint32_t &here = length[task.index()];
      for (ValueId operand : graph.operands(task))
        if (TaskId producer = graph.value(operand).producer; producer.valid())
          here = std::max(here, length[producer.index()]);
      here += isMember[task.index()];
      if (here == tasks.size())
        return true;
    }
    return false;
  }

  /// The reason of `device`, idle from `startNs` to the end, where none of `tasks`, which might run
  /// there, waits for its device: for want of parallel work, or for what speaks against the device.
  void addUnhurried(DeviceId device, int64_t startNs, const std::vector<TaskId> &tasks, TaskId last) {
    const bool isUnused = onDevice[device.index()].empty();
    std::optional<StartReasons::Reason> reason = reasons.ofTask(last);
    if (reason && (tasks.size() > 1 || !isUnused) && isChain(tasks)) {
      // A whole chain that runs elsewhere, though this device is faster, does so for its transfers.
      if (isUnused)
        for (TaskId task : tasks)
          if (reasons.against(task, device) == WaitCause::TransferTooCostly)
            return add(device, startNs, plan.makespanNs, task, "", WaitCause::TransferTooCostly);
      return add(device, startNs, plan.makespanNs, last, reason->waitsFor, WaitCause::DataDependency);
    }
    add(device, startNs, plan.makespanNs, last, "", whyElsewhere(last, device));
  }

  /// Nothing runs on `device` from `startNs` to the end of the plan.
  void addAtEnd(DeviceId device, int64_t startNs) {
    bool someLeft = false;
    std::vector<TaskId> mightRun; // those free to run here
    TaskId pinned, longest, last; // of those free: that waits longest after `startNs`; that ends last
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
      mightRun.push_back(task);
      if (!last.valid() || place.finishNs > plan.tasks[last.index()].finishNs)
        last = task;
      if (int64_t waited = reasons.waitedNs(task); waited > longestNs) {
        longestNs = waited;
        longest = task;
      }
    }
    if (longest.valid()) {
      std::optional<StartReasons::Reason> reason = reasons.ofTask(longest);
      add(device, startNs, plan.makespanNs, longest, reason ? reason->waitsFor : std::string(),
          whyElsewhere(longest, device));
    } else if (last.valid()) {
      addUnhurried(device, startNs, mightRun, last);
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
