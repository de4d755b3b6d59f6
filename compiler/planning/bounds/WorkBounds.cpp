#include "compiler/planning/bounds/WorkBounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace autopar::planning {

int64_t roundUpSafely(double ns, size_t terms) {
  const double error = double(terms + 16) * std::numeric_limits<double>::epsilon();
  return static_cast<int64_t>(std::max(0.0, std::ceil(ns * (1 - error) - 1e-6)));
}

// ---- prices

namespace {

/// Cheapest priced work of one task; its class in `chosen`.
double cheapest(const BoundModel &model, TaskId task, const Prices &prices, size_t &chosen) {
  double least = std::numeric_limits<double>::infinity();
  for (size_t at = 0; at < prices.size(); ++at)
    if (const int64_t work = model.work(task, at); work >= 0 && double(work) * prices[at] < least) {
      least = double(work) * prices[at];
      chosen = at;
    }
  return std::isfinite(least) ? least : 0;
}

Prices pricesOfTwo(const BoundModel &model, std::span<const uint32_t> tasks) {
  const double counts[] = {double(model.deviceClass(0).count), double(model.deviceClass(1).count)};
  auto pricesAt = [&](double part) { return Prices{part / counts[0], (1 - part) / counts[1]}; };
  auto worth = [&](double part) { return pricedWork(model, tasks, pricesAt(part)); };
  // The worth is concave in the part of the first class.
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  const int rounds = tasks.size() <= 20'000 ? 40 : 20;
  double low = 0, high = 1, left = 1 - ratio, right = ratio;
  double atLeft = worth(left), atRight = worth(right);
  for (int round = 0; round < rounds; ++round) {
    if (atLeft >= atRight) {
      high = right, right = left, atRight = atLeft;
      left = high - ratio * (high - low);
      atLeft = worth(left);
    } else {
      low = left, left = right, atLeft = atRight;
      right = low + ratio * (high - low);
      atRight = worth(right);
    }
  }
  return pricesAt(atLeft >= atRight ? left : right);
}

} // namespace

Prices equalPrices(const BoundModel &model) {
  return Prices(model.classCount(), 1.0 / double(model.deviceCount()));
}

double pricedWork(const BoundModel &model, std::span<const uint32_t> tasks, const Prices &prices) {
  double sum = 0;
  size_t chosen = 0;
  for (uint32_t task : tasks)
    sum += cheapest(model, TaskId(size_t(task)), prices, chosen);
  return sum;
}

Prices findPrices(const BoundModel &model, std::span<const uint32_t> tasks) {
  const size_t count = model.classCount();
  Prices prices = equalPrices(model);
  if (count == 1 || tasks.empty())
    return prices;
  if (count == 2)
    return pricesOfTwo(model, tasks);
  // Multiplicative weights; the best prices met on the way.
  const double size = double(tasks.size()) * double(count);
  const int rounds = size <= 10'000 ? 200 : size <= 1'000'000 ? 40 : 16;
  Prices best = prices;
  double bestWorth = 0;
  std::vector<double> load(count);
  for (int round = 0; round < rounds; ++round) {
    std::fill(load.begin(), load.end(), 0);
    double worth = 0;
    for (uint32_t task : tasks) {
      size_t chosen = 0;
      worth += cheapest(model, TaskId(size_t(task)), prices, chosen);
      load[chosen] += double(std::max<int64_t>(0, model.work(TaskId(size_t(task)), chosen)));
    }
    if (worth > bestWorth) {
      bestWorth = worth;
      best = prices;
    }
    double most = 0, sum = 0;
    for (size_t at = 0; at < count; ++at)
      most = std::max(most, load[at] /= double(model.deviceClass(at).count));
    if (most <= 0)
      break;
    const double step = 2.0 / (2.0 + round);
    for (size_t at = 0; at < count; ++at) {
      prices[at] *= 1 + step * load[at] / most;
      sum += prices[at] * double(model.deviceClass(at).count);
    }
    for (double &price : prices)
      price /= sum;
  }
  return best;
}

// ---- work in all

namespace {

std::vector<uint32_t> allTasks(const BoundModel &model) {
  std::vector<uint32_t> tasks(model.graph().taskCount());
  std::iota(tasks.begin(), tasks.end(), 0);
  return tasks;
}

/// Prices that count only what must run on class `at`.
Prices priceOnly(const BoundModel &model, size_t at) {
  Prices prices(model.classCount(), 0);
  prices[at] = 1.0 / double(model.deviceClass(at).count);
  return prices;
}

std::string nameOf(const BoundModel &model, size_t at) {
  const BoundModel::DeviceClass &entry = model.deviceClass(at);
  return absl::StrCat(" of device '", model.machine().device(entry.device).name, "'",
                      entry.count > 1 ? " and its like" : "");
}

} // namespace

namespace {

/// At least half of the work at these prices is launching.
bool isMostlyLaunches(const BoundModel &model, const Prices &prices) {
  double all = 0, launches = 0;
  for (uint32_t task : allTasks(model)) {
    size_t at = 0;
    const double work = cheapest(model, TaskId(size_t(task)), prices, at);
    const int64_t launch = model.machine().device(model.deviceClass(at).device).launch_ns;
    if (const int64_t duration = model.duration(TaskId(size_t(task)), at); duration > 0)
      launches += work * double(launch) / double(duration);
    all += work;
  }
  return launches > 0 && launches >= all / 2;
}

} // namespace

