#include "compiler/planning/lists/MemoryScheduler.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "compiler/planning/Planner.h"
#include "compiler/planning/lists/LeanOrder.h"
#include "compiler/planning/model/MemoryUse.h"
#include "compiler/planning/model/PlanValidator.h"
#include "test/compiler/planning/graphs/TestGraphs.h"

namespace autopar::planning {
namespace {

constexpr uint64_t kArray = 1 << 20;

TaskId addTask(TaskGraph &graph, int64_t costNs) {
  std::vector<int64_t> costs(graph.deviceCount(), costNs);
  return graph.addTask("t" + std::to_string(graph.taskCount()), costs);
}

ValueId addUnary(TaskGraph &graph, ValueId operand, int64_t costNs, uint64_t bytes = kArray) {
  TaskId task = addTask(graph, costNs);
  graph.addOperand(task, operand);
  return graph.addValue(task, bytes);
}

ValueId addBinary(TaskGraph &graph, ValueId a, ValueId b, int64_t costNs, uint64_t bytes = kArray) {
  TaskId task = addTask(graph, costNs);
  graph.addOperand(task, a);
  graph.addOperand(task, b);
  return graph.addValue(task, bytes);
}

/// n big arrays made from a small input, added up in a tree or one by one.
TaskGraph mapReduce(size_t n, size_t devices, bool tree, int64_t mapNs, int64_t addNs) {
  TaskGraph graph(devices);
  ValueId input = graph.addInput(DeviceId(), 8);
  std::vector<ValueId> level;
  for (size_t i = 0; i < n; ++i)
    level.push_back(addUnary(graph, input, mapNs));
  if (!tree) {
    for (size_t i = 1; i < n; ++i)
      level[0] = addBinary(graph, level[0], level[i], addNs);
  }
  while (tree && level.size() > 1) {
    std::vector<ValueId> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(addBinary(graph, level[i], level[i + 1], addNs));
    if (level.size() % 2 == 1)
      next.push_back(level.back());
    level = next;
  }
  graph.markProgramResult(level[0]);
  EXPECT_TRUE(graph.finalize().ok());
  return graph;
}

/// `layers` layers forward, then the gradients of activations and weights backward.
TaskGraph training(size_t layers, size_t devices) {
  TaskGraph graph(devices);
  ValueId x = graph.addInput(DeviceId(), kArray);
  std::vector<ValueId> activations = {x};
  for (size_t i = 0; i < layers; ++i)
    activations.push_back(addUnary(graph, activations.back(), 1000));
  ValueId gradient = addUnary(graph, activations.back(), 100);
  for (size_t i = layers; i-- > 0;) {
    ValueId back = addBinary(graph, gradient, activations[i], 1000);
    ValueId weights = addBinary(graph, gradient, activations[i], 1000, kArray / 16);
    graph.markProgramResult(weights);
    gradient = back;
  }
  EXPECT_TRUE(graph.finalize().ok());
  return graph;
}

uint64_t sum(const std::vector<uint64_t> &bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), uint64_t{0});
}

Plan planOf(const TaskGraph &graph, const Machine &machine) {
  absl::StatusOr<Plan> plan = planGraph(graph, machine);
  EXPECT_TRUE(plan.ok()) << plan.status();
  absl::Status valid = validatePlan(graph, machine, *plan);
  EXPECT_TRUE(valid.ok()) << valid;
  return *std::move(plan);
}

uint64_t peakOf(const TaskGraph &graph, const Machine &machine, const Plan &plan, size_t device) {
  return peakBytes(graph, MachineModel(machine, 0), plan)[device];
}

TEST(MemoryUse, CountsCopiesInputsResultsAndScratch) {
  // in (100 bytes on the CPU) -> a on gpu0 (50 bytes, scratch 7) -> b on the CPU (30 bytes, a result).
  Machine machine = cpuAndGpus(1, 1, false);
  TaskGraph graph(2);
  ValueId in = graph.addInput(DeviceId(size_t{0}), 100);
  TaskId a = addTask(graph, 10), b = addTask(graph, 10);
  graph.pin(a, DeviceId(size_t{1}));
  graph.pin(b, DeviceId(size_t{0}));
  graph.setMemoryBytes(a, DeviceId(size_t{1}), 7);
  graph.addOperand(a, in);
  ValueId made = graph.addValue(a, 50);
  graph.addOperand(b, made);
  graph.markProgramResult(graph.addValue(b, 30));
  ASSERT_TRUE(graph.finalize().ok());
  Plan plan = planOf(graph, machine);
  EXPECT_EQ(peakOf(graph, machine, plan, 0), 100u + 30 + 50);
  EXPECT_EQ(peakOf(graph, machine, plan, 1), 100u + 50 + 7);
}

