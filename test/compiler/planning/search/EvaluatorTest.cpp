#include "compiler/planning/search/Evaluator.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <new>
#include <numeric>
#include <optional>

#include "compiler/planning/model/Timeline.h"
#include "test/compiler/planning/graphs/TestGraphs.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define AUTOPAR_COUNTS_ALLOCATIONS 0
#else
#define AUTOPAR_COUNTS_ALLOCATIONS 1
static thread_local size_t allocationCount = 0;
// Not inlined: the compiler would see malloc() and delete side by side and warn.
[[gnu::noinline]] void *operator new(size_t size) {
  ++allocationCount;
  if (void *memory = std::malloc(size))
    return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void *memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void *memory, size_t) noexcept { std::free(memory); }
#endif

namespace autopar::planning {
namespace {

// ---- flat timelines
// ---------------------------------------------------------------------------------------------

TEST(FlatEngine, FitsWhereATimelineFits) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const int64_t shortest = random.between(1, 6), range = random.between(20, 3000);
    FlatEngine flat(shortest);
    Timeline tree(1);
    for (int request = 0; request < 300; ++request) {
      const int64_t ready = random.between(0, range);
      const int64_t duration = random.between(shortest, shortest + 20);
      const int64_t start = tree.firstFit(ready, duration, 1);
      size_t place = flat.find(ready);
      ASSERT_EQ(flat.firstFit(place, ready, duration), start) << "seed " << seed;
      ASSERT_EQ(place, flat.find(start)) << "seed " << seed;
      if (random.chance(70)) {
        tree.reserve(start, start + duration, 1);
        flat.reserve(place, start, start + duration);
      }
      ASSERT_EQ(flat.frontier(), tree.frontier());
    }
  }
}

TEST(FlatProfile, FitsWhereATimelineFits) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const int64_t shortest = random.between(1, 10), range = random.between(20, 2000);
    const int64_t leastShare = random.between(1, 40);
    FlatProfile flat(100, shortest);
    Timeline tree(100, shortest);
    for (int request = 0; request < 300; ++request) {
      const int64_t ready = random.between(0, range);
      const int64_t duration = random.between(shortest, shortest + 30);
      const uint32_t share = random.chance(20) ? 100 : uint32_t(random.between(leastShare, 100));
      const int64_t start = tree.firstFit(ready, duration, share);
      ASSERT_EQ(flat.firstFit(ready, duration, share), start) << "seed " << seed;
      if (random.chance(70)) {
        tree.reserve(start, start + duration, share);
        flat.reserve(start, start + duration, share);
      }
      ASSERT_EQ(flat.frontier(), tree.frontier());
    }
  }
}

TEST(FlatProfile, ForgetsWhenCleared) {
  FlatProfile profile(100, 1);
  profile.reserve(0, 50, 100);
  EXPECT_EQ(profile.firstFit(0, 10, 10), 50);
  profile.clear();
  EXPECT_EQ(profile.firstFit(0, 10, 100), 0);
  EXPECT_EQ(profile.frontier(), 0);
}

// ---- the evaluator against the schedule builder
// -----------------------------------------------------------------

/// Every topological order can come out; devices are any that the tasks may run on.
Encoding randomEncoding(Random &random, const Problem &problem) {
  const TaskGraph &graph = problem.graph;
  Encoding encoding;
  std::vector<size_t> open(graph.taskCount(), 0);
  std::vector<TaskId> ready;
  for (size_t task = 0; task < graph.taskCount(); ++task) {
    for (ValueId operand : graph.operands(TaskId(task)))
      open[task] += graph.value(operand).producer.valid();
    if (open[task] == 0)
      ready.push_back(TaskId(task));
    std::vector<DeviceId> allowed;
    for (size_t device = 0; device < graph.deviceCount(); ++device)
      if (problem.table.duration(TaskId(task), DeviceId(device)) >= 0)
        allowed.push_back(DeviceId(device));
    encoding.devices.push_back(allowed[size_t(random.between(0, int64_t(allowed.size()) - 1))]);
  }
  while (!ready.empty()) {
    std::swap(ready[size_t(random.between(0, int64_t(ready.size()) - 1))], ready.back());
    const TaskId task = ready.back();
    ready.pop_back();
    encoding.order.push_back(task);
    for (ValueId value : graph.produced(task))
      for (TaskId user : graph.users(value))
        if (--open[user.index()] == 0)
          ready.push_back(user);
  }
  return encoding;
}

