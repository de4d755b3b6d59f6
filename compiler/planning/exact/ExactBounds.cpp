#include "compiler/planning/exact/ExactBounds.h"

#include <algorithm>
#include <bit>

namespace autopar::planning {

namespace {

constexpr int64_t kNever = ExactProblem::kNever;

/// Calls `visit` with the number of each bit that is set, lowest first.
template <class Word, class Visit> void forEachBit(Word set, Visit visit) {
  for (; set != 0; set &= set - 1)
    visit(uint32_t(std::countr_zero(set)));
}

std::vector<uint64_t> ancestorSets(const ExactProblem &problem) {
  std::vector<uint64_t> sets(problem.taskCount(), 0);
  for (uint32_t task = 0; task < problem.taskCount(); ++task)
    for (const ExactProblem::Edge &edge : problem.incoming(task))
      sets[task] |= sets[edge.from] | uint64_t{1} << edge.from;
  return sets;
}

} // namespace

int64_t joinedArrival(JoinItem *items, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    JoinItem item = items[i];
    size_t j = i;
    for (; j > 0 && items[j - 1].remote < item.remote; --j)
      items[j] = items[j - 1];
    items[j] = item;
  }
  std::array<JoinItem, ExactProblem::kMostTasks> local; // by head
  int64_t serial = 0, best = kNever;
  for (size_t k = 0;; ++k) {
    best = std::min(best, std::max(serial, k < count ? items[k].remote : 0));
    if (k == count || serial >= best || items[k].duration >= kNever)
      return best;
    size_t j = k;
    for (; j > 0 && local[j - 1].head > items[k].head; --j)
      local[j] = local[j - 1];
    local[j] = items[k];
    serial = 0;
    for (j = 0; j <= k; ++j)
      serial = std::max(serial, local[j].head) + local[j].duration;
  }
}

ExactBounds::ExactBounds(const ExactProblem &problem, const ExactProblem &reversed)
    : problem(problem), forward{problem, ancestorSets(problem), {}}, backward{
                                                                         reversed,
                                                                         ancestorSets(reversed),
                                                                         {}} {}

int64_t ExactBounds::slack(uint32_t task, uint32_t device) const {
  return target - head(task, device) - problem.duration(task, device) - tail(task, device);
}

int64_t ExactBounds::remoteArrival(const Side &side, const ExactProblem::Edge &edge,
                                   uint32_t device, uint32_t fromDevices) const {
  int64_t arrival = kNever;
  forEachBit(fromDevices & ~(1u << device), [&](uint32_t from) {
    arrival =
        std::min(arrival, side.heads[at(edge.from, from)] + side.problem.duration(edge.from, from) +
                              side.problem.delay(edge, from, device));
  });
  return arrival;
}

// Heads only grow: what was true with more choices stays true with fewer.
void ExactBounds::updateHeads(Side &side, bool mirrored) {
  auto forwardNumber = [&](uint32_t task) { return mirrored ? problem.mirror(task) : task; };
  std::array<JoinItem, ExactProblem::kMostTasks> items;
  for (uint32_t task = 0; task < problem.taskCount(); ++task) {
    const uint32_t self = forwardNumber(task);
    forEachBit(devices[self], [&](uint32_t device) {
      int64_t &head = side.heads[at(task, device)];
      size_t count = 0;
      for (const ExactProblem::Edge &edge : side.problem.incoming(task)) {
        const uint32_t source = forwardNumber(edge.from);
        const bool together = clusters[source] == clusters[self];
        const bool canBeHere = (devices[source] >> device & 1) != 0;
        items[count++] = {together ? kNever : remoteArrival(side, edge, device, devices[source]),
                          side.heads[at(edge.from, device)],
                          canBeHere ? side.problem.duration(edge.from, device) : kNever};
      }
      head = std::max(head, joinedArrival(items.data(), count));
      // Everything of the cluster that comes before the task, whether it hands it a value or not.
      count = 0;
      uint64_t before = side.ancestors[task];
      forEachBit(before, [&](uint32_t other) {
        if (clusters[forwardNumber(other)] == clusters[self])
          items[count++] = {kNever, side.heads[at(other, device)],
                            side.problem.duration(other, device)};
      });
      if (count > 0)
        head = std::max(head, joinedArrival(items.data(), count));
      head = std::min(head, kNever);
    });
  }
}

