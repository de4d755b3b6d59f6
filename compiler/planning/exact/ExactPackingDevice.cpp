// What one device can take: tasks with release times and deadlines, one after the other.
#include "compiler/planning/exact/ExactPacking.h"

#include <algorithm>
#include <bit>

namespace autopar::planning {

namespace {

constexpr int64_t kNever = ExactProblem::kNever;

uint32_t lowestBit(uint64_t set) { return uint32_t(std::countr_zero(set)); }

/// The numbers below `count`.
uint64_t firstBits(size_t count) { return count == 0 ? 0 : ~uint64_t{0} >> (64 - count); }

} // namespace

size_t ExactPacking::jobsOf(const Level &level, Jobs &jobs) const {
  for (size_t i = 0; i < level.count; ++i) {
    const Window &window = at(sorted[level.tasks[i]], level.device);
    jobs[i] = {window.release, window.deadline, window.duration, level.tasks[i]};
  }
  return level.count;
}

// A sufficient condition.
bool ExactPacking::takesTurns(const Level &level) {
  stepsLeft -= stepsLeft > 0;
  Jobs jobs;
  return schrage(jobs, jobsOf(level, jobs), nullptr);
}

// Schrage's rule: of what is there the most urgent. Optimal if all are there from the start or all
// have one deadline.
bool ExactPacking::schrage(const Jobs &jobs, size_t count, std::array<int64_t, kTasks> *startOf,
                           std::array<uint8_t, kTasks> *order, size_t *placed) {
  uint64_t left = firstBits(count);
  int64_t time = 0;
  while (left != 0) {
    int64_t next = kNever, deadline = kNever;
    uint32_t chosen = 0;
    for (uint64_t set = left; set != 0; set &= set - 1) {
      const uint32_t i = lowestBit(set);
      const Job &job = jobs[i];
      if (job.release > time) {
        if (deadline == kNever && job.release < next)
          next = job.release;
      } else if (job.deadline < deadline) {
        deadline = job.deadline;
        chosen = i;
      }
    }
    if (deadline == kNever) {
      time = next;
      continue;
    }
    if (startOf != nullptr)
      (*startOf)[chosen] = time;
    if (order != nullptr)
      (*order)[(*placed)++] = uint8_t(chosen);
    time += jobs[chosen].duration;
    if (time > deadline)
      return false;
    left &= ~(uint64_t{1} << chosen);
  }
  return true;
}

// With interruptions allowed the most urgent first is optimal: a necessary condition.
bool ExactPacking::fitsPreemptively(const Jobs &jobs, size_t count) {
  std::array<int64_t, kTasks> rest;
  for (size_t i = 0; i < count; ++i)
    rest[i] = jobs[i].duration;
  uint64_t left = firstBits(count);
  int64_t time = 0;
  while (left != 0) {
    int64_t next = kNever, deadline = kNever;
    uint32_t chosen = 0;
    for (uint64_t set = left; set != 0; set &= set - 1) {
      const uint32_t i = lowestBit(set);
      if (jobs[i].release > time) {
        next = std::min(next, jobs[i].release);
      } else if (jobs[i].deadline < deadline) {
        deadline = jobs[i].deadline;
        chosen = i;
      }
    }
    if (deadline == kNever) {
      time = next;
      continue;
    }
    const int64_t run = std::min(rest[chosen], next - time);
    time += run;
    rest[chosen] -= run;
    if (rest[chosen] == 0) {
      if (time > deadline)
        return false;
      left &= ~(uint64_t{1} << chosen);
    }
  }
  return true;
}

// Carlier's branching ("The one-machine sequencing problem", EJOR 11, 1982). Where Schrage's rule
// makes a job late, the last job of its block that is less urgent runs before all or after all jobs
// that follow it up to the late one: in between, the last of these would end no earlier.
bool ExactPacking::sequence(Jobs &jobs, size_t count, std::array<int64_t, kTasks> &startOf) {
  std::array<uint8_t, kTasks> order;
  size_t placed = 0;
  if (schrage(jobs, count, &startOf, &order, &placed))
    return true;
  if (stepsLeft == 0 || !fitsPreemptively(jobs, count))
    return false;
  --stepsLeft;
  const size_t late = placed - 1; // where Schrage's rule gave up
  const int64_t deadline = jobs[order[late]].deadline;
  int64_t work = jobs[order[late]].duration, soonest = jobs[order[late]].release;
  size_t i = late;
  for (;; --i) {
    if (i == 0)
      return false; // nothing less urgent before the late job
    const uint32_t before = order[i - 1];
    if (startOf[before] + jobs[before].duration < startOf[order[i]])
      return false; // the device was idle: the block begins here
    if (jobs[before].deadline > deadline)
      break;
    work += jobs[before].duration;
    soonest = std::min(soonest, jobs[before].release);
  }
  Job &chosen = jobs[order[i - 1]];
  const Job saved = chosen;
  chosen.release = std::max(saved.release, soonest + work);
  bool found = sequence(jobs, count, startOf);
  chosen = saved;
  if (!found) {
    chosen.deadline = deadline - work;
    found = sequence(jobs, count, startOf);
    chosen = saved;
  }
  return found;
}

} // namespace autopar::planning
