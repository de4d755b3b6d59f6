#include "compiler/planning/lists/MemoryScheduler.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "compiler/planning/model/MemoryUse.h"

namespace autopar::planning {

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

/// The memory of one device while a plan is made: bytes whose end is not known yet, and bytes that
/// are given back at a known time. Times in ticks.
class Ledger {
public:
  explicit Ledger(uint64_t limitBytes) : limit(limitBytes) {}

  /// The time from which on `bytes` are free for good; kNever if too much is held without an end.
  int64_t freeFrom(uint64_t bytes) const {
    if (bytes > limit || held > limit - bytes)
      return kNever;
    uint64_t room = limit - bytes - held;
    if (givenBack <= room)
      return 0;
    for (auto entry = ends.rbegin(); entry != ends.rend(); ++entry) {
      if (entry->second > room)
        return entry->first;
      room -= entry->second;
    }
    return 0;
  }
  void hold(uint64_t bytes) { held += bytes; }
  void giveBack(uint64_t bytes, int64_t time) {
    held -= bytes;
    givenBack += bytes;
    ends[time] += bytes;
  }

private:
  uint64_t limit;
  uint64_t held = 0;
  uint64_t givenBack = 0; // sum of `ends`
  std::map<int64_t, uint64_t> ends;
};

class MemoryScheduler {
public:
  MemoryScheduler(const Problem &problem, const std::vector<uint64_t> &limits)
      : problem(problem), graph(problem.graph), machine(problem.machine),
        numDevices(machine.deviceCount()),
        builder(graph, machine, problem.table, ScheduleBuilder::Mode::Insert),
        lastUse(graph.valueCount() * numDevices, kAbsent), usersLeft(graph.valueCount()),
        needed(numDevices) {
    std::vector<uint64_t> fixed = fixedBytes(graph, machine);
    for (size_t device = 0; device < numDevices; ++device)
      ledgers.emplace_back(limits[device] - std::min(limits[device], fixed[device]));
    for (size_t value = 0; value < graph.valueCount(); ++value)
      usersLeft[value] = static_cast<uint32_t>(graph.users(ValueId(value)).size());
  }

  bool place(TaskId task, DeviceId fixed) {
    DeviceId best;
    int64_t bestTime = ScheduleBuilder::kNoLimit, bestStart = 0;
    for (size_t index = 0; index < numDevices; ++index) {
      DeviceId device(index);
      if (problem.table.duration(task, device) < 0 || (fixed.valid() && device != fixed))
        continue;
      int64_t from = roomFrom(task, device);
      if (from == kNever)
        continue;
      int64_t time = builder.estimate(task, device, ScheduleBuilder::kNoLimit, from).returned;
      if (time == ScheduleBuilder::kUnreachable || time >= bestTime)
        continue;
      best = device;
      bestTime = time;
      bestStart = from;
    }
    if (!best.valid())
      return false;
    const size_t booked = builder.bookedTransfers().size();
    if (!builder.place(task, best, bestStart))
      return false;
    account(task, best, booked);
    return true;
  }
  DeviceId deviceOf(TaskId task) const { return builder.deviceOf(task); }
  Plan finish() { return builder.finish(); }

private:
  static constexpr int64_t kAbsent = -1;

  int64_t &lastUseOf(ValueId value, DeviceId device) {
    return lastUse[value.index() * numDevices + device.index()];
  }
  DeviceId homeOf(ValueId value) const {
    const Value &description = graph.value(value);
    return description.producer.valid() ? builder.deviceOf(description.producer)
                                        : description.residentDevice;
  }
  /// Whether the value lies in the device's arena: not an argument, result or constant there.
  bool inArena(ValueId value, DeviceId device) const {
    const Value &description = graph.value(value);
    return description.needsTransfer() && !isResultOn(graph, machine, value, device) &&
           (description.producer.valid() ||
            (description.residentDevice.valid() && description.residentDevice != device));
  }

  /// Fills `needed` with the bytes by device that running `task` on `device` would reserve.
  void countNeeded(TaskId task, DeviceId device) {
    std::fill(needed.begin(), needed.end(), 0);
    needed[device.index()] += graph.memoryBytes(task, device);
    for (ValueId operand : graph.operands(task)) {
      const Value &value = graph.value(operand);
      DeviceId home = homeOf(operand);
      if (!home.valid()) { // a constant: stays once it is there
        if (lastUseOf(operand, device) == kAbsent)
          needed[device.index()] += value.bytes;
        continue;
      }
      if (home == device || !value.needsTransfer() || builder.hasCopy(operand, device))
        continue;
      if (inArena(operand, device))
        needed[device.index()] += value.bytes;
      DeviceId host = machine.host();
      const Route &route = machine.route(home, device);
      if (route.exists() && route.viaHost() && !builder.hasCopy(operand, host) &&
          inArena(operand, host))
        needed[host.index()] += value.bytes;
    }
    for (ValueId value : graph.produced(task))
      if (inArena(value, device))
        needed[device.index()] += graph.value(value).bytes;
  }

