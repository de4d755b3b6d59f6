#include "compiler/planning/search/Evaluator.h"

#include <algorithm>

namespace autopar::planning {

int64_t Evaluator::decode(const Encoding &encoding, int64_t limit, std::vector<int64_t> &finish) {
  limit = std::min(limit, kNoLimit);
  finish.resize(taskCount());
  clearDevices();
  if (!someEngine)
    return someShared ? decodeFree<true>(encoding, limit, finish.data())
                      : decodeFree<false>(encoding, limit, finish.data());
  clearQueues();
  return someShared ? decodeQueued<true>(encoding, limit, finish.data())
                    : decodeQueued<false>(encoding, limit, finish.data());
}

void Evaluator::clearDevices() {
  std::fill(frontier.begin(), frontier.end(), 0);
  if (someShared)
    for (size_t device = 0; device < numDevices; ++device)
      if (shared[device])
        profiles[device].clear();
}

void Evaluator::clearQueues() {
  for (FlatEngine &engine : engines)
    engine.clear();
  for (uint32_t copy : copied)
    copies[copy] = -1;
  copied.clear();
  std::fill(lastOn.begin(), lastOn.end(), TaskId());
}

/// Start of `task`, which is reserved too.
template <bool Shared>
inline int64_t Evaluator::startOn(size_t task, size_t device, int64_t ready) {
  const int64_t duration = rows[task * numDevices + device].duration;
  if (!Shared || !shared[device]) {
    int64_t start = std::max(ready, frontier[device]);
    frontier[device] = start + duration;
    return start;
  }
  if (duration >= kNever)
    return kNever;
  FlatProfile &profile = profiles[device];
  const uint32_t share = problem.table.share(TaskId(task), DeviceId(device));
  int64_t start = share == kFullOccupancy ? std::max(ready, profile.frontier())
                                          : profile.firstFit(ready, duration, share);
  profile.reserve(start, start + duration, share);
  return start;
}

// A task's finish and its tail are a lower bound of the makespan, and the largest of these is the
// makespan: the last task's tail is its results' way home.
template <bool Shared>
int64_t Evaluator::decodeFree(const Encoding &encoding, int64_t limit, int64_t *finish) {
  const DeviceId *const devices = encoding.devices.data();
  const uint32_t *const kinds = routeKind.data();
  const int64_t *const delay = delays.data();
  int64_t makespan = inputsHome;
  uint64_t count = 0;
  for (TaskId task : encoding.order) {
    const size_t device = devices[task.index()].index();
    const Row &row = rows[task.index() * numDevices + device];
    int64_t ready = row.release;
    const Edge *const end = edges.data() + edgeBegin[task.index() + 1];
    for (const Edge *edge = edges.data() + edgeBegin[task.index()]; edge != end; ++edge) {
      const size_t from = devices[edge->producer].index();
      ready = std::max(ready, finish[edge->producer] +
                                  delay[edge->delays + kinds[from * numDevices + device]]);
    }
    ++count;
    if (Shared && ready > limit) {
      makespan = kNever;
      break;
    }
    const int64_t end_ = startOn<Shared>(task.index(), device, ready) + row.duration;
    finish[task.index()] = end_;
    makespan = std::max(makespan, end_ + row.tail);
    if (makespan > limit) {
      makespan = kNever;
      break;
    }
  }
  placed += count;
  return makespan > limit ? kNever : makespan;
}

/// End of a transfer that has all of several engines to itself, which is reserved too.
int64_t Evaluator::bookTogether(const uint32_t *list, size_t count, int64_t start,
                                int64_t duration) {
  places.clear();
  for (size_t i = 0; i < count; ++i)
    places.push_back(engines[list[i]].find(start));
  constexpr int kMostRounds = 64; // as in ScheduleBuilder::bookLink
  int rounds = 0;
  for (size_t agreed = 0, i = 0; agreed < count && rounds < kMostRounds; ++rounds) {
    int64_t fit = engines[list[i]].firstFit(places[i], start, duration);
    agreed = fit == start ? agreed + 1 : 1;
    start = fit;
    i = i + 1 == count ? 0 : i + 1;
  }
  if (rounds == kMostRounds) {
    for (size_t i = 0; i < count; ++i)
      start = std::max(start, engines[list[i]].frontier());
    for (size_t i = 0; i < count; ++i)
      places[i] = engines[list[i]].find(start);
  }
  for (size_t i = 0; i < count; ++i)
    engines[list[i]].reserve(places[i], start, start + duration);
  return start + duration;
}

// Time at which the copy over `id` is complete; see ScheduleBuilder::bookLink.
int64_t Evaluator::bookLink(uint32_t value, LinkId id, int64_t ready) {
  const Hop &hop = hops[id.index()];
  const int64_t duration = hopTicks[value * numSpeeds + hop.speed];
  const uint32_t *const list = linkEngines.data() + hop.engineBegin;
  const size_t count = hop.engineEnd - hop.engineBegin;
  int64_t start = ready;
  for (size_t i = 0; i < count; ++i)
    if (engineStamp[list[i]] == stamp)
      start = std::max(start, engineFloor[list[i]]);
  int64_t arrival;
  if (count == 1) {
    FlatEngine &engine = engines[list[0]];
    size_t place = engine.find(start);
    start = engine.firstFit(place, start, duration);
    arrival = start + duration;
    engine.reserve(place, start, arrival);
  } else {
    arrival = bookTogether(list, count, start, duration);
  }
  for (size_t i = 0; i < count; ++i) {
    engineStamp[list[i]] = stamp;
    engineFloor[list[i]] = arrival;
  }
  const size_t copy = value * numDevices + problem.machine.link(id).to.index();
  copies[copy] = arrival;
  copied.push_back(uint32_t(copy));
  return arrival;
}

/// Copies the missing operands to `device`; when all are there and waited for.
int64_t Evaluator::bookMissing(size_t device, int64_t ready, uint32_t &binder) {
  ++stamp;
  for (const Missing &item : missing) {
    const Route &route = problem.machine.route(DeviceId(size_t{item.from}), DeviceId(device));
    if (!route.exists())
      return kNever;
    const uint32_t value = item.operand->value;
    int64_t there;
    if (route.viaHost()) {
      int64_t atHost = copies[value * numDevices + problem.machine.host().index()];
      there = atHost >= 0 ? atHost : bookLink(value, route.first, item.ready);
      there = bookLink(value, route.second, there);
    } else {
      there = bookLink(value, route.first, item.ready);
    }
    if (there + waitTicks[device] > ready) {
      ready = there + waitTicks[device];
      binder = item.operand->producer;
    }
  }
  return ready;
}

int64_t Evaluator::sendResultsHome(const Encoding &encoding, int64_t makespan, int64_t limit,
                                   const int64_t *finish) {
  waysHome.clear();
  for (size_t index = 0; index < results.size(); ++index) {
    const Wanted &result = results[index];
    const bool made = result.producer != kNone;
    const uint32_t from = made ? encoding.devices[result.producer].value : result.resident;
    if (from != result.destination)
      waysHome.push_back({made ? finish[result.producer] : 0, uint32_t(index)});
  }
  std::sort(waysHome.begin(), waysHome.end(), [](const WayHome &a, const WayHome &b) {
    return a.ready != b.ready ? a.ready < b.ready : a.result < b.result;
  });
  for (const WayHome &way : waysHome) {
    const Wanted &result = results[way.result];
    const uint32_t from =
        result.producer != kNone ? encoding.devices[result.producer].value : result.resident;
    ++stamp;
    if (copies[result.value * numDevices + result.destination] >= 0)
      continue;
    const Route &route =
        problem.machine.route(DeviceId(size_t{from}), DeviceId(size_t{result.destination}));
    if (!route.exists())
      return kNever;
    int64_t there = way.ready;
    if (route.viaHost()) {
      int64_t atHost = copies[result.value * numDevices + problem.machine.host().index()];
      there = atHost >= 0 ? atHost : bookLink(result.value, route.first, there);
      there = bookLink(result.value, route.second, there);
    } else {
      there = bookLink(result.value, route.first, there);
    }
    makespan = std::max(makespan, there);
    if (makespan > limit)
      return kNever;
  }
  return makespan;
}

template <bool Shared>
int64_t Evaluator::decodeQueued(const Encoding &encoding, int64_t limit, int64_t *finish) {
  const DeviceId *const devices = encoding.devices.data();
  int64_t makespan = 0;
  for (TaskId task : encoding.order) {
    const uint32_t device = devices[task.index()].value;
    const Row &row = rows[task.index() * numDevices + device];
    int64_t ready = 0;
    uint32_t binder = kNone;
    missing.clear();
    const Operand *const end = operands.data() + operandBegin[task.index() + 1];
    for (const Operand *operand = operands.data() + operandBegin[task.index()]; operand != end;
         ++operand) {
      const bool made = operand->producer != kNone;
      const uint32_t from = made ? devices[operand->producer].value : operand->resident;
      const int64_t there = made ? finish[operand->producer] : 0;
      int64_t usable = there;
      if (from != device) {
        if (!operand->needsTransfer) {
          usable = there + waitTicks[device];
        } else if (int64_t copy = copies[operand->value * numDevices + device]; copy >= 0) {
          usable = copy + waitTicks[device];
        } else {
          // By time, then value: operands come in the order of values.
          missing.push_back({there, operand, from});
          for (size_t i = missing.size() - 1; i > 0 && missing[i - 1].ready > there; --i)
            std::swap(missing[i - 1], missing[i]);
          continue;
        }
      }
      if (usable > ready) {
        ready = usable;
        binder = operand->producer;
      }
    }
    ++placed;
    if (!missing.empty())
      ready = bookMissing(device, ready, binder);
    if (ready > limit)
      return kNever;
    const int64_t start = startOn<Shared>(task.index(), device, ready);
    const int64_t finished = start + row.duration;
    finish[task.index()] = finished;
    if (finished + row.tail > limit)
      return kNever;
    makespan = std::max(makespan, finished);
    bindings[task.index()] = start > ready     ? lastOn[device]
                             : binder != kNone ? TaskId(size_t{binder})
                                               : TaskId();
    lastOn[device] = task;
  }
  return results.empty() ? makespan : sendResultsHome(encoding, makespan, limit, finish);
}

} // namespace autopar::planning
