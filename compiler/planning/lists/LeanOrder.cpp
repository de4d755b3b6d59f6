#include "compiler/planning/lists/LeanOrder.h"

#include <algorithm>

namespace autopar::planning {

namespace {

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

} // namespace

std::vector<TaskId> leanOrder(const TaskGraph &graph) {
  DepthFirst plain(graph, /*giversFirst=*/false), givers(graph, /*giversFirst=*/true);
  plain.run();
  givers.run();
  return givers.peak() < plain.peak() ? givers.order() : plain.order();
}

} // namespace autopar::planning
