// The parts of memory planning for large programs: a map from bytes to their last owner, and the packer that goes once
// through the buffers in issue order. Knows no MLIR.
#ifndef AUTOPAR_COMPILER_MEMORY_ONLINEPACKING_H
#define AUTOPAR_COMPILER_MEMORY_ONLINEPACKING_H

#include <map>

#include "compiler/memory/ArenaPacking.h"

namespace mlir::autopar {

/// Who used each byte of an arena last. A buffer that takes over a range hears of all owners in it. n log n for n takes.
class ByteOwners {
public:
  /// Calls `visit(owner)` once per piece of an earlier owner within [offset, offset + bytes).
  template <typename Visit>
  void take(uint64_t offset, uint64_t bytes, uint32_t owner, Visit visit) {
    if (bytes == 0)
      return;
    uint64_t end = offset + bytes;
    auto at = pieces.upper_bound(offset);
    if (at != pieces.begin() && std::prev(at)->second.end > offset)
      --at;
    while (at != pieces.end() && at->first < end) {
      auto [begin, piece] = *at;
      visit(piece.owner);
      at = pieces.erase(at);
      if (begin < offset)
        pieces.emplace(begin, Piece{offset, piece.owner});
      if (piece.end > end)
        at = pieces.emplace(end, Piece{piece.end, piece.owner}).first;
    }
    pieces.emplace(offset, Piece{end, owner});
  }

private:
  struct Piece {
    uint64_t end;
    uint32_t owner;
  };
  std::map<uint64_t, Piece> pieces; // by begin, disjoint
};

/// Best fit in issue order. A free block remembers the last uses of its bytes, and may be taken where they come before.
ArenaPacking packOnline(const ArenaBuffers &buffers, const CommandTimes &times, ReuseOrder order);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_MEMORY_ONLINEPACKING_H
