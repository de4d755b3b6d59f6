// Why not parallel? What each step of the longest path of a plan waits for, and why devices idle.
#ifndef AUTOPAR_COMPILER_PLANNING_EXPLAIN_EXPLANATION_H
#define AUTOPAR_COMPILER_PLANNING_EXPLAIN_EXPLANATION_H

#include <string>
#include <string_view>
#include <vector>

#include "compiler/planning/model/Plan.h"
#include "runtime/machine/machine.h"

namespace autopar::planning {

enum class WaitCause {
  DataDependency,    ///< On a value or token of another task.
  BufferReuse,       ///< Its results have room only when the other one's buffers are given back.
  EngineBusy,        ///< Its operand queues behind another transfer.
  DeviceFull,        ///< The shares of the tasks on its device leave no room.
  TransferTooCostly, ///< The same; elsewhere there is room, but its operands and results take longer.
  Pinned,            ///< The same, on a device that the user has chosen.
  LaunchRate,        ///< The same; launching takes at least half of the time of what fills it.
  NoFasterThere,     ///< Of an idle device: the task would finish no earlier on it, even without transfers.
  Colocated,         ///< Of an idle device: the task stays with its group, on another one.
  NoShorterPlan,     ///< Of an idle device: the task alone would finish earlier on it, the program would not.
  CannotRun,         ///< Of an idle device: no task can run on it.
  NothingLeft,       ///< Of an idle device: all tasks have ended; results are on their way.
};

/// "data dependency", "buffer reuse", "engine busy", "device full", "transfer costs more than it
/// gains", "pinned by the user", "launch rate", "no faster there", "co-located with other tasks",
/// "no shorter plan found", "no task can run there", "no task is left".
std::string_view causeName(WaitCause cause);

struct Explanation {
  TaskId id;            ///< The task that waits; of the producer where a result on its way home waits.
                        ///< Invalid for a program input.
  std::string task;     ///< Its label.
  /// Label of a task, or "copy of …"; "program input" ("program input #1" of several) where a
  /// transfer of an input is waited for. Empty: of nothing.
  std::string waitsFor;
  WaitCause cause;
};

/// From the last finish of the plan backwards: what the start of each task and transfer on the way
/// waited for, until something starts at 0. n log n.
std::vector<Explanation> explainCriticalPath(const TaskGraph &graph, const Machine &machine,
                                             const Plan &plan);

/// A time during which no task runs on a device.
struct IdleGap {
  DeviceId device;
  int64_t startNs = 0, finishNs = 0;
  /// Of the task that ends the gap; at the end of the plan, and on a device without tasks, of one that
  /// might have run there. Never DeviceFull.
  Explanation reason;
};

/// The gaps of at least `share` of the makespan, by device and start. n log n.
std::vector<IdleGap> explainIdleGaps(const TaskGraph &graph, const Machine &machine,
                                     const Plan &plan, double share);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_EXPLAIN_EXPLANATION_H
