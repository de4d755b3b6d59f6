// Why there is no plan: which value cannot get to where it is needed.
#ifndef AUTOPAR_COMPILER_PLANNING_EXPLAIN_REACHABILITY_H
#define AUTOPAR_COMPILER_PLANNING_EXPLAIN_REACHABILITY_H

#include <string>

#include "compiler/planning/model/Problem.h"

namespace autopar::planning {

/// Of the first task that no operand's producer can reach, wherever both run: "the result of 'a' (on
/// gpu1) cannot reach 'b' (on cpu0): no link and no way over the host device leads there". Where no
/// single pair explains it, a sentence without names.
std::string whatCannotReach(const Problem &problem);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_EXPLAIN_REACHABILITY_H