struct Counts {
  size_t encodings = 0, impossible = 0, queued = 0, shared = 0;
};

/// Decodes encodings of one random graph on `machine`, and builds the same schedules.
void compareOn(const Machine &machine, int64_t mostTasks, Random &random, Counts &counts) {
  TaskGraph graph = randomGraph(random, machine, size_t(random.between(1, mostTasks)));
  MachineModel model(machine, uint32_t(random.between(0, 3)));
  TaskTable table;
  if (!TaskTable::create(graph, model, table).ok())
    return; // a result that cannot get home
  Problem problem{graph, model, table};
  Evaluator evaluator(problem);
  counts.queued += evaluator.queues();
  counts.shared += evaluator.anyShared();
  std::vector<int64_t> finish;
  for (int round = 0; round < 8; ++round) {
    const Encoding encoding = randomEncoding(random, problem);
    std::optional<Plan> plan =
        scheduleOn(problem, encoding.order, encoding.devices, ScheduleBuilder::Mode::Append);
    const int64_t ticks = evaluator.decode(encoding, Evaluator::kNoLimit, finish);
    ++counts.encodings;
    if (!plan) {
      ++counts.impossible;
      ASSERT_EQ(ticks, Evaluator::kNever);
      continue;
    }
    ASSERT_EQ(evaluator.toNs(ticks), plan->makespanNs);
    for (size_t task = 0; task < finish.size(); ++task)
      ASSERT_EQ(evaluator.toNs(finish[task]), plan->tasks[task].finishNs) << "task " << task;
    // The limit decides exactly, and nothing of an abandoned decode remains.
    ASSERT_EQ(evaluator.decode(encoding, ticks - 1, finish), Evaluator::kNever);
    ASSERT_EQ(evaluator.decode(encoding, ticks / 2, finish), Evaluator::kNever);
    ASSERT_EQ(evaluator.decode(encoding, ticks, finish), ticks);
    ASSERT_EQ(evaluator.decode(encoding, evaluator.lastTickOf(plan->makespanNs), finish), ticks);
  }
}

TEST(Evaluator, GivesTheTimesOfTheScheduleBuilder) {
  Counts counts;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    compareOn(randomMachine(random), 60, random, counts);
    ASSERT_FALSE(HasFatalFailure());
  }
  EXPECT_GT(counts.queued, 500u);
  EXPECT_GT(counts.shared, 250u);
  EXPECT_EQ(counts.impossible, 0u);
}

TEST(Evaluator, FindsWhatCannotBeBuiltOnAPartitionedMachine) {
  Counts counts;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Machine machine = randomMachine(random);
    if (machine.links.size() > 1)
      machine.links.erase(machine.links.begin() +
                          random.between(0, int64_t(machine.links.size()) - 1));
    compareOn(machine, 12, random, counts);
    ASSERT_FALSE(HasFatalFailure());
  }
  EXPECT_GT(counts.impossible, counts.encodings / 10);
  EXPECT_LT(counts.impossible, counts.encodings * 9 / 10);
}

