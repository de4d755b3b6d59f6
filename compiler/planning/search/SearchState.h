// What the local searches share: one schedule that moves change, try and take back, the best one
// seen, a generator of random numbers and the count of the effort.
#ifndef AUTOPAR_COMPILER_PLANNING_SEARCH_SEARCHSTATE_H
#define AUTOPAR_COMPILER_PLANNING_SEARCH_SEARCHSTATE_H

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/planning/search/Evaluator.h"

namespace autopar::planning {

/// SplitMix64: the same numbers on every platform.
class SearchRandom {
public:
  explicit SearchRandom(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// In [0, count).
  uint32_t below(size_t count) { return uint32_t(((next() >> 32) * uint64_t(count)) >> 32); }
  /// In (0, 1].
  double fraction() { return double((next() >> 11) + 1) * 0x1p-53; }

private:
  uint64_t state;
};

/// Tasks that move together and where they may go: a co-location group, or a task by itself.
class Units {
public:
  Units(const Problem &problem, const Evaluator &evaluator);

  std::span<const TaskId> membersWith(TaskId task) const {
    return slice(members, memberBegin, unitOf[task.index()]);
  }
  /// Ascending. Never empty.
  std::span<const DeviceId> choices(TaskId task) const {
    return slice(choiceList, choiceBegin, unitOf[task.index()]);
  }
  bool isAlone(TaskId task) const { return membersWith(task).size() == 1; }
  bool canMove(TaskId task) const { return choices(task).size() > 1; }
  bool mayGo(TaskId task, DeviceId device) const {
    return allowed[unitOf[task.index()] * numDevices + device.index()] != 0;
  }
  bool anyCanMove() const { return someCanMove; }

private:
  template <class T>
  static std::span<const T> slice(const std::vector<T> &list, const std::vector<uint32_t> &begin,
                                  size_t at) {
    return {list.data() + begin[at], list.data() + begin[at + 1]};
  }
  size_t numDevices;
  bool someCanMove = false;
  std::vector<uint32_t> unitOf, memberBegin, choiceBegin;
  std::vector<TaskId> members;
  std::vector<DeviceId> choiceList;
  std::vector<uint8_t> allowed; // [unit][device]
};

class SearchState {
public:
  /// Keeps references.
  SearchState(Evaluator &evaluator, const Units &units);

  /// Makes `encoding` the current schedule. False if it cannot be built.
  bool load(const Encoding &encoding);

  const Encoding &current() const { return encoding; }
  /// Ticks.
  int64_t makespan() const { return makespanTicks; }
  const std::vector<int64_t> &finishes() const { return finish; }
  DeviceId deviceOf(TaskId task) const { return encoding.devices[task.index()]; }
  uint32_t positionOf(TaskId task) const { return position[task.index()]; }
  int64_t startOf(TaskId task) const {
    return finish[task.index()] - evaluator.duration(task, deviceOf(task));
  }

  // ---- moves; they stay pending until settle() ----

  /// Puts `task` and what moves with it on `device`.
  void moveTo(TaskId task, DeviceId device);
  /// First and last position that the edges allow for `task`.
  std::pair<uint32_t, uint32_t> window(TaskId task) const;
  /// Puts `task` at `to`, which is in its window; at most once between two settle().
  void shift(TaskId task, uint32_t to);
  /// Nothing that the pending moves changed can change the makespan.
  bool isIdle() const;

  /// Decodes; keeps the pending moves if the makespan is at most `limit`, else takes them back.
  bool settle(int64_t limit);
  /// Takes the pending moves back.
  void undo();

  /// Sorts the order by start times. The schedule stays as it is where nothing queues and no task
  /// leaves room on its device.
  void sortByStart();

  /// The tasks of one chain that decides the makespan, last first. Valid until the next change.
  std::span<const TaskId> criticalChain();

private:
  void place(TaskId task, uint32_t at) {
    encoding.order[at] = task;
    position[task.index()] = at;
  }
  void shiftRaw(uint32_t from, uint32_t to);
  TaskId tightPredecessor(TaskId task) const;
  TaskId tightOnDevice(TaskId task) const;

  Evaluator &evaluator;
  const Units &units;
  Encoding encoding;
  std::vector<uint32_t> position; // by task
  std::vector<int64_t> finish, trial;
  std::vector<TaskId> bound, scratch;
  int64_t makespanTicks = Evaluator::kNever;
  struct DeviceChange {
    TaskId task;
    DeviceId from;
  };
  std::vector<DeviceChange> deviceChanges;
  bool shifted = false;
  uint32_t shiftedFrom = 0, shiftedTo = 0;
  bool chainKnown = false;
  std::vector<TaskId> chain;
  std::vector<std::pair<int64_t, uint32_t>> byStart;
};

/// What a search is given and what it found.
struct SearchGoal {
  uint64_t placements; ///< Stop when Evaluator::placements() reaches this.
  int64_t enoughNs;    ///< Stop at a makespan of at most this.
};

class Incumbent {
public:
  explicit Incumbent(Evaluator &evaluator) : evaluator(evaluator) {}
  /// Keeps what is shorter in nanoseconds.
  bool offer(const SearchState &state) {
    if (evaluator.toNs(state.makespan()) >= makespanNs())
      return false;
    ticks = state.makespan();
    best = state.current();
    return true;
  }
  int64_t makespanTicks() const { return ticks; }
  int64_t makespanNs() const { return evaluator.toNs(ticks); }
  const Encoding &encoding() const { return best; }

private:
  Evaluator &evaluator;
  int64_t ticks = Evaluator::kNever;
  Encoding best;
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_SEARCH_SEARCHSTATE_H
