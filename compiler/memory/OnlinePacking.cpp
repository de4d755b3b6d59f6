#include "compiler/memory/OnlinePacking.h"

#include <algorithm>
#include <bit>
#include <list>
#include <numeric>
#include <set>

using namespace mlir::autopar;

namespace {

/// The arena as a row of blocks, used or free. A free block lists the commands that must have finished before its bytes
/// can be written ("ends"), at most one per stream.
class BlockList {
public:
  BlockList(const CommandTimes &times, ReuseOrder order, bool mergesEagerly)
      : times(times), order(order), mergesEagerly(mergesEagerly), freeBySize(classCount) {}

  /// Offset of `bytes` bytes that `command` may write.
  std::pair<uint64_t, uint32_t> allocate(uint64_t bytes, uint32_t command) {
    uint32_t block = findFree(bytes, command);
    if (block == none && releasesSinceSweep * 4 > liveBlocks) {
      sweep(command);
      block = findFree(bytes, command);
    }
    if (block == none)
      block = grow(bytes, command);
    removeFree(block);
    Block &taken = blocks[block];
    if (taken.bytes > bytes) {
      uint32_t rest = newBlock(blocks[block].offset + bytes, blocks[block].bytes - bytes, block, blocks[block].next);
      blocks[rest].ends = blocks[block].ends;
      blocks[block].bytes = bytes;
      insertFree(rest);
    }
    blocks[block].isFree = false;
    return {blocks[block].offset, block};
  }

  void release(uint32_t block, const uint32_t *begin, const uint32_t *end) {
    ++releasesSinceSweep;
    blocks[block].ends.assign(begin, end);
    blocks[block].isFree = true;
    mergeWithNext(block);
    uint32_t previous = blocks[block].previous;
    if (previous != none && blocks[previous].isFree && canMerge(previous, block)) {
      removeFree(previous);
      mergeInto(previous, block);
      block = previous;
    }
    insertFree(block);
  }

  uint64_t bytes() const { return arenaBytes; }

private:
  static constexpr uint32_t none = ~0u;
  static constexpr uint32_t classCount = 64 * 4;
  static constexpr uint32_t candidatesPerClass = 16;

  struct Block {
    uint64_t offset = 0, bytes = 0;
    uint32_t previous = none, next = none;
    bool isFree = true;
    std::vector<uint32_t> ends;
  };

  /// Four classes per power of two.
  static uint32_t sizeClass(uint64_t bytes) {
    uint32_t log = std::bit_width(bytes) - 1;
    uint32_t quarter = log < 2 ? 0 : static_cast<uint32_t>(bytes >> (log - 2)) & 3;
    return log * 4 + quarter;
  }

  bool usable(const Block &block, uint32_t command) const {
    return std::all_of(block.ends.begin(), block.ends.end(),
                       [&](uint32_t end) { return times.isBefore(end, command, order); });
  }

  /// Smallest block that fits among the first few usable ones of each class.
  uint32_t findFree(uint64_t bytes, uint32_t command) const {
    for (uint32_t c = sizeClass(bytes); c < classCount; ++c) {
      uint32_t tried = 0;
      auto at = freeBySize[c].lower_bound({bytes, 0});
      for (; at != freeBySize[c].end() && tried < candidatesPerClass; ++at, ++tried)
        if (usable(blocks[at->second], command))
          return at->second;
    }
    return none;
  }

  /// Merges neighbours that could not be merged when they became free, but may both be written by `command`. Costs as much
  /// as there are blocks; done once per that many releases, or a quarter of them.
  void sweep(uint32_t command) {
    releasesSinceSweep = 0;
    for (uint32_t block = last; block != none; block = blocks[block].previous) {
      uint32_t next = blocks[block].next;
      if (next == none || !blocks[block].isFree || !blocks[next].isFree || !usable(blocks[block], command) ||
          !usable(blocks[next], command))
        continue;
      removeFree(block);
      removeFree(next);
      mergeInto(block, next);
      insertFree(block);
    }
  }

  /// Makes the arena longer; starts in its last block if that is free and usable.
  uint32_t grow(uint64_t bytes, uint32_t command) {
    if (last != none && blocks[last].isFree && usable(blocks[last], command)) {
      if (blocks[last].bytes >= bytes)
        return last; // findFree looks at a few candidates only
      removeFree(last);
      arenaBytes += bytes - blocks[last].bytes;
      blocks[last].bytes = bytes;
      insertFree(last);
      return last;
    }
    uint32_t block = newBlock(arenaBytes, bytes, last, none);
    arenaBytes += bytes;
    insertFree(block);
    return block;
  }

  uint32_t newBlock(uint64_t offset, uint64_t bytes, uint32_t previous, uint32_t next) {
    ++liveBlocks;
    uint32_t id;
    if (!unused.empty()) {
      id = unused.back();
      unused.pop_back();
      blocks[id] = Block();
    } else {
      id = static_cast<uint32_t>(blocks.size());
      blocks.emplace_back();
    }
    Block &block = blocks[id];
    block.offset = offset;
    block.bytes = bytes;
    block.previous = previous;
    block.next = next;
    if (previous != none)
      blocks[previous].next = id;
    if (next != none)
      blocks[next].previous = id;
    else
      last = id;
    return id;
  }