WorkBound workBound(const BoundModel &model, const Prices &prices) {
  const std::vector<uint32_t> tasks = allTasks(model);
  Prices binding;
  std::string where;
  int64_t most = 0;
  auto offer = [&](const Prices &offered, const std::string &suffix) {
    const int64_t ns = roundUpSafely(pricedWork(model, tasks, offered), tasks.size());
    if (ns <= most)
      return;
    most = ns;
    binding = offered;
    where = suffix;
  };
  constexpr size_t kMostClasses = 32;
  for (size_t at = 0; at < model.classCount(); ++at)
    if (model.classCount() > 1 && model.classCount() <= kMostClasses)
      offer(priceOnly(model, at), nameOf(model, at));
  offer(prices, "");
  if (most == 0)
    return {"area", 0};
  return {absl::StrCat(isMostlyLaunches(model, binding) ? "launch rate" : "area", where), most};
}

// ---- work between heads and tails

namespace {

constexpr size_t kMostThresholds = 48;

/// At most kMostThresholds of the distinct numbers, spread evenly over the list, the least among
/// them.
std::vector<int64_t> thresholdsOf(const std::vector<int64_t> &numbers) {
  constexpr size_t kSample = 4096;
  std::vector<int64_t> sample;
  const size_t step = std::max<size_t>(1, numbers.size() / kSample);
  for (size_t i = 0; i < numbers.size(); i += step)
    sample.push_back(numbers[i]);
  sample.push_back(*std::min_element(numbers.begin(), numbers.end()));
  std::sort(sample.begin(), sample.end());
  sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
  if (sample.size() <= kMostThresholds)
    return sample;
  std::vector<int64_t> chosen;
  for (size_t i = 0; i < kMostThresholds; ++i)
    chosen.push_back(sample[i * sample.size() / kMostThresholds]);
  return chosen;
}

class Intervals {
public:
  Intervals(const BoundModel &model, const HeadsAndTails &times) : model(model) {
    const size_t count = model.classCount();
    for (uint32_t task : allTasks(model)) {
      int64_t head = kNever, tail = kNever;
      for (size_t at = 0; at < count; ++at)
        if (model.duration(TaskId(size_t(task)), at) >= 0) {
          head = std::min(head, times.head[task * count + at]);
          tail = std::min(tail, times.tail[task * count + at]);
        }
      if (head >= kNever || tail >= kNever)
        continue; // no plan: whatever bound is a bound
      tasks.push_back(task);
      heads.push_back(head);
      tails.push_back(tail);
    }
    if (tasks.empty())
      return;
    headSteps = thresholdsOf(heads);
    tailSteps = thresholdsOf(tails);
    for (size_t i = 0; i < tasks.size(); ++i)
      cellOf.push_back(
          uint32_t(stepOf(headSteps, heads[i]) * tailSteps.size() + stepOf(tailSteps, tails[i])));
  }

  bool empty() const { return tasks.empty(); }

  struct Best {
    int64_t ns = 0;
    int64_t head = 0, tail = 0;
  };
  Best find(const Prices &prices) const {
    std::vector<double> work(headSteps.size() * tailSteps.size(), 0);
    size_t chosen = 0;
    for (size_t i = 0; i < tasks.size(); ++i)
      work[cellOf[i]] += cheapest(model, TaskId(size_t(tasks[i])), prices, chosen);
    Best best;
    std::vector<double> below(tailSteps.size() + 1, 0); // work of later heads, by tail
    for (size_t row = headSteps.size(); row-- > 0;) {
      double sum = 0;
      for (size_t column = tailSteps.size(); column-- > 0;) {
        sum += work[row * tailSteps.size() + column];
        below[column] += sum;
        const int64_t ns =
            headSteps[row] + tailSteps[column] + roundUpSafely(below[column], tasks.size());
        if (ns > best.ns && below[column] > 0)
          best = {ns, headSteps[row], tailSteps[column]};
      }
    }
    return best;
  }

  std::vector<uint32_t> between(const Best &best) const {
    std::vector<uint32_t> chosen;
    for (size_t i = 0; i < tasks.size(); ++i)
      if (heads[i] >= best.head && tails[i] >= best.tail)
        chosen.push_back(tasks[i]);
    return chosen;
  }

private:
  static size_t stepOf(const std::vector<int64_t> &steps, int64_t number) {
    return size_t(std::upper_bound(steps.begin(), steps.end(), number) - steps.begin()) - 1;
  }

  const BoundModel &model;
  std::vector<uint32_t> tasks;
  std::vector<int64_t> heads, tails; // by index into `tasks`
  std::vector<int64_t> headSteps, tailSteps;
  std::vector<uint32_t> cellOf;
};

} // namespace

WorkBound intervalBound(const BoundModel &model, const HeadsAndTails &times, const Prices &prices) {
  WorkBound best{"work between heads and tails", 0};
  const Intervals intervals(model, times);
  if (intervals.empty())
    return best;
  auto offer = [&](const Prices &offered) {
    const Intervals::Best found = intervals.find(offered);
    best.ns = std::max(best.ns, found.ns);
    return found;
  };
  Intervals::Best found = offer(prices);
  const size_t count = model.classCount();
  if (count == 1)
    return best;
  Intervals::Best other = offer(equalPrices(model));
  constexpr size_t kMostClasses = 8;
  for (size_t at = 0; at < count && count <= kMostClasses; ++at)
    offer(priceOnly(model, at));
  // Prices made for the tasks of the best interval; twice, as they may find another one.
  constexpr size_t kMostTasks = 20'000;
  if (other.ns > found.ns)
    found = other;
  for (int round = 0; round < 2 && model.graph().taskCount() <= kMostTasks && found.ns > 0; ++round)
    found = offer(findPrices(model, intervals.between(found)));
  return best;
}

} // namespace autopar::planning
