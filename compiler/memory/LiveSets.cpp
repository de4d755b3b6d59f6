// The bounds of ArenaPacking.h: what must exist at once.
#include "compiler/memory/ArenaPacking.h"

#include <algorithm>
#include <limits>
#include <queue>

using namespace mlir::autopar;

uint64_t mlir::autopar::liveLowerBound(const ArenaBuffers &buffers, const CommandTimes &times) {
  // Buffer b lives at command v if its definition happens before, or is, v, and v happens before, or is, one of its
  // ends. Buffers that live at one command cannot share. Along one stream that is an interval.
  const HappensBefore &happens = times.happens;
  std::vector<std::vector<uint32_t>> streams(happens.streamCount());
  std::vector<uint32_t> issue(times.position.size());
  for (uint32_t command = 0; command < issue.size(); ++command)
    issue[times.position[command]] = command;
  for (uint32_t command : issue)
    streams[happens.stream(command)].push_back(command);
  uint64_t bound = 0;
  for (uint32_t stream = 0; stream < streams.size(); ++stream) {
    const std::vector<uint32_t> &commands = streams[stream];
    std::vector<int64_t> change(commands.size() + 1, 0);
    for (uint32_t b = 0; b < buffers.size(); ++b) {
      uint32_t definition = buffers.definition[b];
      auto first = std::partition_point(commands.begin(), commands.end(), [&](uint32_t command) {
        return command != definition && !happens.isBefore(definition, command);
      });
      uint32_t begin = static_cast<uint32_t>(first - commands.begin()), end = 0;
      for (uint32_t i = buffers.endBegin[b]; i < buffers.endBegin[b + 1]; ++i)
        end = std::max(end, happens.clock(buffers.ends[i])[stream]); // numbers count from 1: the end of the interval
      if (begin >= end)
        continue;
      change[begin] += static_cast<int64_t>(buffers.bytes[b]);
      change[end] -= static_cast<int64_t>(buffers.bytes[b]);
    }
    int64_t live = 0;
    for (int64_t delta : change) {
      live += delta;
      bound = std::max(bound, static_cast<uint64_t>(live));
    }
  }
  return bound;
}

namespace {

/// Dinic's algorithm.
class Flow {
public:
  explicit Flow(uint32_t nodes) : heads(nodes, none) {}

  void addEdge(uint32_t from, uint32_t to, uint64_t capacity) {
    edges.push_back({to, heads[from], capacity});
    heads[from] = static_cast<uint32_t>(edges.size() - 1);
    edges.push_back({from, heads[to], 0});
    heads[to] = static_cast<uint32_t>(edges.size() - 1);
  }

  uint64_t run(uint32_t source, uint32_t sink) {
    uint64_t total = 0;
    while (findLevels(source, sink)) {
      next = heads;
      while (uint64_t pushed = augment(source, sink))
        total += pushed;
    }
    return total;
  }

private:
  static constexpr uint32_t none = ~0u;
  struct Edge {
    uint32_t to, next;
    uint64_t capacity;
  };

  bool findLevels(uint32_t source, uint32_t sink) {
    levels.assign(heads.size(), none);
    levels[source] = 0;
    std::queue<uint32_t> queue;
    queue.push(source);
    while (!queue.empty()) {
      uint32_t node = queue.front();
      queue.pop();
      for (uint32_t e = heads[node]; e != none; e = edges[e].next)
        if (edges[e].capacity > 0 && levels[edges[e].to] == none) {
          levels[edges[e].to] = levels[node] + 1;
          queue.push(edges[e].to);
        }
    }
    return levels[sink] != none;
  }

  /// One augmenting path in the level graph, walked with an explicit stack.
  uint64_t augment(uint32_t source, uint32_t sink) {
    std::vector<uint32_t> path;
    uint32_t node = source;
    while (node != sink) {
      uint32_t &e = next[node];
      while (e != none && (edges[e].capacity == 0 || levels[edges[e].to] != levels[node] + 1))
        e = edges[e].next;
      if (e != none) {
        path.push_back(e);
        node = edges[e].to;
        continue;
      }
      if (path.empty())
        return 0;
      node = edges[path.back() ^ 1].to;
      next[node] = edges[path.back()].next;
      path.pop_back();
    }
    uint64_t pushed = std::numeric_limits<uint64_t>::max();
    for (uint32_t e : path)
      pushed = std::min(pushed, edges[e].capacity);
    for (uint32_t e : path) {
      edges[e].capacity -= pushed;
      edges[e ^ 1].capacity += pushed;
    }
    return pushed;
  }

  std::vector<Edge> edges;
  std::vector<uint32_t> heads, next, levels;
};

} // namespace

uint64_t mlir::autopar::largestLiveSet(const ArenaBuffers &buffers, const CommandTimes &times, uint64_t alignment) {
  // Dilworth with weights: the heaviest antichain weighs as much as the lightest cover by chains, which is the sum of all
  // weights less the most that can be handed on from a buffer to one that follows it.
  uint32_t count = buffers.size(), source = 2 * count, sink = source + 1;
  Flow flow(2 * count + 2);
  uint64_t total = 0;
  for (uint32_t b = 0; b < count; ++b) {
    uint64_t bytes = (buffers.bytes[b] + alignment - 1) / alignment * alignment;
    total += bytes;
    flow.addEdge(source, b, bytes);
    flow.addEdge(count + b, sink, bytes);
  }
  for (uint32_t a = 0; a < count; ++a)
    for (uint32_t b = 0; b < count; ++b) {
      bool follows = a != b;
      for (uint32_t i = buffers.endBegin[a]; follows && i < buffers.endBegin[a + 1]; ++i)
        follows = times.happens.isBefore(buffers.ends[i], buffers.definition[b]);
      if (follows)
        flow.addEdge(a, count + b, std::numeric_limits<uint64_t>::max() / 4);
    }
  return total - flow.run(source, sink);
}
