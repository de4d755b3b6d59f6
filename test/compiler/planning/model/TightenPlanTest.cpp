// No slack is left, nothing gets later, and slack that keeps a plan within the memory stays.
#include "compiler/planning/model/TightenPlan.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "compiler/planning/Planner.h"
#include "compiler/planning/model/PlanValidator.h"
#include "test/compiler/planning/graphs/RandomGraphs.h"

namespace autopar::planning {
namespace {

/// Everything starts at twice the time and takes as long as before: still valid, in the same order.
Plan stretched(Plan plan) {
  plan.makespanNs = 0;
  auto stretch = [&](auto &placed) {
    placed.finishNs += placed.startNs;
    placed.startNs *= 2;
    plan.makespanNs = std::max(plan.makespanNs, placed.finishNs);
  };
  for (TaskPlacement &place : plan.tasks)
    stretch(place);
  for (PlannedTransfer &transfer : plan.transfers)
    stretch(transfer);
  return plan;
}

int64_t presentNs(const TaskGraph &graph, const Plan &plan, ValueId id, DeviceId device,
                  int64_t waitNs) {
  const Value &value = graph.value(id);
  const TaskPlacement *made =
      value.producer.valid() ? &plan.tasks[value.producer.index()] : nullptr;
  if (made && made->device == device)
    return made->finishNs;
  for (const PlannedTransfer &transfer : plan.transfers)
    if (transfer.value == id && transfer.to == device)
      return transfer.finishNs + waitNs;
  return made ? made->finishNs + waitNs : 0;
}

/// Each task and transfer starts when something that it needs is there or becomes free.
void expectNoSlack(const TaskGraph &graph, const Machine &machine, const Plan &plan) {
  for (size_t task = 0; task < plan.tasks.size(); ++task) {
    const TaskPlacement &place = plan.tasks[task];
    const Device &device = machine.devices[place.device.index()];
    int64_t readyNs = 0;
    for (ValueId operand : graph.operands(TaskId(task)))
      readyNs = std::max(readyNs, presentNs(graph, plan, operand, place.device, device.wait_ns));
    if (place.startNs == readyNs)
      continue;
    // Just before, the others on the device left too little for it.
    uint64_t used = 0;
    const uint32_t least = kFullOccupancy / device.streams;
    for (size_t other = 0; other < plan.tasks.size(); ++other)
      if (const TaskPlacement &place2 = plan.tasks[other]; place2.device == place.device &&
                                                           place2.startNs < place.startNs &&
                                                           place2.finishNs >= place.startNs)
        used += std::max(least, graph.occupancy(TaskId(other), place.device));
    EXPECT_GT(used + std::max(least, graph.occupancy(TaskId(task), place.device)), kFullOccupancy)
        << graph.task(TaskId(task)).label;
  }
  for (const PlannedTransfer &transfer : plan.transfers) {
    if (transfer.startNs == presentNs(graph, plan, transfer.value, transfer.from, 0))
      continue;
    EXPECT_TRUE(std::any_of(
        plan.transfers.begin(), plan.transfers.end(), [&](const PlannedTransfer &other) {
          const auto &engines = machine.links[other.link.index()].engines;
          return other.finishNs == transfer.startNs &&
                 std::any_of(engines.begin(), engines.end(), [&](uint32_t engine) {
                   const auto &own = machine.links[transfer.link.index()].engines;
                   return std::find(own.begin(), own.end(), engine) != own.end();
                 });
        }));
  }
}

TEST(TightenPlan, NothingGetsLaterAndNoSlackIsLeft) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    const RandomGraphOptions options = randomOptions(seed, 1, 40);
    SCOPED_TRACE(describe(options));
    RandomProblem problem = randomProblem(options);
    absl::StatusOr<Plan> planned = planGraph(problem.graph, problem.machine);
    ASSERT_TRUE(planned.ok()) << planned.status();
    const MachineModel model(problem.machine, 0);
    Plan plan = *planned;
    tightenPlan(problem.graph, model, plan);
    absl::Status valid = validatePlan(problem.graph, problem.machine, plan);
    ASSERT_TRUE(valid.ok()) << valid;
    EXPECT_LE(plan.makespanNs, planned->makespanNs);
    for (size_t task = 0; task < plan.tasks.size(); ++task) {
      EXPECT_LE(plan.tasks[task].startNs, planned->tasks[task].startNs);
      EXPECT_EQ(plan.tasks[task].device, planned->tasks[task].device);
    }
    expectNoSlack(problem.graph, problem.machine, plan);

    // However much slack there is, the same order gives the same plan.
    Plan slack = stretched(*planned);
    ASSERT_TRUE(validatePlan(problem.graph, problem.machine, slack).ok());
    tightenPlan(problem.graph, model, slack);
    EXPECT_EQ(slack.makespanNs, plan.makespanNs);
    for (size_t task = 0; task < plan.tasks.size(); ++task) {
      EXPECT_EQ(slack.tasks[task].startNs, plan.tasks[task].startNs);
      EXPECT_EQ(slack.tasks[task].stream, plan.tasks[task].stream);
    }
    EXPECT_EQ(slack.busyNs, plan.busyNs);
    EXPECT_EQ(slack.streamsUsed, plan.streamsUsed);
  }
}

/// Two tasks that hold 60 bytes each, one after the other on two half-empty streams.
struct TwoBuffers {
  TwoBuffers(uint64_t memoryBytes) {
    Device device;
    device.name = "gpu0";
    device.kind = DeviceKind::kVirtual;
    device.streams = 2;
    device.memory_bytes = memoryBytes;
    machine.devices.push_back(device);
    for (int pair = 0; pair < 2; ++pair) {
      TaskId maker = graph.addTask("maker", std::vector<int64_t>{10});
      graph.setOccupancy(maker, DeviceId(size_t{0}), kFullOccupancy / 2);
      TaskId reader = graph.addTask("reader", std::vector<int64_t>{10});
      graph.setOccupancy(reader, DeviceId(size_t{0}), kFullOccupancy / 2);
      graph.addOperand(reader, graph.addValue(maker, 60));
    }
    EXPECT_TRUE(graph.finalize().ok());
    for (int64_t startNs : {0, 10, 20, 30})
      plan.tasks.push_back({DeviceId(size_t{0}), 0, startNs, startNs + 10});
    plan.makespanNs = 40;
    plan.busyNs = {40};
    plan.streamsUsed = {1};
  }
  int64_t tightMakespanNs() {
    EXPECT_TRUE(validatePlan(graph, machine, plan).ok());
    tightenPlan(graph, MachineModel(machine, 0), plan);
    EXPECT_TRUE(validatePlan(graph, machine, plan).ok());
    return plan.makespanNs;
  }
  Machine machine;
  TaskGraph graph{1};
  Plan plan;
};

TEST(TightenPlan, SlackThatKeepsAPlanWithinTheMemoryStays) {
  EXPECT_EQ(TwoBuffers(0).tightMakespanNs(), 20) << "no limit";
  EXPECT_EQ(TwoBuffers(120).tightMakespanNs(), 20) << "both fit";
  EXPECT_EQ(TwoBuffers(119).tightMakespanNs(), 40) << "one at a time";
  EXPECT_EQ(TwoBuffers(59).tightMakespanNs(), 20) << "it did not fit before";
}

} // namespace
} // namespace autopar::planning
