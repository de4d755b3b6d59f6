#include "compiler/memory/ArenaPacking.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "compiler/memory/OnlinePacking.h"

using namespace mlir::autopar;

static uint64_t roundUp(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

void ArenaBuffers::add(uint64_t bufferBytes, uint32_t definedBy, std::vector<uint32_t> uses,
                       const HappensBefore &happens) {
  uses.push_back(definedBy);
  auto key = [&](uint32_t command) { return std::pair(happens.stream(command), happens.number(command)); };
  std::sort(uses.begin(), uses.end(), [&](uint32_t a, uint32_t b) { return key(a) > key(b); });
  uses.erase(std::unique(uses.begin(), uses.end(),
                         [&](uint32_t a, uint32_t b) { return happens.stream(a) == happens.stream(b); }),
             uses.end());
  // An end that happens before another end says nothing.
  for (uint32_t end : uses)
    if (std::none_of(uses.begin(), uses.end(), [&](uint32_t other) { return happens.isBefore(end, other); }))
      ends.push_back(end);
  endBegin.push_back(static_cast<uint32_t>(ends.size()));
  bytes.push_back(bufferBytes);
  definition.push_back(definedBy);
}

CommandTimes::CommandTimes(const CommandGraph &graph, const HappensBefore &happens,
                           const std::vector<uint32_t> &order)
    : graph(graph), happens(happens), position(order.size()) {
  for (uint32_t i = 0; i < order.size(); ++i)
    position[order[i]] = i;
}

bool CommandTimes::isBefore(uint32_t a, uint32_t b, ReuseOrder order) const {
  switch (order) {
  case ReuseOrder::happensBefore:
    return happens.isBefore(a, b);
  case ReuseOrder::plannedTime:
    return happens.isBefore(a, b) ||
           (position[a] < position[b] && graph.commands[a].finishNs <= graph.commands[b].startNs);
  case ReuseOrder::issueOrder:
    return position[a] < position[b];
  }
  return false;
}

/// Every use of `first` comes before the definition of `second`.
static bool precedes(const ArenaBuffers &buffers, const CommandTimes &times, ReuseOrder order, uint32_t first,
                     uint32_t second) {
  for (uint32_t i = buffers.endBegin[first]; i < buffers.endBegin[first + 1]; ++i)
    if (!times.isBefore(buffers.ends[i], buffers.definition[second], order))
      return false;
  return true;
}

static bool mayShare(const ArenaBuffers &buffers, const CommandTimes &times, ReuseOrder order, uint32_t a,
                     uint32_t b) {
  return precedes(buffers, times, order, a, b) || precedes(buffers, times, order, b, a);
}

namespace {

/// Greedy placement under a full conflict matrix, for several orders of the buffers.
class OfflinePacker {
public:
  OfflinePacker(const ArenaBuffers &buffers, const CommandTimes &times, ReuseOrder order)
      : buffers(buffers), times(times), count(buffers.size()), words((count + 63) / 64),
        conflictBits(size_t{count} * words, 0), neighbourBytes(count, 0), sizes(count) {
    for (uint32_t b = 0; b < count; ++b)
      sizes[b] = roundUp(buffers.bytes[b], bufferAlignment);
    for (uint32_t a = 0; a < count; ++a)
      for (uint32_t b = a + 1; b < count; ++b)
        if (!mayShare(buffers, times, order, a, b)) {
          setBit(a, b);
          setBit(b, a);
          neighbourBytes[a] += sizes[b];
          neighbourBytes[b] += sizes[a];
        }
    // No packing is lower than what lives together; exact where that is cheap.
    if (order != ReuseOrder::happensBefore)
      lowerBound = *std::max_element(sizes.begin(), sizes.end());
    else if (count <= 128)
      lowerBound = largestLiveSet(buffers, times, bufferAlignment);
    else
      lowerBound = liveLowerBound(buffers, times);
  }

  ArenaPacking run() {
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    auto tryOrder = [&](auto key) {
      std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        return std::tuple(key(a), buffers.definition[a], a) < std::tuple(key(b), buffers.definition[b], b);
      });
      place(order);
    };
    auto position = [&](uint32_t b) { return int64_t{times.position[buffers.definition[b]]}; };
    tryOrder([&](uint32_t b) { return -static_cast<int64_t>(sizes[b]); });
    tryOrder([&](uint32_t b) { return -static_cast<double>(neighbourBytes[b] + sizes[b]); });
    tryOrder([&](uint32_t b) { return -static_cast<double>(neighbourBytes[b]) * sizes[b]; });
    tryOrder([&](uint32_t b) { return position(b); });
    tryOrder([&](uint32_t b) { return -position(b); });
    improve();
    return std::move(best);
  }

private:
  void setBit(uint32_t a, uint32_t b) { conflictBits[size_t{a} * words + b / 64] |= uint64_t{1} << (b % 64); }
  bool conflict(uint32_t a, uint32_t b) const {
    return conflictBits[size_t{a} * words + b / 64] >> (b % 64) & 1;
  }

  /// Puts each buffer into the smallest gap between conflicting ones that holds it, else above them; keeps the best.
  uint64_t place(const std::vector<uint32_t> &order) {
    std::vector<uint64_t> offsets(count);
    std::vector<uint32_t> placed; // by offset
    placed.reserve(count);
    uint64_t height = 0;
    for (uint32_t buffer : order) {
      uint64_t top = 0, bestOffset = ~uint64_t{0}, bestGap = ~uint64_t{0};
      for (uint32_t other : placed) {
        if (!conflict(buffer, other))
          continue;
        if (offsets[other] > top && offsets[other] - top >= sizes[buffer] && offsets[other] - top < bestGap) {
          bestGap = offsets[other] - top;
          bestOffset = top;
        }
        top = std::max(top, offsets[other] + sizes[other]);
      }
      offsets[buffer] = bestGap == ~uint64_t{0} ? top : bestOffset;
      placed.insert(std::upper_bound(placed.begin(), placed.end(), offsets[buffer],
                                     [&](uint64_t offset, uint32_t b) { return offset < offsets[b]; }),
                    buffer);
      height = std::max(height, offsets[buffer] + sizes[buffer]);
    }
    lastHeight = height;
    lastOffsets = offsets;
    if (best.offsets.empty() || height < bestHeight) {
      bestHeight = height;
      bestOrder = order;
      best.offsets = std::move(offsets);
      best.bytes = 0;
      for (uint32_t b = 0; b < count; ++b)
        best.bytes = std::max(best.bytes, best.offsets[b] + buffers.bytes[b]);
    }
    return height;
  }

  /// Moves what makes the arena high to the front of the order; a fixed number of steps, so the result is the same always.
  void improve() {
    uint64_t perRound = uint64_t{count} * count + 1;
    uint64_t rounds = std::min<uint64_t>(300, 40'000'000 / perRound);
    uint64_t random = 88172645463325252ull;
    auto next = [&](uint64_t below) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      return random % below;
    };
    if (bestHeight == lowerBound)
      return;
    std::vector<uint32_t> current = bestOrder;
    lastOffsets = best.offsets;
    uint64_t currentHeight = bestHeight;
    lastHeight = bestHeight;
    for (uint64_t round = 0; round < rounds && bestHeight > lowerBound; ++round) {
      std::vector<uint32_t> order = current;
      std::vector<uint32_t> high;
      for (uint32_t i = 0; i < count; ++i)
        if (lastOffsets[order[i]] + sizes[order[i]] == lastHeight)
          high.push_back(i);
      if (!high.empty() && next(4) != 0) {
        uint32_t from = high[next(high.size())];
        uint32_t to = from == 0 ? 0 : static_cast<uint32_t>(next(from + 1));
        std::rotate(order.begin() + to, order.begin() + from, order.begin() + from + 1);
      } else {
        std::swap(order[next(count)], order[next(count)]);
      }
      std::vector<uint64_t> before = lastOffsets;
      uint64_t height = place(order);
      if (height <= currentHeight) {
        currentHeight = height;
        current = std::move(order);
      } else {
        lastOffsets = std::move(before);
        lastHeight = currentHeight;
      }
    }
  }

  const ArenaBuffers &buffers;
  const CommandTimes &times;
  uint32_t count, words;
  std::vector<uint64_t> conflictBits, neighbourBytes, sizes;
  uint64_t lowerBound = 0, bestHeight = 0, lastHeight = 0;
  std::vector<uint64_t> lastOffsets;
  std::vector<uint32_t> bestOrder;
  ArenaPacking best;
};

