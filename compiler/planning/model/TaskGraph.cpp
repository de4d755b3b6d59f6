#include "compiler/planning/model/TaskGraph.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "absl/strings/str_cat.h"

namespace autopar::planning {

TaskId TaskGraph::addTask(std::string label, std::span<const int64_t> costNs) {
  TaskId id(taskList.size());
  Task task;
  task.label = std::move(label);
  taskList.push_back(std::move(task));
  for (size_t device = 0; device < numDevices; ++device)
    costs.push_back(device < costNs.size() ? costNs[device] : kCannotRun);
  if (!shares.empty())
    shares.resize(costs.size(), kFullOccupancy);
  if (!memory.empty())
    memory.resize(costs.size(), 0);
  return id;
}

void TaskGraph::setOccupancy(TaskId task, DeviceId device, uint32_t share) {
  if (shares.empty())
    shares.resize(costs.size(), kFullOccupancy);
  shares[task.index() * numDevices + device.index()] = std::clamp(share, 1u, kFullOccupancy);
}

void TaskGraph::setMemoryBytes(TaskId task, DeviceId device, uint64_t bytes) {
  if (memory.empty())
    memory.resize(costs.size(), 0);
  memory[task.index() * numDevices + device.index()] = bytes;
}

ValueId TaskGraph::addValue(TaskId producer, uint64_t bytes) {
  Value value;
  value.producer = producer;
  value.bytes = bytes;
  valueList.push_back(value);
  return ValueId(valueList.size() - 1);
}

ValueId TaskGraph::addToken(TaskId producer) {
  ValueId id = addValue(producer, 0);
  valueList[id.index()].isToken = true;
  return id;
}

ValueId TaskGraph::addInput(DeviceId resident, uint64_t bytes) {
  ValueId id = addValue(TaskId(), bytes);
  valueList[id.index()].residentDevice = resident;
  return id;
}

namespace {

/// Prefix sums of how many of `count` keys each item has: begin[key] .. begin[key + 1].
template <class Items, class KeyOf>
std::vector<uint32_t> countByKey(size_t count, const Items &items, KeyOf keyOf) {
  std::vector<uint32_t> begin(count + 1, 0);
  for (const auto &item : items)
    ++begin[keyOf(item) + 1];
  for (size_t key = 0; key < count; ++key)
    begin[key + 1] += begin[key];
  return begin;
}

} // namespace

void TaskGraph::buildLists() {
  // By task, then value: two counting sorts.
  auto sortBy = [&](size_t count, auto keyOf) {
    std::vector<uint32_t> next = countByKey(count, uses, keyOf);
    std::vector<Use> sorted(uses.size());
    for (const Use &use : uses)
      sorted[next[keyOf(use)]++] = use;
    uses.swap(sorted);
  };
  sortBy(valueList.size(), [](const Use &use) { return use.value.index(); });
  sortBy(taskList.size(), [](const Use &use) { return use.task.index(); });
  uses.erase(std::unique(
                 uses.begin(), uses.end(),
                 [](const Use &a, const Use &b) { return a.task == b.task && a.value == b.value; }),
             uses.end());
  operandBegin = countByKey(taskList.size(), uses, [](const Use &use) { return use.task.index(); });
  userBegin = countByKey(valueList.size(), uses, [](const Use &use) { return use.value.index(); });
  operandList.clear();
  userList.resize(uses.size());
  std::vector<uint32_t> next(userBegin.begin(), userBegin.end() - 1);
  for (const Use &use : uses) {
    operandList.push_back(use.value);
    userList[next[use.value.index()]++] = use.task;
  }
  producedBegin.assign(taskList.size() + 1, 0);
  for (const Value &value : valueList)
    if (value.producer.valid())
      ++producedBegin[value.producer.index() + 1];
  for (size_t task = 0; task < taskList.size(); ++task)
    producedBegin[task + 1] += producedBegin[task];
  producedList.resize(producedBegin.back());
  next.assign(producedBegin.begin(), producedBegin.end() - 1);
  for (size_t index = 0; index < valueList.size(); ++index) {
    const Value &value = valueList[index];
    if (value.producer.valid())
      producedList[next[value.producer.index()]++] = ValueId(index);
  }
  std::sort(resultList.begin(), resultList.end());
  resultList.erase(std::unique(resultList.begin(), resultList.end()), resultList.end());
  uses.clear();
  uses.shrink_to_fit();
}

// Follows one unsatisfied operand from task to task until a task repeats.
std::string TaskGraph::describeCycle(std::span<const uint32_t> missingOperands) const {
  auto blockedProducer = [&](TaskId task) {
    for (ValueId operand : operands(task)) {
      TaskId producer = value(operand).producer;
      if (producer.valid() && missingOperands[producer.index()] > 0)
        return producer;
    }
    return TaskId();
  };
  TaskId current;
  for (size_t task = 0; task < taskList.size() && !current.valid(); ++task)
    if (missingOperands[task] > 0)
      current = TaskId(task);
  std::vector<TaskId> path;
  std::vector<uint32_t> position(taskList.size(), 0);
  while (position[current.index()] == 0) {
    path.push_back(current);
    position[current.index()] = path.size();
    current = blockedProducer(current);
  }
  path.erase(path.begin(), path.begin() + position[current.index()] - 1);
  std::string text = absl::StrCat("'", this->task(path.front()).label, "'");
  constexpr size_t kShown = 8;
  for (size_t i = 1; i < std::min(path.size(), kShown); ++i)
    absl::StrAppend(&text, " waits for '", this->task(path[i]).label, "'");
  if (path.size() > kShown)
    absl::StrAppend(&text, " waits for ", path.size() - kShown, " more tasks");
  absl::StrAppend(&text, " waits for '", this->task(path.front()).label, "'");
  return text;
}

absl::Status TaskGraph::orderTasks() {
  std::vector<uint32_t> missing(taskList.size(), 0);
  bool ascending = true;
  for (size_t task = 0; task < taskList.size(); ++task) {
    for (ValueId operand : operands(TaskId(task))) {
      TaskId producer = value(operand).producer;
      if (!producer.valid())
        continue;
      ++missing[task];
      ascending &= producer.index() < task;
    }
  }
  order.clear();
  order.reserve(taskList.size());
  if (ascending) {
    for (size_t task = 0; task < taskList.size(); ++task)
      order.push_back(TaskId(task));
    return absl::OkStatus();
  }
  std::priority_queue<TaskId, std::vector<TaskId>, std::greater<TaskId>> ready;
  for (size_t task = 0; task < taskList.size(); ++task)
    if (missing[task] == 0)
      ready.push(TaskId(task));
  while (!ready.empty()) {
    TaskId task = ready.top();
    ready.pop();
    order.push_back(task);
    for (ValueId value : produced(task))
      for (TaskId user : users(value))
        if (--missing[user.index()] == 0)
          ready.push(user);
  }
  if (order.size() == taskList.size())
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("tasks wait for each other in a cycle: ", describeCycle(missing),
                   "; remove one of these tokens or operands"));
}

