#include "compiler/planning/Explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/planning/Planner.h"
#include "test/compiler/planning/TestGraphs.h"

namespace autopar::planning {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> sentencesOf(const TaskGraph &graph, const Machine &machine) {
  std::vector<std::string> sentences;
  for (const Explanation &entry : explainCriticalPath(graph, machine, *planGraph(graph, machine)))
    sentences.push_back(entry.task + " <- " + entry.waitsFor + ": " +
                        std::string(causeName(entry.cause)));
  return sentences;
}

TEST(Explanation, ChainWaitsForItsData) {
  EXPECT_THAT(sentencesOf(graphOf({{10}, {10}, {10}}, {{0, 1, 1}, {1, 2, 1}}), fullyConnected(1)),
              ElementsAre("t3 <- t2: data dependency", "t2 <- t1: data dependency"));
}

TEST(Explanation, IndependentTasksOnOneDeviceFindItFull) {
  EXPECT_THAT(sentencesOf(graphOf({{10}, {10}}, {}), fullyConnected(1)),
              ElementsAre("t2 <- t1: device full"));
}

TEST(Explanation, PinIsNamedAsTheCause) {
  TaskGraph graph(2);
  for (const char *label : {"a", "b"})
    graph.pin(graph.addTask(label, std::vector<int64_t>{10, 10}), DeviceId(size_t{0}));
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_THAT(sentencesOf(graph, fullyConnected(2)), ElementsAre("b <- a: pinned"));
}

TEST(Explanation, QueueOnAnEngineIsNamed) {
  // Two inputs of 100 must pass one engine before their tasks of 1 can run.
  TaskGraph graph(3);
  for (size_t gpu : {1, 2}) {
    TaskId task = graph.addTask(gpu == 1 ? "a" : "b", std::vector<int64_t>{1, 1, 1});
    graph.pin(task, DeviceId(gpu));
    graph.addOperand(task, graph.addInput(DeviceId(size_t{0}), 100));
  }
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_THAT(
      sentencesOf(graph, gpusOnABus(2, 1)),
      ElementsAre("b <- program input: data dependency", "b <- program input: engine busy"));
}

TEST(Explanation, ResultOnItsWayHomeLeadsToItsTask) {
  TaskGraph graph(2);
  TaskId first = graph.addTask("first", std::vector<int64_t>{kCannotRun, 10});
  TaskId second = graph.addTask("second", std::vector<int64_t>{kCannotRun, 10});
  graph.addOperand(second, graph.addToken(first));
  graph.markProgramResult(graph.addValue(second, 8));
  ASSERT_TRUE(graph.finalize().ok());
  EXPECT_THAT(sentencesOf(graph, cpuAndGpus(1, 1, false)),
              ElementsAre("second <- first: data dependency"));
}

TEST(Explanation, WalkEndsOnEveryGraph) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    Machine machine = randomMachine(random);
    TaskGraph graph = randomGraph(random, machine, size_t(random.between(1, 60)));
    absl::StatusOr<Plan> plan = planGraph(graph, machine);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_LE(explainCriticalPath(graph, machine, *plan).size(),
              plan->tasks.size() + 2 * plan->transfers.size());
  }
}

} // namespace
} // namespace autopar::planning
