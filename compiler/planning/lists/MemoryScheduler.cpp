#include "compiler/planning/lists/MemoryScheduler.h"

#include <algorithm>

#include "compiler/planning/lists/MemoryLedger.h"
#include "compiler/planning/model/MemoryUse.h"

namespace autopar::planning {

namespace {

class MemoryScheduler {
public:
  MemoryScheduler(const Problem &problem, std::span<const uint64_t> limits)
      : problem(problem), graph(problem.graph), machine(problem.machine),
        numDevices(machine.deviceCount()),
        builder(graph, machine, problem.table, ScheduleBuilder::Mode::Insert),
        groups(problem.graph), needed(numDevices) {
    isLimited = std::any_of(limits.begin(), limits.end(),
                            [](uint64_t limit) { return limit < kUnlimitedBytes; });
    if (!isLimited)
      return;
    lastUse.assign(graph.valueCount() * numDevices, kAbsent);
    std::vector<uint64_t> fixed = fixedBytes(graph, machine);
    for (size_t device = 0; device < numDevices; ++device)
      ledgers.emplace_back(limits[device] - std::min(limits[device], fixed[device]));
    for (size_t value = 0; value < graph.valueCount(); ++value)
      usersLeft.push_back(static_cast<uint32_t>(graph.users(ValueId(value)).size()));
  }

  /// False: there is no room for it, or its operands cannot get there.
  bool place(TaskId task, DeviceId fixed) {
    if (DeviceId group = groups.find(task); group.valid())
      fixed = group;
    DeviceId best;
    int64_t bestTime = ScheduleBuilder::kNoLimit, bestStart = 0;
    auto consider = [&](DeviceId device) {
      const int64_t duration = problem.table.duration(task, device);
      if (duration < 0 || (fixed.valid() && device != fixed))
        return;
      // A lower device wins a tie, whatever the order in which they are tried.
      const int64_t limit = !best.valid() || device < best ? bestTime : bestTime - 1;
      const int64_t from = roomFrom(task, device);
      if (from > limit - duration) // kNever too
        return;
      const int64_t time = builder.estimate(task, device, limit, from).returned;
      if (time == ScheduleBuilder::kUnreachable || time > limit)
        return;
      best = device;
      bestTime = time;
      bestStart = from;
    };
    // Most often the best device is where the latest operand is; then the others are soon given up.
    const DeviceId likely = builder.deviceOfLatestOperand(task);
    if (likely.valid())
      consider(likely);
    for (size_t device = 0; device < numDevices; ++device)
      if (DeviceId(device) != likely)
        consider(DeviceId(device));
    if (!best.valid())
      return false;
    const size_t booked = builder.bookedTransfers().size();
    if (!builder.place(task, best, bestStart))
      return false;
    groups.set(task, best);
    account(task, best, booked);
    return true;
  }
  /// So far; what is placed later only adds to it.
  int64_t endNs() const { return builder.lastEndTicks() >> problem.table.shift(); }
  int64_t makespanNs() { return builder.makespanNs(); }
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

  /// Counts a copy at the host, if the way of `value` leads over it.
  void countAtHost(ValueId value, DeviceId from, DeviceId to) {
    const DeviceId host = machine.host();
    const Route &route = machine.route(from, to);
    if (route.exists() && route.viaHost() && !builder.hasCopy(value, host) && inArena(value, host))
      needed[host.index()] += graph.value(value).bytes;
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
      countAtHost(operand, home, device);
    }
    for (ValueId value : graph.produced(task)) {
      if (inArena(value, device))
        needed[device.index()] += graph.value(value).bytes;
      if (graph.value(value).needsTransfer())
        for (const ProgramResult &result : graph.resultsOf(value))
          if (DeviceId to = machine.destination(result); to.valid() && to != device)
            countAtHost(value, device, to);
    }
  }

  int64_t roomFrom(TaskId task, DeviceId device) {
    if (!isLimited)
      return 0;
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
    if (!isLimited) {
      for (ValueId value : graph.produced(task))
        builder.sendResults(value);
      return;
    }
    const int64_t finish = builder.finishOf(task);
    MemoryLedger &ledger = ledgers[device.index()];
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
  GroupDevices groups;
  bool isLimited = false; // else nothing is entered into ledgers
  std::vector<MemoryLedger> ledgers;
  std::vector<int64_t> lastUse;    // [value][device] in ticks; kAbsent: not there
  std::vector<uint32_t> usersLeft; // by value: not placed yet
  std::vector<uint64_t> needed;    // by device
};

} // namespace

std::optional<Plan> scheduleWithinMemory(const Problem &problem, std::span<const TaskId> order,
                                         std::span<const DeviceId> devices,
                                         std::span<const uint64_t> limits, int64_t latestNs) {
  MemoryScheduler scheduler(problem, limits);
  for (TaskId task : order)
    if (!scheduler.place(task, devices.empty() ? DeviceId() : devices[task.index()]) ||
        scheduler.endNs() > latestNs)
      return std::nullopt;
  if (scheduler.makespanNs() > latestNs)
    return std::nullopt;
  return scheduler.finish();
}

} // namespace autopar::planning