std::span<const ProgramResult> TaskGraph::resultsOf(ValueId id) const {
  if (!value(id).isProgramResult)
    return {};
  auto begin = std::lower_bound(resultList.begin(), resultList.end(),
                                ProgramResult{id, DeviceId(size_t{0})});
  auto end =
      std::find_if(begin, resultList.end(), [&](const ProgramResult &r) { return r.value != id; });
  return {begin, end};
}

bool TaskGraph::mayRunOn(TaskId id, DeviceId device) const {
  const Task &task = taskList[id.index()];
  if (costNs(id, device) < 0 || (task.pinnedDevice.valid() && task.pinnedDevice != device))
    return false;
  return task.colocationGroup == kNoGroup ||
         groupDevices[task.colocationGroup][device.index()] != 0;
}

absl::Status TaskGraph::checkTasks() {
  for (size_t index = 0; index < taskList.size(); ++index) {
    const Task &task = taskList[index];
    if (task.pinnedDevice.valid() && task.pinnedDevice.index() >= numDevices)
      return absl::InvalidArgumentError(
          absl::StrCat("task '", task.label, "' is pinned to device ", task.pinnedDevice.value,
                       ", but the machine has ", numDevices, " devices"));
    bool canRun = false;
    for (size_t device = 0; device < numDevices; ++device) {
      int64_t cost = costNs(TaskId(index), DeviceId(device));
      if (cost < kCannotRun)
        return absl::InvalidArgumentError(absl::StrCat(
            "task '", task.label, "' has the negative cost ", cost, " ns on device ", device));
      canRun |= cost >= 0;
    }
    if (!canRun)
      return absl::InvalidArgumentError(
          absl::StrCat("no device of the machine can run task '", task.label,
                       "': it has no cost on any of them; give it one or add a device"));
    if (task.pinnedDevice.valid() && costNs(TaskId(index), task.pinnedDevice) < 0)
      return absl::InvalidArgumentError(
          absl::StrCat("task '", task.label, "' is pinned to device ", task.pinnedDevice.value,
                       ", which cannot run it; remove the pin or give it a cost there"));
  }
  for (const Value &value : valueList)
    if (!value.producer.valid() && value.residentDevice.valid() &&
        value.residentDevice.index() >= numDevices)
      return absl::InvalidArgumentError(
          absl::StrCat("a program input is on device ", value.residentDevice.value,
                       ", but the machine has ", numDevices, " devices"));
  for (const ProgramResult &result : resultList)
    if (result.device.valid() && result.device.index() >= numDevices)
      return absl::InvalidArgumentError(absl::StrCat("a program result is pinned to device ",
                                                     result.device.value, ", but the machine has ",
                                                     numDevices, " devices"));
  return absl::OkStatus();
}

absl::Status TaskGraph::checkGroups() {
  groupDevices.clear();
  for (size_t index = 0; index < taskList.size(); ++index) {
    const Task &task = taskList[index];
    if (task.colocationGroup == kNoGroup)
      continue;
    if (task.colocationGroup >= groupDevices.size())
      groupDevices.resize(task.colocationGroup + 1);
    std::vector<uint8_t> &allowed = groupDevices[task.colocationGroup];
    if (allowed.empty())
      allowed.assign(numDevices, 1);
    bool any = false;
    for (size_t device = 0; device < numDevices; ++device) {
      DeviceId id(device);
      if (costNs(TaskId(index), id) < 0 || (task.pinnedDevice.valid() && task.pinnedDevice != id))
        allowed[device] = 0;
      any |= allowed[device] != 0;
    }
    if (!any)
      return absl::InvalidArgumentError(
          absl::StrCat("no device can run task '", task.label,
                       "' together with the tasks that it is co-located with; check the costs and "
                       "pins of its group"));
  }
  return absl::OkStatus();
}

absl::Status TaskGraph::finalize() {
  buildLists();
  if (absl::Status status = checkTasks(); !status.ok())
    return status;
  if (absl::Status status = checkGroups(); !status.ok())
    return status;
  return orderTasks();
}

} // namespace autopar::planning
