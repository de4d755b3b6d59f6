// Each rule, broken by hand in a good plan.
#include "compiler/planning/model/PlanValidator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/planning/Planner.h"
#include "test/compiler/planning/graphs/TestGraphs.h"

namespace autopar::planning {
namespace {

using ::testing::HasSubstr;

/// cpu0 makes two values that the pinned GPU tasks read, side by side; one result returns.
class PlanValidatorTest : public ::testing::Test {
protected:
  void SetUp() override {
    machine = cpuAndGpus(1, 2, false);
    std::vector<int64_t> costs = {10, 10};
    for (int i = 0; i < 2; ++i) {
      TaskId source = graph.addTask("source", costs);
      graph.pin(source, DeviceId(size_t{0}));
      TaskId sink = graph.addTask("sink", costs);
      graph.pin(sink, DeviceId(size_t{1}));
      graph.setOccupancy(sink, DeviceId(size_t{1}), 600'000);
      graph.addOperand(sink, graph.addValue(source, 20));
      graph.markProgramResult(graph.addValue(sink, 7));
    }
    ASSERT_TRUE(graph.finalize().ok());
    absl::StatusOr<Plan> planned = planGraph(graph, machine);
    ASSERT_TRUE(planned.ok()) << planned.status();
    plan = *planned;
    ASSERT_TRUE(validatePlan(graph, machine, plan).ok()) << validatePlan(graph, machine, plan);
  }
  void expectBroken(const char *why) {
    absl::Status status = validatePlan(graph, machine, plan);
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  }
  void moveTask(size_t task, int64_t start) {
    int64_t duration = plan.tasks[task].finishNs - plan.tasks[task].startNs;
    plan.tasks[task].startNs = start;
    plan.tasks[task].finishNs = start + duration;
  }

  Machine machine;
  TaskGraph graph{2};
  Plan plan;
};

TEST_F(PlanValidatorTest, WrongDuration) {
  ++plan.tasks[0].finishNs;
  expectBroken("not its cost");
}
TEST_F(PlanValidatorTest, IgnoredPin) {
  plan.tasks[0].device = DeviceId(size_t{1});
  expectBroken("pinned");
}
TEST_F(PlanValidatorTest, MissingTransfer) {
  plan.transfers.erase(plan.transfers.begin());
  expectBroken("never gets there");
}
TEST_F(PlanValidatorTest, TaskBeforeItsOperand) {
  moveTask(1, plan.tasks[1].startNs - 1);
  expectBroken("starts at");
}
TEST_F(PlanValidatorTest, TransferBeforeItsValue) {
  plan.transfers[0].startNs -= 1;
  plan.transfers[0].finishNs -= 1;
  expectBroken("before the value is there");
}
TEST_F(PlanValidatorTest, TransferTooFast) {
  plan.transfers[0].finishNs -= 1;
  expectBroken("another time than its link");
}
TEST_F(PlanValidatorTest, TransferTwice) {
  plan.transfers.push_back(plan.transfers[0]);
  expectBroken("twice");
}
TEST_F(PlanValidatorTest, EngineSharedByTwoTransfers) {
  ASSERT_EQ(plan.transfers[0].link, plan.transfers[1].link);
  int64_t duration = plan.transfers[1].finishNs - plan.transfers[1].startNs;
  // Both values are there by then, and both consumers are late enough to wait for it.
  for (int i : {0, 1}) {
    plan.transfers[i].startNs = 20;
    plan.transfers[i].finishNs = 20 + duration;
  }
  for (PlannedTransfer &transfer : plan.transfers)
    if (transfer.to == DeviceId(size_t{0})) {
      transfer.startNs += 1000;
      transfer.finishNs += 1000;
    }
  moveTask(1, 100);
  moveTask(3, 200);
  expectBroken("at once");
}
TEST_F(PlanValidatorTest, OverfullDevice) {
  moveTask(1, 500);
  moveTask(3, 505);
  for (PlannedTransfer &transfer : plan.transfers)
    if (transfer.to == DeviceId(size_t{0})) {
      transfer.startNs += 1000;
      transfer.finishNs += 1000;
    }
  expectBroken("overfull");
}
TEST_F(PlanValidatorTest, OneStreamTwoTasksAtOnce) {
  TaskGraph small(2);
  for (int i = 0; i < 2; ++i) {
    TaskId task = small.addTask("t", std::vector<int64_t>{10, kCannotRun});
    small.setOccupancy(task, DeviceId(size_t{0}), 500'000);
  }
  ASSERT_TRUE(small.finalize().ok());
  Plan both = *planGraph(small, machine);
  ASSERT_EQ(both.makespanNs, 10);
  ASSERT_TRUE(validatePlan(small, machine, both).ok());
  both.tasks[1].stream = both.tasks[0].stream;
  EXPECT_THAT(std::string(validatePlan(small, machine, both).message()),
              HasSubstr("overlap on one stream"));
  both.tasks[1].stream = 2;
  EXPECT_THAT(std::string(validatePlan(small, machine, both).message()),
              HasSubstr("on stream 2 of 2"));
}
TEST_F(PlanValidatorTest, ResultNotHome) {
  std::erase_if(plan.transfers,
                [](const PlannedTransfer &transfer) { return transfer.to == DeviceId(size_t{0}); });
  plan.makespanNs = std::max(plan.tasks[1].finishNs, plan.tasks[3].finishNs);
  expectBroken("does not return to device 'cpu0'");
}
TEST_F(PlanValidatorTest, WrongMakespan) {
  ++plan.makespanNs;
  expectBroken("makespan");
}

} // namespace
} // namespace autopar::planning
