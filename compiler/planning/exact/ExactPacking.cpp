#include "compiler/planning/exact/ExactPacking.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace autopar::planning {

namespace {

constexpr int64_t kNever = ExactProblem::kNever;

uint32_t lowestBit(uint64_t set) { return uint32_t(std::countr_zero(set)); }

/// The numbers below `count`.
uint64_t firstBits(size_t count) { return count == 0 ? 0 : ~uint64_t{0} >> (64 - count); }

} // namespace

// ---- setting up

// The longest first; tasks are called by their position in this order from here on.
void ExactPacking::sortTasks() {
  std::array<int64_t, kTasks> shortest;
  for (size_t task = 0; task < numTasks; ++task) {
    sorted[task] = uint8_t(task);
    shortest[task] = kNever;
    for (size_t device = 0; device < numDevices; ++device)
      shortest[task] = std::min(shortest[task], at(task, device).duration);
  }
  std::sort(sorted.begin(), sorted.begin() + numTasks, [&](uint8_t a, uint8_t b) {
    return shortest[a] != shortest[b] ? shortest[a] > shortest[b] : a < b;
  });
}

// Those that few are like first, as what is left for devices that are alike is soon seen to be too
// much; then those with the least room. Devices that are alike one after the other.
void ExactPacking::sortDevices() {
  std::array<int64_t, kDevices> space, likes;
  std::array<size_t, kDevices> order;
  for (size_t device = 0; device < numDevices; ++device) {
    int64_t first = kNever, last = 0;
    for (size_t task = 0; task < numTasks; ++task)
      if (mayRun(task, device)) {
        first = std::min(first, at(task, device).release);
        last = std::max(last, at(task, device).deadline);
      }
    space[device] = std::max<int64_t>(0, last - first);
    likes[device] =
        std::count(deviceClass.begin(), deviceClass.begin() + numDevices, deviceClass[device]);
    order[device] = device;
  }
  std::sort(order.begin(), order.begin() + numDevices, [&](size_t a, size_t b) {
    if (likes[a] != likes[b])
      return likes[a] < likes[b];
    if (space[a] != space[b])
      return space[a] < space[b];
    return deviceClass[a] != deviceClass[b] ? deviceClass[a] < deviceClass[b] : a < b;
  });
  for (size_t level = 0; level < numDevices; ++level) {
    Level &entry = levels[level];
    entry.device = order[level];
    entry.likeBefore = level > 0 && deviceClass[order[level]] == deviceClass[order[level - 1]];
    grains[level] = 0;
    for (size_t task = 0; task < numTasks; ++task)
      if (mayRun(task, entry.device))
        grains[level] = std::gcd(grains[level], at(task, entry.device).duration);
  }
  for (size_t level = numDevices; level-- > 0;)
    levels[level].lastOfKind =
        level + 1 == numDevices || (levels[level + 1].lastOfKind && levels[level + 1].likeBefore);
  for (size_t position = 0; position < numTasks; ++position) {
    int64_t least = kNever;
    for (size_t level = numDevices; level-- > 0;) {
      laterWork[level * kTasks + position] = least;
      least = std::min(least, at(sorted[position], levels[level].device).duration);
    }
  }
}

ExactPacking::Outcome ExactPacking::run(uint64_t &steps) {
  stepsLeft = steps;
  salt = mixBits(salt + 0x9e3779b97f4a7c15ull);
  sortTasks();
  sortDevices();
  const bool found = fillFrom(0, firstBits(numTasks));
  steps = stepsLeft;
  return found ? Outcome::Found : stepsLeft == 0 ? Outcome::OutOfSteps : Outcome::Refuted;
}

// ---- filling

// What the devices from level `first` on can take of `open`.
int64_t ExactPacking::room(size_t first, uint64_t open) const {
  int64_t total = 0;
  for (size_t level = first; level < numDevices;) {
    size_t alike = 1;
    while (level + alike < numDevices && levels[level + alike].likeBefore)
      ++alike;
    total += roomOfAlike(level, alike, open);
    level += alike;
  }
  return total;
}

// Devices that are alike begin and end with different tasks: the i-th begins no earlier than the
// i-th release, and so on. What a device does is a multiple of the grain.
int64_t ExactPacking::roomOfAlike(size_t level, size_t alike, uint64_t open) const {
  std::array<int64_t, kTasks> releases, deadlines;
  size_t count = 0;
  for (; open != 0; open &= open - 1) {
    const Window &window = at(sorted[lowestBit(open)], levels[level].device);
    if (window.duration >= kNever)
      continue;
    releases[count] = window.release;
    deadlines[count++] = window.deadline;
  }
  const size_t used = std::min(alike, count);
  if (used == 0)
    return 0;
  std::partial_sort(releases.begin(), releases.begin() + used, releases.begin() + count);
  std::partial_sort(deadlines.begin(), deadlines.begin() + used, deadlines.begin() + count,
                    std::greater<int64_t>());
  // Which begin goes with which end is open, unless all of one kind are equal.
  const bool isPaired = releases[0] == releases[used - 1] || deadlines[0] == deadlines[used - 1];
  int64_t total = 0;
  for (size_t i = 0; i < used; ++i) {
    const int64_t time = std::max<int64_t>(0, deadlines[i] - releases[i]);
    total += isPaired ? time - time % grains[level] : time;
  }
  return total - total % grains[level];
}

