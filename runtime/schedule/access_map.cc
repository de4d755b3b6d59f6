#include "runtime/schedule/access_map.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace autopar {

namespace {

// Rows without gaps are one row. In bounds, so the product does not overflow.
Region JoinRows(Region region) {
  if (region.rows > 1 && region.row_stride == region.row_bytes) {
    region.row_bytes *= region.rows;
    region.rows = 1;
  }
  return region;
}

// The same bytes, however they are written down.
bool IsSame(const Region& first, const Region& second) {
  const Region a = JoinRows(first), b = JoinRows(second);
  return a.space == b.space && a.offset == b.offset && a.row_bytes == b.row_bytes &&
         a.rows == b.rows && (a.rows <= 1 || a.row_stride == b.row_stride);
}

// May the command overwrite `region`, whose byte at `at` it reads too? It may if every region that
// it reads there is exactly this one.
bool IsInPlace(const Region& region, uint64_t at, absl::Span<const Region> in_place_reads) {
  bool is_read = false;
  for (const Region& read : in_place_reads) {
    if (read.space != region.space || !Contains(read, at)) continue;
    if (!IsSame(read, region)) return false;
    is_read = true;
  }
  return is_read;
}

}  // namespace

bool Contains(const Region& region, uint64_t at) {
  if (at < region.offset || region.row_bytes == 0) return false;
  const uint64_t distance = at - region.offset;
  if (region.rows <= 1) return region.rows == 1 && distance < region.row_bytes;
  return distance / region.row_stride < region.rows &&
         distance % region.row_stride < region.row_bytes;
}

AccessMap::AccessMap(uint64_t space_bytes, uint64_t max_expanded_pieces)
    : space_bytes_(space_bytes), expansions_left_(max_expanded_pieces) {
  if (space_bytes != 0) segments_[0] = {.end = space_bytes, .pitch = 0, .pieces = {Piece()}};
}

// ---- segments ----------------------------------------------------------------------------------

AccessMap::Iterator AccessMap::SplitAt(uint64_t at) {
  if (at >= space_bytes_) return segments_.end();
  Iterator segment = std::prev(segments_.upper_bound(at));
  if (segment->first == at) return segment;
  if (segment->second.pitch == 0) {
    Segment rest = segment->second;
    segment->second.end = at;
    return segments_.emplace_hint(std::next(segment), at, std::move(rest));
  }
  // Only the row that holds `at` is taken apart; the rows before and after it stay together.
  const uint64_t pitch = segment->second.pitch;
  const uint64_t row = at - at % pitch;
  if (segment->first < row) segment = CutRows(segment, row);
  if (row == at) return segment;
  if (segment->second.pitch != 0 && row + pitch < segment->second.end) {
    CutRows(segment, row + pitch);
  }
  return SplitAt(at);  // a single row is held without pitch
}

AccessMap::Iterator AccessMap::CutRows(Iterator segment, uint64_t at) {
  Segment rest = segment->second;
  segment->second.end = at;
  Iterator second = segments_.emplace_hint(std::next(segment), at, std::move(rest));
  for (Iterator part : {segment, second}) {
    if (part->second.end - part->first == part->second.pitch) {
      part = ExpandRows(part);
      if (part->first == at) second = part;
    }
  }
  return second;
}

AccessMap::Iterator AccessMap::ExpandRows(Iterator segment) {
  const uint64_t begin = segment->first;
  const Segment rows = std::move(segment->second);
  Iterator after = segments_.erase(segment);
  for (uint64_t row = begin; row < rows.end; row += rows.pitch) {
    for (size_t i = 0; i < rows.pieces.size(); ++i) {
      const uint64_t column_end =
          i + 1 < rows.pieces.size() ? rows.pieces[i + 1].column : rows.pitch;
      segments_.emplace_hint(
          after, row + rows.pieces[i].column,
          Segment{.end = row + column_end,
                  .pitch = 0,
                  .pieces = {Piece{.column = 0, .state = rows.pieces[i].state}}});
    }
  }
  return segments_.find(begin);
}

