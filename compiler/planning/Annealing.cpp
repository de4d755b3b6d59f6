#include "compiler/planning/Annealing.h"

#include <algorithm>
#include <cmath>

namespace autopar::planning {

namespace {

class Annealing {
public:
  Annealing(Evaluator &evaluator, const Units &units, SearchRandom &random)
      : evaluator(evaluator), units(units), random(random), state(evaluator, units),
        marks(evaluator.taskCount(), 0) {}

  void run(const SearchGoal &goal, double heat, Incumbent &incumbent);

private:
  TaskId pickTask();
  DeviceId pickDevice(TaskId task);
  void moveDevice(TaskId task);
  void moveInOrder(TaskId task);
  void moveConnectedGroup(TaskId seed);
  void swapTails();
  void propose();

  Evaluator &evaluator;
  const Units &units;
  SearchRandom &random;
  SearchState state;
  std::vector<TaskId> group;
  std::vector<uint32_t> marks; // by task: number of the group it was last in
  uint32_t groupNumber = 0;
};

/// One of the critical chain every other time: moves there are the ones that help, but alone they
/// get stuck.
TaskId Annealing::pickTask() {
  if (random.below(2) == 0)
    if (std::span<const TaskId> chain = state.criticalChain(); !chain.empty())
      return chain[random.below(chain.size())];
  return TaskId(size_t{random.below(evaluator.taskCount())});
}

/// Another device than the task's own, if there is one.
DeviceId Annealing::pickDevice(TaskId task) {
  std::span<const DeviceId> choices = units.choices(task);
  const DeviceId own = state.deviceOf(task);
  if (choices.size() < 2)
    return own;
  DeviceId device = choices[random.below(choices.size() - 1)];
  return device == own ? choices.back() : device;
}

void Annealing::moveDevice(TaskId task) { state.moveTo(task, pickDevice(task)); }

void Annealing::moveInOrder(TaskId task) {
  auto [first, last] = state.window(task);
  if (first < last)
    state.shift(task, first + random.below(last - first + 1));
}

/// A few tasks that edges connect go to one device: what no single move can do, since each alone
/// would pay the transfers.
void Annealing::moveConnectedGroup(TaskId seed) {
  const size_t wanted = 2 + random.below(6);
  ++groupNumber;
  group.assign(1, seed);
  marks[seed.index()] = groupNumber;
  for (size_t tries = 0; tries < 3 * wanted && group.size() < wanted; ++tries) {
    TaskId from = group[random.below(group.size())];
    auto into = evaluator.edgesInto(from);
    auto outOf = evaluator.edgesOutOf(from);
    if (into.size() + outOf.size() == 0)
      continue;
    const size_t pick = random.below(into.size() + outOf.size());
    TaskId next(size_t{pick < into.size() ? into[pick].producer
                                          : evaluator.edge(outOf[pick - into.size()]).user});
    if (marks[next.index()] == groupNumber)
      continue;
    marks[next.index()] = groupNumber;
    group.push_back(next);
  }
  std::span<const DeviceId> choices = units.choices(seed);
  const DeviceId device = choices[random.below(choices.size())];
  for (TaskId task : group)
    if (units.mayGo(task, device))
      state.moveTo(task, device);
}

/// From a position on, two devices exchange their tasks.
void Annealing::swapTails() {
  const size_t count = evaluator.deviceCount();
  const DeviceId a(size_t{random.below(count)});
  DeviceId b(size_t{random.below(count - 1)});
  if (b == a)
    b = DeviceId(count - 1);
  const std::vector<TaskId> &order = state.current().order;
  for (size_t at = random.below(order.size()); at < order.size(); ++at) {
    const TaskId task = order[at];
    const DeviceId own = state.deviceOf(task);
    if ((own != a && own != b) || !units.isAlone(task))
      continue;
    if (DeviceId other = own == a ? b : a; units.mayGo(task, other))
      state.moveTo(task, other);
  }
}

void Annealing::propose() {
  const TaskId task = pickTask();
  const bool canMove = units.canMove(task);
  const uint32_t kind = random.below(100);
  if (kind < 10 && units.anyCanMove())
    return moveConnectedGroup(task);
  if (kind < 15 && units.anyCanMove())
    return swapTails();
  if (kind < 65 && canMove)
    moveDevice(task);
  if (kind >= 55 || !canMove)
    moveInOrder(task);
}

void Annealing::run(const SearchGoal &goal, double heat, Incumbent &incumbent) {
  if (!state.load(incumbent.encoding()))
    return;
  const uint64_t begin = evaluator.placements();
  const double share = std::min(0.05, heat / double(evaluator.taskCount()));
  const double first = share * double(state.makespan()), last = first * 0.01;
  double temperature = first;
  for (uint64_t steps = 0, idle = 0; evaluator.placements() + idle < goal.placements; ++steps) {
    if (steps % 16 == 0) {
      const double done = double(evaluator.placements() - begin) / double(goal.placements - begin);
      temperature = first * std::pow(last / first, done);
    }
    propose();
    if (state.isIdle()) {
      state.undo();
      ++idle;
      continue;
    }
    const double threshold = -temperature * std::log(random.fraction());
    if (state.settle(state.makespan() + int64_t(threshold)) && incumbent.offer(state) &&
        incumbent.makespanNs() <= goal.enoughNs)
      return;
  }
}

} // namespace

void anneal(Evaluator &evaluator, const Units &units, const SearchGoal &goal, double heat,
            SearchRandom &random, Incumbent &incumbent) {
  Annealing(evaluator, units, random).run(goal, heat, incumbent);
}

} // namespace autopar::planning