TEST(MemoryScheduler, BigArraysAreReducedAsTheyAreMade) {
  for (bool tree : {true, false})
    for (int64_t addNs : {100, 1000, 10000})
      for (size_t devices : {1, 2, 4}) {
        Machine machine = fullyConnected(devices);
        for (Device &device : machine.devices)
          device.memory_bytes = 100 * kArray;
        for (Link &link : machine.links)
          link.bytes_per_s = 1'000'000'000'000'000;
        TaskGraph graph = mapReduce(256, devices, tree, 1000, addNs);
        Plan plan = planOf(graph, machine);
        uint64_t total = sum(peakBytes(graph, MachineModel(machine, 0), plan));
        // A tree keeps one array per level and device.
        EXPECT_LE(total, (tree ? 10 : 5) * devices * kArray + 64)
            << (tree ? "tree, " : "chain, ") << plan.makespanNs << " ns, " << devices << " devices, adding " << addNs << " ns, " << plan.planner;
      }
}

TEST(MemoryScheduler, ACapacityOfAFewArraysIsKept) {
  for (size_t devices : {1, 2, 4}) {
    Machine machine = fullyConnected(devices);
    for (Device &device : machine.devices)
      device.memory_bytes = 12 * kArray;
    TaskGraph graph = mapReduce(256, devices, true, 1000, 100);
    Plan plan = planOf(graph, machine);
    EXPECT_TRUE(fitsMemory(MachineModel(machine, 0), peakBytes(graph, MachineModel(machine, 0), plan)));
  }
}

TEST(MemoryScheduler, TrainingFitsInALittleMoreThanItsActivations) {
  for (size_t layers : {4, 32, 100}) {
    TaskGraph graph = training(layers, 2);
    Machine machine = fullyConnected(2);
    for (Device &device : machine.devices)
      device.memory_bytes = (layers + 6) * kArray + layers * kArray / 16;
    Plan plan = planOf(graph, machine);
    EXPECT_TRUE(fitsMemory(MachineModel(machine, 0), peakBytes(graph, MachineModel(machine, 0), plan)))
        << layers << " layers";
    // A second device holds a part of them, so that half the memory can do.
    for (Device &device : machine.devices)
      device.memory_bytes = 4 * kArray;
    plan = planOf(graph, machine);
    if (layers > 8) {
      EXPECT_FALSE(
          fitsMemory(MachineModel(machine, 0), peakBytes(graph, MachineModel(machine, 0), plan)))
          << "nothing fits: the plan is returned for its memory to be reported";
    }
  }
}

TEST(LeanOrder, IsTopologicalAndGivesBackEarly) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    Machine machine = randomMachine(random);
    TaskGraph graph = randomGraph(random, machine, size_t(random.between(0, 40)));
    std::vector<TaskId> order = leanOrder(graph);
    ASSERT_EQ(order.size(), graph.taskCount());
    std::vector<size_t> position(order.size());
    for (size_t i = 0; i < order.size(); ++i)
      position[order[i].index()] = i;
    for (TaskId task : order)
      for (ValueId operand : graph.operands(task))
        if (TaskId producer = graph.value(operand).producer; producer.valid()) {
          EXPECT_LT(position[producer.index()], position[task.index()]);
        }
  }
  // Gradients of the weights come as soon as they can, not after all those of the activations.
  TaskGraph graph = training(10, 1);
  std::vector<TaskId> order = leanOrder(graph);
  std::vector<size_t> position(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    position[order[i].index()] = i;
  for (size_t back = 11; back + 3 < order.size(); back += 2)
    EXPECT_LT(position[back + 1], position[back + 2]) << "the weights of task " << back;
}

TEST(MemoryScheduler, PlansThatFitAreFoundOrNothingIsLost) {
  size_t limited = 0, mended = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    Machine machine = randomMachine(random);
    TaskGraph graph = randomGraph(random, machine, size_t(random.between(1, 30)));
    MachineModel model(machine, 0);
    TaskTable table;
    absl::StatusOr<Plan> free = planGraph(graph, machine);
    if (!free.ok() || !TaskTable::create(graph, model, table).ok())
      continue;
    std::vector<uint64_t> peaks = peakBytes(graph, model, *free);
    for (size_t device = 0; device < peaks.size(); ++device)
      if (peaks[device] > 0)
        machine.devices[device].memory_bytes = std::max<uint64_t>(1, peaks[device] * uint64_t(random.between(50, 110)) / 100);
    Plan plan = planOf(graph, machine);
    std::vector<uint64_t> now = peakBytes(graph, MachineModel(machine, 0), plan);
    bool wasTooMuch = !fitsMemory(MachineModel(machine, 0), peaks);
    limited += wasTooMuch;
    mended += wasTooMuch && fitsMemory(MachineModel(machine, 0), now);
    if (!wasTooMuch) {
      EXPECT_TRUE(fitsMemory(MachineModel(machine, 0), now)) << seed;
    }
  }
  EXPECT_GT(limited, 100u);
  EXPECT_GT(mended, limited / 4);
}

} // namespace
} // namespace autopar::planning