bool ExactPacking::fillFrom(size_t level, uint64_t open) {
  if (open == 0)
    return true;
  if (level == numDevices)
    return false;
  int64_t work = 0;
  for (uint64_t set = open; set != 0; set &= set - 1) {
    const uint32_t position = lowestBit(set);
    work += std::min(laterWork[level * kTasks + position],
                     at(sorted[position], levels[level].device).duration);
  }
  if (work > room(level, open))
    return false;
  Level &entry = levels[level];
  uint64_t key = mixBits(open ^ salt) + level;
  if (entry.likeBefore)
    key = mixBits(key) + levels[level - 1].chosen;
  if (seen.insert(mixBits(key)))
    return false;
  entry.open = open;
  entry.chosen = 0;
  entry.count = 0;
  entry.roomLater = room(level + 1, open);
  return choose(level, 0, 0);
}

// Decides on the tasks one by one. `left`: the least work of what has been left for later devices.
bool ExactPacking::choose(size_t level, size_t position, int64_t left) {
  Level &entry = levels[level];
  while (position < numTasks && (entry.open >> position & 1) == 0)
    ++position;
  if (position == numTasks)
    return complete(level);
  if (stepsLeft == 0)
    return false;
  --stepsLeft;
  const uint64_t bit = uint64_t{1} << position;
  // Of devices that are alike the one with the first task comes first.
  const bool inTurn =
      !entry.likeBefore || entry.chosen != 0 ||
      (levels[level - 1].chosen != 0 && position > lowestBit(levels[level - 1].chosen));
  if (inTurn && mayRun(sorted[position], entry.device)) {
    entry.tasks[entry.count++] = uint8_t(position);
    entry.chosen |= bit;
    Jobs jobs;
    const size_t count = jobsOf(entry, jobs);
    if ((schrage(jobs, count, nullptr) || fitsPreemptively(jobs, count)) &&
        choose(level, position + 1, left))
      return true;
    entry.chosen &= ~bit;
    --entry.count;
  }
  // Of devices that are alike, with none after them, the next takes the first task.
  if (entry.chosen == 0 && entry.lastOfKind && (entry.open & (bit - 1)) == 0)
    return false;
  const int64_t later = laterWork[level * kTasks + position];
  return left + later <= entry.roomLater && choose(level, position + 1, left + later);
}

bool ExactPacking::complete(size_t level) {
  Level &entry = levels[level];
  Jobs jobs;
  const size_t count = jobsOf(entry, jobs);
  std::array<int64_t, kTasks> startOf;
  if (!sequence(jobs, count, startOf))
    return false;
  if (isDominated(level))
    return false;
  const uint64_t open = entry.open, chosen = entry.chosen;
  if (!fillFrom(level + 1, open & ~chosen))
    return false;
  for (size_t i = 0; i < count; ++i) {
    starts[sorted[jobs[i].task]] = startOf[i];
    chosenDevice[sorted[jobs[i].task]] = entry.device;
  }
  return true;
}

// If one more task fits, or a harder one instead of one that is chosen, then a solution with this
// choice gives one with the better choice, which comes first in the order of the tasks.
bool ExactPacking::isDominated(size_t level) {
  Level trial = levels[level];
  int64_t work = 0, first = kNever, last = 0;
  for (size_t i = 0; i < trial.count; ++i) {
    const Window &window = at(sorted[trial.tasks[i]], trial.device);
    work += window.duration;
    first = std::min(first, window.release);
    last = std::max(last, window.deadline);
  }
  for (uint64_t set = trial.open & ~trial.chosen; set != 0; set &= set - 1) {
    const uint32_t other = lowestBit(set);
    if (!mayRun(sorted[other], trial.device))
      continue;
    const Window &more = at(sorted[other], trial.device);
    const int64_t space = std::max(last, more.deadline) - std::min(first, more.release);
    trial.tasks[trial.count] = uint8_t(other);
    ++trial.count;
    const bool fits = work + more.duration <= space && takesTurns(trial);
    --trial.count;
    if (fits)
      return true;
    for (size_t i = 0; i < trial.count; ++i) {
      const uint8_t kept = trial.tasks[i];
      if (other > kept || work + more.duration - at(sorted[kept], trial.device).duration > space ||
          !isHarder(other, kept, level))
        continue;
      trial.tasks[i] = uint8_t(other);
      const bool swapped = takesTurns(trial);
      trial.tasks[i] = kept;
      if (swapped)
        return true;
    }
  }
  return false;
}

// Wherever on later devices `hard` runs, `easy` could run.
bool ExactPacking::isHarder(size_t hard, size_t easy, size_t level) const {
  for (size_t later = level + 1; later < numDevices; ++later) {
    const Window &a = at(sorted[hard], levels[later].device);
    const Window &b = at(sorted[easy], levels[later].device);
    if (a.duration < kNever &&
        (b.duration > a.duration || b.release > a.release || b.deadline < a.deadline))
      return false;
  }
  return true;
}

} // namespace autopar::planning