AccessMap::Iterator AccessMap::Flatten(Iterator segment, const CommandOrder& order) {
  Segment& rows = segment->second;
  const uint64_t row_count = (rows.end - segment->first) / rows.pitch;
  if (row_count <= expansions_left_ / rows.pieces.size()) {
    expansions_left_ -= row_count * rows.pieces.size();
    return ExpandRows(segment);
  }
  // Of each stream the latest access stands for the earlier ones.
  const auto merge = [&](absl::InlinedVector<uint32_t, 2>& into,
                         const absl::InlinedVector<uint32_t, 2>& from) {
    for (uint32_t command : from) {
      const auto same = std::find_if(into.begin(), into.end(), [&](uint32_t other) {
        return order.StreamOf(other) == order.StreamOf(command);
      });
      if (same == into.end()) {
        into.push_back(command);
      } else {
        *same = std::max(*same, command);
      }
    }
  };
  State all{.is_defined = true, .is_exact = false, .writers = {}, .readers = {}};
  for (const Piece& piece : rows.pieces) {
    all.is_defined = all.is_defined && piece.state.is_defined;
    merge(all.writers, piece.state.writers);
    merge(all.readers, piece.state.readers);
  }
  rows.pitch = 0;
  rows.pieces.clear();
  rows.pieces.push_back({.column = 0, .state = std::move(all)});
  return segment;
}

// ---- accesses ----------------------------------------------------------------------------------

std::optional<AccessFault> AccessMap::Access(const Region& region, AccessKind kind,
                                             const CommandOrder& order,
                                             absl::Span<const Region> in_place_reads) {
  if (region.rows == 0 || region.row_bytes == 0) return std::nullopt;
  const Operation operation{kind, region, order, in_place_reads};
  const uint64_t pitch = region.row_stride, width = region.row_bytes, rows = region.rows;
  if (rows == 1 || pitch == width)
    return AccessBytes(region.offset, region.offset + rows * width, operation);

  // First and last row by themselves: all that lies between them and the whole rows in the middle
  // is the region's own buffer, so that rows never reach into a neighbour's bytes.
  constexpr uint64_t kFewRows = 3;
  if (rows <= kFewRows) {
    for (uint64_t i = 0; i < rows; ++i) {
      const uint64_t begin = region.offset + i * pitch;
      if (Fault fault = AccessBytes(begin, begin + width, operation)) return fault;
    }
    return std::nullopt;
  }
  for (uint64_t begin : {region.offset, region.offset + (rows - 1) * pitch}) {
    if (Fault fault = AccessBytes(begin, begin + width, operation)) return fault;
  }
  const uint64_t row = region.offset / pitch, column = region.offset % pitch;
  if (Fault fault = AccessRows(pitch, row + 1, row + rows - 1, column,
                               std::min(column + width, pitch), operation)) {
    return fault;
  }
  if (column + width <= pitch) return std::nullopt;
  // Rows that run over a multiple of the pitch: the rest of each stands at the beginning of the
  // next one.
  return AccessRows(pitch, row + 2, row + rows, 0, column + width - pitch, operation);
}

AccessMap::Fault AccessMap::AccessBytes(uint64_t begin, uint64_t end, const Operation& operation) {
  SplitAt(end);
  const Iterator first = SplitAt(begin);
  const Iterator last = segments_.lower_bound(end);
  for (Iterator segment = first; segment != last; ++segment) {
    Segment& held = segment->second;
    for (size_t i = 0; i < held.pieces.size(); ++i) {
      const uint64_t piece_begin = segment->first + held.pieces[i].column;
      const uint64_t piece_end = held.pitch == 0 ? held.end
                                 : i + 1 < held.pieces.size()
                                     ? segment->first + held.pieces[i + 1].column
                                     : segment->first + held.pitch;
      if (Fault fault = AccessState(held.pieces[i].state, piece_begin, piece_end, operation))
        return fault;
    }
  }
  if (operation.kind == AccessKind::kRead) return std::nullopt;
  // All of them have the same state now.
  segments_.erase(std::next(first), last);
  first->second.end = end;
  first->second.pitch = 0;
  first->second.pieces.resize(1);
  return std::nullopt;
}

AccessMap::Fault AccessMap::AccessRows(uint64_t pitch, uint64_t row, uint64_t row_end,
                                       uint64_t column, uint64_t column_end,
                                       const Operation& operation) {
  if (row >= row_end) return std::nullopt;
  const uint64_t end = row_end * pitch;
  SplitAt(end);
  Iterator segment = SplitAt(row * pitch);
  while (segment != segments_.end() && segment->first < end) {
    const uint64_t segment_begin = segment->first, segment_end = segment->second.end;
    if (segment->second.pitch != 0 && segment->second.pitch != pitch) {
      segment = Flatten(segment, operation.order);
      continue;
    }
    // Whole rows in it, from `first_row` on.
    const uint64_t first_row = (segment_begin + pitch - 1) / pitch, whole_end = segment_end / pitch;
    if (segment->second.pitch == 0 && first_row + 2 <= whole_end) {
      SplitAt(whole_end * pitch);
      segment = SplitAt(first_row * pitch);
      segment->second.pitch = pitch;
      if (segment_begin < first_row * pitch) {
        segment = std::prev(segment);  // first the bytes before the whole rows
        continue;
      }
    }
    if (segment->second.pitch == pitch) {
      if (Fault fault = AccessColumns(segment, column, column_end, operation)) return fault;
      ++segment;
      continue;
    }
    for (uint64_t at = segment_begin - segment_begin % pitch; at < segment_end; at += pitch) {
      const uint64_t from = std::max(segment_begin, at + column),
                     to = std::min(segment_end, at + column_end);
      if (from >= to) continue;
      if (Fault fault = AccessBytes(from, to, operation)) return fault;
    }
    segment = segments_.lower_bound(segment_end);
  }
  return std::nullopt;
}

