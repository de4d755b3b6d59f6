// Which values are copied from where to where, over which links and when. Knows no MLIR.
//
// A value is copied to a device at most once: over the direct link from its home, or, where there is none, in two hops
// over the host device, which then holds a copy too. Link engines are booked in the order in which values are ready, so
// the times are those of first-come-first-served links; they are estimates for the issue order and the trace. An empty
// value takes no time and no engine.
#ifndef AUTOPAR_COMPILER_TRANSFERS_TRANSFERPLAN_H
#define AUTOPAR_COMPILER_TRANSFERS_TRANSFERPLAN_H

#include <optional>
#include <vector>

#include "runtime/machine/machine.h"

namespace mlir::autopar {

struct TransferDemand {
  struct Value {
    ::autopar::DeviceId home;
    uint64_t bytes = 0;
    int64_t readyNs = 0; ///< Finish of its producer; 0 for an argument.
  };
  /// `value` is needed on `device`, which is not its home, from `neededNs` on. Any number of uses per pair.
  struct Use {
    uint32_t value = 0;
    ::autopar::DeviceId device;
    int64_t neededNs = 0;
  };
  std::vector<Value> values;
  std::vector<Use> uses;
};

struct PlannedTransfer {
  uint32_t value = 0;
  ::autopar::DeviceId from, to;
  ::autopar::LinkId link;
  int64_t startNs = 0, finishNs = 0;
  uint32_t stream = 0; ///< Number among the link's copy streams.
  friend bool operator==(const PlannedTransfer &, const PlannedTransfer &) = default;
};

struct TransferPlan {
  /// By value; a second hop after its first.
  std::vector<PlannedTransfer> transfers;
  /// Index into TransferDemand::uses of one that no link leads to.
  std::optional<uint32_t> unreachableUse;
};

/// n log n in the number of uses.
TransferPlan planTransfers(const TransferDemand &demand, const ::autopar::Machine &machine);

/// Sets the stream of each transfer by its times. A link with engines has one, on which transfers queue as they do for the
/// engines. The transfers of a link without engines never queue, so those that overlap in time go on different streams; at
/// most `mostStreams` of one link, beyond which they queue after all. n log n.
void assignCopyStreams(std::vector<PlannedTransfer> &transfers, const ::autopar::Machine &machine,
                       uint32_t mostStreams);
/// What the streams of a function with so many commands may cost: vector clocks take memory for each pair of the two.
uint32_t mostCopyStreams(size_t commands, const ::autopar::Machine &machine);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_TRANSFERS_TRANSFERPLAN_H
