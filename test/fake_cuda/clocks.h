// Vector clocks over chains of operations, and for each byte of an allocation the last write and
// the reads since. Two accesses race if one writes and neither's operation is ordered before the
// other's.
//
// A chain is a sequence of operations that CUDA runs one after the other: a stream, or a path
// through a graph. Operations are numbered from 1 within their chain. An operation's clock says,
// for each chain, how many of its operations are finished when this one starts (itself included in
// its own). The check is the classical one of happens-before detectors (Mattern 1989; FastTrack,
// Flanagan and Freund 2009), on ranges instead of variables.
#ifndef AUTOPAR_TEST_FAKE_CUDA_CLOCKS_H_
#define AUTOPAR_TEST_FAKE_CUDA_CLOCKS_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fake {

class Clock {
 public:
  void Join(const Clock& other) {
    if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size());
    for (size_t i = 0; i < other.counts_.size(); ++i)
      counts_[i] = std::max(counts_[i], other.counts_[i]);
  }
  void Set(uint32_t chain, uint32_t count) {
    if (counts_.size() <= chain) counts_.resize(chain + 1);
    counts_[chain] = count;
  }
  bool Covers(uint32_t chain, uint32_t count) const {
    return chain < counts_.size() && counts_[chain] >= count;
  }
  bool CoversAll(const Clock& other) const {
    for (uint32_t i = 0; i < other.counts_.size(); ++i) {
      if (other.counts_[i] != 0 && !Covers(i, other.counts_[i])) return false;
    }
    return true;
  }

 private:
  std::vector<uint32_t> counts_;
};

// Who accessed: enough of an operation to compare and to name it.
struct Accessor {
  uint32_t chain = 0, count = 0;
  std::shared_ptr<const std::string> label;
};

// The last accesses of every byte of one allocation. Ranges are half-open, in bytes.
class Shadow {
 public:
  struct Conflict {
    uint64_t begin = 0, end = 0;
    bool earlier_wrote = false;
    Accessor earlier;
  };
  // Notes an access by an operation with `clock`; returns whether it races with an earlier one, the
  // first in `conflict`.
  bool Read(uint64_t begin, uint64_t end, const Accessor& who, const Clock& clock,
            Conflict* conflict);
  bool Write(uint64_t begin, uint64_t end, const Accessor& who, const Clock& clock,
             Conflict* conflict);
  // Whether all bytes were written by somebody; otherwise the first that was not.
  bool IsWritten(uint64_t begin, uint64_t end, uint64_t* missing) const;
  // An access that `clock` does not cover.
  bool FindUncovered(const Clock& clock, Conflict* conflict) const;

 private:
  struct Cell {
    uint64_t end = 0;
    bool is_written = false;
    Accessor write;
    std::vector<Accessor> reads;  // since the write; at most one a chain
  };
  using Cells =
      std::map<uint64_t, Cell>;  // by begin; no overlaps; bytes of no cell were never accessed
  // Makes `at` a border between cells.
  void Split(uint64_t at);
  // Makes [begin, end) consist of whole cells without gaps.
  void Cover(uint64_t begin, uint64_t end);

  Cells cells_;
};

}  // namespace fake

#endif  // AUTOPAR_TEST_FAKE_CUDA_CLOCKS_H_
