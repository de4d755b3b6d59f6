#include "compiler/planning/explain/Reachability.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/planning/Planner.h"
#include "test/compiler/planning/graphs/TestGraphs.h"

namespace autopar::planning {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

DeviceId device(size_t index) { return DeviceId(index); }

/// `fullyConnected(count)` with these links only.
Machine joined(size_t count, const std::vector<std::pair<size_t, size_t>> &ways) {
  Machine machine = fullyConnected(count);
  std::erase_if(machine.links, [&](const Link &link) {
    return std::find(ways.begin(), ways.end(), std::pair(link.from.index(), link.to.index())) == ways.end();
  });
  return machine;
}

std::string errorOf(const TaskGraph &graph, const Machine &machine) {
  return std::string(planGraph(graph, machine).status().message());
}

TEST(Reachability, ProducerAndUserAreNamedWithTheirDevices) {
  TaskGraph graph(2);
  TaskId a = graph.addTask("a", std::vector<int64_t>{1, kCannotRun});
  TaskId b = graph.addTask("b", std::vector<int64_t>{kCannotRun, 1});
  graph.addOperand(b, graph.addValue(a, 8));
  ASSERT_TRUE(graph.finalize().ok());
  Machine machine = joined(2, {{1, 0}});
  EXPECT_EQ(errorOf(graph, machine),
            "no plan was found: the result of 'a' (on " + machine.devices[0].name +
                ") cannot reach 'b' (on " + machine.devices[1].name +
                "): no link and no way over the host device leads there; add links to the machine "
                "or remove pins");
}

TEST(Reachability, OperandsWithoutACommonDeviceNameTheTask) {
  // Each input reaches one of the two devices of the task.
  TaskGraph graph(4);
  TaskId task = graph.addTask("t", std::vector<int64_t>{kCannotRun, kCannotRun, 1, 1});
  graph.addOperand(task, graph.addInput(device(0), 8));
  graph.addOperand(task, graph.addInput(device(1), 8));
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_THAT(errorOf(graph, joined(4, {{0, 2}, {1, 3}})),
              StartsWith("no plan was found: no device that may run 't' ("));
}

TEST(Reachability, WithoutASinglePairTheSentenceIsGeneral) {
  // x is to be on device 1 for the one user and on device 2 for the other; its producer can be on either, not on both.
  TaskGraph graph(3);
  TaskId make = graph.addTask("make", std::vector<int64_t>{kCannotRun, 1, 1});
  ValueId x = graph.addValue(make, 8);
  for (size_t at : {1, 2}) {
    TaskId user = graph.addTask("user", std::vector<int64_t>{1, 1, 1});
    graph.pin(user, device(at));
    graph.addOperand(user, x);
  }
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_THAT(errorOf(graph, joined(3, {})), HasSubstr("some value cannot reach a device that needs it"));
}

TEST(Reachability, EmptyValuesAndTokensNeedNoWay) {
  TaskGraph graph(2);
  TaskId a = graph.addTask("a", std::vector<int64_t>{1, kCannotRun});
  TaskId b = graph.addTask("b", std::vector<int64_t>{kCannotRun, 1});
  graph.addOperand(b, graph.addValue(a, 0));
  graph.addOperand(b, graph.addToken(a));
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_TRUE(planGraph(graph, joined(2, {})).ok());
}

} // namespace
} // namespace autopar::planning
