// What every plan that ends by a target has to keep to: earliest starts and latest finishes per
// task and device, devices that are out of the question, tasks that must share a device. Often
// this alone refutes the target, and then the bound is proved without a search.
#ifndef AUTOPAR_COMPILER_PLANNING_EXACT_EXACTBOUNDS_H
#define AUTOPAR_COMPILER_PLANNING_EXACT_EXACTBOUNDS_H

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/planning/exact/ExactProblem.h"

namespace autopar::planning {

/// An operand that a task on some device waits for: when it arrives if made on another device, and
/// earliest start and duration of its producer on the device itself (kNever: not possible).
struct JoinItem {
  int64_t remote, head, duration;
};

/// Earliest time at which all operands can be there: the k with the latest arrivals are made on the
/// device, one after the other, the rest comes from elsewhere; the best k. Sorts `items`, which are
/// at most kMostTasks.
int64_t joinedArrival(JoinItem *items, size_t count);

/// Propagates a target to a fixpoint:
///  - earliest starts by joinedArrival, tails by the same on the reversed problem;
///  - a device where earliest start, duration and tail of a task exceed the target is out;
///  - an edge whose crossing exceeds the target wherever its ends run joins them to a cluster,
///  whose
///    tasks share a device and therefore run one after the other: members before a task delay its
///    start, and the head-work-tail bound of one device (Carlier 1982) holds for all of them;
///  - intervals that must hold more work than the devices have time (energetic reasoning), with
///  work
///    weighted by a price per device, so that it holds for unrelated devices.
class ExactBounds {
public:
  /// Keeps references.
  ExactBounds(const ExactProblem &problem, const ExactProblem &reversed);

  /// False: no plan ends by `target` (in ticks). Starts afresh each time.
  bool propagate(int64_t target);

  // After propagate(); what a plan that ends by the target keeps to.
  int64_t head(uint32_t task, uint32_t device) const { return forward.heads[at(task, device)]; }
  int64_t tail(uint32_t task, uint32_t device) const {
    return backward.heads[at(problem.mirror(task), device)];
  }
  /// Bit per device.
  uint32_t allowed(uint32_t task) const { return devices[task]; }
  /// Equal for tasks that must share a device.
  uint32_t cluster(uint32_t task) const { return clusters[task]; }
  /// Price of a tick of a device: the sum over all devices of price x time is at least the sum over
  /// all tasks of the least price x duration. Prices are small enough to add up over a plan.
  int64_t price(uint32_t device) const { return prices[device]; }

private:
  /// One direction of time, in the numbers of its own problem.
  struct Side {
    const ExactProblem &problem;
    std::vector<uint64_t> ancestors; // by task
    std::vector<int64_t> heads;      // [task][device]
  };

  size_t at(uint32_t task, uint32_t device) const { return task * problem.deviceCount() + device; }
  int64_t slack(uint32_t task, uint32_t device) const; // < 0: the device is out
  void updateHeads(Side &side, bool mirrored);
  int64_t remoteArrival(const Side &side, const ExactProblem::Edge &edge, uint32_t device,
                        uint32_t fromDevices) const;
  bool filterDevices(bool &changed);
  bool mustBeLocal(const ExactProblem::Edge &edge) const;
  void unite(uint32_t a, uint32_t b);
  bool uniteForced();
  bool filterClusters(bool &changed);
  int64_t oneDeviceBound(uint64_t tasks, uint32_t device) const;
  void setPrices();
  bool intervalsHold() const;

  const ExactProblem &problem;
  Side forward, backward;
  int64_t target = 0;
  std::vector<uint32_t> devices;  // by task: bit per device
  std::vector<uint32_t> clusters; // by task: lowest member
  std::vector<uint64_t> members;  // by cluster: bit per task
  std::vector<int64_t> prices;    // by device
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_EXACT_EXACTBOUNDS_H
