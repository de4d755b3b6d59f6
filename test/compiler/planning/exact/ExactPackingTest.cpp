#include "compiler/planning/exact/ExactPacking.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>

#include "test/compiler/planning/graphs/Random.h"

namespace autopar::planning {
namespace {

constexpr int64_t kNever = ExactProblem::kNever;

struct Case {
  size_t tasks = 0, devices = 0;
  std::vector<uint32_t> alike;
  std::vector<ExactPacking::Window> windows; // [task][device]
  const ExactPacking::Window &at(size_t task, size_t device) const {
    return windows[task * devices + device];
  }
};

/// Devices of one class get the same windows. Half of the cases are tight.
Case drawCase(Random &random) {
  Case result;
  result.tasks = size_t(random.between(1, 6));
  result.devices = size_t(random.between(1, 3));
  for (size_t device = 0; device < result.devices; ++device)
    result.alike.push_back(device > 0 && random.chance(50) ? result.alike[device - 1]
                                                           : uint32_t(device));
  const bool related = random.chance(60), released = random.chance(60), urgent = random.chance(60);
  const int64_t horizon = random.between(8, 40);
  result.windows.resize(result.tasks * result.devices);
  for (size_t task = 0; task < result.tasks; ++task) {
    const int64_t work = random.between(1, 10);
    for (size_t device = 0; device < result.devices; ++device) {
      ExactPacking::Window &window = result.windows[task * result.devices + device];
      if (device > 0 && result.alike[device] == result.alike[device - 1]) {
        window = result.at(task, device - 1);
        continue;
      }
      window.duration = related ? work : random.between(1, 10);
      window.release = released ? random.between(0, 8) : 0;
      window.deadline = horizon - (urgent ? random.between(0, 8) : 0);
      if (random.chance(10))
        window.duration = kNever;
    }
  }
  return result;
}

/// Every assignment in every order of each device.
bool fitsByTryingAll(const Case &problem, size_t placed, std::vector<int64_t> &idleFrom,
                     std::vector<uint8_t> &done) {
  if (placed == problem.tasks)
    return true;
  for (size_t task = 0; task < problem.tasks; ++task) {
    for (size_t device = 0; device < problem.devices && !done[task]; ++device) {
      const ExactPacking::Window &window = problem.at(task, device);
      const int64_t before = idleFrom[device];
      const int64_t finish = std::max(before, window.release) + window.duration;
      if (window.duration >= kNever || finish > window.deadline)
        continue;
      idleFrom[device] = finish;
      done[task] = 1;
      const bool fits = fitsByTryingAll(problem, placed + 1, idleFrom, done);
      done[task] = 0;
      idleFrom[device] = before;
      if (fits)
        return true;
    }
  }
  return false;
}

void expectValid(const Case &problem, const ExactPacking &packing) {
  for (size_t task = 0; task < problem.tasks; ++task) {
    const ExactPacking::Window &window = problem.at(task, packing.device(task));
    ASSERT_LT(window.duration, kNever);
    ASSERT_GE(packing.start(task), window.release);
    ASSERT_LE(packing.start(task) + window.duration, window.deadline);
    for (size_t other = 0; other < task; ++other) {
      if (packing.device(other) != packing.device(task))
        continue;
      const int64_t end = packing.start(other) + problem.at(other, packing.device(other)).duration;
      ASSERT_TRUE(packing.start(task) + window.duration <= packing.start(other) ||
                  end <= packing.start(task));
    }
  }
}

ExactPacking::Outcome pack(const Case &problem, ExactPacking &packing, uint64_t steps = 1'000'000) {
  packing.begin(problem.tasks);
  for (uint32_t alike : problem.alike)
    packing.addDevice(alike);
  for (size_t task = 0; task < problem.tasks; ++task)
    for (size_t device = 0; device < problem.devices; ++device)
      packing.window(task, device) = problem.at(task, device);
  return packing.run(steps);
}

/// That the packing of `cases` problems that `draw` makes of a Random is found or refuted as `fits`
/// says; of each at least the share 1 / `parts`.
template <class Draw, class Fits>
void expectAgreement(int cases, int parts, Draw draw, Fits fits) {
  auto packing = std::make_unique<ExactPacking>();
  int found = 0;
  for (int seed = 1; seed <= cases; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{uint64_t(seed)};
    const Case problem = draw(random);
    const bool isPossible = fits(problem);
    ASSERT_EQ(pack(problem, *packing),
              isPossible ? ExactPacking::Outcome::Found : ExactPacking::Outcome::Refuted);
    if (isPossible)
      expectValid(problem, *packing);
    found += isPossible;
  }
  EXPECT_GE(found, cases / parts);
  EXPECT_LE(found, cases - cases / parts);
}

TEST(ExactPacking, AgreesWithTryingAll) {
  expectAgreement(20'000, 4, drawCase, [](const Case &problem) {
    std::vector<int64_t> idleFrom(problem.devices, 0);
    std::vector<uint8_t> done(problem.tasks, 0);
    return fitsByTryingAll(problem, 0, idleFrom, done);
  });
}

/// By dynamic programming: the earliest end of each set of tasks on each device, then which sets
/// the first devices can take together.
bool fitsBySets(const Case &problem) {
  const size_t sets = size_t{1} << problem.tasks;
  std::vector<uint8_t> taken(sets, 0);
  taken[0] = 1;
  for (size_t device = 0; device < problem.devices; ++device) {
    std::vector<int64_t> end(sets, kNever);
    end[0] = 0;
    for (size_t set = 1; set < sets; ++set)
      for (size_t last = 0; last < problem.tasks; ++last) {
        const ExactPacking::Window &window = problem.at(last, device);
        if ((set >> last & 1) == 0 || window.duration >= kNever)
          continue;
        const int64_t before = end[set ^ size_t{1} << last];
        const int64_t finish = std::max(before, window.release) + window.duration;
        if (before < kNever && finish <= window.deadline)
          end[set] = std::min(end[set], finish);
      }
    std::vector<uint8_t> more(sets, 0);
    for (size_t all = 0; all < sets; ++all)
      for (size_t here = all;; here = (here - 1) & all) {
        if (end[here] < kNever && taken[all ^ here]) {
          more[all] = 1;
          break;
        }
        if (here == 0)
          break;
      }
    taken = more;
  }
  return taken[sets - 1] != 0;
}

/// Windows that leave little choice: tasks lie side by side, then their windows grow a little.
Case drawTightCase(Random &random, size_t devices, size_t tasks) {
  Case result;
  result.tasks = tasks;
  result.devices = devices;
  const bool alike = random.chance(70);
  for (size_t device = 0; device < devices; ++device)
    result.alike.push_back(alike ? uint32_t(device > 1) : uint32_t(device));
  const int64_t slack = random.between(0, 12);
  std::vector<int64_t> time(devices, random.between(0, 3));
  for (size_t task = 0; task < tasks; ++task) {
    const size_t home = size_t(random.between(0, int64_t(devices) - 1));
    ExactPacking::Window window;
    window.duration = random.between(random.chance(5) ? 0 : 1, 9);
    window.release = std::max<int64_t>(0, time[home] - random.between(0, slack));
    time[home] += window.duration;
    window.deadline = time[home] + random.between(-1, slack);
    for (size_t device = 0; device < devices; ++device) {
      // Another kind of device is later or slower.
      if (device == 0 || result.alike[device] != result.alike[device - 1])
        window.release += device > 0 ? random.between(0, 2) : 0;
      result.windows.push_back(window);
    }
  }
  return result;
}

TEST(ExactPacking, OneDeviceTakesTurnsAsWellAsPossible) {
  expectAgreement(
      4'000, 4,
      [](Random &random) { return drawTightCase(random, 1, size_t(random.between(2, 9))); },
      fitsBySets);
}

TEST(ExactPacking, AgreesWithSetsOnDevicesOfTwoKinds) {
  expectAgreement(
      3'000, 10,
      [](Random &random) {
        const size_t devices = size_t(random.between(2, 4));
        return drawTightCase(random, devices, size_t(random.between(5, 9)));
      },
      fitsBySets);
}

/// `count` tasks of the given durations on devices that are alike, all in [0, end).
Case plainCase(const std::vector<int64_t> &durations, size_t devices, int64_t end) {
  Case result;
  result.tasks = durations.size();
  result.devices = devices;
  result.alike.assign(devices, 0);
  for (int64_t duration : durations)
    for (size_t device = 0; device < devices; ++device)
      result.windows.push_back({0, end, duration});
  return result;
}

TEST(ExactPacking, ThirtyNumbersOnFourDevices) {
  Random random(7);
  std::vector<int64_t> numbers(30);
  for (int64_t &number : numbers)
    number = random.between(200, 1800);
  const int64_t sum = std::accumulate(numbers.begin(), numbers.end(), int64_t{0});
  auto packing = std::make_unique<ExactPacking>();
  Case even = plainCase(numbers, 4, (sum + 3) / 4);
  ASSERT_EQ(pack(even, *packing), ExactPacking::Outcome::Found);
  expectValid(even, *packing);
  EXPECT_EQ(pack(plainCase(numbers, 4, (sum + 3) / 4 - 1), *packing),
            ExactPacking::Outcome::Refuted);
}

TEST(ExactPacking, SaysWhenItRunsOutOfSteps) {
  auto packing = std::make_unique<ExactPacking>();
  Case problem = plainCase({7, 7, 7, 6, 6, 5, 5, 5, 4, 4, 4}, 3, 20);
  EXPECT_EQ(pack(problem, *packing, 1'000'000), ExactPacking::Outcome::Found);
  EXPECT_EQ(pack(problem, *packing, 5), ExactPacking::Outcome::OutOfSteps);
}

} // namespace
} // namespace autopar::planning
