#include "compiler/planning/search/TabuSearch.h"

#include <algorithm>

namespace autopar::planning {

namespace {

/// Tasks tried per step.
constexpr size_t kMostCandidates = 12;

class TabuSearch {
public:
  TabuSearch(Evaluator &evaluator, const Units &units, SearchRandom &random)
      : evaluator(evaluator), units(units), random(random), state(evaluator, units),
        count(evaluator.taskCount()), before(count), after(count), head(count), tail(count),
        onDevice(evaluator.deviceCount()), tabuUntil(count * evaluator.deviceCount(), 0) {}

  void run(const SearchGoal &goal, Incumbent &incumbent);

private:
  struct Move {
    int64_t estimate = Evaluator::kNever;
    TaskId task, next; // invalid next: after all tasks of the device that may stand before it
    DeviceId device;
    uint32_t position = 0; // where `next` is, or the end of the window
  };

  void link();
  int64_t tailOf(TaskId task, TaskId next) const;
  int64_t headOf(TaskId task, TaskId last) const;
  void pickCritical();
  void takeOut(TaskId task);
  void putBack(TaskId task);
  void tryAll(TaskId task, int64_t best);
  void tryDevice(TaskId task, DeviceId device, uint32_t low, uint32_t high);
  void apply();
  void kick(const Incumbent &incumbent);
  int64_t durationOf(TaskId task) const { return evaluator.duration(task, state.deviceOf(task)); }
  bool isTabu(TaskId task, DeviceId device) const {
    return tabuUntil[task.index() * evaluator.deviceCount() + device.index()] > iteration;
  }

