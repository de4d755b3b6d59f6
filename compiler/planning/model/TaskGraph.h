// A task graph: what has to run, what each task costs on each device, and which values flow between
// tasks.
//
// Build it with the add/set functions, then call finalize() once; afterwards it is constant and may
// be read from several threads. Times are nanoseconds, sizes bytes. Tasks and values are numbered
// in the order in which they were added.
#ifndef AUTOPAR_COMPILER_PLANNING_MODEL_TASKGRAPH_H
#define AUTOPAR_COMPILER_PLANNING_MODEL_TASKGRAPH_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/base/ids.h"

namespace autopar::planning {

using TaskId = Id<struct TaskTag>;
using ValueId = Id<struct ValueTag>;

/// Cost of a task on a device that cannot run it.
inline constexpr int64_t kCannotRun = -1;
/// The share of a device that a task with the device to itself fills. Builders round shares down.
inline constexpr uint32_t kFullOccupancy = 1'000'000;
inline constexpr uint32_t kNoGroup = 0xffffffffu;

struct Task {
  std::string label;
  DeviceId pinnedDevice;               ///< Invalid: any device that can run it.
  uint32_t colocationGroup = kNoGroup; ///< Tasks of one group run on one device.
};

struct Value {
  TaskId producer;         ///< Invalid: there when the program starts.
  DeviceId residentDevice; ///< Without producer: where it is; invalid: on every device (constants).
  uint64_t bytes = 0;
  bool isToken = false;         ///< Orders only.
  bool isProgramResult = false; ///< See TaskGraph::resultsOf.
  /// Tokens and empty values order tasks of different devices without a transfer.
  bool needsTransfer() const { return !isToken && bytes > 0; }
};

/// `value` must be on `device` in the end; invalid: on the host device, if the machine has one.
struct ProgramResult {
  ValueId value;
  DeviceId device;
  friend auto operator<=>(const ProgramResult &, const ProgramResult &) = default;
};

class TaskGraph {
public:
  explicit TaskGraph(size_t deviceCount) : numDevices(deviceCount) {}

  /// `costNs` has one entry per device: whole nanoseconds without the launch, or kCannotRun.
  TaskId addTask(std::string label, std::span<const int64_t> costNs);
  /// `share` of the device in (0, kFullOccupancy]; tasks fill their device when this is not called.
  void setOccupancy(TaskId task, DeviceId device, uint32_t share);
  /// Scratch memory of the task beside its operands and results.
  void setMemoryBytes(TaskId task, DeviceId device, uint64_t bytes);
  void pin(TaskId task, DeviceId device) { taskList[task.index()].pinnedDevice = device; }
  void colocate(TaskId task, uint32_t group) { taskList[task.index()].colocationGroup = group; }

  ValueId addValue(TaskId producer, uint64_t bytes);
  ValueId addToken(TaskId producer);
  /// A program input that is on `resident` (invalid: on every device) when the program starts.
  ValueId addInput(DeviceId resident, uint64_t bytes);
  /// May be called several times for one value. See ProgramResult.
  void markProgramResult(ValueId value, DeviceId device = DeviceId()) {
    valueList[value.index()].isProgramResult = true;
    resultList.push_back({value, device});
  }
  /// `task` needs `value`, which may be added as operand of the same task more than once.
  void addOperand(TaskId task, ValueId value) { uses.push_back({task, value}); }

  /// Sorts edges, orders the tasks and checks: cycles, pins to devices out of range, negative
  /// costs, tasks that no device can run (pins and co-location groups considered). One sentence
  /// that names the task.
  absl::Status finalize();

  size_t deviceCount() const { return numDevices; }
  size_t taskCount() const { return taskList.size(); }
  size_t valueCount() const { return valueList.size(); }
  const Task &task(TaskId id) const { return taskList[id.index()]; }
  const Value &value(ValueId id) const { return valueList[id.index()]; }
  int64_t costNs(TaskId id, DeviceId device) const {
    return costs[id.index() * numDevices + device.index()];
  }
  uint32_t occupancy(TaskId id, DeviceId device) const {
    return shares.empty() ? kFullOccupancy : shares[id.index() * numDevices + device.index()];
  }
  uint64_t memoryBytes(TaskId id, DeviceId device) const {
    return memory.empty() ? 0 : memory[id.index() * numDevices + device.index()];
  }

  // After finalize(). Each list is in ascending order without duplicates.
  std::span<const ValueId> operands(TaskId id) const {
    return slice(operandList, operandBegin, id);
  }
  std::span<const ValueId> produced(TaskId id) const {
    return slice(producedList, producedBegin, id);
  }
  std::span<const TaskId> users(ValueId id) const { return slice(userList, userBegin, id); }
  std::span<const ProgramResult> programResults() const { return resultList; }
  std::span<const ProgramResult> resultsOf(ValueId id) const;
  /// Every producer before its users; task order where the edges leave a choice.
  std::span<const TaskId> topologicalOrder() const { return order; }
  /// Cost, pin and co-location group allow `id` on `device`.
  bool mayRunOn(TaskId id, DeviceId device) const;

private:
  struct Use {
    TaskId task;
    ValueId value;
  };

  template <class T, class Key>
  static std::span<const T> slice(const std::vector<T> &list, const std::vector<uint32_t> &begin,
                                  Key key) {
    return {list.data() + begin[key.index()], list.data() + begin[key.index() + 1]};
  }
  void buildLists();
  absl::Status orderTasks();
  std::string describeCycle(std::span<const uint32_t> missingOperands) const;
  absl::Status checkTasks();
  absl::Status checkGroups();

  size_t numDevices;
  std::vector<Task> taskList;
  std::vector<Value> valueList;
  std::vector<int64_t> costs;   // [task][device]
  std::vector<uint32_t> shares; // [task][device], empty: all full
  std::vector<uint64_t> memory; // [task][device], empty: all 0
  std::vector<Use> uses;
  std::vector<uint32_t> operandBegin, producedBegin, userBegin;
  std::vector<ValueId> operandList, producedList;
  std::vector<ProgramResult> resultList;
  std::vector<TaskId> userList, order;
  std::vector<std::vector<uint8_t>>
      groupDevices; // [group][device]: allowed; empty for an unused group
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_MODEL_TASKGRAPH_H
