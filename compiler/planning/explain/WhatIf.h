// What would help most? Each candidate change of the machine is made and the program planned again.
#ifndef AUTOPAR_COMPILER_PLANNING_EXPLAIN_WHATIF_H
#define AUTOPAR_COMPILER_PLANNING_EXPLAIN_WHATIF_H

#include <string>
#include <vector>

#include "compiler/planning/model/Plan.h"
#include "runtime/machine/machine.h"

namespace autopar::planning {

struct MachineChange {
  std::string what;       ///< "another device like gpu0 (cuda)", "links twice as fast: gpu0.in", …
  int64_t makespanNs = 0; ///< Of the plan on the changed machine.
};

struct MachineChanges {
  std::vector<MachineChange> best;
  std::vector<std::string> tried; ///< All, whether they help or not, as MachineChange::what.
};

/// The changes that shorten `plan` most (by a hundredth at least), at most `most` of them, shortest makespan first. Tried are:
/// one more device of each kind (like the busiest of that kind, with links of its own alike), links
/// twice as fast (by engine, or pair of devices where a link has none; those with the most traffic),
/// and twice the memory where a device is short of it. Plans at effort 1, above 2,000 tasks at
/// effort 0; nothing above 200,000 tasks, where that would take seconds.
MachineChanges changesThatHelp(const TaskGraph &graph, const Machine &machine, const Plan &plan,
                               size_t most);

/// `graph` for a machine that has one more device, on which every task costs what it does on `like`.
/// Finalized.
TaskGraph withDeviceLike(const TaskGraph &graph, DeviceId like);
/// The machine with one more device, named after `like`, with the same links; an engine that only
/// links of `like` use gets a twin, one shared with others stays shared. The engines of a CPU's links
/// are taken to be those of the devices at the other ends; two CPUs that nothing shows how to join
/// are joined as the CPU and another device are, or at the speed of the memory.
Machine withDeviceLike(const Machine &machine, DeviceId like);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_EXPLAIN_WHATIF_H