bool ExactBounds::filterDevices(bool &changed) {
  for (uint32_t task = 0; task < problem.taskCount(); ++task) {
    uint32_t left = 0;
    forEachBit(devices[task], [&](uint32_t device) {
      if (slack(task, device) >= 0)
        left |= 1u << device;
    });
    // What one task of a cluster cannot use none can.
    forEachBit(members[clusters[task]], [&](uint32_t other) {
      changed |= (devices[other] & ~left) != 0;
      devices[other] &= left;
    });
    if (devices[task] == 0)
      return false;
  }
  return true;
}

bool ExactBounds::mustBeLocal(const ExactProblem::Edge &edge) const {
  bool canCross = false;
  forEachBit(devices[edge.from], [&](uint32_t from) {
    const int64_t finish = head(edge.from, from) + problem.duration(edge.from, from);
    for (uint32_t others = devices[edge.to] & ~(1u << from); others != 0 && !canCross;
         others &= others - 1) {
      const uint32_t to = uint32_t(std::countr_zero(others));
      canCross = finish + problem.delay(edge, from, to) + problem.duration(edge.to, to) +
                     tail(edge.to, to) <=
                 target;
    }
  });
  return !canCross;
}

void ExactBounds::unite(uint32_t a, uint32_t b) {
  const uint32_t kept = std::min(clusters[a], clusters[b]);
  const uint32_t lost = std::max(clusters[a], clusters[b]);
  forEachBit(members[lost], [&](uint32_t task) { clusters[task] = kept; });
  members[kept] |= members[lost];
  members[lost] = 0;
}

bool ExactBounds::uniteForced() {
  bool changed = false;
  for (uint32_t index = 0; index < problem.edgeCount(); ++index) {
    const ExactProblem::Edge &edge = problem.edge(index);
    if (clusters[edge.from] != clusters[edge.to] && mustBeLocal(edge)) {
      unite(edge.from, edge.to);
      changed = true;
    }
  }
  // Tasks that are left with the same single device share it.
  for (uint32_t device = 0; device < problem.deviceCount(); ++device) {
    uint32_t first = ExactProblem::kNone;
    for (uint32_t task = 0; task < problem.taskCount(); ++task) {
      if (devices[task] != 1u << device)
        continue;
      if (first == ExactProblem::kNone) {
        first = task;
      } else if (clusters[first] != clusters[task]) {
        unite(first, task);
        changed = true;
      }
    }
  }
  return changed;
}

// The largest over all subsets of least head + work + least tail; it is reached by a set that holds
// everything from some head on and from some tail on.
int64_t ExactBounds::oneDeviceBound(uint64_t tasks, uint32_t device) const {
  std::array<uint32_t, ExactProblem::kMostTasks> byTail;
  size_t count = 0;
  forEachBit(tasks, [&](uint32_t task) { byTail[count++] = task; });
  std::sort(byTail.begin(), byTail.begin() + count, [&](uint32_t a, uint32_t b) {
    return std::pair(tail(b, device), a) < std::pair(tail(a, device), b);
  });
  int64_t longest = 0;
  forEachBit(tasks, [&](uint32_t first) {
    const int64_t from = head(first, device);
    int64_t work = 0;
    for (size_t i = 0; i < count; ++i)
      if (head(byTail[i], device) >= from) {
        work += problem.duration(byTail[i], device);
        longest = std::max(longest, from + work + tail(byTail[i], device));
      }
  });
  return longest;
}

bool ExactBounds::filterClusters(bool &changed) {
  for (uint32_t cluster = 0; cluster < problem.taskCount(); ++cluster) {
    const uint64_t tasks = members[cluster];
    if (std::popcount(tasks) < 2)
      continue;
    uint32_t left = devices[cluster];
    forEachBit(left, [&](uint32_t device) {
      if (oneDeviceBound(tasks, device) > target)
        left &= ~(1u << device);
    });
    changed |= left != devices[cluster];
    forEachBit(tasks, [&](uint32_t task) { devices[task] &= left; });
    if (left == 0)
      return false;
  }
  return true;
}

bool ExactBounds::propagate(int64_t newTarget) {
  target = newTarget;
  const size_t numTasks = problem.taskCount(), numDevices = problem.deviceCount();
  devices.assign(numTasks, 0);
  clusters.resize(numTasks);
  members.assign(numTasks, 0);
  forward.heads.resize(numTasks * numDevices);
  backward.heads.resize(numTasks * numDevices);
  for (uint32_t task = 0; task < numTasks; ++task) {
    clusters[task] = problem.cluster(task);
    members[clusters[task]] |= uint64_t{1} << task;
    for (uint32_t device = 0; device < numDevices; ++device) {
      forward.heads[at(task, device)] = problem.release(task, device);
      backward.heads[at(task, device)] = backward.problem.release(task, device);
      if (problem.duration(task, device) < kNever)
        devices[task] |= 1u << device;
    }
  }
  if (target < problem.floorTicks())
    return false;
  for (bool changed = true; changed;) {
    changed = false;
    updateHeads(forward, /*mirrored=*/false);
    updateHeads(backward, /*mirrored=*/true);
    if (!filterDevices(changed) || !filterClusters(changed))
      return false;
    changed |= uniteForced();
  }
  setPrices();
  return intervalsHold();
}

