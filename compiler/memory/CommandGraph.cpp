#include "compiler/memory/CommandGraph.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

using namespace mlir::autopar;

namespace {

/// Edges by their first command (or by their second, with `reversed`), as compressed rows.
struct Rows {
  std::vector<uint32_t> begin, to;
  Rows(const CommandGraph &graph, const std::vector<CommandGraph::Edge> &more, bool reversed) {
    begin.assign(graph.commands.size() + 1, 0);
    auto forEach = [&](auto visit) {
      for (const auto *list : {&graph.edges, &more})
        for (const CommandGraph::Edge &edge : *list)
          reversed ? visit(edge.after, edge.before) : visit(edge.before, edge.after);
    };
    forEach([&](uint32_t from, uint32_t) { ++begin[from + 1]; });
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    to.resize(begin.back());
    std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
    forEach([&](uint32_t from, uint32_t target) { to[next[from]++] = target; });
  }
};

/// Each in-order command waits for its predecessor by (stream, start, number).
std::vector<CommandGraph::Edge> streamOrderEdges(const CommandGraph &graph) {
  std::vector<uint32_t> sorted;
  for (uint32_t id = 0; id < graph.commands.size(); ++id)
    if (graph.commands[id].inOrder)
      sorted.push_back(id);
  auto key = [&](uint32_t id) {
    const CommandGraph::Command &command = graph.commands[id];
    return std::tuple(command.stream, command.startNs, command.finishNs, id);
  };
  std::sort(sorted.begin(), sorted.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  std::vector<CommandGraph::Edge> edges;
  for (size_t i = 1; i < sorted.size(); ++i)
    if (graph.commands[sorted[i - 1]].stream == graph.commands[sorted[i]].stream)
      edges.push_back({sorted[i - 1], sorted[i]});
  return edges;
}

} // namespace

IssueOrder mlir::autopar::computeIssueOrder(const CommandGraph &graph) {
  std::vector<CommandGraph::Edge> streamEdges = streamOrderEdges(graph);
  Rows successors(graph, streamEdges, /*reversed=*/false);
  std::vector<uint32_t> missing(graph.commands.size(), 0);
  for (uint32_t target : successors.to)
    ++missing[target];

  using Entry = std::tuple<int64_t, int64_t, uint32_t>; // start, finish, command
  auto entry = [&](uint32_t id) {
    return Entry(graph.commands[id].startNs, graph.commands[id].finishNs, id);
  };
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (uint32_t id = 0; id < graph.commands.size(); ++id)
    if (missing[id] == 0)
      ready.push(entry(id));
  IssueOrder result;
  result.order.reserve(graph.commands.size());
  while (!ready.empty()) {
    uint32_t id = std::get<2>(ready.top());
    ready.pop();
    result.order.push_back(id);
    for (uint32_t i = successors.begin[id]; i < successors.begin[id + 1]; ++i)
      if (--missing[successors.to[i]] == 0)
        ready.push(entry(successors.to[i]));
  }
  if (result.order.size() == graph.commands.size())
    return result;
  // Walk backwards over what is left until a command comes twice: it is on a cycle.
  Rows predecessors(graph, streamEdges, /*reversed=*/true);
  uint32_t at = 0;
  while (missing[at] == 0)
    ++at;
  std::vector<bool> seen(graph.commands.size(), false);
  while (!seen[at]) {
    seen[at] = true;
    uint32_t i = predecessors.begin[at];
    while (missing[predecessors.to[i]] == 0)
      ++i;
    at = predecessors.to[i];
  }
  result.onCycle = at;
  return result;
}

HappensBefore::HappensBefore(const CommandGraph &graph, const std::vector<uint32_t> &order)
    : streams(graph.streamCount), streamOf(graph.commands.size()), numberInStream(graph.commands.size()),
      clocks(graph.commands.size() * size_t{streams}, 0) {
  Rows predecessors(graph, {}, /*reversed=*/true);
  std::vector<uint32_t> lastOfStream(streams, ~0u);
  auto join = [&](uint32_t *into, uint32_t from) {
    const uint32_t *other = clock(from);
    for (uint32_t stream = 0; stream < streams; ++stream)
      into[stream] = std::max(into[stream], other[stream]);
  };
  for (uint32_t id : order) {
    uint32_t stream = graph.commands[id].stream;
    streamOf[id] = stream;
    uint32_t *own = &clocks[size_t{id} * streams];
    if (lastOfStream[stream] != ~0u)
      join(own, lastOfStream[stream]);
    numberInStream[id] = own[stream] + 1;
    for (uint32_t i = predecessors.begin[id]; i < predecessors.begin[id + 1]; ++i) {
      uint32_t before = predecessors.to[i];
      if (own[streamOf[before]] < numberInStream[before]) // otherwise it is implied
        join(own, before);
    }
    own[stream] = numberInStream[id];
    lastOfStream[stream] = id;
  }
}
