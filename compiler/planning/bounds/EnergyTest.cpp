#include "compiler/planning/bounds/EnergyTest.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace autopar::planning {

namespace {

/// At most `most` of the numbers, in ascending order without duplicates, first and last among them.
void thin(std::vector<int64_t> &numbers, size_t most) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.size() <= most)
    return;
  for (size_t i = 0; i < most; ++i)
    numbers[i] = numbers[i * (numbers.size() - 1) / (most - 1)];
  numbers.resize(most);
}

} // namespace

EnergyTest::EnergyTest(const BoundModel &model)
    : count(model.classCount()), begins(count), ends(count) {
  for (size_t at = 0; at < count; ++at)
    devices.push_back(double(model.deviceClass(at).count));
}

void EnergyTest::clear() {
  windows.clear();
  taskBegin.assign(1, 0);
}

double EnergyTest::partOf(const Window &window, const Cut &cut) const {
  const int64_t begin = cut.begin[window.at], end = cut.end[window.at];
  if (sizeParts == 0) {
    const int64_t inside =
        std::min({end - begin, window.duration, window.begin + window.duration - begin,
                  end - window.end + window.duration});
    return inside > 0 ? cut.prices[window.at] * window.rate * double(inside) : 0;
  }
  if (window.begin < begin || window.end > end || window.duration == 0)
    return 0; // what has a duration and fits makes the interval longer than 0
  const double scaled =
      (sizeParts + 1) * window.rate * double(window.duration) / double(end - begin);
  const double whole = std::floor(scaled + 1e-9);
  return cut.prices[window.at] *
         (scaled - whole < 1e-9 ? whole / (sizeParts + 1) : whole / sizeParts);
}

double EnergyTest::roomOn(size_t at, const Cut &cut) const {
  const int64_t length = cut.end[at] - cut.begin[at];
  return devices[at] * cut.prices[at] * (sizeParts == 0 ? double(length) : double(length > 0));
}

double EnergyTest::room(const Cut &cut) const {
  double sum = 0;
  for (size_t at = 0; at < count; ++at)
    sum += roomOn(at, cut);
  return sum;
}

void EnergyTest::evaluate(Cut &cut) {
  stepCount += 2 * windows.size();
  cut.excess = -room(cut);
  for (size_t task = 0; task + 1 < taskBegin.size(); ++task) {
    double least = std::numeric_limits<double>::max();
    for (uint32_t i = taskBegin[task]; i < taskBegin[task + 1]; ++i)
      least = std::min(least, partOf(windows[i], cut));
    cut.excess += least;
  }
}

bool EnergyTest::isProof(const Cut &cut) const {
  // Sums of fewer than 10^4 products: their error is below 10^-12 of the room.
  return cut.excess > room(cut) * 1e-11 + 1e-6;
}

void EnergyTest::fillPoints() {
  const size_t most = taskBegin.size() <= 100 ? 64 : 32;
  for (size_t at = 0; at < count; ++at) {
    begins[at].clear();
    ends[at].clear();
  }
  for (const Window &window : windows) {
    begins[window.at].push_back(window.begin);
    ends[window.at].push_back(window.end);
  }
  for (size_t at = 0; at < count; ++at) {
    if (begins[at].empty())
      begins[at] = ends[at] = {0};
    thin(begins[at], most);
    thin(ends[at], most);
  }
}

/// The same interval for all classes, from a coarse grid. False if there is none.
bool EnergyTest::findOnGrid(const Prices &start, Cut &best) {
  constexpr size_t kMost = 10;
  std::vector<int64_t> from, to;
  for (size_t at = 0; at < count; ++at) {
    from.insert(from.end(), begins[at].begin(), begins[at].end());
    to.insert(to.end(), ends[at].begin(), ends[at].end());
  }
  thin(from, kMost);
  thin(to, kMost);
  best.excess = -std::numeric_limits<double>::max();
  Cut cut;
  cut.prices = start;
  for (int64_t begin : from)
    for (int64_t end : to) {
      if (end <= begin)
        continue;
      cut.begin.assign(count, begin);
      cut.end.assign(count, end);
      evaluate(cut);
      if (cut.excess > best.excess)
        best = cut;
    }
  return !best.begin.empty();
}

