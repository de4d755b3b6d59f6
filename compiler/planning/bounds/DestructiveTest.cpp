#include "compiler/planning/bounds/DestructiveTest.h"

#include <algorithm>
#include <bit>

namespace autopar::planning {

namespace {

template <class Visit> void forEachBit(const uint64_t *set, size_t words, Visit visit) {
  for (size_t word = 0; word < words; ++word)
    for (uint64_t bits = set[word]; bits != 0; bits &= bits - 1)
      visit(word * 64 + size_t(std::countr_zero(bits)));
}

} // namespace

// ---- the graph

bool DestructiveTest::isSensible(const BoundModel &model) {
  const size_t tasks = model.graph().taskCount(), classes = model.classCount();
  constexpr size_t kMostClasses = 32;
  return tasks > 0 && tasks <= kMostTasks && classes <= kMostClasses &&
         tasks * classes * classes <= 100'000;
}

DestructiveTest::DestructiveTest(const BoundModel &model, const HeadsAndTails &times,
                                 std::vector<Prices> prices)
    : model(model), times(times), taskCount(model.graph().taskCount()), count(model.classCount()),
      words((taskCount + 63) / 64), prices(std::move(prices)), energy(model) {
  for (TaskId task : model.graph().topologicalOrder())
    order.push_back(task.value);
  collectEdges();
  collectAncestors();
  set.resize(words);
  base.resize(words);
}

void DestructiveTest::collectEdges() {
  const TaskGraph &graph = model.graph();
  inBegin.assign(taskCount + 1, 0);
  outBegin.assign(taskCount + 1, 0);
  std::vector<uint32_t> edgeFrom(taskCount, 0xffffffffu); // by producer: its edge to this task
  for (size_t to = 0; to < taskCount; ++to) {
    const size_t first = edges.size();
    for (ValueId operand : graph.operands(TaskId(to))) {
      const TaskId producer = graph.value(operand).producer;
      if (!producer.valid())
        continue;
      uint32_t &edge = edgeFrom[producer.index()];
      if (edge >= edges.size() || edge < first || edges[edge].from != producer.value) {
        edge = uint32_t(edges.size());
        edges.push_back({producer.value, uint32_t(to)});
        crossings.resize(crossings.size() + count * count, 0);
      }
      for (size_t at = 0; at < count; ++at)
        for (size_t other = 0; other < count; ++other) {
          int64_t &time = crossings[(edge * count + at) * count + other];
          time = std::max(time, model.crossing(operand, at, other));
        }
    }
    inBegin[to + 1] = uint32_t(edges.size());
  }
  inEdges.resize(edges.size());
  outEdges.resize(edges.size());
  for (const Edge &edge : edges)
    ++outBegin[edge.from + 1];
  for (size_t task = 0; task < taskCount; ++task)
    outBegin[task + 1] += outBegin[task];
  std::vector<uint32_t> next(outBegin.begin(), outBegin.end() - 1);
  for (uint32_t edge = 0; edge < edges.size(); ++edge) {
    inEdges[edge] = edge;
    outEdges[next[edges[edge].from]++] = edge;
  }
}

void DestructiveTest::collectAncestors() {
  earlier.assign(taskCount * words, 0);
  later.assign(taskCount * words, 0);
  auto add = [&](std::vector<Word> &sets, size_t to, size_t from) {
    for (size_t word = 0; word < words; ++word)
      sets[to * words + word] |= sets[from * words + word];
    sets[to * words + from / 64] |= Word{1} << (from % 64);
  };
  for (uint32_t task : order)
    for (uint32_t i = inBegin[task]; i < inBegin[task + 1]; ++i)
      add(earlier, task, edges[inEdges[i]].from);
  for (size_t position = order.size(); position-- > 0;)
    for (uint32_t i = outBegin[order[position]]; i < outBegin[order[position] + 1]; ++i)
      add(later, order[position], edges[outEdges[i]].to);
}

// ---- what is known

void DestructiveTest::reset() {
  head = times.head;
  tail = times.tail;
  cluster.resize(taskCount);
  members.assign(taskCount * words, 0);
  allowedOf.assign(taskCount, 0);
  for (size_t task = 0; task < taskCount; ++task) {
    cluster[task] = uint32_t(task);
    members[task * words + task / 64] |= Word{1} << (task % 64);
    for (size_t at = 0; at < count; ++at)
      if (head[task * count + at] < kNever && tail[task * count + at] < kNever)
        allowedOf[task] |= uint64_t{1} << at;
  }
}

bool DestructiveTest::exclude(size_t task, size_t at) {
  changed = true;
  return (allowedOf[cluster[task]] &= ~(uint64_t{1} << at)) != 0;
}

bool DestructiveTest::unite(size_t a, size_t b) {
  uint32_t first = cluster[a], second = cluster[b];
  if (first == second)
    return true;
  changed = true;
  if (second < first)
    std::swap(first, second);
  forEachBit(&members[second * words], words, [&](size_t task) { cluster[task] = first; });
  for (size_t word = 0; word < words; ++word)
    members[first * words + word] |= members[second * words + word];
  return (allowedOf[first] &= allowedOf[second]) != 0;
}

/// Co-location groups, and what a single device must run.
bool DestructiveTest::uniteForced() {
  std::vector<uint32_t> only(count, 0xffffffffu), group;
  for (size_t task = 0; task < taskCount; ++task) {
    const uint32_t number = model.graph().task(TaskId(task)).colocationGroup;
    if (number != kNoGroup) {
      if (number >= group.size())
        group.resize(number + 1, 0xffffffffu);
      if (group[number] == 0xffffffffu)
        group[number] = uint32_t(task);
      if (!unite(group[number], task))
        return false;
    }
  }
  for (size_t task = 0; task < taskCount; ++task) {
    if (!std::has_single_bit(allowed(task)))
      continue;
    const size_t at = size_t(std::countr_zero(allowed(task)));
    if (model.deviceClass(at).count > 1)
      continue;
    if (only[at] == 0xffffffffu)
      only[at] = uint32_t(task);
    if (!unite(only[at], task))
      return false;
  }
  return true;
}

// ---- heads and tails

/// When what crosses `edge` is there if `other`, its far end, is on another device than `at`.
template <bool Forward>
int64_t DestructiveTest::remoteTime(size_t edge, size_t other, size_t at) const {
  const std::vector<int64_t> &time = Forward ? head : tail;
  int64_t least = kNever;
  for (uint64_t classes = allowed(other); classes != 0; classes &= classes - 1) {
    const size_t there = size_t(std::countr_zero(classes));
    const int64_t way = Forward ? crossing(edge, there, at) : crossing(edge, at, there);
    if (way < kNever)
      least =
          std::min(least, time[other * count + there] + model.duration(TaskId(other), there) + way);
  }
  return least;
}

template <bool Forward>
int64_t DestructiveTest::completion(const std::vector<Word> &tasks, size_t at) {
  const std::vector<int64_t> &time = Forward ? head : tail;
  oneMachine.jobs.clear();
  int64_t latest = 0;
  forEachBit(tasks.data(), words, [&](size_t task) {
    const int64_t release = time[task * count + at];
    oneMachine.jobs.push_back({release, model.work(TaskId(task), at), 0});
    latest = std::max(latest, release + model.duration(TaskId(task), at));
  });
  stepCount += 5 + 10 * oneMachine.jobs.size();
  return std::max(latest, oneMachine.completion());
}

/// The join rule, where what shares a cluster comes along: a neighbour that is local brings those
/// of its cluster that lie before the task (after it, backward).
template <bool Forward> int64_t DestructiveTest::join(size_t task, size_t at) {
  const Word *before = Forward ? &earlier[task * words] : &later[task * words];
  const std::vector<uint32_t> &begin = Forward ? inBegin : outBegin;
  const std::vector<uint32_t> &list = Forward ? inEdges : outEdges;
  const uint32_t own = cluster[task];
  entries.clear();
  for (uint32_t i = begin[task]; i < begin[task + 1]; ++i) {
    const uint32_t other = Forward ? edges[list[i]].from : edges[list[i]].to;
    if (cluster[other] != own)
      entries.push_back(
          {other, (allowed(other) >> at & 1) != 0, remoteTime<Forward>(list[i], other, at)});
  }
  stepCount += 5 + 10 * entries.size();
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return a.remote > b.remote; });
  for (size_t word = 0; word < words; ++word)
    base[word] = before[word] & members[own * words + word];
  auto completionWith = [&](size_t local) {
    set = base;
    for (size_t i = 0; i < local; ++i)
      for (size_t word = 0; word < words; ++word)
        set[word] |= before[word] & members[cluster[entries[i].task] * words + word];
    return completion<Forward>(set, at);
  };
  auto awaited = [&](size_t local) { return local < entries.size() ? entries[local].remote : 0; };
  const size_t mostLocal =
      size_t(std::find_if(entries.begin(), entries.end(),
                          [](const Entry &entry) { return !entry.canBeLocal; }) -
             entries.begin());
  // See joinTime(): the least maximum is where completion passes what is awaited.
  size_t low = 0, high = std::min(mostLocal + 1, entries.size() + 1);
  int64_t atLow = kNever; // completion with `high` local, once known
  while (low < high) {
    const size_t middle = high - low > 6 ? (low + high) / 2 : low;
    const int64_t time = middle > mostLocal ? kNever : completionWith(middle);
    if (time >= awaited(middle)) {
      high = middle;
      atLow = time;
    } else {
      low = middle + 1;
    }
  }
  return std::min(atLow, low > 0 ? awaited(low - 1) : kNever);
}

