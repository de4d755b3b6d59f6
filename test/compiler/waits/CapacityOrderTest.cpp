// Whatever the real times, tasks that may run at once fit on their device.
#include "compiler/waits/CapacityOrder.h"

#include <random>

#include <gtest/gtest.h>

namespace mlir::autopar {
namespace {

constexpr uint32_t full = ::autopar::planning::kFullOccupancy;

TEST(CapacityOrder, FullTasksOnTwoStreamsFollowEachOther) {
  CommandGraph graph{2, {{0, true, 0, 10}, {1, true, 10, 20}}, {}};
  std::vector<OrderEdge> edges = orderByCapacity(graph, {{0, 0, full}, {1, 0, full}}, 1);
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].before, 0u);
  EXPECT_EQ(edges[0].after, 1u);
  EXPECT_EQ(edges[0].reason, OrderReason::capacity);
}

TEST(CapacityOrder, HalvesRunSideBySide) {
  CommandGraph graph{2, {{0, true, 0, 10}, {1, true, 0, 10}}, {}};
  EXPECT_TRUE(orderByCapacity(graph, {{0, 0, full / 2}, {1, 0, full / 2}}, 1).empty());
}

TEST(CapacityOrder, DevicesHaveTheirOwnCapacity) {
  CommandGraph graph{2, {{0, true, 0, 10}, {1, true, 10, 20}}, {}};
  EXPECT_TRUE(orderByCapacity(graph, {{0, 0, full}, {1, 1, full}}, 2).empty());
}

TEST(CapacityOrder, WhatIsUnorderedFits) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    // A valid plan by construction: each task starts when its stream is free and its share fits.
    std::mt19937_64 random(seed);
    CommandGraph graph;
    graph.streamCount = 4;
    std::vector<CapacityUse> uses;
    std::vector<int64_t> freeNs(4, 0);
    int64_t lastStartNs = 0;
    for (uint32_t id = 0; id < 40; ++id) {
      uint32_t stream = random() % 4;
      uint32_t share = (1 + random() % 8) * full / 8;
      int64_t startNs = std::max(freeNs[stream], lastStartNs);
      auto usedAt = [&](int64_t ns) {
        uint32_t used = 0;
        for (uint32_t other = 0; other < id; ++other)
          if (graph.commands[other].startNs <= ns && graph.commands[other].finishNs > ns)
            used += uses[other].share;
        return used;
      };
      while (usedAt(startNs) + share > full)
        ++startNs;
      graph.commands.push_back({stream, true, startNs, startNs + 1 + static_cast<int64_t>(random() % 9)});
      uses.push_back({id, 0, share});
      freeNs[stream] = graph.commands.back().finishNs;
      lastStartNs = startNs;
    }
    for (const OrderEdge &edge : orderByCapacity(graph, uses, 1))
      graph.edges.push_back({edge.before, edge.after});
    IssueOrder order = computeIssueOrder(graph);
    ASSERT_FALSE(order.onCycle);
    HappensBefore happens(graph, order.order);
    // At most one task a stream runs at once: try every choice of one task, or none, of each stream.
    std::vector<std::vector<uint32_t>> byStream(4, {~0u});
    for (uint32_t id = 0; id < 40; ++id)
      byStream[graph.commands[id].stream].push_back(id);
    auto unordered = [&](uint32_t a, uint32_t b) { return !happens.isBefore(a, b) && !happens.isBefore(b, a); };
    uint32_t most = 0;
    for (uint32_t a : byStream[0])
      for (uint32_t b : byStream[1])
        for (uint32_t c : byStream[2])
          for (uint32_t d : byStream[3]) {
            uint32_t set[] = {a, b, c, d};
            uint32_t sum = 0;
            bool isAntichain = true;
            for (uint32_t i = 0; i < 4 && isAntichain; ++i) {
              if (set[i] == ~0u)
                continue;
              sum += uses[set[i]].share;
              for (uint32_t j = 0; j < i && isAntichain; ++j)
                isAntichain = set[j] == ~0u || unordered(set[i], set[j]);
            }
            if (isAntichain)
              most = std::max(most, sum);
          }
    EXPECT_LE(most, full) << "seed " << seed;
  }
}

} // namespace
} // namespace mlir::autopar
