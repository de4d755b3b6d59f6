#include "compiler/planning/lists/Prices.h"

#include <algorithm>
#include <limits>

namespace autopar::planning {

std::vector<double> areaPrices(const Problem &problem) {
  const size_t numDevices = problem.machine.deviceCount();
  const size_t numTasks = problem.graph.taskCount();
  // Work in device-ticks, [task][device]; infinite where the task cannot run.
  std::vector<double> work(numTasks * numDevices);
  for (size_t task = 0; task < numTasks; ++task)
    for (size_t device = 0; device < numDevices; ++device) {
      int64_t duration = problem.table.duration(TaskId(task), DeviceId(device));
      double share = double(problem.table.share(TaskId(task), DeviceId(device))) / kFullOccupancy;
      work[task * numDevices + device] =
          duration < 0 ? std::numeric_limits<double>::infinity() : double(duration) * share;
    }

  constexpr int kRounds = 60;
  std::vector<double> price(numDevices, 1.0 / double(numDevices)), best = price;
  std::vector<double> load(numDevices);
  double highest = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::fill(load.begin(), load.end(), 0);
    double total = 0;
    for (size_t task = 0; task < numTasks; ++task) {
      const double *row = &work[task * numDevices];
      size_t chosen = 0;
      for (size_t device = 1; device < numDevices; ++device)
        if (row[device] * price[device] < row[chosen] * price[chosen])
          chosen = device;
      total += row[chosen] * price[chosen];
      load[chosen] += row[chosen];
    }
    if (total > highest) {
      highest = total;
      best = price;
    }
    const double most = *std::max_element(load.begin(), load.end());
    if (most <= 0)
      break;
    // Dearer where the load is; smaller steps from round to round.
    double sum = 0;
    for (size_t device = 0; device < numDevices; ++device)
      sum += price[device] *= 1 + 2.0 / (2.0 + round) * load[device] / most;
    for (double &p : price)
      p /= sum;
  }
  return best;
}

} // namespace autopar::planning
