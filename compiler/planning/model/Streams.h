// Assigns the tasks of each device to its compute streams once their times are known.
#ifndef AUTOPAR_COMPILER_PLANNING_MODEL_STREAMS_H
#define AUTOPAR_COMPILER_PLANNING_MODEL_STREAMS_H

#include "compiler/planning/model/Plan.h"

namespace autopar::planning {

/// Interval colouring: sets TaskPlacement::stream, Plan::streamsUsed and Plan::busyNs. As few
/// streams as tasks run at once; among the free ones the stream on which an operand of the task was
/// made last, which saves a wait.
void assignStreams(const TaskGraph &graph, Plan &plan);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_MODEL_STREAMS_H
