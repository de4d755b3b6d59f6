// Offsets for the buffers of one arena. Knows no MLIR.
//
// Two buffers may share bytes only if every use of one comes before the definition of the other. What "before" means is
// the caller's choice: happens-before costs no waiting; the planned times, or the issue order, save more memory but turn
// into extra order between streams, which the stage waits adds.
#ifndef AUTOPAR_COMPILER_MEMORY_ARENAPACKING_H
#define AUTOPAR_COMPILER_MEMORY_ARENAPACKING_H

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/memory/CommandGraph.h"

namespace mlir::autopar {

constexpr uint64_t bufferAlignment = 64;

/// From the most to the least parallel.
enum class ReuseOrder : uint8_t { happensBefore, plannedTime, issueOrder };

/// The buffers of one arena. Buffer b lives from its definition to ends[endBegin[b] .. endBegin[b + 1]): the last command
/// of each stream that uses it (the definition itself, if none does).
struct ArenaBuffers {
  std::vector<uint64_t> bytes; ///< > 0
  std::vector<uint32_t> definition;
  std::vector<uint32_t> endBegin{0};
  std::vector<uint32_t> ends;

  uint32_t size() const { return static_cast<uint32_t>(bytes.size()); }
  /// `uses` in any order; only the last of each stream is kept.
  void add(uint64_t bufferBytes, uint32_t definedBy, std::vector<uint32_t> uses, const HappensBefore &happens);
};

/// What packing reads of the commands. Keeps references.
struct CommandTimes {
  const CommandGraph &graph;
  const HappensBefore &happens;
  std::vector<uint32_t> position; ///< In the issue order.

  CommandTimes(const CommandGraph &graph, const HappensBefore &happens, const std::vector<uint32_t> &order);
  bool isBefore(uint32_t a, uint32_t b, ReuseOrder order) const;
};

struct ArenaPacking {
  std::vector<uint64_t> offsets; ///< Multiples of bufferAlignment.
  uint64_t bytes = 0;            ///< End of the last buffer.
};

/// Up to 2,000 buffers: best offset for several orders, then a bounded search. More: passes in issue order over free
/// lists by size, n log n. Deterministic.
ArenaPacking packArena(const ArenaBuffers &buffers, const CommandTimes &times, ReuseOrder order);

/// The pair of buffers that overlap in bytes while both live, if there is one (by sweep; n log n for good packings).
std::optional<std::pair<uint32_t, uint32_t>> findConflict(const ArenaBuffers &buffers, const CommandTimes &times,
                                                          ReuseOrder order, const std::vector<uint64_t> &offsets);

/// Bytes that must exist at once whatever the packing: the most that live together at one command. n log n.
uint64_t liveLowerBound(const ArenaBuffers &buffers, const CommandTimes &times);

/// The largest set of buffers no two of which may share bytes under happens-before (a maximum-weight antichain, by flow).
/// Exact; quadratic memory, for a few thousand buffers at most. `alignment` rounds the sizes up.
uint64_t largestLiveSet(const ArenaBuffers &buffers, const CommandTimes &times, uint64_t alignment = 1);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_MEMORY_ARENAPACKING_H
