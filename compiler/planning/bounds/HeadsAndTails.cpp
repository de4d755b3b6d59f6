#include "compiler/planning/bounds/HeadsAndTails.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "compiler/planning/bounds/WorkBounds.h"

namespace autopar::planning {

// ---- the join rule

namespace {

/// Completion on one device of the first `count` of `list`, which `byRelease` orders.
int64_t completionOf(const std::vector<Neighbour> &list, const std::vector<uint32_t> &byRelease,
                     size_t count) {
  int64_t time = 0, latest = 0;
  for (uint32_t index : byRelease) {
    if (index >= count)
      continue;
    time = std::max(time, list[index].release) + list[index].work;
    latest = std::max(latest, list[index].finish);
  }
  return std::max(time, latest);
}

int64_t joinMany(const std::vector<Neighbour> &list) {
  std::vector<uint32_t> byRelease(list.size());
  std::iota(byRelease.begin(), byRelease.end(), 0);
  std::sort(byRelease.begin(), byRelease.end(), [&](uint32_t a, uint32_t b) {
    return list[a].release != list[b].release ? list[a].release < list[b].release : a < b;
  });
  // Those before `mostLocal` can be local; completion grows with their number, and what is still
  // awaited falls: the least maximum is where the two cross.
  const size_t mostLocal =
      size_t(std::find_if(list.begin(), list.end(),
                          [](const Neighbour &n) { return n.finish >= kNever; }) -
             list.begin());
  auto awaited = [&](size_t local) { return local < list.size() ? list[local].remote : 0; };
  size_t low = 0, high = mostLocal + 1; // the first with completion >= awaited; may not exist
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (middle > mostLocal || completionOf(list, byRelease, middle) >= awaited(middle))
      high = middle;
    else
      low = middle + 1;
  }
  int64_t time = low > 0 ? awaited(low - 1) : kNever;
  if (low <= mostLocal)
    time = std::min(time, completionOf(list, byRelease, low));
  return time;
}

int64_t joinFew(std::vector<Neighbour> &list) {
  constexpr size_t kFew = 8;
  uint32_t byRelease[kFew];
  int64_t completion = 0;
  for (size_t local = 0;; ++local) {
    const int64_t awaited = local < list.size() ? list[local].remote : 0;
    const int64_t before = local > 0 ? list[local - 1].remote : kNever;
    if (completion >= awaited)
      return std::min(before, completion);
    if (list[local].finish >= kNever)
      return awaited;
    size_t at = local;
    for (; at > 0 && list[byRelease[at - 1]].release > list[local].release; --at)
      byRelease[at] = byRelease[at - 1];
    byRelease[at] = uint32_t(local);
    int64_t time = 0;
    for (size_t i = 0; i <= local; ++i)
      time = std::max(time, list[byRelease[i]].release) + list[byRelease[i]].work;
    completion = std::max({completion, time, list[local].finish});
  }
}

int64_t joinTwo(const Neighbour &late, const Neighbour &early) {
  const bool isOrdered = late.release <= early.release;
  const Neighbour &first = isOrdered ? late : early, &second = isOrdered ? early : late;
  const int64_t inTurn = std::max(first.release + first.work, second.release) + second.work;
  const int64_t both = std::max({inTurn, late.finish, early.finish});
  return std::min({late.remote, std::max(late.finish, early.remote), both});
}

} // namespace

int64_t joinTime(std::vector<Neighbour> &list) {
  if (list.empty())
    return 0;
  if (list.size() == 1)
    return std::min(list[0].finish, list[0].remote);
  if (list.size() == 2)
    return list[0].remote >= list[1].remote ? joinTwo(list[0], list[1]) : joinTwo(list[1], list[0]);
  std::sort(list.begin(), list.end(),
            [](const Neighbour &a, const Neighbour &b) { return a.remote > b.remote; });
  return list.size() <= 8 ? joinFew(list) : joinMany(list);
}

// ---- the gate rule

double gateTime(std::vector<GateItem> &items) {
  // All enter; then, while that takes longer, what is made here most cheaply for its passage is.
  double made = 0, entered = 0;
  size_t divisible = 0;
  for (const GateItem &item : items) {
    if (std::isinf(item.passage))
      made += item.work;
    else
      entered += item.passage;
    if (!std::isinf(item.passage) && !std::isinf(item.work) && item.passage > 0)
      items[divisible++] = item;
  }
  items.resize(divisible);
  std::sort(items.begin(), items.end(), [](const GateItem &a, const GateItem &b) {
    return a.work * b.passage < b.work * a.passage;
  });
  for (const GateItem &item : items) {
    if (made >= entered)
      break;
    const double part = std::min(1.0, (entered - made) / (item.work + item.passage));
    made += part * item.work;
    entered -= part * item.passage;
  }
  return std::max(made, entered);
}

