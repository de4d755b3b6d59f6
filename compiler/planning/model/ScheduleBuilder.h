// The evaluation core: a schedule under construction, with devices, streams and copy engines booked
// as tasks are placed.
//
// estimate() answers "when would this task finish there?" and place() does it, by the same rule, so
// that a list scheduler and the decoder of a (order, device) encoding share one model. Time runs in
// ticks: nanoseconds, or fractions of one when tasks without duration exist, which then take one
// tick each so that every task has an interval of its own; all of these ticks together are less
// than a nanosecond and vanish in the plan.
#ifndef AUTOPAR_COMPILER_PLANNING_MODEL_SCHEDULEBUILDER_H
#define AUTOPAR_COMPILER_PLANNING_MODEL_SCHEDULEBUILDER_H

#include <cstdint>
#include <limits>
#include <vector>

#include "compiler/planning/model/MachineModel.h"
#include "compiler/planning/model/Plan.h"
#include "compiler/planning/model/RuledOut.h"
#include "compiler/planning/model/TaskTable.h"
#include "compiler/planning/model/Timeline.h"

namespace autopar::planning {

class ScheduleBuilder {
public:
  enum class Mode {
    Insert,     ///< Tasks and transfers take the first gap that fits.
    Append,     ///< Tasks start no earlier than the device's frontier allows; transfers take gaps.
    OneAtATime, ///< One task at a time on the whole machine.
  };
  static constexpr int64_t kUnreachable = -1;
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

  ScheduleBuilder(const TaskGraph &graph, const MachineModel &machine, const TaskTable &table,
                  Mode mode);

  /// Finish of `task` on `device` in ticks, `returned` also counting the way of its program results
  /// to the host. kUnreachable if an operand cannot get there, or as soon as it is certain that
  /// `returned` exceeds `limit`. All producers must have been placed.
  struct Estimate {
    int64_t finish = kUnreachable;
    int64_t returned = kUnreachable;
  };
  /// Neither the task nor a transfer made for it starts before `notBefore`.
  Estimate estimate(TaskId task, DeviceId device, int64_t limit = kNoLimit, int64_t notBefore = 0);
  /// False, and nothing changed, if estimate() says kUnreachable.
  bool place(TaskId task, DeviceId device, int64_t notBefore = 0);
  /// Sends what the program wants of this value on its way now; finish() does it for the others.
  void sendResults(ValueId value);
  /// Where the operand that is made last is made; invalid if no task makes any.
  DeviceId deviceOfLatestOperand(TaskId task) const;

  // What has been placed so far, in ticks.
  DeviceId deviceOf(TaskId task) const { return placedOn[task.index()]; }
  int64_t startOf(TaskId task) const { return started[task.index()]; }
  int64_t finishOf(TaskId task) const { return finished[task.index()]; }
  bool hasCopy(ValueId value, DeviceId device) const {
    return copies[value.index() * machine.deviceCount() + device.index()] >= 0;
  }
  /// Of all tasks and transfers.
  int64_t lastEndTicks() const { return lastEnd; }
  /// In the order of booking.
  const std::vector<PlannedTransfer> &bookedTransfers() const { return transfers; }

  /// When a value made on `from` at `made` could be used on `to`, as far as engines are booked now;
  /// nothing is booked. kUnreachable without a route.
  int64_t arrivalIfMade(ValueId value, DeviceId from, int64_t made, DeviceId to);
  /// Earliest start of `task` on `device` from `ready` on, as far as it is booked now.
  int64_t firstStart(TaskId task, DeviceId device, int64_t ready) const;

  /// Sends the results home, once every task has been placed, and gives the time at which all is
  /// done.
  int64_t makespanNs();
  /// Sends the results home and converts to nanoseconds; streams are assigned, `serialNs` and
  /// `planner` are not set. Every task must have been placed. The builder is used up.
  Plan finish();

private:
  /// Collects into `missing` the operands to be copied to `device`, in the order of booking; gives
  /// the arrival of the others. kUnreachable if not even without queueing all are there by
  /// `latest`.
  int64_t gather(TaskId task, DeviceId device, int64_t latest, int64_t notBefore);
  int64_t bookMissing(DeviceId device, int64_t ready, int64_t latest, bool commit);
  bool reachable(TaskId task, DeviceId device) const;
  int64_t hopTicks(LinkId link, ValueId value) const {
    return TransferNs(machine.link(link), graph.value(value).bytes) << table.shift();
  }
  int64_t bring(ValueId value, DeviceId from, DeviceId to, int64_t ready, int64_t latest,
                bool commit);
  int64_t bookLink(ValueId value, LinkId link, int64_t duration, int64_t ready, int64_t latest,
                   bool commit);
  void bringResultsHome();
  int64_t &copyOf(ValueId value, DeviceId device) {
    return copies[value.index() * machine.deviceCount() + device.index()];
  }

  /// Of a tentative booking.
  static constexpr int64_t kTooLate = kNoLimit;

  struct Missing {
    int64_t ready; // of the value where it is
    ValueId value;
    DeviceId from;
    int64_t firstHop = 0, secondHop = 0; // ticks; a single hop is the first
  };

  const TaskGraph &graph;
  const MachineModel &machine;
  const TaskTable &table;
  Mode mode;
  const int mostRounds; // of a search for a time at which several engines are free
  std::vector<Timeline> devices, engines;
  std::vector<DeviceId> placedOn;         // by task
  std::vector<int64_t> started, finished; // by task
  std::vector<int64_t> copies;            // [value][device]: arrival of the copy, -1: none
  std::vector<PlannedTransfer> transfers; // in ticks
  std::vector<int64_t> engineFloor;       // by engine: end of what the current task has booked
  std::vector<uint64_t> engineStamp;      // by engine: for which round the floor holds
  uint64_t stamp = 0;
  std::vector<Missing> missing;
  std::vector<RuledOut> ruledOut; // by link
  /// Results of long searches, to be entered when the task is placed: what is tentative and what is
  /// booked must see the same.
  struct Found {
    LinkId link;
    int64_t from, until, duration;
  };
  std::vector<Found> found;
  int64_t clock = 0;   // OneAtATime: finish of the last task
  int64_t lastEnd = 0; // of all tasks and transfers
  bool resultsAreHome = false;
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_MODEL_SCHEDULEBUILDER_H
