// The inner loop of local search: a task order and a device for each task in, a makespan out.
//
// decode() gives the times of ScheduleBuilder in Mode::Append, to the tick: tasks that fill their
// device start after everything placed there before, others at the first fit of their share;
// operands are copied once per (value, device) in the order in which their users are placed, over
// engines that queue; results go home last. Everything it needs is laid out in flat arrays when the
// evaluator is made, and decode() allocates nothing once its arrays have grown.
//
// Where no link has engines, nothing queues, and copies are left out of account: a value is on
// another device a fixed time after its task's finish.
#ifndef AUTOPAR_COMPILER_PLANNING_SEARCH_EVALUATOR_H
#define AUTOPAR_COMPILER_PLANNING_SEARCH_EVALUATOR_H

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "compiler/planning/lists/ListScheduler.h"
#include "compiler/planning/search/FlatTimeline.h"

namespace autopar::planning {

/// What a schedule can be built from. `order` is topological; `devices` is by task.
struct Encoding {
  std::vector<TaskId> order;
  std::vector<DeviceId> devices;
};

class Evaluator {
public:
  /// More than any time, and what a task takes where it is not allowed; sums of three fit.
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;
  static constexpr int64_t kNoLimit = kNever - 1;

  /// Keeps references to what `problem` names. Takes time and memory for tasks x devices,
  /// edges x devices^2 and values x (kinds of routes).
  explicit Evaluator(const Problem &problem);

  /// Makespan in ticks; kNever as soon as it is certain to exceed `limit`, or if a value cannot get
  /// to its user. `finish` (by task, in ticks) is complete unless kNever is returned.
  int64_t decode(const Encoding &encoding, int64_t limit, std::vector<int64_t> &finish);
  /// Tasks that decode() has placed so far: the measure of effort.
  uint64_t placements() const { return placed; }
  /// For passes over the tasks that cost as much.
  void addPlacements(uint64_t count) { placed += count; }

  int64_t toNs(int64_t ticks) const { return ticks >> problem.table.shift(); }
  /// The most ticks that still count as `ns`.
  int64_t lastTickOf(int64_t ns) const { return ((ns + 1) << problem.table.shift()) - 1; }

  // ---- the problem in arrays: what moves and estimates read ----

  /// All values and tokens that `producer` makes for `user`, as one.
  struct Edge {
    uint32_t producer, user;
    uint32_t delays; ///< Row of the table that delay() reads.
  };
  std::span<const Edge> edgesInto(TaskId task) const {
    return {edges.data() + edgeBegin[task.index()], edges.data() + edgeBegin[task.index() + 1]};
  }
  /// Numbers of the edges out of `task`; see edge().
  std::span<const uint32_t> edgesOutOf(TaskId task) const {
    return {outgoing.data() + outgoingBegin[task.index()],
            outgoing.data() + outgoingBegin[task.index() + 1]};
  }
  const Edge &edge(uint32_t number) const { return edges[number]; }
  /// From the producer's finish to the user's earliest start when nothing queues; kNever without a
  /// route.
  int64_t delay(const Edge &edge, DeviceId from, DeviceId to) const {
    return delays[edge.delays + routeKind[from.index() * numDevices + to.index()]];
  }
  /// delay() on one way that every edge is measured by: to compare edges.
  int64_t weight(const Edge &edge) const { return delays[edge.delays + weightKind]; }
  /// kNever: not allowed there.
  int64_t duration(TaskId task, DeviceId device) const { return row(task, device).duration; }
  /// Earliest start that the program's inputs allow when nothing queues.
  int64_t release(TaskId task, DeviceId device) const { return row(task, device).release; }
  /// Least time from the task's finish to the end of the program.
  int64_t tail(TaskId task, DeviceId device) const { return row(task, device).tail; }
  /// Time that the task's results need to go home when nothing queues.
  int64_t home(TaskId task, DeviceId device) const { return row(task, device).home; }
  /// After a complete decode() where something queues, by task: the task whose output, or whose
  /// leaving the device, came last before it could start; invalid: none. To be taken once.
  void takeBindings(std::vector<TaskId> &out) {
    out.resize(bindings.size());
    out.swap(bindings);
  }