// ---- the two passes

namespace {

class Passes {
public:
  explicit Passes(const BoundModel &model)
      : model(model), graph(model.graph()), count(model.classCount()),
        slot(graph.taskCount(), kNoSlot) {}

  HeadsAndTails run() {
    result.head.assign(graph.taskCount() * count, kNever);
    result.tail.assign(graph.taskCount() * count, kNever);
    arrivals.assign(graph.valueCount() * count, kNever);
    std::span<const TaskId> order = graph.topologicalOrder();
    for (TaskId task : order)
      findHeads(task);
    arrivals = {};
    for (size_t position = order.size(); position-- > 0;)
      findTails(order[position]);
    for (size_t task = 0; task < graph.taskCount(); ++task) {
      int64_t shortest = kNever;
      for (size_t at = 0; at < count; ++at)
        if (const size_t i = task * count + at; result.head[i] < kNever && result.tail[i] < kNever)
          shortest = std::min(shortest,
                              result.head[i] + model.duration(TaskId(task), at) + result.tail[i]);
      result.longestNs = std::max(result.longestNs, shortest);
    }
    return std::move(result);
  }

private:
  static constexpr uint32_t kNoSlot = 0xffffffffu;

  bool needsGate() const { return model.hasGates() && neighbours.size() > 1; }

  /// Each neighbour once, in order of appearance: its place in the lists.
  uint32_t slotOf(TaskId task) {
    uint32_t &place = slot[task.index()];
    if (place == kNoSlot) {
      place = uint32_t(neighbours.size());
      neighbours.push_back(task);
      remotes.resize(neighbours.size() * count, 0);
      if (model.hasGates())
        passages.resize(neighbours.size() * count, 0);
    }
    return place;
  }
  /// The gate rule for the neighbours of a task on class `at`. Before it, all values of a neighbour
  /// enter; after it, a value leaves once, whoever wants it elsewhere.
  int64_t gateOn(size_t at, const std::vector<int64_t> &times, bool isBefore) {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    int64_t release = kNever;
    ValueId last; // the value of items[shared]
    size_t shared = 0;
    items.clear();
    for (size_t i = 0; i < neighbours.size(); ++i) {
      const int64_t *own = &times[neighbours[i].index() * count];
      release = std::min(release, *std::min_element(own, own + count));
      const double work = own[at] < kNever ? double(model.work(neighbours[i], at)) : kInfinite;
      if (remotes[i * count + at] >= kNever) {
        items.push_back({work, kInfinite});
      } else if (isBefore) {
        items.push_back({work, double(passages[i * count + at])});
      } else if (last.valid() && last == leaving[i]) {
        items[shared].work += work;
      } else {
        last = leaving[i];
        shared = items.size();
        items.push_back({work, double(model.leaveNs(last, at))});
      }
    }
    if (release >= kNever)
      return 0;
    const double time = gateTime(items);
    return std::isinf(time) ? 0 : release + roundUpSafely(time, 2 * neighbours.size());
  }

  void clearNeighbours() {
    for (TaskId task : neighbours)
      slot[task.index()] = kNoSlot;
    neighbours.clear();
    remotes.clear();
    passages.clear();
    leaving.clear();
  }

  /// Join of the neighbours on class `at`, whose own times are in `times`.
  int64_t joinOn(size_t at, const std::vector<int64_t> &times) {
    list.clear();
    for (size_t i = 0; i < neighbours.size(); ++i) {
      const int64_t release = times[neighbours[i].index() * count + at];
      const bool isPossible = release < kNever;
      list.push_back({release, isPossible ? release + model.duration(neighbours[i], at) : kNever,
                      isPossible ? model.work(neighbours[i], at) : 0, remotes[i * count + at]});
    }
    return joinTime(list);
  }

  void findHeads(TaskId task) {
    for (ValueId operand : graph.operands(task))
      if (TaskId producer = graph.value(operand).producer; producer.valid()) {
        const uint32_t place = slotOf(producer);
        for (size_t at = 0; at < count; ++at) {
          int64_t &remote = remotes[place * count + at];
          remote = std::max(remote, arrivals[operand.index() * count + at]);
          if (model.hasGates())
            passages[place * count + at] += model.enterNs(operand, at);
        }
      }
    int64_t *head = &result.head[task.index() * count];
    for (size_t at = 0; at < count; ++at)
      if (model.duration(task, at) >= 0)
        head[at] = std::max({model.inputsArrive(task, at), joinOn(at, result.head),
                             needsGate() ? gateOn(at, result.head, true) : 0});
    clearNeighbours();
    finish.assign(count, kNever);
    for (size_t at = 0; at < count; ++at)
      if (head[at] < kNever)
        finish[at] = head[at] + model.duration(task, at);
    for (ValueId value : graph.produced(task))
      sendAll(value, &arrivals[value.index() * count]);
  }

