#include "compiler/planning/model/TaskGraph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace autopar::planning {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string messageOf(const absl::Status &status) { return std::string(status.message()); }

TEST(TaskGraph, ListsAreSortedWithoutDuplicates) {
  TaskGraph graph(1);
  std::vector<int64_t> cost = {1};
  TaskId a = graph.addTask("a", cost), b = graph.addTask("b", cost), c = graph.addTask("c", cost);
  ValueId x = graph.addValue(a, 4), y = graph.addValue(a, 4), z = graph.addInput(DeviceId(), 4);
  graph.addOperand(c, y);
  graph.addOperand(c, x);
  graph.addOperand(c, y);
  graph.addOperand(b, x);
  graph.addOperand(b, z);
  graph.markProgramResult(y);
  graph.markProgramResult(y);
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_THAT(graph.operands(c), ElementsAre(x, y));
  EXPECT_THAT(graph.operands(b), ElementsAre(x, z));
  EXPECT_THAT(graph.users(x), ElementsAre(b, c));
  EXPECT_THAT(graph.produced(a), ElementsAre(x, y));
  EXPECT_THAT(graph.produced(b), ElementsAre());
  EXPECT_THAT(graph.programResults(), ElementsAre(ProgramResult{y, DeviceId()}));
  EXPECT_THAT(graph.resultsOf(y), ElementsAre(ProgramResult{y, DeviceId()}));
  EXPECT_THAT(graph.resultsOf(x), ElementsAre());
}

TEST(TaskGraph, TopologicalOrderPrefersLowerTasks) {
  TaskGraph graph(1);
  std::vector<int64_t> cost = {1};
  TaskId a = graph.addTask("a", cost), b = graph.addTask("b", cost), c = graph.addTask("c", cost);
  graph.addOperand(a, graph.addToken(c));
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_THAT(graph.topologicalOrder(), ElementsAre(b, c, a));
}

TEST(TaskGraph, CycleOfTokensIsNamed) {
  TaskGraph graph(1);
  std::vector<int64_t> cost = {1};
  TaskId a = graph.addTask("a", cost), b = graph.addTask("b", cost), c = graph.addTask("c", cost);
  graph.addOperand(b, graph.addToken(a));
  graph.addOperand(a, graph.addToken(b));
  graph.addOperand(c, graph.addToken(b));
  EXPECT_THAT(messageOf(graph.finalize()),
              HasSubstr("in a cycle: 'a' waits for 'b' waits for 'a'"));
}

TEST(TaskGraph, TaskThatWaitsForItselfIsACycle) {
  TaskGraph graph(1);
  std::vector<int64_t> cost = {1};
  TaskId a = graph.addTask("a", cost);
  graph.addOperand(a, graph.addToken(a));
  EXPECT_THAT(messageOf(graph.finalize()), HasSubstr("'a' waits for 'a'"));
}

TEST(TaskGraph, TaskWithoutDeviceIsNamed) {
  TaskGraph graph(2);
  graph.addTask("lost", std::vector<int64_t>{kCannotRun, kCannotRun});
  EXPECT_THAT(messageOf(graph.finalize()), HasSubstr("can run task 'lost'"));
}

TEST(TaskGraph, PinToUnknownDeviceIsNamed) {
  TaskGraph graph(2);
  graph.pin(graph.addTask("t", std::vector<int64_t>{1, 1}), DeviceId(size_t{2}));
  EXPECT_THAT(messageOf(graph.finalize()), HasSubstr("'t' is pinned to device 2"));
}

TEST(TaskGraph, PinToDeviceWithoutCostIsNamed) {
  TaskGraph graph(2);
  graph.pin(graph.addTask("t", std::vector<int64_t>{1, kCannotRun}), DeviceId(size_t{1}));
  EXPECT_THAT(messageOf(graph.finalize()),
              HasSubstr("'t' is pinned to device 1, which cannot run"));
}

TEST(TaskGraph, NegativeCostIsNamed) {
  TaskGraph graph(1);
  graph.addTask("t", std::vector<int64_t>{-7});
  EXPECT_THAT(messageOf(graph.finalize()), HasSubstr("'t' has the negative cost -7"));
}

TEST(TaskGraph, GroupWithoutCommonDeviceIsNamed) {
  TaskGraph graph(2);
  graph.colocate(graph.addTask("a", std::vector<int64_t>{1, kCannotRun}), 3);
  graph.colocate(graph.addTask("b", std::vector<int64_t>{kCannotRun, 1}), 3);
  EXPECT_THAT(messageOf(graph.finalize()), HasSubstr("task 'b' together with"));
}

TEST(TaskGraph, GroupRestrictsItsMembersToCommonDevices) {
  TaskGraph graph(2);
  TaskId a = graph.addTask("a", std::vector<int64_t>{1, 1});
  TaskId b = graph.addTask("b", std::vector<int64_t>{1, 1});
  graph.colocate(a, 0);
  graph.colocate(b, 0);
  graph.pin(b, DeviceId(size_t{1}));
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_FALSE(graph.mayRunOn(a, DeviceId(size_t{0})));
  EXPECT_TRUE(graph.mayRunOn(a, DeviceId(size_t{1})));
}

} // namespace
} // namespace autopar::planning
