// The planning problem as the lower bounds see it: classes of equal devices instead of devices, and
// no queues.
//
// Two devices are of one class if swapping them changes nothing: same durations, shares and
// overheads, same links to and from every other device. A device on which inputs are or results
// must end is alone in its class. With a class per GPU type, the tables of a machine with 16 equal
// GPUs are as small as those of one.
#ifndef AUTOPAR_COMPILER_PLANNING_BOUNDS_BOUNDMODEL_H
#define AUTOPAR_COMPILER_PLANNING_BOUNDS_BOUNDMODEL_H

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "compiler/planning/model/MachineModel.h"
#include "compiler/planning/model/TaskGraph.h"

namespace autopar::planning {

/// A time that never comes. Three of them can be added without overflow.
inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;

class BoundModel {
public:
  /// Keeps references to both.
  BoundModel(const TaskGraph &graph, const MachineModel &machine);
  /// The same problem with one task's device named: each class of several devices is split into one
  /// device and the others, and `anchor` is not on the others. As the devices are equal, some
  /// optimal plan is left; what is on the anchor's device and what is not now have heads and tails
  /// apart.
  BoundModel(const BoundModel &whole, TaskId anchor);
  /// Splitting would make a difference.
  bool hasEqualDevices() const { return classes.size() < classIndex.size(); }

  const TaskGraph &graph() const { return taskGraph; }
  const MachineModel &machine() const { return machineModel; }

  struct DeviceClass {
    DeviceId device; ///< One of them, the first.
    uint32_t count = 1;
  };
  size_t classCount() const { return classes.size(); }
  const DeviceClass &deviceClass(size_t index) const { return classes[index]; }
  size_t classOf(DeviceId device) const { return classIndex[device.index()]; }
  size_t deviceCount() const { return classIndex.size(); }

  /// Launch included; kCannotRun where the task may not run.
  int64_t duration(TaskId task, size_t at) const {
    return durations[task.index() * classes.size() + at];
  }
  /// What the task takes of its device's time: duration times share, rounded down. On a device
  /// where the number of streams is the tighter limit, duration over streams. However tasks
  /// overlap, the work between two times is at most the time between them.
  int64_t work(TaskId task, size_t at) const {
    return works.empty() ? duration(task, at) : works[task.index() * classes.size() + at];
  }
  bool someTasksOverlap() const { return !works.empty(); }

  /// From the value's end on a device of class `from` to the start of a reader on another device of
  /// class `to`, without queueing. kNever if there is no way or no other device.
  int64_t crossing(ValueId value, size_t from, size_t to) const {
    return std::min(kNever, transit(value, from, to) + waits[to]);
  }
  int64_t waitNs(size_t at) const { return waits[at]; }
  /// On big problems crossing() without waitNs() does not depend on the classes: it is
  /// leastTransit(), the least over all links.
  bool isCoarse() const { return coarse; }
  int64_t leastTransit(ValueId value) const {
    return taskGraph.value(value).needsTransfer()
               ? std::min(kNever, byteTimes[value.index()] + leastLatencyNs)
               : 0;
  }

  /// Time for which the transfer of `value` has the engine that all links into (out of) a device of
  /// class `at` share; 0 if there is none.
  int64_t enterNs(ValueId value, size_t at) const { return gateNs(value, gates[2 * at]); }
  int64_t leaveNs(ValueId value, size_t at) const { return gateNs(value, gates[2 * at + 1]); }
  bool hasGates() const { return someGate; }

  /// Earliest start that the program's inputs allow `task` on class `at`.
  int64_t inputsArrive(TaskId task, size_t at) const;
  /// Least time from the end of `task` on class `at` until its results are where they must be.
  int64_t resultsLand(TaskId task, size_t at) const;
  /// Inputs that are results: longest of their ways.
  int64_t inputsLand() const;

private:
  /// One or two hops of a transfer between two classes.
  struct Way {
    uint32_t firstRate = kNone, secondRate = kNone; // indices into the columns of byteTimes
    int64_t latencyNs = 0;
  };
  static constexpr uint32_t kNone = 0xffffffffu;
  /// The engine that everything into or out of a device passes.
  struct Gate {
    uint32_t rate = kNone; // of the fastest of its links; none: there is no such engine
    int64_t latencyNs = 0;
  };

  void findClasses();
  bool columnsEqual(size_t a, size_t b) const;
  bool linksEqual(size_t a, size_t b) const;
  void fillTasks();
  void fillWays();
  uint32_t rateOf(uint64_t bytesPerS) const; ///< Column of that rate or of a faster one.
  void fillGates();
  Gate gateOf(DeviceId device, bool in) const;
  int64_t gateNs(ValueId value, const Gate &gate) const {
    if (gate.rate == kNone || !taskGraph.value(value).needsTransfer())
      return 0;
    return std::min(kNever, byteTimes[value.index() * rateCount + gate.rate] + gate.latencyNs);
  }
  int64_t transit(ValueId value, size_t from, size_t to) const {
    if (from == to && classes[to].count == 1)
      return kNever;
    if (coarse)
      return leastTransit(value);
    if (!taskGraph.value(value).needsTransfer())
      return 0;
    const Way &way = ways[from * classes.size() + to];
    if (way.firstRate == kNone)
      return kNever;
    const int64_t *times = &byteTimes[value.index() * rateCount];
    int64_t time = times[way.firstRate] + way.latencyNs;
    if (way.secondRate != kNone)
      time += times[way.secondRate];
    return std::min(kNever, time);
  }
  /// Without the wait of a reader; 0 if it is there already. For results and inputs, which are on
  /// devices that are alone in their class.
  int64_t landing(ValueId value, size_t from, size_t to) const {
    return from == to ? 0 : transit(value, from, to);
  }

  const TaskGraph &taskGraph;
  const MachineModel &machineModel;
  std::vector<DeviceClass> classes;
  std::vector<uint32_t> classIndex; // by device
  std::vector<int64_t> waits;       // by class
  std::vector<int64_t> durations;   // [task][class]
  std::vector<int64_t> works;       // [task][class]; empty: equal to durations
  bool coarse = false;
  std::vector<Way> ways;   // [from][to]
  std::vector<Gate> gates; // [class]: in, out
  bool someGate = false;
  std::vector<uint64_t> rates; // distinct bytes_per_s
  size_t rateCount = 0;
  std::vector<int64_t> byteTimes; // [value][rate], without latency
  int64_t leastLatencyNs = 0;     // coarse
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_BOUNDS_BOUNDMODEL_H