/// Moves each end of the interval of class `at` to its best point, the other classes' fixed.
void EnergyTest::moveInterval(Cut &cut, size_t at) {
  parts.clear();
  double fixed = roomOn(at, cut) - room(cut);
  for (size_t task = 0; task + 1 < taskBegin.size(); ++task) {
    Part part{nullptr, std::numeric_limits<double>::max()};
    for (uint32_t i = taskBegin[task]; i < taskBegin[task + 1]; ++i) {
      if (windows[i].at == at)
        part.window = &windows[i];
      else
        part.elsewhere = std::min(part.elsewhere, partOf(windows[i], cut));
    }
    if (!part.window)
      fixed += part.elsewhere;
    else if (part.elsewhere > 0)
      parts.push_back(part);
  }
  stepCount += 3 * windows.size();
  for (bool moveBegin : {true, false}) {
    int64_t &end = moveBegin ? cut.begin[at] : cut.end[at];
    int64_t best = end;
    for (int64_t point : moveBegin ? begins[at] : ends[at]) {
      end = point;
      if (cut.end[at] < cut.begin[at])
        continue;
      double excess = fixed - roomOn(at, cut);
      for (const Part &part : parts)
        excess += std::min(part.elsewhere, partOf(*part.window, cut));
      stepCount += 2 * parts.size();
      if (excess > cut.excess) {
        cut.excess = excess;
        best = point;
      }
    }
    end = best;
  }
}

bool EnergyTest::moveIntervals(Cut &cut) {
  const double before = cut.excess;
  for (size_t at = 0; at < count; ++at)
    moveInterval(cut, at);
  return cut.excess > before;
}

bool EnergyTest::movePrices(Cut &cut) {
  const double before = cut.excess;
  for (size_t at = 0; at < count && count > 1; ++at)
    for (double factor : {0.0, 0.5, 0.8, 0.95, 1.05, 1.25, 2.0}) {
      Cut trial = cut;
      trial.prices[at] *= factor;
      double sum = 0;
      for (size_t other = 0; other < count; ++other)
        sum += devices[other] * trial.prices[other];
      if (sum <= 0)
        continue;
      for (double &price : trial.prices)
        price /= sum;
      evaluate(trial);
      if (trial.excess > cut.excess)
        cut = std::move(trial);
    }
  return cut.excess > before;
}

/// The sizes in the intervals of `cut`, with what is too big to leave room for anything counted as
/// 1: f(x) = 1 where x > 1 - e, 0 where x < e, for all e.
bool EnergyTest::isOverfullBySize(const Cut &cut) {
  sizes.clear();
  sizeSteps.clear();
  double room = 0;
  for (size_t at = 0; at < count; ++at)
    room += devices[at] * cut.prices[at];
  for (const Window &window : windows) {
    const int64_t begin = cut.begin[window.at], end = cut.end[window.at];
    const bool isInside = window.begin >= begin && window.end <= end && end > begin;
    sizes.push_back(isInside ? window.rate * double(window.duration) / double(end - begin) : 0);
    if (sizes.back() > 0 && sizes.back() <= 0.5)
      sizeSteps.push_back(sizes.back());
  }
  std::sort(sizeSteps.begin(), sizeSteps.end());
  sizeSteps.erase(std::unique(sizeSteps.begin(), sizeSteps.end()), sizeSteps.end());
  stepCount += sizeSteps.size() * windows.size() * 2;
  for (double step : sizeSteps) {
    double sum = 0;
    for (size_t task = 0; task + 1 < taskBegin.size(); ++task) {
      double least = std::numeric_limits<double>::max();
      for (uint32_t i = taskBegin[task]; i < taskBegin[task + 1]; ++i) {
        const double size = sizes[i];
        const double value = size < step ? 0 : size > 1 - step + 1e-9 ? 1 : size;
        least = std::min(least, value * cut.prices[windows[i].at]);
      }
      sum += least;
    }
    if (sum > room * (1 + 1e-9))
      return true;
  }
  return false;
}

bool EnergyTest::search(const Prices &start) {
  Cut cut;
  if (!findOnGrid(start, cut))
    return false;
  constexpr int kMostRounds = 6;
  for (int round = 0; round < kMostRounds && !isProof(cut); ++round) {
    const bool moved = moveIntervals(cut), priced = movePrices(cut);
    if (!moved && !priced)
      break;
  }
  evaluate(cut); // without the errors of small steps
  return isProof(cut) || (areFew && isOverfullBySize(cut));
}

bool EnergyTest::isOverfull(const Prices &start) {
  fillPoints();
  // With more tasks than this to a device, what does not add up to times does not matter.
  constexpr double kMostPerDevice = 6;
  double deviceCount = 0;
  for (double number : devices)
    deviceCount += number;
  areFew = double(taskBegin.size() - 1) <= kMostPerDevice * deviceCount;
  for (sizeParts = 0; sizeParts <= (areFew ? 2 : 0); ++sizeParts)
    if (search(start))
      return true;
  return false;
}

} // namespace autopar::planning