  int64_t roomFrom(TaskId task, DeviceId device) {
    countNeeded(task, device);
    int64_t from = 0;
    for (size_t index = 0; index < numDevices; ++index)
      if (needed[index] > 0)
        from = std::max(from, ledgers[index].freeFrom(needed[index]));
    return from;
  }

  void extend(ValueId value, DeviceId device, int64_t until) {
    int64_t &last = lastUseOf(value, device);
    last = std::max(last, until);
  }

  /// Enters the copies booked since transfer number `begin`.
  void accountTransfers(size_t begin) {
    for (size_t i = begin; i < builder.bookedTransfers().size(); ++i) {
      const PlannedTransfer &transfer = builder.bookedTransfers()[i];
      if (inArena(transfer.value, transfer.to))
        ledgers[transfer.to.index()].hold(graph.value(transfer.value).bytes);
      extend(transfer.value, transfer.to, transfer.finishNs);
      if (inArena(transfer.value, transfer.from))
        extend(transfer.value, transfer.from, transfer.finishNs);
    }
  }

  void account(TaskId task, DeviceId device, size_t booked) {
    const int64_t finish = builder.finishOf(task);
    Ledger &ledger = ledgers[device.index()];
    if (uint64_t scratch = graph.memoryBytes(task, device)) {
      ledger.hold(scratch);
      ledger.giveBack(scratch, finish);
    }
    accountTransfers(booked);
    for (ValueId operand : graph.operands(task)) {
      if (!homeOf(operand).valid() && lastUseOf(operand, device) == kAbsent)
        ledger.hold(graph.value(operand).bytes);
      extend(operand, device, finish);
      if (--usersLeft[operand.index()] == 0)
        release(operand);
    }
    for (ValueId value : graph.produced(task)) {
      if (inArena(value, device))
        ledger.hold(graph.value(value).bytes);
      extend(value, device, finish);
      size_t before = builder.bookedTransfers().size();
      builder.sendResults(value);
      accountTransfers(before);
      if (usersLeft[value.index()] == 0)
        release(value);
    }
  }

  /// All users have been placed: each copy ends with the last of them there.
  void release(ValueId value) {
    if (!homeOf(value).valid())
      return;
    for (size_t device = 0; device < numDevices; ++device)
      if (int64_t last = lastUseOf(value, DeviceId(device));
          last != kAbsent && inArena(value, DeviceId(device)))
        ledgers[device].giveBack(graph.value(value).bytes, last);
  }

  const Problem &problem;
  const TaskGraph &graph;
  const MachineModel &machine;
  const size_t numDevices;
  ScheduleBuilder builder;
  std::vector<Ledger> ledgers;
  std::vector<int64_t> lastUse;    // [value][device] in ticks; kAbsent: not there
  std::vector<uint32_t> usersLeft; // by value: not placed yet
  std::vector<uint64_t> needed;    // by device
};

/// A depth-first order of the tasks, and what it holds on one device.
class DepthFirst {
public:
  DepthFirst(const TaskGraph &graph, bool giversFirst)
      : graph(graph), giversFirst(giversFirst), missing(graph.taskCount(), 0),
        usersLeft(graph.valueCount()), isDone(graph.taskCount(), false) {
    for (size_t task = 0; task < graph.taskCount(); ++task)
      for (ValueId operand : graph.operands(TaskId(task)))
        missing[task] += graph.value(operand).producer.valid();
    for (size_t value = 0; value < graph.valueCount(); ++value)
      usersLeft[value] = graph.users(ValueId(value)).size();
  }

