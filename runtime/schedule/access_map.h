// Who touched which bytes of one space: for every byte its last writer and the readers since, kept
// as a map from byte ranges to states, so that the cost follows the number of accesses and not the
// number of bytes.
//
// Strided regions are exact. A range of whole rows of one pitch (row_stride) is one segment with
// the row's columns cut into pieces; two column slices of one buffer are two pieces, however many
// rows there are. Only where regions of different pitches meet in the same bytes are the rows of
// the older ones taken apart, one by one, and only up to kMaxExpandedPieces of them for each space;
// beyond that the older accesses count as accesses to all bytes of their rows. That is on the safe
// side: it may demand an order that the bytes do not need, it never misses one. Buffers that reuse
// the bytes of dead ones, the only known case of it, are ordered behind every use of them anyway.
//
// Cost: O(log n) for a region that equals or is disjoint to those before it, and O(1) amortised for
// each boundary that partial overlaps make.
#ifndef AUTOPAR_RUNTIME_SCHEDULE_ACCESS_MAP_H_
#define AUTOPAR_RUNTIME_SCHEDULE_ACCESS_MAP_H_

#include <cstdint>
#include <map>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "runtime/schedule/command_order.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

// Scratch is written, and its bytes are undefined afterwards.
enum class AccessKind { kRead, kWrite, kScratch };

// What is wrong with an access, at the bytes [begin, end) of the space.
struct AccessFault {
  enum class Kind {
    kUnordered,  // against `other`, which may still be running
    kUndefined,  // the bytes hold nothing: never written, or scratch of `other`
    kOverlap,    // with another region of the same command
  };
  Kind kind;
  uint64_t begin, end;
  std::optional<uint32_t> other;  // command
  bool other_writes = false;
};

class AccessMap {
 public:
  // Pieces that the rows of strided regions may be taken apart into, for each space.
  static constexpr uint64_t kMaxExpandedPieces = uint64_t{1} << 18;

  explicit AccessMap(uint64_t space_bytes, uint64_t max_expanded_pieces = kMaxExpandedPieces);

  // Notes that the current command of `order` touches `region` (in bounds, possibly empty); all its
  // reads come before its writes. `in_place_reads`: regions that the command reads and may
  // overwrite, if it writes exactly the same one. Returns the first fault found; after one the map
  // is of no further use.
  std::optional<AccessFault> Access(const Region& region, AccessKind kind,
                                    const CommandOrder& order,
                                    absl::Span<const Region> in_place_reads);

  // First bytes that hold no defined value.
  std::optional<AccessFault> FindUndefined() const;

 private:
  struct State {
    bool is_defined = false;
    bool is_exact = true;  // no: stands for the accesses to several pieces (Flatten)
    absl::InlinedVector<uint32_t, 2> writers;  // one, if exact
    absl::InlinedVector<uint32_t, 2> readers;  // since the write; none of them before another
  };
  struct Piece {
    uint64_t column = 0;  // up to the next piece's, or the pitch
    State state;
  };
  // pitch == 0: contiguous bytes of one state. Otherwise at least two whole rows, [begin, end)
  // aligned to the pitch, and at least two pieces.
  struct Segment {
    uint64_t end = 0;
    uint64_t pitch = 0;
    absl::InlinedVector<Piece, 1> pieces;
  };
  using Segments = std::map<uint64_t, Segment>;  // by begin; they cover the space without gaps
  using Iterator = Segments::iterator;

  struct Operation {
    AccessKind kind;
    const Region& region;
    const CommandOrder& order;
    absl::Span<const Region> in_place_reads;
  };
  using Fault = std::optional<AccessFault>;

  // The segment that begins at `at`, cut out if need be; the end if `at` is the end of the space.
  Iterator SplitAt(uint64_t at);
  Iterator CutRows(Iterator segment, uint64_t at);
  // Replaces a segment with pitch by contiguous ones, row by row; returns the first.
  Iterator ExpandRows(Iterator segment);
  // The same if the budget allows, else by one for all its bytes.
  Iterator Flatten(Iterator segment, const CommandOrder& order);

  Fault AccessBytes(uint64_t begin, uint64_t end, const Operation& operation);
  // Columns [column, column_end) of the rows [row, row_end), all of whose bytes lie between the
  // region's first and last.
  Fault AccessRows(uint64_t pitch, uint64_t row, uint64_t row_end, uint64_t column,
                   uint64_t column_end, const Operation& operation);
  Fault AccessColumns(Iterator segment, uint64_t column, uint64_t column_end,
                      const Operation& operation);
  static AccessFault Undefined(const State& state, uint64_t begin, uint64_t end);
  static Fault AccessState(State& state, uint64_t begin, uint64_t end, const Operation& operation);

  uint64_t space_bytes_;
  uint64_t expansions_left_;
  Segments segments_;
};

// Is the byte at `at` of the region's space one of its bytes?
bool Contains(const Region& region, uint64_t at);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_SCHEDULE_ACCESS_MAP_H_
