#include "test/fake_cuda/clocks.h"

#include <iterator>
#include <utility>

namespace fake {

void Shadow::Split(uint64_t at) {
  auto next = cells_.upper_bound(at);
  if (next == cells_.begin()) return;
  auto cell = std::prev(next);
  if (cell->first == at || cell->second.end <= at) return;
  Cell tail = cell->second;
  cell->second.end = at;
  cells_.emplace_hint(next, at, std::move(tail));
}

void Shadow::Cover(uint64_t begin, uint64_t end) {
  Split(begin);
  Split(end);
  uint64_t at = begin;
  for (auto cell = cells_.lower_bound(begin); at < end; ++cell) {
    uint64_t next = cell == cells_.end() ? end : std::min(cell->first, end);
    if (at < next) {
      Cell fresh;
      fresh.end = next;
      cell = cells_.emplace(at, std::move(fresh)).first;
    }
    at = cell->second.end;
  }
}

bool Shadow::Read(uint64_t begin, uint64_t end, const Accessor& who, const Clock& clock,
                  Conflict* conflict) {
  if (begin >= end) return false;
  Cover(begin, end);
  bool races = false;
  for (auto cell = cells_.lower_bound(begin); cell != cells_.end() && cell->first < end; ++cell) {
    Cell& c = cell->second;
    if (!races && c.is_written && !clock.Covers(c.write.chain, c.write.count)) {
      races = true;
      *conflict = {cell->first, c.end, true, c.write};
    }
    auto same = std::find_if(c.reads.begin(), c.reads.end(),
                             [&](const Accessor& r) { return r.chain == who.chain; });
    if (same == c.reads.end()) {
      c.reads.push_back(who);
    } else {
      *same = who;
    }
  }
  return races;
}

bool Shadow::Write(uint64_t begin, uint64_t end, const Accessor& who, const Clock& clock,
                   Conflict* conflict) {
  if (begin >= end) return false;
  Split(begin);
  Split(end);
  bool races = false;
  auto first = cells_.lower_bound(begin), cell = first;
  for (; cell != cells_.end() && cell->first < end; ++cell) {
    const Cell& c = cell->second;
    if (races) continue;
    if (c.is_written && !clock.Covers(c.write.chain, c.write.count)) {
      races = true;
      *conflict = {cell->first, c.end, true, c.write};
      continue;
    }
    for (const Accessor& read : c.reads) {
      if (clock.Covers(read.chain, read.count)) continue;
      races = true;
      *conflict = {cell->first, c.end, false, read};
      break;
    }
  }
  cells_.erase(first, cell);
  Cell written;
  written.end = end;
  written.is_written = true;
  written.write = who;
  cells_.emplace(begin, std::move(written));
  return races;
}

bool Shadow::IsWritten(uint64_t begin, uint64_t end, uint64_t* missing) const {
  auto cell = cells_.upper_bound(begin);
  if (cell != cells_.begin()) --cell;
  uint64_t at = begin;
  for (; at < end; ++cell) {
    if (cell == cells_.end() || cell->first > at) break;
    if (cell->second.end <= at) continue;
    if (!cell->second.is_written) break;
    at = cell->second.end;
  }
  *missing = at;
  return at >= end;
}

bool Shadow::FindUncovered(const Clock& clock, Conflict* conflict) const {
  for (const auto& [begin, cell] : cells_) {
    if (cell.is_written && !clock.Covers(cell.write.chain, cell.write.count)) {
      *conflict = {begin, cell.end, true, cell.write};
      return true;
    }
    for (const Accessor& read : cell.reads) {
      if (clock.Covers(read.chain, read.count)) continue;
      *conflict = {begin, cell.end, false, read};
      return true;
    }
  }
  return false;
}

}  // namespace fake
