// Where every buffer of a function lives: the decision, apart from the rewrite.
#ifndef AUTOPAR_COMPILER_MEMORY_MEMORYPLAN_H
#define AUTOPAR_COMPILER_MEMORY_MEMORYPLAN_H

#include <optional>
#include <vector>

#include "compiler/memory/ArenaPacking.h"
#include "compiler/transfers/PlacedFunction.h"

namespace mlir::autopar {

/// A compute stream (device, ordinal), or a copy stream of a link.
struct StreamKey {
  ::autopar::DeviceId device; ///< That drives it.
  ::autopar::LinkId link;     ///< Invalid for a compute stream.
  uint32_t ordinal = 0;
};

/// The commands of a function with their edges (data, tokens), streams numbered in order of first appearance.
struct FunctionGraph {
  CommandGraph graph;
  std::vector<StreamKey> streams;
};
FunctionGraph buildFunctionGraph(const PlacedFunction &function);

/// Issue order of the function's commands; emits an error and fails if there is none.
FailureOr<std::vector<uint32_t>> orderCommands(const PlacedFunction &function, const CommandGraph &graph);

struct PlannedBuffer {
  SpaceKind space = SpaceKind::arena;
  uint32_t index = 0; ///< Argument, result or constant number.
  ::autopar::DeviceId device;
  uint64_t offset = 0, bytes = 0;
};

struct MemoryPlan {
  struct DeviceMemory {
    uint64_t arenaBytes = 0;
    uint64_t fixedBytes = 0;   ///< Arguments, results and constants there.
    uint64_t limitBytes = 0;   ///< 0: none.
    ReuseOrder order = ReuseOrder::happensBefore;
    bool fits() const { return limitBytes == 0 || arenaBytes + fixedBytes <= limitBytes; }
  };
  std::vector<PlannedBuffer> values; ///< By value. Tokens and empty values: an empty buffer.
  /// Scratch of command c: scratch[scratchBegin[c] .. scratchBegin[c + 1]).
  std::vector<uint32_t> scratchBegin;
  std::vector<PlannedBuffer> scratch;
  std::vector<DeviceMemory> devices;
};

/// Scratch bytes that a command needs, one entry per buffer.
std::vector<uint64_t> scratchBytes(Operation *task, const ::autopar::Device &device);

/// Emits an error and fails if a returned value is not the result of a task, or is returned twice. Where a device's
/// memory is exceeded, reuse may follow the planned times, then the issue order; the plan says what was needed and
/// whether it fits.
FailureOr<MemoryPlan> planMemory(const PlacedFunction &function, const ::autopar::Machine &machine);

/// Figures of the report, by device, of a function after the stage memory: the arena, and a lower bound for it (the
/// largest set of buffers live together, exact up to 256 buffers).
struct MemoryStats {
  uint64_t peakBytes = 0, peakLowerBoundBytes = 0;
};
FailureOr<std::vector<MemoryStats>> computeMemoryStats(func::FuncOp func);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_MEMORY_MEMORYPLAN_H
