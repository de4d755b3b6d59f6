// Lower bounds from the work that devices must do: in all, and between the heads and tails of a set
// of tasks.
//
// Work on unlike devices is compared by prices of device time: for any prices that make the time of
// all devices together cost 1, no plan is shorter than the sum over tasks of their cheapest priced
// work. The best prices are the dual of the linear program that splits tasks freely over devices.
#ifndef AUTOPAR_COMPILER_PLANNING_BOUNDS_WORKBOUNDS_H
#define AUTOPAR_COMPILER_PLANNING_BOUNDS_WORKBOUNDS_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/planning/bounds/BoundModel.h"
#include "compiler/planning/bounds/HeadsAndTails.h"

namespace autopar::planning {

/// By class: price of the time of one device. Sum over classes of count * price = 1.
using Prices = std::vector<double>;

/// Prices at which the work of `tasks` is worth most, nearly (golden section for two classes,
/// multiplicative weights for more).
Prices findPrices(const BoundModel &model, std::span<const uint32_t> tasks);
/// The same price for each device.
Prices equalPrices(const BoundModel &model);
/// Sum of the cheapest priced work: a bound.
double pricedWork(const BoundModel &model, std::span<const uint32_t> tasks, const Prices &prices);

struct WorkBound {
  std::string name;
  int64_t ns = 0;
};

/// "area", or "area of device 'x'" if what can run nowhere else binds; "launch rate" instead of
/// area if at least half of the work is launching.
WorkBound workBound(const BoundModel &model, const Prices &prices);

/// Largest, over thresholds a and b, of a + b + work of the tasks with head >= a and tail >= b.
/// O(tasks): at most 48 thresholds each.
WorkBound intervalBound(const BoundModel &model, const HeadsAndTails &times, const Prices &prices);

/// A bound that is a sum of `terms` in floating point, rounded up to the whole nanoseconds of a
/// makespan without going above it.
int64_t roundUpSafely(double ns, size_t terms);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_BOUNDS_WORKBOUNDS_H
