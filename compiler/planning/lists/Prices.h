// What an hour of each device is worth, for planners that choose devices by price.
#ifndef AUTOPAR_COMPILER_PLANNING_LISTS_PRICES_H
#define AUTOPAR_COMPILER_PLANNING_LISTS_PRICES_H

#include <vector>

#include "compiler/planning/model/Problem.h"

namespace autopar::planning {

/// Prices of device time, by device, that add up to 1: a solution of the dual of "all work on
/// unrelated devices in the least time" (see areaBound in LowerBound.h), by multiplicative weights.
/// In a balanced optimum every task is on a device where price x duration x share is least for it.
std::vector<double> areaPrices(const Problem &problem);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_LISTS_PRICES_H
