#include "compiler/waits/WaitPlan.h"

#include <algorithm>
#include <tuple>

using namespace mlir::autopar;

WaitPlan mlir::autopar::planWaits(const CommandGraph &graph, const std::vector<uint32_t> &order,
                                  const std::vector<OrderEdge> &edges) {
  CommandGraph whole = graph;
  whole.edges.clear();
  whole.edges.reserve(edges.size());
  for (const OrderEdge &edge : edges)
    whole.edges.push_back({edge.before, edge.after});
  HappensBefore happens(whole, order);
  std::vector<uint32_t> position(order.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    position[order[i]] = i;

  // By waiting command in issue order; the latest predecessor first, since it may imply the earlier ones.
  std::vector<OrderEdge> sorted = edges;
  auto key = [&](const OrderEdge &edge) {
    return std::tuple(position[edge.after], ~position[edge.before], edge.reason);
  };
  std::sort(sorted.begin(), sorted.end(), [&](const OrderEdge &a, const OrderEdge &b) { return key(a) < key(b); });

  struct Needed {
    uint32_t before, command;
    OrderReason reason;
  };
  std::vector<Needed> needed;
  std::vector<bool> isRecorded(order.size(), false);
  std::vector<uint32_t> lastOfStream(graph.streamCount, ~0u), known(graph.streamCount);
  auto at = sorted.begin();
  for (uint32_t command : order) {
    uint32_t stream = graph.commands[command].stream;
    bool isKnownLoaded = false; // most commands wait for nobody: load the stream's clock only when asked
    for (; at != sorted.end() && at->after == command; ++at) {
      if (happens.stream(at->before) == stream)
        continue;
      if (!isKnownLoaded) {
        isKnownLoaded = true;
        uint32_t last = lastOfStream[stream];
        if (last == ~0u)
          std::fill(known.begin(), known.end(), 0);
        else
          std::copy_n(happens.clock(last), graph.streamCount, known.begin());
      }
      if (known[happens.stream(at->before)] >= happens.number(at->before))
        continue;
      const uint32_t *other = happens.clock(at->before);
      for (uint32_t s = 0; s < graph.streamCount; ++s)
        known[s] = std::max(known[s], other[s]);
      needed.push_back({at->before, command, at->reason});
      isRecorded[at->before] = true;
    }
    lastOfStream[stream] = command;
  }

  WaitPlan plan;
  std::vector<uint32_t> eventOf(order.size(), ~0u);
  for (uint32_t command : order)
    if (isRecorded[command]) {
      eventOf[command] = static_cast<uint32_t>(plan.events.size());
      plan.events.push_back(command);
    }
  plan.waits.reserve(needed.size());
  for (const Needed &wait : needed)
    plan.waits.push_back({wait.command, eventOf[wait.before], wait.reason});
  return plan;
}

std::optional<OrderEdge> mlir::autopar::findBrokenOrder(const CommandGraph &graph,
                                                        const std::vector<uint32_t> &order,
                                                        const std::vector<OrderEdge> &edges, const WaitPlan &plan) {
  CommandGraph waited = graph;
  waited.edges.clear();
  for (const WaitPlan::Wait &wait : plan.waits)
    waited.edges.push_back({plan.events[wait.event], wait.command});
  HappensBefore happens(waited, order);
  for (const OrderEdge &edge : edges)
    if (!happens.isBefore(edge.before, edge.after))
      return edge;
  return std::nullopt;
}