  void run() {
    for (size_t task = graph.taskCount(); task-- > 0;)
      if (missing[task] == 0)
        ready.push_back(TaskId(task));
    while (!ready.empty() || !givers.empty()) {
      std::vector<TaskId> &from = givers.empty() ? ready : givers;
      TaskId task = from.back();
      from.pop_back();
      if (!isDone[task.index()]) // a giver stands in both lists
        take(task);
    }
  }
  const std::vector<TaskId> &order() const { return done; }
  uint64_t peak() const { return most; }

private:
  bool isHeld(ValueId value) const {
    return graph.value(value).producer.valid() && !graph.value(value).isProgramResult;
  }
  bool gives(TaskId task) const {
    uint64_t taken = 0, given = 0;
    for (ValueId value : graph.produced(task))
      taken += isHeld(value) ? graph.value(value).bytes : 0;
    for (ValueId operand : graph.operands(task))
      given += isHeld(operand) && usersLeft[operand.index()] == 1 ? graph.value(operand).bytes : 0;
    return given > 0 && given >= taken;
  }
  void take(TaskId task) {
    isDone[task.index()] = true;
    done.push_back(task);
    for (ValueId value : graph.produced(task))
      now += isHeld(value) ? graph.value(value).bytes : 0;
    most = std::max(most, now);
    for (ValueId operand : graph.operands(task)) {
      if (--usersLeft[operand.index()] == 0 && isHeld(operand))
        now -= graph.value(operand).bytes;
      if (giversFirst && usersLeft[operand.index()] == 1)
        noteLastUser(operand);
    }
    std::span<const ValueId> produced = graph.produced(task);
    for (size_t i = produced.size(); i-- > 0;) {
      if (usersLeft[produced[i].index()] == 0 && isHeld(produced[i]))
        now -= graph.value(produced[i]).bytes;
      std::span<const TaskId> users = graph.users(produced[i]);
      for (size_t j = users.size(); j-- > 0;)
        if (--missing[users[j].index()] == 0) {
          ready.push_back(users[j]);
          if (giversFirst && gives(users[j]))
            givers.push_back(users[j]);
        }
    }
  }
  /// Once per value, so all users may be looked at.
  void noteLastUser(ValueId value) {
    for (TaskId user : graph.users(value))
      if (!isDone[user.index()]) {
        if (missing[user.index()] == 0 && gives(user))
          givers.push_back(user);
        return;
      }
  }

  const TaskGraph &graph;
  const bool giversFirst;
  std::vector<uint32_t> missing; // by task: operands not made yet
  std::vector<size_t> usersLeft; // by value
  std::vector<bool> isDone;
  std::vector<TaskId> ready, givers, done;
  uint64_t now = 0, most = 0;
};

/// What may be used of each device's memory. Without a limit: half the range of the type.
std::vector<uint64_t> limitsAt(const MachineModel &machine, double fullness) {
  std::vector<uint64_t> limits;
  for (size_t device = 0; device < machine.deviceCount(); ++device) {
    uint64_t bytes = machine.device(DeviceId(device)).memory_bytes;
    limits.push_back(bytes == 0 ? std::numeric_limits<uint64_t>::max() / 2
                                : static_cast<uint64_t>(static_cast<double>(bytes) * fullness));
  }
  return limits;
}

/// Orders and devices to try, cheapest in makespan first.
std::optional<Plan> findFitting(const Problem &problem, const Plan &plan,
                                const std::vector<uint64_t> &limits) {
  std::vector<TaskId> byStart(problem.graph.topologicalOrder().begin(),
                              problem.graph.topologicalOrder().end());
  std::stable_sort(byStart.begin(), byStart.end(), [&](TaskId a, TaskId b) {
    return plan.tasks[a.index()].startNs < plan.tasks[b.index()].startNs;
  });
  std::vector<DeviceId> devices;
  for (const TaskPlacement &place : plan.tasks)
    devices.push_back(place.device);
  const std::vector<TaskId> depthFirst = leanOrder(problem.graph);
  std::optional<Plan> best;
  for (const std::vector<TaskId> &order : {byStart, depthFirst})
    for (const std::vector<DeviceId> &where : {devices, std::vector<DeviceId>()}) {
      std::optional<Plan> found = scheduleWithinMemory(problem, order, where, limits);
      if (found && fitsMemory(problem.machine, peakBytes(problem.graph, problem.machine, *found)) &&
          (!best || found->makespanNs < best->makespanNs))
        best = std::move(found);
    }
  if (!best)
    for (size_t device = 0; device < problem.machine.deviceCount() && !best; ++device)
      best = scheduleWithinMemory(problem, depthFirst, devicesAround(problem, DeviceId(device)),
                                  limits);
  return best;
}

uint64_t sum(const std::vector<uint64_t> &bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), uint64_t{0});
}

