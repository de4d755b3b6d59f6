// The problem with time turned round: planning it from the end finds what planning from the start
// does not see, such as that the producers of a join should share a device.
#ifndef AUTOPAR_COMPILER_PLANNING_MODEL_REVERSAL_H
#define AUTOPAR_COMPILER_PLANNING_MODEL_REVERSAL_H

#include <memory>
#include <vector>

#include "compiler/planning/model/Problem.h"

namespace autopar::planning {

/// A problem whose edges and links point the other way. Inputs become results that are wanted where
/// the inputs are, results become inputs. An edge becomes a value of its own: copies that several
/// users on one device share are counted once per user, which timing the mirrored plan forward puts
/// right.
class ReversedProblem {
public:
  /// Null if the reversed problem is out of range (see TaskTable::create); then there is no plan
  /// from behind. Copies what it needs of `problem`.
  static std::unique_ptr<ReversedProblem> create(const Problem &problem);

  Problem problem() const { return {graph, model, table}; }

private:
  ReversedProblem(TaskGraph graph, Machine machine);

  TaskGraph graph;
  Machine machine;
  MachineModel model;
  TaskTable table;
};

/// The tasks in the order in which they start in the mirror image of `planned`, a full schedule of
/// the reversed problem. A topological order of `graph`, the graph that was reversed.
std::vector<TaskId> mirroredOrder(const TaskGraph &graph, const ScheduleBuilder &planned);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_MODEL_REVERSAL_H