template <bool Forward> bool DestructiveTest::pass() {
  std::vector<int64_t> &time = Forward ? head : tail;
  for (size_t i = 0; i < taskCount; ++i) {
    const size_t task = order[Forward ? i : taskCount - 1 - i];
    for (uint64_t classes = allowed(task); classes != 0; classes &= classes - 1) {
      const size_t at = size_t(std::countr_zero(classes));
      const int64_t joined = join<Forward>(task, at);
      int64_t &known = time[task * count + at];
      if (joined > known) {
        known = joined;
        changed = true;
      }
      if (head[task * count + at] + model.duration(TaskId(task), at) + tail[task * count + at] >
              limit &&
          !exclude(task, at))
        return false;
    }
  }
  return true;
}

// ---- clusters

bool DestructiveTest::linkEdges() {
  for (size_t edge = 0; edge < edges.size(); ++edge) {
    const auto [from, to] = edges[edge];
    if (cluster[from] == cluster[to])
      continue;
    bool canCross = false;
    for (uint64_t classes = allowed(to); classes != 0 && !canCross; classes &= classes - 1) {
      const size_t at = size_t(std::countr_zero(classes));
      const int64_t rest = model.duration(TaskId(size_t(to)), at) + tail[to * count + at];
      canCross = remoteTime<true>(edge, from, at) + rest <= limit;
    }
    stepCount += 5;
    if (!canCross && !unite(from, to))
      return false;
  }
  return true;
}