TEST(Evaluator, LinksWithAnEngineOfTheirOwnDifferFromLinksWithout) {
  // Two values to one device: they queue only where there is an engine.
  TaskGraph graph(2);
  std::vector<int64_t> costs = {10, 10};
  TaskId join = graph.addTask("join", costs);
  graph.addOperand(join, graph.addInput(DeviceId(size_t{0}), 100));
  graph.addOperand(join, graph.addInput(DeviceId(size_t{0}), 50));
  ASSERT_TRUE(graph.finalize().ok());
  Machine machine = fullyConnected(2);
  Encoding encoding{{join}, {DeviceId(size_t{1})}};
  std::vector<int64_t> finish;
  auto decode = [&] {
    MachineModel model(machine, 0);
    TaskTable table;
    EXPECT_TRUE(TaskTable::create(graph, model, table).ok());
    return Evaluator({graph, model, table}).decode(encoding, Evaluator::kNoLimit, finish);
  };
  EXPECT_EQ(decode(), 110);
  machine.engines = {"copy"};
  for (Link &link : machine.links)
    link.engines = {0};
  EXPECT_EQ(decode(), 160);
}

TEST(Evaluator, TailsLeadToTheEnd) {
  // a -> b (20 bytes), and b's result goes home over 1 byte per nanosecond + 5.
  Machine machine = cpuAndGpus(1, 1, false);
  TaskGraph graph(2);
  TaskId a = graph.addTask("a", std::vector<int64_t>{100, 10});
  TaskId b = graph.addTask("b", std::vector<int64_t>{100, 10});
  graph.addOperand(b, graph.addValue(a, 20));
  graph.markProgramResult(graph.addValue(b, 40));
  ASSERT_TRUE(graph.finalize().ok());
  MachineModel model(machine, 0);
  TaskTable table;
  ASSERT_TRUE(TaskTable::create(graph, model, table).ok());
  Evaluator evaluator({graph, model, table});
  const DeviceId cpu(size_t{0}), gpu(size_t{1});
  EXPECT_EQ(evaluator.tail(b, cpu), 0);
  EXPECT_EQ(evaluator.tail(b, gpu), 45);
  EXPECT_EQ(evaluator.tail(a, gpu), 10 + 45) << "b stays on the GPU";
  EXPECT_EQ(evaluator.tail(a, cpu), 25 + 10 + 45) << "still shorter than b on the CPU";
}

TEST(Evaluator, CountsThePlacedTasks) {
  Machine machine = fullyConnected(2);
  TaskGraph graph = chainGraph(50, 2);
  MachineModel model(machine, 0);
  TaskTable table;
  ASSERT_TRUE(TaskTable::create(graph, model, table).ok());
  Evaluator evaluator({graph, model, table});
  Encoding encoding;
  encoding.order.assign(graph.topologicalOrder().begin(), graph.topologicalOrder().end());
  encoding.devices.assign(50, DeviceId(size_t{0}));
  std::vector<int64_t> finish;
  EXPECT_EQ(evaluator.decode(encoding, Evaluator::kNoLimit, finish), 5000);
  EXPECT_EQ(evaluator.placements(), 50u);
  EXPECT_EQ(evaluator.decode(encoding, 4999, finish), Evaluator::kNever);
  EXPECT_EQ(evaluator.placements(), 51u) << "the first task's tail tells";
}

#if AUTOPAR_COUNTS_ALLOCATIONS
TEST(Evaluator, DecodesWithoutAllocation) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    Machine machine = randomMachine(random);
    TaskGraph graph = randomGraph(random, machine, 60);
    MachineModel model(machine, 0);
    TaskTable table;
    ASSERT_TRUE(TaskTable::create(graph, model, table).ok());
    Problem problem{graph, model, table};
    Evaluator evaluator(problem);
    std::vector<Encoding> encodings;
    for (int i = 0; i < 20; ++i)
      encodings.push_back(randomEncoding(random, problem));
    std::vector<int64_t> finish;
    for (const Encoding &encoding : encodings) // the arrays grow
      evaluator.decode(encoding, Evaluator::kNoLimit, finish);
    const size_t before = allocationCount;
    for (const Encoding &encoding : encodings)
      evaluator.decode(encoding, Evaluator::kNoLimit, finish);
    EXPECT_EQ(allocationCount, before) << "seed " << seed;
  }
}
#endif

} // namespace
} // namespace autopar::planning
