// Energetic reasoning: tasks that each must run within a window of time do part of their work
// inside an interval at least, and the devices can do only so much there.
//
// The interval may be another one for each class of devices: a task runs on one device from start
// to finish, so it does, on whichever class it is, at least what its window there leaves in that
// class's interval. Prices (WorkBounds.h) weigh the classes. For any intervals and prices
//   sum over tasks of min over classes of price * part of the work inside
//     <= sum over classes of devices * price * length of the interval.
//
// The same with sizes instead of times, for few tasks per device: of tasks that lie inside the
// interval wholly, no device can have two that take more than half of it each, nor three of more
// than a third. f(x) = floor((k + 1) x) / k, or x where (k + 1) x is whole, adds up to at most 1
// over sizes that add up to at most 1 (a dual feasible function: Fekete, Schepers, "New classes of
// fast lower bounds for bin packing problems", Math. Programming 91, 2001), and so
// does f(x) = x with 1 for more than 1 - e and 0 for less than e. Sizes are work over the length of
// the interval.
#ifndef AUTOPAR_COMPILER_PLANNING_BOUNDS_ENERGYTEST_H
#define AUTOPAR_COMPILER_PLANNING_BOUNDS_ENERGYTEST_H

#include <cstdint>
#include <vector>

#include "compiler/planning/bounds/BoundModel.h"
#include "compiler/planning/bounds/WorkBounds.h"

namespace autopar::planning {

class EnergyTest {
public:
  explicit EnergyTest(const BoundModel &model);

  /// One class on which the task may run, not before `begin` and not after `end`.
  struct Window {
    uint32_t at;
    int64_t begin, end, duration;
    double rate; ///< Work per time while it runs.
  };
  void clear();
  void addWindow(const Window &window) { windows.push_back(window); }
  /// The windows added since the last call are those of one task.
  void endTask() { taskBegin.push_back(uint32_t(windows.size())); }

  /// Looks for intervals and prices, beginning with `start`, that what was added does not fit into.
  bool isOverfull(const Prices &start);
  /// Work done so far, in units of about a nanosecond.
  uint64_t steps() const { return stepCount; }

private:
  struct Cut {
    std::vector<int64_t> begin, end; // by class
    Prices prices;
    double excess = 0; // of work over room
  };

  bool search(const Prices &start);
  bool isOverfullBySize(const Cut &cut);
  double partOf(const Window &window, const Cut &cut) const;
  double roomOn(size_t at, const Cut &cut) const;
  double room(const Cut &cut) const;
  void evaluate(Cut &cut);
  bool isProof(const Cut &cut) const;
  void fillPoints();
  bool findOnGrid(const Prices &start, Cut &best);
  bool moveIntervals(Cut &cut);
  void moveInterval(Cut &cut, size_t at);
  bool movePrices(Cut &cut);

  const size_t count;
  int sizeParts = 0;           ///< k of the sizes; 0: times.
  std::vector<double> devices; // by class
  std::vector<Window> windows;
  std::vector<uint32_t> taskBegin;
  std::vector<std::vector<int64_t>> begins, ends; // by class: where intervals may begin and end
  struct Part {
    const Window *window; // on the class whose interval moves
    double elsewhere;     // least part of the task on other classes
  };
  std::vector<Part> parts;
  bool areFew = false;                  // tasks, for the number of devices: sizes are worth a look
  std::vector<double> sizes, sizeSteps; // by window; distinct
  uint64_t stepCount = 0;
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_BOUNDS_ENERGYTEST_H