/// Length on one device of class `at` of the tasks of `tasks`.
int64_t DestructiveTest::lengthOf(const Word *tasks, size_t at) {
  oneMachine.jobs.clear();
  forEachBit(tasks, words, [&](size_t task) {
    oneMachine.jobs.push_back(
        {head[task * count + at], model.work(TaskId(task), at), tail[task * count + at]});
  });
  stepCount += 20 * oneMachine.jobs.size();
  return oneMachine.length();
}

bool DestructiveTest::testClusters() {
  for (size_t task = 0; task < taskCount; ++task) {
    if (cluster[task] != task)
      continue;
    for (uint64_t classes = allowedOf[task]; classes != 0; classes &= classes - 1) {
      const size_t at = size_t(std::countr_zero(classes));
      if (lengthOf(&members[task * words], at) > limit && !exclude(task, at))
        return false;
    }
  }
  return true;
}

// ---- intervals

bool DestructiveTest::isOverfull() {
  energy.clear();
  for (size_t task = 0; task < taskCount; ++task) {
    for (uint64_t classes = allowed(task); classes != 0; classes &= classes - 1) {
      const size_t at = size_t(std::countr_zero(classes));
      const int64_t duration = model.duration(TaskId(task), at);
      energy.addWindow(
          {uint32_t(at), head[task * count + at], limit - tail[task * count + at], duration,
           duration > 0 ? double(model.work(TaskId(task), at)) / double(duration) : 0.0});
    }
    energy.endTask();
  }
  for (const Prices &start : prices)
    if (energy.isOverfull(start))
      return true;
  return false;
}

// ----

bool DestructiveTest::deduce() {
  constexpr int kMostRounds = 30;
  for (int round = 0; round < kMostRounds; ++round) {
    changed = false;
    if (!uniteForced() || !pass<true>() || !pass<false>() || !linkEdges() || !testClusters())
      return false;
    if (!changed)
      break;
  }
  return true;
}

/// A class on which a cluster cannot be is out for it.
bool DestructiveTest::shaveAll() {
  State saved;
  for (bool again = true; again;) {
    again = false;
    for (size_t task = 0; task < taskCount; ++task) {
      if (cluster[task] != task || std::popcount(allowedOf[task]) < 2)
        continue;
      for (uint64_t classes = allowedOf[task]; classes != 0; classes &= classes - 1) {
        const size_t at = size_t(std::countr_zero(classes));
        saved = known;
        allowedOf[task] = uint64_t{1} << at;
        const bool stands = deduce();
        known = saved;
        if (stands)
          continue;
        if (!exclude(task, at) || !deduce())
          return false;
        again = true;
        if (cluster[task] != task || std::popcount(allowedOf[task]) < 2)
          break;
      }
    }
  }
  return true;
}

bool DestructiveTest::refutes(int64_t limitNs, bool shave) {
  limit = limitNs;
  reset();
  if (std::find(allowedOf.begin(), allowedOf.end(), 0) != allowedOf.end())
    return false; // there is no plan at all; not for this test to say
  if (!deduce() || isOverfull())
    return true;
  return shave && (!shaveAll() || isOverfull());
}

} // namespace autopar::planning