  size_t taskCount() const { return problem.graph.taskCount(); }
  size_t deviceCount() const { return numDevices; }
  /// Some link has engines.
  bool queues() const { return someEngine; }
  /// Some task leaves room on `device`.
  bool isShared(DeviceId device) const { return shared[device.index()] != 0; }
  bool anyShared() const { return someShared; }

private:
  struct Row { // of a task on a device
    int64_t duration, release, tail, home;
  };
  /// Something that a task needs and that is not everywhere from the start.
  struct Operand {
    uint32_t producer; // kNone: an input
    uint32_t value;
    uint32_t resident; // where an input is
    uint32_t needsTransfer;
  };
  struct Missing {
    int64_t ready;
    const Operand *operand;
    uint32_t from;
  };
  struct WayHome {
    int64_t ready;
    uint32_t result; // in results
  };
  struct Hop {                       // a link
    uint32_t engineBegin, engineEnd; // in linkEngines
    uint32_t speed;                  // column of hopTicks
  };
  static constexpr uint32_t kNone = 0xffffffffu;

  const Row &row(TaskId task, DeviceId device) const {
    return rows[task.index() * numDevices + device.index()];
  }
  void layOutRoutes();
  void layOutOperands();
  void layOutEdges();
  void layOutRows();
  void layOutTails();
  void layOutQueues();
  int64_t routeTicks(ValueId value, DeviceId from, DeviceId to) const;
  int64_t delayTicks(ValueId value, DeviceId from, DeviceId to) const;
  uint32_t delayRowOf(std::span<const ValueId> values);

  template <bool Shared>
  int64_t decodeFree(const Encoding &encoding, int64_t limit, int64_t *finish);
  template <bool Shared>
  int64_t decodeQueued(const Encoding &encoding, int64_t limit, int64_t *finish);
  template <bool Shared> int64_t startOn(size_t task, size_t device, int64_t ready);
  void clearDevices();
  void clearQueues();
  int64_t bookMissing(size_t device, int64_t ready, uint32_t &binder);
  int64_t bookTogether(const uint32_t *list, size_t count, int64_t start, int64_t duration);
  int64_t bookLink(uint32_t value, LinkId link, int64_t ready);
  int64_t sendResultsHome(const Encoding &encoding, int64_t makespan, int64_t limit,
                          const int64_t *finish);

  Problem problem;
  size_t numDevices;
  bool someEngine = false, someShared = false;
  std::vector<Row> rows; // [task][device]
  std::vector<uint32_t> edgeBegin, outgoingBegin, outgoing;
  std::vector<Edge> edges;
  size_t routeKinds = 0, weightKind = 0;
  std::vector<uint32_t> routeKind; // [from][to]; 0: the same device
  std::vector<std::pair<DeviceId, DeviceId>> exampleOfKind;
  std::vector<int64_t> delays; // rows of routeKinds
  int64_t inputsHome = 0;      // least time for inputs that are results

  std::vector<uint32_t> operandBegin;
  std::vector<Operand> operands;
  std::vector<int64_t> waitTicks; // by device
  std::vector<Hop> hops;          // by link
  std::vector<uint32_t> linkEngines;
  size_t numSpeeds = 0;
  std::vector<int64_t> hopTicks; // [value][speed]
  struct Wanted {
    uint32_t value, producer, resident, destination;
  };
  std::vector<Wanted> results;

  // Reused by every decode.
  uint64_t placed = 0;
  std::vector<int64_t> frontier; // by device
  std::vector<uint8_t> shared;   // by device
  std::vector<FlatProfile> profiles;
  std::vector<FlatEngine> engines;
  std::vector<int64_t> engineFloor; // by engine: end of what the current task has booked
  std::vector<uint64_t> engineStamp;
  uint64_t stamp = 0;
  std::vector<int64_t> copies; // [value][device]: arrival of the copy, -1: none
  std::vector<uint32_t> copied;
  std::vector<Missing> missing;
  std::vector<size_t> places; // by engine of a link: see FlatEngine
  std::vector<WayHome> waysHome;
  std::vector<TaskId> bindings, lastOn; // by task; by device
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_SEARCH_EVALUATOR_H
