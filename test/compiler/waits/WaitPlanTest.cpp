// Waits are enough, and not one too many.
#include "compiler/waits/WaitPlan.h"

#include <gtest/gtest.h>

#include "test/compiler/memory/RandomCommands.h"

namespace mlir::autopar {
namespace {

using test::RandomProgram;

std::vector<OrderEdge> dataEdges(const CommandGraph &graph) {
  std::vector<OrderEdge> edges;
  for (const CommandGraph::Edge &edge : graph.edges)
    edges.push_back({edge.before, edge.after, OrderReason::data});
  return edges;
}

TEST(WaitPlan, WaitsKeepEveryOrderAndNoneIsSuperfluous) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    RandomProgram source(80, 1 + seed % 6, seed);
    std::vector<uint32_t> order = computeIssueOrder(source.graph).order;
    std::vector<OrderEdge> edges = dataEdges(source.graph);
    WaitPlan plan = planWaits(source.graph, order, edges);
    EXPECT_FALSE(findBrokenOrder(source.graph, order, edges, plan)) << "seed " << seed;
    for (size_t wait = 0; wait < plan.waits.size(); ++wait) {
      WaitPlan without = plan;
      without.waits.erase(without.waits.begin() + wait);
      EXPECT_TRUE(findBrokenOrder(source.graph, order, edges, without)) << "seed " << seed << ", wait " << wait;
    }
  }
}

TEST(WaitPlan, OneStreamNeedsNoWaits) {
  RandomProgram source(50, 1, 3);
  WaitPlan plan = planWaits(source.graph, computeIssueOrder(source.graph).order, dataEdges(source.graph));
  EXPECT_TRUE(plan.waits.empty());
  EXPECT_TRUE(plan.events.empty());
}

TEST(WaitPlan, ReadersOfOneValueShareItsEventAndDoNotWaitForEachOther) {
  CommandGraph graph{3, {{0, true, 0, 10}, {1, true, 10, 20}, {2, true, 10, 20}}, {{0, 1}, {0, 2}}};
  WaitPlan plan = planWaits(graph, computeIssueOrder(graph).order, dataEdges(graph));
  ASSERT_EQ(plan.events.size(), 1u);
  EXPECT_EQ(plan.events[0], 0u);
  ASSERT_EQ(plan.waits.size(), 2u);
  EXPECT_EQ(plan.waits[0].event, plan.waits[1].event);
}

TEST(WaitPlan, WhatAThirdStreamImpliesIsNotWaitedFor) {
  // 0 -> 1 -> 2 over three streams, and 0 -> 2, which the path implies.
  CommandGraph graph{3, {{0, true, 0, 10}, {1, true, 10, 20}, {2, true, 20, 30}}, {{0, 1}, {1, 2}, {0, 2}}};
  WaitPlan plan = planWaits(graph, computeIssueOrder(graph).order, dataEdges(graph));
  ASSERT_EQ(plan.waits.size(), 2u);
  EXPECT_EQ(plan.events[plan.waits[1].event], 1u);
}

TEST(WaitPlan, TheStrongestReasonIsNamed) {
  CommandGraph graph{2, {{0, true, 0, 10}, {1, true, 10, 20}}, {}};
  std::vector<OrderEdge> edges{{0, 1, OrderReason::capacity}, {0, 1, OrderReason::reuse}, {0, 1, OrderReason::token}};
  WaitPlan plan = planWaits(graph, {0, 1}, edges);
  ASSERT_EQ(plan.waits.size(), 1u);
  EXPECT_EQ(plan.waits[0].reason, OrderReason::token);
}

} // namespace
} // namespace mlir::autopar
