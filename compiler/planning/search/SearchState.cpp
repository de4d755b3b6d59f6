#include "compiler/planning/search/SearchState.h"

#include <algorithm>

namespace autopar::planning {

// ---- Units

Units::Units(const Problem &problem, const Evaluator &evaluator)
    : numDevices(problem.machine.deviceCount()) {
  const TaskGraph &graph = problem.graph;
  std::vector<uint32_t> unitOfGroup;
  size_t count = 0;
  for (size_t task = 0; task < graph.taskCount(); ++task) {
    const uint32_t group = graph.task(TaskId(task)).colocationGroup;
    if (group == kNoGroup) {
      unitOf.push_back(uint32_t(count++));
      continue;
    }
    if (group >= unitOfGroup.size())
      unitOfGroup.resize(group + 1, kNoGroup);
    if (unitOfGroup[group] == kNoGroup)
      unitOfGroup[group] = uint32_t(count++);
    unitOf.push_back(unitOfGroup[group]);
  }
  memberBegin.assign(count + 1, 0);
  for (uint32_t unit : unitOf)
    ++memberBegin[unit + 1];
  for (size_t unit = 0; unit < count; ++unit)
    memberBegin[unit + 1] += memberBegin[unit];
  members.resize(unitOf.size());
  std::vector<uint32_t> next(memberBegin.begin(), memberBegin.end() - 1);
  for (size_t task = 0; task < unitOf.size(); ++task)
    members[next[unitOf[task]]++] = TaskId(task);
  allowed.assign(count * numDevices, 1);
  for (size_t task = 0; task < unitOf.size(); ++task)
    for (size_t device = 0; device < numDevices; ++device)
      if (evaluator.duration(TaskId(task), DeviceId(device)) >= Evaluator::kNever)
        allowed[unitOf[task] * numDevices + device] = 0;
  choiceBegin.push_back(0);
  for (size_t unit = 0; unit < count; ++unit) {
    for (size_t device = 0; device < numDevices; ++device)
      if (allowed[unit * numDevices + device])
        choiceList.push_back(DeviceId(device));
    someCanMove |= choiceList.size() > choiceBegin.back() + 1;
    choiceBegin.push_back(uint32_t(choiceList.size()));
  }
}

// ---- SearchState

SearchState::SearchState(Evaluator &evaluator, const Units &units)
    : evaluator(evaluator), units(units), position(evaluator.taskCount()) {}

bool SearchState::load(const Encoding &from) {
  encoding = from;
  for (uint32_t at = 0; at < encoding.order.size(); ++at)
    position[encoding.order[at].index()] = at;
  deviceChanges.clear();
  shifted = chainKnown = false;
  makespanTicks = evaluator.decode(encoding, Evaluator::kNoLimit, finish);
  evaluator.takeBindings(bound);
  return makespanTicks < Evaluator::kNever;
}

void SearchState::moveTo(TaskId task, DeviceId device) {
  for (TaskId member : units.membersWith(task)) {
    DeviceId &at = encoding.devices[member.index()];
    if (at == device)
      continue;
    deviceChanges.push_back({member, at});
    at = device;
  }
}

std::pair<uint32_t, uint32_t> SearchState::window(TaskId task) const {
  uint32_t first = 0, last = uint32_t(encoding.order.size()) - 1;
  for (const Evaluator::Edge &edge : evaluator.edgesInto(task))
    first = std::max(first, position[edge.producer] + 1);
  for (uint32_t number : evaluator.edgesOutOf(task))
    last = std::min(last, position[evaluator.edge(number).user] - 1);
  return {first, last};
}

void SearchState::shiftRaw(uint32_t from, uint32_t to) {
  const TaskId task = encoding.order[from];
  for (uint32_t at = from; at < to; ++at)
    place(encoding.order[at + 1], at);
  for (uint32_t at = from; at > to; --at)
    place(encoding.order[at - 1], at);
  place(task, to);
}

void SearchState::shift(TaskId task, uint32_t to) {
  shiftedFrom = position[task.index()];
  shiftedTo = to;
  shifted = shiftedFrom != shiftedTo;
  if (shifted)
    shiftRaw(shiftedFrom, shiftedTo);
}

bool SearchState::isIdle() const {
  if (!deviceChanges.empty())
    return false;
  if (!shifted)
    return true;
  if (evaluator.queues())
    return false;
  // The other tasks of the device stay in order if the shifted one has passed none of them.
  const DeviceId device = deviceOf(encoding.order[shiftedTo]);
  const uint32_t low = std::min(shiftedFrom, shiftedTo), high = std::max(shiftedFrom, shiftedTo);
  for (uint32_t at = low; at <= high; ++at)
    if (at != shiftedTo && deviceOf(encoding.order[at]) == device)
      return false;
  return true;
}

void SearchState::undo() {
  for (size_t change = deviceChanges.size(); change-- > 0;)
    encoding.devices[deviceChanges[change].task.index()] = deviceChanges[change].from;
  deviceChanges.clear();
  if (shifted)
    shiftRaw(shiftedTo, shiftedFrom);
  shifted = false;
}

bool SearchState::settle(int64_t limit) {
  const int64_t ticks = evaluator.decode(encoding, limit, trial);
  if (ticks > limit || ticks >= Evaluator::kNever) {
    undo();
    return false;
  }
  finish.swap(trial);
  makespanTicks = ticks;
  deviceChanges.clear();
  shifted = chainKnown = false;
  evaluator.takeBindings(bound);
  return true;
}

void SearchState::sortByStart() {
  byStart.clear();
  for (uint32_t at = 0; at < encoding.order.size(); ++at)
    byStart.push_back({startOf(encoding.order[at]), at});
  std::sort(byStart.begin(), byStart.end());
  scratch.assign(encoding.order.begin(), encoding.order.end());
  for (uint32_t at = 0; at < byStart.size(); ++at)
    place(scratch[byStart[at].second], at);
}

// ---- the critical chain

TaskId SearchState::tightOnDevice(TaskId task) const {
  const int64_t start = startOf(task);
  const DeviceId device = deviceOf(task);
  // On a device that tasks share, the one that made room may stand anywhere before: look a little.
  int tries = evaluator.isShared(device) ? 64 : int(encoding.order.size());
  for (uint32_t at = position[task.index()]; at-- > 0 && tries > 0; --tries) {
    const TaskId other = encoding.order[at];
    if (deviceOf(other) != device)
      continue;
    if (finish[other.index()] == start)
      return other;
    if (!evaluator.isShared(device))
      break;
  }
  return TaskId();
}

TaskId SearchState::tightPredecessor(TaskId task) const {
  if (evaluator.queues())
    return bound[task.index()];
  const int64_t start = startOf(task);
  const DeviceId device = deviceOf(task);
  for (const Evaluator::Edge &edge : evaluator.edgesInto(task)) {
    const TaskId producer(size_t{edge.producer});
    if (finish[edge.producer] + evaluator.delay(edge, deviceOf(producer), device) == start)
      return producer;
  }
  return start == evaluator.release(task, device) ? TaskId() : tightOnDevice(task);
}

std::span<const TaskId> SearchState::criticalChain() {
  if (chainKnown)
    return chain;
  chainKnown = true;
  chain.clear();
  TaskId last;
  int64_t latest = -1;
  for (TaskId task : encoding.order) {
    const int64_t end = finish[task.index()] + evaluator.home(task, deviceOf(task));
    if (end > latest) {
      latest = end;
      last = task;
    }
  }
  for (; last.valid(); last = tightPredecessor(last))
    chain.push_back(last);
  return chain;
}

} // namespace autopar::planning