/// How much longer a leaner plan may be, as a share of the makespan.
double toleratedShare(const MachineModel &machine, const std::vector<uint64_t> &peaks,
                      uint64_t leanBytes) {
  constexpr uint64_t kMuch = uint64_t{64} << 20, kVeryMuch = uint64_t{1} << 30;
  bool much = false, scarce = false;
  for (size_t device = 0; device < peaks.size(); ++device) {
    uint64_t limit = machine.device(DeviceId(device)).memory_bytes;
    much |= peaks[device] > kMuch;
    scarce |= peaks[device] > (limit == 0 ? kVeryMuch : limit / 8);
  }
  if (scarce)
    return leanBytes <= sum(peaks) / 4 ? 0.08 : 0.02;
  return much && leanBytes <= sum(peaks) / 2 ? 0.02 : 0;
}

} // namespace

std::vector<TaskId> leanOrder(const TaskGraph &graph) {
  DepthFirst plain(graph, /*giversFirst=*/false), givers(graph, /*giversFirst=*/true);
  plain.run();
  givers.run();
  return givers.peak() < plain.peak() ? givers.order() : plain.order();
}

std::optional<Plan> scheduleWithinMemory(const Problem &problem, const std::vector<TaskId> &order,
                                         const std::vector<DeviceId> &devices,
                                         const std::vector<uint64_t> &limits) {
  MemoryScheduler scheduler(problem, limits);
  std::vector<DeviceId> groupDevices;
  for (TaskId task : order) {
    uint32_t group = problem.graph.task(task).colocationGroup;
    DeviceId fixed = devices.empty() ? DeviceId() : devices[task.index()];
    if (group != kNoGroup && group < groupDevices.size() && groupDevices[group].valid())
      fixed = groupDevices[group];
    if (!scheduler.place(task, fixed))
      return std::nullopt;
    if (group == kNoGroup)
      continue;
    if (group >= groupDevices.size())
      groupDevices.resize(group + 1);
    groupDevices[group] = scheduler.deviceOf(task);
  }
  return scheduler.finish();
}

Plan respectMemory(const Problem &problem, Plan plan) {
  const TaskGraph &graph = problem.graph;
  const MachineModel &machine = problem.machine;
  std::vector<uint64_t> peaks = peakBytes(graph, machine, plan);
  auto replaceBy = [&](std::optional<Plan> other, const char *name) {
    other->planner = plan.planner + "+" + name;
    other->serialNs = plan.serialNs;
    plan = *std::move(other);
  };
  if (!fitsMemory(machine, peaks)) {
    // Gaps between buffers cost some of the room: first try to leave a tenth.
    std::optional<Plan> fitting = findFitting(problem, plan, limitsAt(machine, 0.9));
    if (!fitting)
      fitting = findFitting(problem, plan, limitsAt(machine, 1.0));
    if (!fitting)
      return plan; // what is missing is said, with its sizes, when memory is planned
    replaceBy(std::move(fitting), "memory");
    peaks = peakBytes(graph, machine, plan);
  }
  // The same length with less memory; a little longer where that is much.
  constexpr size_t kManyTasks = 20'000; // from here on only where it matters
  if (toleratedShare(machine, peaks, 0) == 0 && graph.taskCount() > kManyTasks)
    return plan;
  constexpr int kMostHalvings = 12;
  auto isWorth = [&](int64_t makespanNs, uint64_t bytes) {
    double share = toleratedShare(machine, peaks, bytes);
    return makespanNs <= plan.serialNs &&
           double(makespanNs - plan.makespanNs) <= share * double(plan.makespanNs);
  };
  const std::vector<TaskId> order = leanOrder(graph);
  std::vector<DeviceId> devices;
  for (const TaskPlacement &place : plan.tasks)
    devices.push_back(place.device);
  std::optional<Plan> best;
  uint64_t least = sum(peaks) - sum(peaks) / 8; // less than an eighth is not worth it
  for (const std::vector<DeviceId> &where : {devices, std::vector<DeviceId>()}) {
    // Half the room again and again: what runs ahead of its users has to wait for them.
    std::vector<uint64_t> limits = limitsAt(machine, 1.0);
    for (int halvings = 0; halvings < kMostHalvings; ++halvings) {
      std::optional<Plan> lean = scheduleWithinMemory(problem, order, where, limits);
      if (!lean)
        break;
      std::vector<uint64_t> leanPeaks = peakBytes(graph, machine, *lean);
      if (!isWorth(lean->makespanNs, sum(leanPeaks)))
        break;
      for (size_t device = 0; device < limits.size(); ++device)
        limits[device] = leanPeaks[device] / 2;
      if (fitsMemory(machine, leanPeaks) && sum(leanPeaks) < least) {
        least = sum(leanPeaks);
        best = std::move(lean);
      }
    }
  }
  if (best)
    replaceBy(std::move(best), "lean");
  return plan;
}

} // namespace autopar::planning