// Prices of device time by multiplicative weights; devices of one class share a price. Any prices
// are valid; these make the priced work large.
void ExactBounds::setPrices() {
  const size_t numDevices = problem.deviceCount();
  std::vector<double> price(numDevices, 1.0), bestPrice = price, load(numDevices);
  std::vector<double> classSize(numDevices, 0);
  for (uint32_t device = 0; device < numDevices; ++device)
    classSize[problem.deviceClass(device)] += 1;
  double best = -1;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds && numDevices > 0; ++round) {
    std::fill(load.begin(), load.end(), 0.0);
    double total = 0, sum = 0;
    for (double p : price)
      sum += p;
    for (uint32_t task = 0; task < problem.taskCount(); ++task) {
      uint32_t cheapest = uint32_t(std::countr_zero(devices[task]));
      auto cost = [&](uint32_t device) {
        return price[device] * double(problem.duration(task, device));
      };
      forEachBit(devices[task], [&](uint32_t device) {
        if (cost(device) < cost(cheapest))
          cheapest = device;
      });
      total += cost(cheapest) / sum;
      const uint32_t group = problem.deviceClass(cheapest);
      load[group] += double(problem.duration(task, cheapest)) / classSize[group];
    }
    if (total > best) {
      best = total;
      bestPrice = price;
      for (double &p : bestPrice)
        p /= sum;
    }
    const double most = *std::max_element(load.begin(), load.end());
    if (most <= 0)
      break;
    for (uint32_t device = 0; device < numDevices; ++device)
      price[device] = price[device] / sum *
                      (1 + 2.0 / (2.0 + round) * load[problem.deviceClass(device)] / most);
  }
  // Price x time is added up over at most kMostTasks tasks or kMostDevices devices.
  const double scale = std::min(double(1 << 20), double(int64_t{1} << 55) / double(target + 1));
  prices.resize(numDevices);
  for (size_t device = 0; device < numDevices; ++device)
    prices[device] = int64_t(bestPrice[device] * scale + 0.5);
}

// For each interval between a possible start and a possible end: the part of each task that falls
// into it however the task is shifted.
bool ExactBounds::intervalsHold() const {
  struct Window {
    int64_t start, duration, latestStart, price;
  };
  std::vector<std::vector<Window>> windows(problem.taskCount());
  std::vector<int64_t> begins = {0}, ends = {target};
  int64_t priceOfAll = 0;
  for (int64_t price : prices)
    priceOfAll += price;
  for (uint32_t task = 0; task < problem.taskCount(); ++task) {
    int64_t earliest = kNever, latest = 0;
    forEachBit(devices[task], [&](uint32_t device) {
      const int64_t start = head(task, device), duration = problem.duration(task, device);
      const int64_t latestStart = start + slack(task, device);
      const Window window{start, duration, latestStart, prices[device]};
      auto same = [&](const Window &other) {
        return window.start == other.start && window.duration == other.duration &&
               window.latestStart == other.latestStart && window.price == other.price;
      };
      if (std::none_of(windows[task].begin(), windows[task].end(), same))
        windows[task].push_back(window);
      earliest = std::min(earliest, start);
      latest = std::max(latest, latestStart + duration);
    });
    begins.push_back(earliest);
    ends.push_back(latest);
  }
  for (std::vector<int64_t> *points : {&begins, &ends}) {
    std::sort(points->begin(), points->end());
    points->erase(std::unique(points->begin(), points->end()), points->end());
  }
  for (int64_t begin : begins)
    for (int64_t end : ends) {
      if (end <= begin)
        continue;
      const int64_t space = (end - begin) * priceOfAll;
      int64_t work = 0;
      for (const std::vector<Window> &choices : windows) {
        int64_t least = kNever;
        for (const Window &w : choices) {
          int64_t part = std::min(
              {w.duration, end - begin, w.start + w.duration - begin, end - w.latestStart});
          least = std::min(least, std::max<int64_t>(0, part) * w.price);
        }
        work += least;
      }
      if (work > space)
        return false;
    }
  return true;
}

} // namespace autopar::planning