constexpr uint32_t maxOfflineBuffers = 2000;

} // namespace

ArenaPacking mlir::autopar::packArena(const ArenaBuffers &buffers, const CommandTimes &times, ReuseOrder order) {
  if (buffers.size() == 0)
    return {};
  if (buffers.size() <= maxOfflineBuffers)
    return OfflinePacker(buffers, times, order).run();
  return packOnline(buffers, times, order);
}

std::optional<std::pair<uint32_t, uint32_t>>
mlir::autopar::findConflict(const ArenaBuffers &buffers, const CommandTimes &times, ReuseOrder order,
                            const std::vector<uint64_t> &offsets) {
  // In issue order of definition, each buffer takes over its bytes from earlier owners, all of which it must follow.
  std::vector<uint32_t> byDefinition(buffers.size());
  std::iota(byDefinition.begin(), byDefinition.end(), 0);
  std::sort(byDefinition.begin(), byDefinition.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(times.position[buffers.definition[a]], a) < std::pair(times.position[buffers.definition[b]], b);
  });
  ByteOwners owners;
  std::optional<std::pair<uint32_t, uint32_t>> conflict;
  for (uint32_t buffer : byDefinition) {
    owners.take(offsets[buffer], buffers.bytes[buffer], buffer, [&](uint32_t earlier) {
      if (!conflict && !precedes(buffers, times, order, earlier, buffer))
        conflict = {earlier, buffer};
    });
    if (conflict)
      return conflict;
  }
  return std::nullopt;
}
