// The end game of the exact search: how it is recognised and handed to ExactPacking.
#include "compiler/planning/exact/ExactBranching.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace autopar::planning {

// A free task delays nothing but the end: nothing waits for it, or only a last task that waits for
// everything. Its loose tail is the longest that can follow it.
void ExactBranching::findFreeTasks() {
  freeTasks = 0;
  looseTails.assign(numTasks * numDevices, 0);
  uint64_t inner = 0; // tasks that some task waits for
  for (uint32_t task = 0; task < numTasks; ++task)
    inner |= uint64_t{!problem.outgoing(task).empty()} << task;
  const uint32_t last = uint32_t(numTasks) - 1;
  const bool isLast = size_t(std::popcount(inner)) + 1 == numTasks;
  lastOfAll = isLast ? last : kNone;
  for (uint32_t task = 0; task < numTasks; ++task) {
    std::span<const uint32_t> out = problem.outgoing(task);
    if (out.size() > 1 || (out.size() == 1 && !(isLast && problem.edge(out[0]).to == last)))
      continue;
    if (out.empty() && isLast)
      continue;
    freeTasks |= uint64_t{1} << task;
    for (uint32_t device = 0; device < numDevices; ++device) {
      int64_t &tail = looseTails[at(task, device)];
      tail = problem.tail(task, device);
      if (out.empty())
        continue;
      for (uint32_t set = allowed[last]; set != 0; set &= set - 1) {
        const uint32_t to = lowestBit(set);
        tail = std::max(tail, problem.delay(problem.edge(out[0]), device, to) +
                                  problem.duration(last, to) + problem.tail(last, to));
      }
    }
  }
}

// All that is left is ready and delays nothing but the end.
bool ExactBranching::isEndGame() const {
  const uint64_t rest = lastOfAll == kNone ? open : open & ~(uint64_t{1} << lastOfAll);
  if (rest == 0 || (rest & ~freeTasks) != 0 || (rest & ~ready) != 0)
    return false;
  for (uint64_t set = rest; set != 0; set &= set - 1) {
    const uint32_t cluster = clusters[lowestBit(set)];
    if (clusterDevice[cluster] == kNone && sizes[cluster] > 1 &&
        (lastOfAll == kNone || cluster != clusters[lastOfAll]))
      return false;
  }
  return true;
}

bool ExactBranching::packRest() {
  if (lastOfAll == kNone)
    return pack(open, kNone) == ExactPacking::Outcome::Found;
  const uint64_t rest = open & ~(uint64_t{1} << lastOfAll);
  for (uint32_t set = feasible[lastOfAll] & branchable; set != 0 && !outOfNodes; set &= set - 1)
    if (pack(rest, lowestBit(set)) == ExactPacking::Outcome::Found) {
      placedOrder.push_back(lastOfAll);
      deviceOf[lastOfAll] = lowestBit(set);
      return true;
    }
  return false;
}

// `lastDevice`: of the task that waits for all others; kNone without one.
ExactPacking::Outcome ExactBranching::pack(uint64_t rest, uint32_t lastDevice) {
  std::array<uint32_t, kTasks> tasks;
  size_t count = 0;
  for (uint64_t set = rest; set != 0; set &= set - 1)
    tasks[count++] = lowestBit(set);
  packing.begin(count);
  for (uint32_t device = 0; device < numDevices; ++device) {
    const bool isAlone = (used >> device & 1) != 0 || device == lastDevice;
    packing.addDevice(isAlone ? device : uint32_t(kDevices) + problem.deviceClass(device));
  }
  for (size_t row = 0; row < count; ++row)
    setWindows(tasks[row], row, lastDevice);
  constexpr uint64_t kStepsPerNode = 8;
  const uint64_t before = (nodeLimit - nodeCount) * kStepsPerNode;
  uint64_t steps = before;
  const ExactPacking::Outcome outcome = packing.run(steps);
  nodeCount += (before - steps) / kStepsPerNode;
  outOfNodes |= outcome == ExactPacking::Outcome::OutOfSteps;
  if (outcome != ExactPacking::Outcome::Found)
    return outcome;
  std::array<size_t, kTasks> byStart;
  std::iota(byStart.begin(), byStart.begin() + count, size_t{0});
  std::stable_sort(byStart.begin(), byStart.begin() + count,
                   [&](size_t a, size_t b) { return packing.start(a) < packing.start(b); });
  for (size_t index = 0; index < count; ++index) {
    const size_t row = byStart[index];
    placedOrder.push_back(tasks[row]);
    deviceOf[tasks[row]] = uint32_t(packing.device(row));
  }
  return outcome;
}

void ExactBranching::setWindows(uint32_t task, size_t row, uint32_t lastDevice) {
  uint32_t choices = usable(task);
  if (lastDevice != kNone && clusters[task] == clusters[lastOfAll])
    choices &= 1u << lastDevice;
  for (uint32_t device = 0; device < numDevices; ++device) {
    const size_t cell = at(task, device);
    ExactPacking::Window &window = packing.window(row, device);
    window.release = std::max(raised[device], arrival[cell]);
    window.deadline = target - tails[cell];
    if (lastDevice != kNone)
      window.deadline = std::min(
          window.deadline,
          target - tails[at(lastOfAll, lastDevice)] - problem.duration(lastOfAll, lastDevice) -
              problem.delay(problem.edge(problem.outgoing(task)[0]), device, lastDevice));
    window.duration = problem.duration(task, device);
    if ((choices >> device & 1) == 0 || window.release + window.duration > window.deadline)
      window.duration = kNever;
  }
}

} // namespace autopar::planning