  Evaluator &evaluator;
  const Units &units;
  SearchRandom &random;
  SearchState state;
  size_t count;
  std::vector<TaskId> before, after;         // by task: its neighbours on its device
  std::vector<int64_t> head, tail;           // by task: longest path to its finish; from its finish
  std::vector<std::vector<TaskId>> onDevice; // by device, in order
  std::vector<uint64_t> tabuUntil;           // [task][device]: iteration
  std::vector<TaskId> critical;
  std::vector<int64_t> saved;
  uint64_t iteration = 0, passes = 0;
  Move chosen;
  uint32_t ties = 0;
};

/// The tasks' neighbours on their devices, heads and tails of the current schedule.
void TabuSearch::link() {
  for (std::vector<TaskId> &list : onDevice)
    list.clear();
  const std::vector<TaskId> &order = state.current().order;
  for (TaskId task : order) {
    std::vector<TaskId> &list = onDevice[state.deviceOf(task).index()];
    before[task.index()] = list.empty() ? TaskId() : list.back();
    after[task.index()] = TaskId();
    if (!list.empty())
      after[list.back().index()] = task;
    list.push_back(task);
  }
  head = state.finishes();
  for (size_t at = order.size(); at-- > 0;)
    tail[order[at].index()] = tailOf(order[at], after[order[at].index()]);
  passes += count;
}

int64_t TabuSearch::tailOf(TaskId task, TaskId next) const {
  const DeviceId device = state.deviceOf(task);
  int64_t longest = evaluator.home(task, device);
  if (next.valid())
    longest = std::max(longest, durationOf(next) + tail[next.index()]);
  for (uint32_t number : evaluator.edgesOutOf(task)) {
    const Evaluator::Edge &edge = evaluator.edge(number);
    const TaskId user(size_t{edge.user});
    const DeviceId to = state.deviceOf(user);
    longest = std::max(longest, evaluator.delay(edge, device, to) + evaluator.duration(user, to) +
                                    tail[edge.user]);
  }
  return longest;
}

int64_t TabuSearch::headOf(TaskId task, TaskId last) const {
  const DeviceId device = state.deviceOf(task);
  int64_t ready = evaluator.release(task, device);
  if (last.valid())
    ready = std::max(ready, head[last.index()]);
  for (const Evaluator::Edge &edge : evaluator.edgesInto(task))
    ready = std::max(
        ready, head[edge.producer] +
                   evaluator.delay(edge, state.deviceOf(TaskId(size_t{edge.producer})), device));
  return ready + evaluator.duration(task, device);
}

void TabuSearch::pickCritical() {
  critical.clear();
  for (TaskId task : state.current().order)
    if (head[task.index()] + tail[task.index()] >= state.makespan())
      critical.push_back(task);
  const size_t wanted = std::min(critical.size(), kMostCandidates);
  for (size_t i = 0; i < wanted; ++i)
    std::swap(critical[i], critical[i + random.below(critical.size() - i)]);
  critical.resize(wanted);
}

/// Heads behind `task` and tails before it as they are without it.
void TabuSearch::takeOut(TaskId task) {
  const std::vector<TaskId> &order = state.current().order;
  const uint32_t at = state.positionOf(task);
  const TaskId last = before[task.index()], next = after[task.index()];
  saved.resize(count);
  for (uint32_t i = at + 1; i < order.size(); ++i) {
    const TaskId other = order[i];
    saved[other.index()] = head[other.index()];
    if (other == next)
      head[other.index()] = headOf(other, last);
    else
      head[other.index()] = headOf(other, before[other.index()]);
  }
  for (uint32_t i = at; i-- > 0;) {
    const TaskId other = order[i];
    saved[other.index()] = tail[other.index()];
    tail[other.index()] = tailOf(other, other == last ? next : after[other.index()]);
  }
  passes += order.size();
}

void TabuSearch::putBack(TaskId task) {
  const std::vector<TaskId> &order = state.current().order;
  const uint32_t at = state.positionOf(task);
  for (uint32_t i = at + 1; i < order.size(); ++i)
    head[order[i].index()] = saved[order[i].index()];
  for (uint32_t i = 0; i < at; ++i)
    tail[order[i].index()] = saved[order[i].index()];
}

void TabuSearch::tryDevice(TaskId task, DeviceId device, uint32_t low, uint32_t high) {
  int64_t ready = evaluator.release(task, device), rest = evaluator.home(task, device);
  for (const Evaluator::Edge &edge : evaluator.edgesInto(task))
    ready = std::max(
        ready, head[edge.producer] +
                   evaluator.delay(edge, state.deviceOf(TaskId(size_t{edge.producer})), device));
  for (uint32_t number : evaluator.edgesOutOf(task)) {
    const Evaluator::Edge &edge = evaluator.edge(number);
    const TaskId user(size_t{edge.user});
    const DeviceId to = state.deviceOf(user);
    rest = std::max(rest, evaluator.delay(edge, device, to) + evaluator.duration(user, to) +
                              tail[edge.user]);
  }
  const int64_t duration = evaluator.duration(task, device);
  const bool own = device == state.deviceOf(task);
  const std::vector<TaskId> &list = onDevice[device.index()];
  auto place =
      std::lower_bound(list.begin(), list.end(), low, [&](TaskId other, uint32_t position) {
        return state.positionOf(other) < position;
      });
  TaskId last = place == list.begin() ? TaskId() : *(place - 1);
  if (last == task)
    last = before[task.index()];
  for (;; ++place) {
    if (place != list.end() && *place == task)
      continue;
    const TaskId next = place == list.end() ? TaskId() : *place;
    const bool inWindow = next.valid() && state.positionOf(next) <= high;
    const bool unchanged = own && last == before[task.index()] && next == after[task.index()];
    if (!unchanged) {
      const int64_t start = last.valid() ? std::max(ready, head[last.index()]) : ready;
      const int64_t behind =
          next.valid() ? std::max(rest, durationOf(next) + tail[next.index()]) : rest;
      const int64_t estimate = start + duration + behind;
      // Of equally good ones each is as likely.
      if (estimate < chosen.estimate)
        ties = 0;
      if (estimate <= chosen.estimate && random.below(++ties) == 0)
        chosen = {estimate, task, inWindow ? next : TaskId(), device,
                  inWindow ? state.positionOf(next) : high};
    }
    if (!inWindow)
      break;
    last = next;
  }
}

void TabuSearch::tryAll(TaskId task, int64_t best) {
  auto [low, high] = state.window(task);
  if (!units.isAlone(task) || !units.canMove(task)) {
    tryDevice(task, state.deviceOf(task), low, high);
    return;
  }
  for (DeviceId device : units.choices(task)) {
    const Move kept = chosen;
    const uint32_t keptTies = ties;
    tryDevice(task, device, low, high);
    if (isTabu(task, device) && chosen.task == task && chosen.device == device &&
        chosen.estimate >= best) {
      chosen = kept;
      ties = keptTies;
    }
  }
}

void TabuSearch::apply() {
  const TaskId task = chosen.task;
  const DeviceId old = state.deviceOf(task);
  if (chosen.device != old)
    state.moveTo(task, chosen.device);
  uint32_t to = chosen.position;
  if (chosen.next.valid() && state.positionOf(task) < to)
    --to; // the task leaves its place first
  state.shift(task, to);
  state.settle(Evaluator::kNoLimit);
  tabuUntil[task.index() * evaluator.deviceCount() + old.index()] =
      iteration + 5 + random.below(count / 2 + 5);
}

void TabuSearch::kick(const Incumbent &incumbent) {
  state.load(incumbent.encoding());
  for (int moves = 0; moves < 3; ++moves) {
    const TaskId task(size_t{random.below(count)});
    std::span<const DeviceId> choices = units.choices(task);
    state.moveTo(task, choices[random.below(choices.size())]);
    auto [low, high] = state.window(task);
    if (low < high)
      state.shift(task, low + random.below(high - low + 1));
    state.settle(Evaluator::kNoLimit);
  }
  std::fill(tabuUntil.begin(), tabuUntil.end(), 0);
}

void TabuSearch::run(const SearchGoal &goal, Incumbent &incumbent) {
  if (!state.load(incumbent.encoding()))
    return;
  const uint64_t patience = 300 + 10 * count;
  uint64_t idle = 0;
  for (; evaluator.placements() + passes < goal.placements; ++iteration) {
    state.sortByStart();
    link();
    pickCritical();
    chosen = Move();
    ties = 0;
    for (TaskId task : critical) {
      takeOut(task);
      tryAll(task, incumbent.makespanTicks());
      putBack(task);
    }
    ++idle;
    if (!chosen.task.valid() || idle > patience) {
      kick(incumbent);
      idle = 0;
      ++passes; // even without anything to move this comes to an end
    } else {
      apply();
    }
    if (incumbent.offer(state)) {
      idle = 0;
      if (incumbent.makespanNs() <= goal.enoughNs)
        break;
    }
  }
  evaluator.addPlacements(passes);
}

} // namespace

bool canSearchTabu(const Evaluator &evaluator) {
  return !evaluator.queues() && !evaluator.anyShared();
}

void searchTabu(Evaluator &evaluator, const Units &units, const SearchGoal &goal,
                SearchRandom &random, Incumbent &incumbent) {
  TabuSearch(evaluator, units, random).run(goal, incumbent);
}

} // namespace autopar::planning