  /// Earliest arrivals of `value`, whose producer ends at `finish`, when they are from elsewhere.
  void sendAll(ValueId value, int64_t *arrival) {
    if (model.isCoarse()) {
      findTwoLeast(finish);
      const int64_t transit = model.leastTransit(value);
      for (size_t to = 0; to < count; ++to)
        arrival[to] = std::min(kNever, leastElsewhere(to) + transit + model.waitNs(to));
      return;
    }
    for (size_t to = 0; to < count; ++to)
      for (size_t from = 0; from < count; ++from)
        if (finish[from] < kNever)
          arrival[to] = std::min(arrival[to], finish[from] + model.crossing(value, from, to));
  }

  // The two least of a list by class, so that the least of the other devices is found at once.
  void findTwoLeast(const std::vector<int64_t> &times) {
    least = second = 0;
    leastTime = secondTime = kNever;
    for (size_t at = 0; at < count; ++at) {
      if (times[at] < leastTime) {
        second = least, secondTime = leastTime;
        least = at, leastTime = times[at];
      } else if (times[at] < secondTime) {
        second = at, secondTime = times[at];
      }
      if (model.deviceClass(least).count > 1 && secondTime > leastTime)
        second = least, secondTime = leastTime;
    }
  }
  int64_t leastElsewhere(size_t at) const { return least == at ? secondTime : leastTime; }

  void findTails(TaskId task) {
    for (ValueId value : graph.produced(task))
      for (TaskId user : graph.users(value)) {
        const bool isNew = slot[user.index()] == kNoSlot;
        const uint32_t place = slotOf(user);
        needAll(value, user, &remotes[place * count]);
        if (isNew)
          leaving.push_back(value);
      }
    int64_t *tail = &result.tail[task.index() * count];
    for (size_t at = 0; at < count; ++at)
      if (model.duration(task, at) >= 0)
        tail[at] = std::max({model.resultsLand(task, at), joinOn(at, result.tail),
                             needsGate() ? gateOn(at, result.tail, false) : 0});
    clearNeighbours();
  }

  /// Raises by class of the producer the least time from `value` to the end by way of `user`
  /// elsewhere.
  void needAll(ValueId value, TaskId user, int64_t *remote) {
    finish.assign(count, kNever); // from the start of the user to the end
    for (size_t at = 0; at < count; ++at)
      if (const int64_t tail = result.tail[user.index() * count + at]; tail < kNever)
        finish[at] = tail + model.duration(user, at);
    if (model.isCoarse()) {
      for (size_t at = 0; at < count; ++at)
        finish[at] = std::min(kNever, finish[at] + model.waitNs(at));
      findTwoLeast(finish);
      const int64_t transit = model.leastTransit(value);
      for (size_t from = 0; from < count; ++from)
        remote[from] = std::max(remote[from], std::min(kNever, leastElsewhere(from) + transit));
      return;
    }
    for (size_t from = 0; from < count; ++from) {
      int64_t shortest = kNever;
      for (size_t to = 0; to < count; ++to)
        if (finish[to] < kNever)
          shortest = std::min(shortest, model.crossing(value, from, to) + finish[to]);
      remote[from] = std::max(remote[from], shortest);
    }
  }

  const BoundModel &model;
  const TaskGraph &graph;
  const size_t count; // of classes
  HeadsAndTails result;
  std::vector<int64_t> arrivals; // [value][class]: from elsewhere
  std::vector<uint32_t> slot;    // by task: place in `neighbours`
  std::vector<TaskId> neighbours;
  std::vector<int64_t> remotes;  // [place][class]
  std::vector<int64_t> passages; // [place][class]: of its values through the gate
  std::vector<ValueId> leaving;  // [place], of successors: the first value they share with the task
  std::vector<GateItem> items;
  std::vector<int64_t> finish; // by class
  std::vector<Neighbour> list;
  size_t least = 0, second = 0;
  int64_t leastTime = 0, secondTime = 0;
};

} // namespace

HeadsAndTails computeHeadsAndTails(const BoundModel &model) { return Passes(model).run(); }

} // namespace autopar::planning
