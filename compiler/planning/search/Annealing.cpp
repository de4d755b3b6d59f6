#include "compiler/planning/search/Annealing.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace autopar::planning {

namespace {

/// Tasks in a group that moves together.
constexpr size_t kMostGrouped = 12;

class Annealing {
public:
  Annealing(Evaluator &evaluator, const Units &units, SearchRandom &random)
      : evaluator(evaluator), units(units), random(random), state(evaluator, units),
        marks(evaluator.taskCount(), 0) {}

  void run(const SearchGoal &goal, double heat, Incumbent &incumbent);

private:
  TaskId pickTask();
  DeviceId pickDevice(TaskId task);
  TaskId pickNeighbour(TaskId task);
  int64_t weightOfSomeEdge(TaskId task);
  void moveDevice(TaskId task);
  void moveInOrder(TaskId task);
  void moveConnectedGroup(TaskId seed);
  void exchange(TaskId task);
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

/// To any other device, or to that of a neighbour.
void Annealing::moveDevice(TaskId task) {
  DeviceId device = state.deviceOf(task);
  if (random.below(2) == 0)
    device = state.deviceOf(pickNeighbour(task));
  if (device == state.deviceOf(task) || !units.mayGo(task, device))
    device = pickDevice(task);
  state.moveTo(task, device);
}

void Annealing::moveInOrder(TaskId task) {
  auto [first, last] = state.window(task);
  if (first < last)
    state.shift(task, first + random.below(last - first + 1));
}

/// The task at the other end of one of the edges of `task`; itself if it has none.
TaskId Annealing::pickNeighbour(TaskId task) {
  auto into = evaluator.edgesInto(task);
  auto outOf = evaluator.edgesOutOf(task);
  if (into.size() + outOf.size() == 0)
    return task;
  const size_t pick = random.below(into.size() + outOf.size());
  return TaskId(size_t{pick < into.size() ? into[pick].producer
                                          : evaluator.edge(outOf[pick - into.size()]).user});
}

/// A few tasks that edges connect go to one device: what no single move can do, since each alone
/// would pay the transfers. The group grows over edges at least as heavy as a random one of the
/// seed's, over the tasks on the seed's device, or over any edges.
void Annealing::moveConnectedGroup(TaskId seed) {
  const uint32_t kind = random.below(10);
  const bool heavy = kind < 5, same = !heavy && kind < 7;
  const int64_t threshold = heavy ? weightOfSomeEdge(seed) : 0;
  const size_t most = 2 + random.below(std::min<size_t>(kMostGrouped, evaluator.taskCount()));
  uint64_t coins = random.next();
  group.assign(1, seed);
  marks[seed.index()] = ++groupNumber;
  auto consider = [&](const Evaluator::Edge &edge, uint32_t other) {
    if (group.size() >= most || marks[other] == groupNumber)
      return;
    const TaskId task(size_t{other});
    coins = std::rotr(coins, 1);
    if (heavy  ? evaluator.weight(edge) < threshold
        : same ? state.deviceOf(task) != state.deviceOf(seed)
               : (coins & 1) != 0)
      return;
    marks[other] = groupNumber;
    group.push_back(task);
  };
  for (size_t at = 0; at < group.size() && group.size() < most; ++at) {
    const TaskId from = group[at];
    for (const Evaluator::Edge &edge : evaluator.edgesInto(from))
      consider(edge, edge.producer);
    for (uint32_t number : evaluator.edgesOutOf(from))
      consider(evaluator.edge(number), evaluator.edge(number).user);
  }
  // To some device, or to where a neighbour is already.
  std::span<const DeviceId> choices = units.choices(seed);
  DeviceId device = choices[random.below(choices.size())];
  if (random.below(2) == 0)
    device = state.deviceOf(pickNeighbour(group[random.below(group.size())]));
  for (TaskId task : group)
    if (units.mayGo(task, device))
      state.moveTo(task, device);
}

/// The weight of one of the edges of `task`; 0 without any.
int64_t Annealing::weightOfSomeEdge(TaskId task) {
  auto into = evaluator.edgesInto(task);
  auto outOf = evaluator.edgesOutOf(task);
  if (into.size() + outOf.size() == 0)
    return 0;
  const size_t pick = random.below(into.size() + outOf.size());
  return evaluator.weight(pick < into.size() ? into[pick]
                                             : evaluator.edge(outOf[pick - into.size()]));
}

/// Two tasks exchange their devices, which keeps the loads; the other one is any, or stands near
/// in the order.
void Annealing::exchange(TaskId task) {
  constexpr int kTries = 4;
  for (int tries = 0; tries < kTries; ++tries) {
    size_t at = random.below(evaluator.taskCount());
    if (random.below(2) == 0) {
      const size_t reach = 2 * evaluator.deviceCount(), own = state.positionOf(task);
      at = own + random.below(2 * reach + 1);
      if (at < reach || at - reach >= evaluator.taskCount())
        continue;
      at -= reach;
    }
    const TaskId other = state.current().order[at];
    const DeviceId here = state.deviceOf(task), there = state.deviceOf(other);
    if (here == there || !units.mayGo(task, there) || !units.mayGo(other, here))
      continue;
    state.moveTo(task, there);
    state.moveTo(other, here);
    return;
  }
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
  const uint32_t kind = random.below(100);
  if (kind < 20 && units.anyCanMove())
    return moveConnectedGroup(task);
  if (kind < 25 && units.anyCanMove())
    return swapTails();
  if (kind < 37 && units.canMove(task))
    return exchange(task);
  if (kind < 77 && units.canMove(task))
    moveDevice(task);
  if (kind >= 67 || !units.canMove(task))
    moveInOrder(task);
}

void Annealing::run(const SearchGoal &goal, double heat, Incumbent &incumbent) {
  if (!state.load(incumbent.encoding()))
    return;
  const uint64_t begin = evaluator.placements();
  const double share = std::min(0.05, heat / double(evaluator.taskCount()));
  const double first = share * double(state.makespan()), last = first * 0.03;
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