  /// Every end of `a` comes before, or is, an end of `b`: nothing is lost when a's bytes wait for b's ends.
  bool covers(const Block &b, const Block &a) const {
    return std::all_of(a.ends.begin(), a.ends.end(), [&](uint32_t end) {
      return std::any_of(b.ends.begin(), b.ends.end(),
                         [&](uint32_t other) { return end == other || times.isBefore(end, other, order); });
    });
  }
  /// Merging makes the bytes that are free earlier wait for the others. Unless eager, only where these are no fewer: a small
  /// block that has just become free must not spoil a large old one; `sweep` brings them together later.
  bool canMerge(uint32_t a, uint32_t b) const {
    return ((mergesEagerly || blocks[a].bytes >= blocks[b].bytes) && covers(blocks[a], blocks[b])) ||
           ((mergesEagerly || blocks[b].bytes >= blocks[a].bytes) && covers(blocks[b], blocks[a]));
  }

  /// Adds `more` to `ends`, the later one of each stream.
  void joinEnds(std::vector<uint32_t> &ends, const std::vector<uint32_t> &more) const {
    for (uint32_t end : more) {
      auto same = std::find_if(ends.begin(), ends.end(), [&](uint32_t other) {
        return times.happens.stream(other) == times.happens.stream(end);
      });
      if (same == ends.end())
        ends.push_back(end);
      else if (times.position[*same] < times.position[end])
        *same = end;
    }
  }

  /// `second` follows `first`; both are free and in no free list.
  void mergeInto(uint32_t first, uint32_t second) {
    Block &a = blocks[first], &b = blocks[second];
    if (covers(b, a))
      a.ends = std::move(b.ends);
    else if (!covers(a, b))
      joinEnds(a.ends, b.ends);
    --liveBlocks;
    a.bytes += b.bytes;
    a.next = b.next;
    if (a.next != none)
      blocks[a.next].previous = first;
    else
      last = first;
    unused.push_back(second);
  }

  void mergeWithNext(uint32_t block) {
    uint32_t next = blocks[block].next;
    if (next == none || !blocks[next].isFree || !canMerge(block, next))
      return;
    removeFree(next);
    mergeInto(block, next);
  }

  void insertFree(uint32_t block) { freeBySize[sizeClass(blocks[block].bytes)].insert({blocks[block].bytes, block}); }
  void removeFree(uint32_t block) { freeBySize[sizeClass(blocks[block].bytes)].erase({blocks[block].bytes, block}); }

  const CommandTimes &times;
  ReuseOrder order;
  bool mergesEagerly;
  std::vector<Block> blocks;
  std::vector<uint32_t> unused;
  std::vector<std::set<std::pair<uint64_t, uint32_t>>> freeBySize;
  uint32_t last = none;
  uint64_t liveBlocks = 0, releasesSinceSweep = 0;
  uint64_t arenaBytes = 0;
};

} // namespace

static ArenaPacking packOnce(const ArenaBuffers &buffers, const CommandTimes &times, ReuseOrder order,
                             bool mergesEagerly) {
  uint32_t count = buffers.size();
  // Issue positions of definitions and of last uses, each sorted.
  std::vector<uint32_t> byDefinition(count), byRelease(count), releasePosition(count, 0);
  std::iota(byDefinition.begin(), byDefinition.end(), 0);
  std::iota(byRelease.begin(), byRelease.end(), 0);
  for (uint32_t b = 0; b < count; ++b)
    for (uint32_t i = buffers.endBegin[b]; i < buffers.endBegin[b + 1]; ++i)
      releasePosition[b] = std::max(releasePosition[b], times.position[buffers.ends[i]]);
  std::sort(byDefinition.begin(), byDefinition.end(), [&](uint32_t a, uint32_t b) {
    uint32_t pa = times.position[buffers.definition[a]], pb = times.position[buffers.definition[b]];
    return pa != pb ? pa < pb : buffers.bytes[a] != buffers.bytes[b] ? buffers.bytes[a] > buffers.bytes[b] : a < b;
  });
  std::sort(byRelease.begin(), byRelease.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(releasePosition[a], a) < std::pair(releasePosition[b], b);
  });

  BlockList blocks(times, order, mergesEagerly);
  ArenaPacking packing;
  packing.offsets.resize(count);
  std::vector<uint32_t> blockOf(count);
  uint32_t nextRelease = 0;
  for (uint32_t buffer : byDefinition) {
    uint32_t now = times.position[buffers.definition[buffer]];
    for (; nextRelease < count && releasePosition[byRelease[nextRelease]] < now; ++nextRelease) {
      uint32_t done = byRelease[nextRelease];
      blocks.release(blockOf[done], buffers.ends.data() + buffers.endBegin[done],
                     buffers.ends.data() + buffers.endBegin[done + 1]);
    }
    uint64_t bytes = (buffers.bytes[buffer] + bufferAlignment - 1) / bufferAlignment * bufferAlignment;
    auto [offset, block] = blocks.allocate(bytes, buffers.definition[buffer]);
    packing.offsets[buffer] = offset;
    blockOf[buffer] = block;
    packing.bytes = std::max(packing.bytes, offset + buffers.bytes[buffer]);
  }
  return packing;
}

ArenaPacking mlir::autopar::packOnline(const ArenaBuffers &buffers, const CommandTimes &times, ReuseOrder order) {
  // Eager is better where nearly everything is ordered (one stream), careful elsewhere; each costs little.
  ArenaPacking careful = packOnce(buffers, times, order, false), eager = packOnce(buffers, times, order, true);
  return careful.bytes <= eager.bytes ? careful : eager;
}
