// The end game of the exact search: tasks that no longer wait for each other, each with a window of
// time per device, are to be packed onto devices. There the order of starts, in which the search
// branches, says nothing about what is left over in the end; filling one device after the other
// does: a device that is not filled well enough leaves more than the others can take. This is how
// bin packing is solved exactly (bin completion: Korf 2003; Fukunaga and Korf 2007), here with
// release times and deadlines.
#ifndef AUTOPAR_COMPILER_PLANNING_EXACT_EXACTPACKING_H
#define AUTOPAR_COMPILER_PLANNING_EXACT_EXACTPACKING_H

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/planning/exact/ExactProblem.h"
#include "compiler/planning/exact/SeenStates.h"

namespace autopar::planning {

class ExactPacking {
public:
  enum class Outcome { Refuted, Found, OutOfSteps };

  /// Where a task may run on a device: [release, deadline), in ticks. A duration of kNever: it may
  /// not run there.
  struct Window {
    int64_t release = 0, deadline = 0, duration = ExactProblem::kNever;
  };

  /// Starts a new problem. Tasks are numbered from 0; fill in all windows.
  void begin(size_t tasks) {
    numTasks = tasks;
    numDevices = 0;
  }
  /// Number of the new device. Devices with the same `alike` have the same windows.
  size_t addDevice(uint32_t alike) {
    deviceClass[numDevices] = alike;
    return numDevices++;
  }
  Window &window(size_t task, size_t device) { return windows[task * kDevices + device]; }

  /// Whether all tasks can be packed. `steps`: how many may be taken, and afterwards how many are
  /// left. Recurses once per task and device.
  Outcome run(uint64_t &steps);

  /// After Found.
  int64_t start(size_t task) const { return starts[task]; }
  size_t device(size_t task) const { return chosenDevice[task]; }

private:
  static constexpr size_t kTasks = ExactProblem::kMostTasks;
  static constexpr size_t kDevices = ExactProblem::kMostDevices;

  /// A device in the order of filling, and what has been put on it.
  struct Level {
    size_t device = 0;
    bool likeBefore = false; // the device is like that of the level before
    bool lastOfKind = false; // all devices after it are like it
    uint64_t open = 0;       // tasks that are left when it is filled
    int64_t roomLater = 0;   // upper bound of what the later devices can take
    uint64_t chosen = 0;
    size_t count = 0;
    std::array<uint8_t, kTasks> tasks; // chosen, latest last
  };
  struct Job {
    int64_t release, deadline, duration;
    uint32_t task;
  };
  using Jobs = std::array<Job, kTasks>;

  const Window &at(size_t task, size_t device) const { return windows[task * kDevices + device]; }
  bool mayRun(size_t task, size_t device) const {
    return at(task, device).duration < ExactProblem::kNever;
  }
  void sortTasks();
  void sortDevices();
  int64_t room(size_t first, uint64_t open) const;
  int64_t roomOfAlike(size_t level, size_t alike, uint64_t open) const;
  bool fillFrom(size_t level, uint64_t open);
  bool choose(size_t level, size_t position, int64_t left);
  bool complete(size_t level);
  bool isDominated(size_t level);
  bool isHarder(size_t hard, size_t easy, size_t level) const;
  size_t jobsOf(const Level &level, Jobs &jobs) const;
  bool takesTurns(const Level &level);
  static bool schrage(const Jobs &jobs, size_t count, std::array<int64_t, kTasks> *startOf,
                      std::array<uint8_t, kTasks> *order = nullptr, size_t *placed = nullptr);
  static bool fitsPreemptively(const Jobs &jobs, size_t count);
  bool sequence(Jobs &jobs, size_t count, std::array<int64_t, kTasks> &startOf);

  size_t numTasks = 0, numDevices = 0;
  std::array<Window, kTasks * kDevices> windows;
  std::array<uint32_t, kDevices> deviceClass;

  std::array<uint8_t, kTasks> sorted; // position -> task, the longest first
  std::array<Level, kDevices> levels;
  std::array<int64_t, kDevices * kTasks> laterWork; // [level][position]: least on a later device
  std::array<int64_t, kDevices> grains;             // by level: divides all durations
  std::array<int64_t, kTasks> starts;
  std::array<size_t, kTasks> chosenDevice;
  uint64_t stepsLeft = 0, salt = 0;
  SeenStates seen;
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_EXACT_EXACTPACKING_H