AccessMap::Fault AccessMap::AccessColumns(Iterator segment, uint64_t column, uint64_t column_end,
                                          const Operation& operation) {
  auto& pieces = segment->second.pieces;
  const uint64_t pitch = segment->second.pitch;
  const auto piece_at = [&](uint64_t at) {
    return std::lower_bound(
        pieces.begin(), pieces.end(), at,
        [](const Piece& piece, uint64_t value) { return piece.column < value; });
  };
  for (uint64_t at : {column, column_end}) {
    auto piece = piece_at(at);
    if (at == pitch || (piece != pieces.end() && piece->column == at)) continue;
    Piece rest{.column = at, .state = std::prev(piece)->state};
    pieces.insert(piece, std::move(rest));
  }
  const auto first = piece_at(column), last = piece_at(column_end);
  for (auto piece = first; piece != last; ++piece) {
    const uint64_t piece_end = std::next(piece) != pieces.end() ? std::next(piece)->column : pitch;
    if (Fault fault = AccessState(piece->state, segment->first + piece->column,
                                  segment->first + piece_end, operation)) {
      return fault;
    }
  }
  if (operation.kind != AccessKind::kRead) pieces.erase(std::next(first), last);
  if (pieces.size() == 1) segment->second.pitch = 0;
  return std::nullopt;
}

AccessFault AccessMap::Undefined(const State& state, uint64_t begin, uint64_t end) {
  AccessFault fault{AccessFault::Kind::kUndefined, begin, end, std::nullopt, true};
  if (state.is_exact && !state.writers.empty()) fault.other = state.writers[0];
  return fault;
}

AccessMap::Fault AccessMap::AccessState(State& state, uint64_t begin, uint64_t end,
                                        const Operation& operation) {
  const CommandOrder& order = operation.order;
  const uint32_t current = order.current();
  using Kind = AccessFault::Kind;
  for (uint32_t writer : state.writers) {
    if (writer == current) return AccessFault{Kind::kOverlap, begin, end, writer, true};
    if (!order.IsBefore(writer)) return AccessFault{Kind::kUnordered, begin, end, writer, true};
  }
  if (operation.kind == AccessKind::kRead) {
    if (!state.is_defined) return Undefined(state, begin, end);
    // Whoever is ordered behind this reader is ordered behind those before it.
    const auto is_covered = [&](uint32_t reader) {
      return reader == current || order.IsBefore(reader);
    };
    state.readers.erase(std::remove_if(state.readers.begin(), state.readers.end(), is_covered),
                        state.readers.end());
    state.readers.push_back(current);
    return std::nullopt;
  }
  for (uint32_t reader : state.readers) {
    if (reader == current) {
      if (operation.kind == AccessKind::kScratch || !state.is_exact ||
          !IsInPlace(operation.region, begin, operation.in_place_reads)) {
        return AccessFault{Kind::kOverlap, begin, end, reader, false};
      }
    } else if (!order.IsBefore(reader)) {
      return AccessFault{Kind::kUnordered, begin, end, reader, false};
    }
  }
  state.is_defined = operation.kind == AccessKind::kWrite;
  state.is_exact = true;
  state.writers.assign(1, current);
  state.readers.clear();
  return std::nullopt;
}

std::optional<AccessFault> AccessMap::FindUndefined() const {
  for (const auto& [begin, segment] : segments_) {
    for (size_t i = 0; i < segment.pieces.size(); ++i) {
      const Piece& piece = segment.pieces[i];
      if (piece.state.is_defined) continue;
      const uint64_t piece_end = segment.pitch == 0 ? segment.end
                                 : i + 1 < segment.pieces.size()
                                     ? begin + segment.pieces[i + 1].column
                                     : begin + segment.pitch;
      return Undefined(piece.state, begin + piece.column, piece_end);
    }
  }
  return std::nullopt;
}

}  // namespace autopar
