// Why a task or a transfer of a plan starts when it does, and not before.
#ifndef AUTOPAR_COMPILER_PLANNING_EXPLAIN_STARTREASONS_H
#define AUTOPAR_COMPILER_PLANNING_EXPLAIN_STARTREASONS_H

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/planning/explain/Explanation.h"
#include "compiler/planning/model/MachineModel.h"
#include "compiler/planning/model/Timeline.h"

namespace autopar::planning {

class StartReasons {
public:
  static constexpr size_t kNone = ~size_t{0};

  /// Keeps references to all three.
  StartReasons(const TaskGraph &graph, const Machine &machine, const Plan &plan);

  struct Reason {
    WaitCause cause;
    std::string waitsFor;
    size_t task = kNone, transfer = kNone; ///< What was waited for: at most one of the two.
  };
  /// Nothing for what starts at once. Tasks and transfers in `skip*` are not waited for: a walk
  /// backwards enters what it has passed, so that things without duration do not lead in circles.
  std::optional<Reason> ofTask(TaskId task) const;
  std::optional<Reason> ofTransfer(size_t transfer) const;
  void skipTask(TaskId task) { taskSkipped[task.index()] = true; }
  void skipTransfer(size_t transfer) { transferSkipped[transfer] = true; }

  /// Neither pinned nor in a group.
  bool isFree(TaskId task) const;
  /// How long `task` waits after its operands are there.
  int64_t waitedNs(TaskId task) const;
  /// What speaks against `task` on `device` (another one, where it may run): TransferTooCostly or
  /// NoFasterThere; nothing if it would finish earlier there.
  std::optional<WaitCause> against(TaskId task, DeviceId device) const;
  /// Label of the task that makes `value`, or "program input"; "program input #1" where there are
  /// several: the number of the argument.
  std::string producerName(ValueId value) const;
  /// "copy of mul #1 to gpu0": which copy, where others would have the same producer.
  std::string copyName(size_t transfer) const;

private:
  /// Things in order of their finish, to find the last one that has finished by some time.
  class ByFinish {
  public:
    void add(int64_t finishNs, size_t index) { list.push_back({finishNs, index}); }
    void sort();
    size_t lastBy(int64_t time, size_t self, const std::vector<bool> &skipped) const;

  private:
    std::vector<std::pair<int64_t, size_t>> list;
  };

  static uint64_t key(ValueId value, DeviceId device) {
    return uint64_t{value.value} << 32 | device.value;
  }
  int64_t arrivalOf(ValueId value, DeviceId device) const;
  int64_t durationOf(TaskId task, DeviceId device) const;
  bool isArgument(ValueId value) const;
  WaitCause whyFull(TaskId task, size_t blocker) const;
  const Timeline &timelineOf(DeviceId device) const;

  const TaskGraph &graph;
  const Machine &machine;
  const Plan &plan;
  const MachineModel model;
  std::vector<ValueId> arguments;              // of the program, in order
  std::vector<ByFinish> onDevice;              // tasks
  std::vector<ByFinish> onEngine;              // transfers
  std::unordered_map<uint64_t, size_t> copies; // (value, device) -> transfer
  std::vector<bool> taskSkipped, transferSkipped;
  mutable std::vector<Timeline> timelines; // by device; made when first asked for
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_EXPLAIN_STARTREASONS_H
