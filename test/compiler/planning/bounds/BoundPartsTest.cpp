// What the lower bounds are made of, each against something that shares nothing with it.
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "compiler/planning/bounds/BoundModel.h"
#include "compiler/planning/bounds/DestructiveTest.h"
#include "compiler/planning/bounds/EnergyTest.h"
#include "compiler/planning/bounds/HeadsAndTails.h"
#include "compiler/planning/bounds/OneMachine.h"
#include "compiler/planning/bounds/WorkBounds.h"
#include "test/compiler/planning/exact/BruteForce.h"
#include "test/compiler/planning/graphs/RandomGraphs.h"
#include "test/compiler/planning/graphs/TestGraphs.h"

namespace autopar::planning {
namespace {

const DeviceId kFirst(size_t{0}), kSecond(size_t{1});

// ---- one machine

/// Largest over all sets of least head + work + least tail.
int64_t lengthOverSets(const std::vector<OneMachineJob> &jobs) {
  int64_t longest = 0;
  for (size_t set = 1; set < size_t{1} << jobs.size(); ++set) {
    int64_t head = kNever, tail = kNever, work = 0;
    for (size_t i = 0; i < jobs.size(); ++i)
      if (set >> i & 1) {
        head = std::min(head, jobs[i].head);
        tail = std::min(tail, jobs[i].tail);
        work += jobs[i].work;
      }
    longest = std::max(longest, head + work + tail);
  }
  return longest;
}

TEST(OneMachine, LengthIsTheLargestOverAllSets) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    OneMachine machine;
    for (int64_t count = random.between(1, 8); count > 0; --count)
      machine.jobs.push_back({random.between(0, 20), random.between(0, 10), random.between(0, 20)});
    const std::vector<OneMachineJob> jobs = machine.jobs;
    ASSERT_EQ(machine.length(), lengthOverSets(jobs)) << seed;
    std::vector<OneMachineJob> heads = jobs;
    for (OneMachineJob &job : heads)
      job.tail = 0;
    ASSERT_EQ(machine.completion(), lengthOverSets(heads)) << seed;
  }
}

// ---- the join rule

/// Least over all choices of local neighbours.
int64_t joinOverSets(const std::vector<Neighbour> &list) {
  int64_t least = kNever;
  for (size_t local = 0; local < size_t{1} << list.size(); ++local) {
    int64_t time = 0;
    std::vector<OneMachineJob> jobs;
    for (size_t i = 0; i < list.size(); ++i) {
      time = std::max(time, local >> i & 1 ? list[i].finish : list[i].remote);
      if (local >> i & 1)
        jobs.push_back({list[i].release, list[i].work, 0});
    }
    least = std::min(least, jobs.empty() ? time : std::max(time, lengthOverSets(jobs)));
  }
  return least;
}

TEST(JoinRule, IsTheBestOfAllChoices) {
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    Random random(seed);
    std::vector<Neighbour> list;
    // Up to eight and more are found in different ways.
    for (int64_t count = random.between(1, seed % 10 == 0 ? 10 : 5); count > 0; --count) {
      const int64_t release = random.between(0, 30), duration = random.between(0, 12);
      list.push_back({release, release + duration, random.between(0, duration),
                      release + duration + random.between(0, 25)});
      if (random.chance(10))
        list.back().finish = kNever;
      else if (random.chance(10))
        list.back().remote = kNever;
    }
    const int64_t expected = joinOverSets(list);
    ASSERT_EQ(joinTime(list), expected) << "seed " << seed;
  }
}

TEST(JoinRule, ManyNeighboursAgreeWithFew) {
  // A hundred that all arrive at once when remote: as many stay as can end before that.
  std::vector<Neighbour> list;
  for (int64_t i = 0; i < 100; ++i)
    list.push_back({0, 10, 10, i < 30 ? 1000 : 205});
  EXPECT_EQ(joinTime(list), 300); // 30 must be local; the others are there by then
}

// ---- the gate rule

/// Least over all ways to put each item on one side or the other; items are not divided.
double gateOverSets(const std::vector<GateItem> &items) {
  double least = std::numeric_limits<double>::infinity();
  for (size_t made = 0; made < size_t{1} << items.size(); ++made) {
    double work = 0, passage = 0;
    for (size_t i = 0; i < items.size(); ++i)
      (made >> i & 1 ? work : passage) += made >> i & 1 ? items[i].work : items[i].passage;
    least = std::min(least, std::max(work, passage));
  }
  return least;
}

TEST(GateRule, IsNotAboveAnyChoiceAndCloseToTheBest) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    std::vector<GateItem> items;
    double most = 0;
    for (int64_t count = random.between(1, 9); count > 0; --count) {
      items.push_back({double(random.between(0, 20)), double(random.between(0, 20))});
      most = std::max({most, items.back().work, items.back().passage});
      if (random.chance(10))
        items.back().work = kInfinite;
      else if (random.chance(10))
        items.back().passage = kInfinite;
    }
    const double best = gateOverSets(items), time = gateTime(items);
    ASSERT_LE(time, best + 1e-9) << seed;
    ASSERT_GE(time, best - most - 1e-9) << seed; // one item is divided
  }
}

TEST(GateRule, AForkIsAsLongAsItsValuesTakeToLeave) {
  // 40 children of 10 on 11 devices, values of 10: with the device's own work, half of them leave.
  Machine machine = fullyConnected(11);
  TaskGraph graph(11);
  const std::vector<int64_t> costs(11, 10);
  TaskId source = graph.addTask("source", costs);
  for (int i = 0; i < 40; ++i)
    graph.addOperand(graph.addTask("child", costs), graph.addValue(source, 10));
  ASSERT_TRUE(graph.finalize().ok());
  auto longest = [&] {
    MachineModel model(machine, 0);
    return computeHeadsAndTails(BoundModel(graph, model)).longestNs;
  };
  EXPECT_EQ(longest(), 10 + 20); // by the join rule alone: one of them leaves
  for (Link &link : machine.links) {
    link.engines = {uint32_t(link.from.index())};
    machine.engines.resize(11);
  }
  EXPECT_EQ(longest(), 10 + 40 * 10 / 2);
}
TEST(GateRule, AValueLeavesOnceForAllWhoShareIt) {
  // Six readers of 10 that may run anywhere, five of 1 between them that may not: three of the six
  // stay, the rest shares one copy of 30.
  Machine machine = fullyConnected(7);
  for (Link &link : machine.links) {
    link.engines = {uint32_t(link.from.index())};
    machine.engines.resize(7);
  }
  TaskGraph graph(7);
  auto add = [&](int64_t cost, bool isPinned) {
    const TaskId task = graph.addTask("task", std::vector<int64_t>(7, cost));
    if (isPinned)
      graph.pin(task, kFirst);
    return task;
  };
  const ValueId value = graph.addValue(add(10, true), 30);
  for (int i = 0; i < 11; ++i)
    graph.addOperand(add(i % 2 ? 1 : 10, i % 2), value);
  ASSERT_TRUE(graph.finalize().ok());
  MachineModel model(machine, 0);
  EXPECT_LE(computeHeadsAndTails(BoundModel(graph, model)).longestNs, 10 + 30 + 10);
}

// ---- heads and tails

TEST(HeadsAndTails, TailsAreHeadsOfTheGraphTurnedRound) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    RandomGraphOptions options = randomOptions(seed, 1, 30);
    options.overheads = options.results = options.inputs = false; // wait_ns is one-sided
    options.oneValuePerTask = false;
    options.viaHost = false;
    RandomProblem problem = randomProblem(options);
    const TaskGraph &graph = problem.graph;
    TaskGraph turned(graph.deviceCount());
    std::vector<int64_t> costs(graph.deviceCount());
    for (size_t task = 0; task < graph.taskCount(); ++task) {
      for (size_t device = 0; device < costs.size(); ++device)
        costs[device] = graph.mayRunOn(TaskId(task), DeviceId(device))
                            ? graph.costNs(TaskId(task), DeviceId(device))
                            : kCannotRun;
      TaskId copy = turned.addTask("t", costs);
      for (size_t device = 0; device < costs.size(); ++device)
        turned.setOccupancy(copy, DeviceId(device),
                            graph.occupancy(TaskId(task), DeviceId(device)));
    }
    for (size_t value = 0; value < graph.valueCount(); ++value)
      for (TaskId user : graph.users(ValueId(value)))
        turned.addOperand(graph.value(ValueId(value)).producer,
                          graph.value(ValueId(value)).isToken
                              ? turned.addToken(user)
                              : turned.addValue(user, graph.value(ValueId(value)).bytes));
    ASSERT_TRUE(turned.finalize().ok());
    MachineModel machine(problem.machine, 0);
    BoundModel forward(graph, machine), backward(turned, machine);
    ASSERT_EQ(forward.classCount(), backward.classCount());
    HeadsAndTails a = computeHeadsAndTails(forward), b = computeHeadsAndTails(backward);
    EXPECT_EQ(a.tail, b.head) << describe(options);
    EXPECT_EQ(a.head, b.tail) << describe(options);
  }
}

TEST(HeadsAndTails, AJoinOfDearTransfersIsSerial) {
  // Three producers of 10, transfers of 100: all four tasks on one device.
  TaskGraph graph = graphOf(std::vector<std::vector<int64_t>>(4, {10, 10, 10}),
                            {{0, 3, 100}, {1, 3, 100}, {2, 3, 100}});
  Machine machine = fullyConnected(3);
  MachineModel machineModel(machine, 0);
  EXPECT_EQ(computeHeadsAndTails(BoundModel(graph, machineModel)).longestNs, 40);
}

// ---- classes

TEST(BoundModel, EqualDevicesAreOneClass) {
  TaskGraph graph = graphOf({{10, 10, 10, 10}, {5, 5, 5, 5}}, {{0, 1, 3}});
  Machine machine = fullyConnected(4);
  auto classes = [&] {
    MachineModel model(machine, 0);
    return BoundModel(graph, model).classCount();
  };
  EXPECT_EQ(classes(), 1u);
  machine.devices[2].wait_ns = 1;
  EXPECT_EQ(classes(), 2u);
  machine.devices[2].wait_ns = 0;
  machine.links[0].latency_ns = 1; // from the first to the second
  EXPECT_EQ(classes(), 3u);
}

TEST(BoundModel, WhatIsDifferentAboutADeviceIsSeen) {
  Machine machine = fullyConnected(3);
  MachineModel model(machine, 0);
  EXPECT_EQ(BoundModel(graphOf({{1, 1, 1}, {1, 1, 2}}, {}), model).classCount(), 2u);
  for (int kind = 0; kind < 3; ++kind) {
    TaskGraph graph(3);
    TaskId task = graph.addTask("t", std::vector<int64_t>{5, 5, 5});
    ValueId value = graph.addValue(task, 8);
    if (kind == 0)
      graph.pin(task, kSecond);
    else if (kind == 1)
      graph.markProgramResult(value, kSecond);
    else
      graph.addOperand(task, graph.addInput(kSecond, 8));
    ASSERT_TRUE(graph.finalize().ok());
    EXPECT_EQ(BoundModel(graph, model).classCount(), 2u) << kind;
  }
}

TEST(BoundModel, AnAnchorSplitsItsClass) {
  TaskGraph graph = graphOf({{10, 10, 10}, {5, 5, 5}}, {{0, 1, 3}});
  Machine machine = fullyConnected(3);
  MachineModel machineModel(machine, 0);
  BoundModel whole(graph, machineModel), split(whole, TaskId(size_t{0}));
  EXPECT_TRUE(whole.hasEqualDevices());
  ASSERT_EQ(split.classCount(), 2u);
  EXPECT_EQ(split.deviceClass(0).count, 1u);
  EXPECT_EQ(split.deviceClass(1).count, 2u);
  EXPECT_EQ(split.duration(TaskId(size_t{0}), 1), kCannotRun);
  EXPECT_EQ(split.duration(TaskId(size_t{1}), 1), 5);
  HeadsAndTails times = computeHeadsAndTails(split);
  EXPECT_EQ(times.head[1 * 2 + 0], 10);
  EXPECT_EQ(times.head[1 * 2 + 1], 13);
}

TEST(BoundModel, WorkIsWhatCannotBeUsedTwice) {
  Machine machine = fullyConnected(1);
  machine.devices[0].streams = 4;
  MachineModel machineModel(machine, 0);
  auto workOf = [&](uint32_t first, uint32_t second) {
    TaskGraph graph(1);
    for (uint32_t share : {first, second})
      graph.setOccupancy(graph.addTask("t", std::vector<int64_t>{1000}), kFirst, share);
    EXPECT_TRUE(graph.finalize().ok());
    return BoundModel(graph, machineModel).work(TaskId(size_t{0}), 0);
  };
  EXPECT_EQ(workOf(kFullOccupancy, kFullOccupancy), 1000);
  EXPECT_EQ(workOf(500'001, kFullOccupancy), 500);
  EXPECT_EQ(workOf(1000, 1000), 250); // four streams are less than a thousand shares
}

// ---- intervals

TEST(EnergyTest, SeesThatThreeBigTasksNeedThreeDevices) {
  // Three tasks of 60 on two devices within 100: the times add up to 180 of 200.
  TaskGraph graph = graphOf(std::vector<std::vector<int64_t>>(3, {60, 60}), {});
  Machine machine = fullyConnected(2);
  MachineModel machineModel(machine, 0);
  BoundModel model(graph, machineModel);
  auto isOverfull = [&](int64_t limit) {
    EnergyTest test(model);
    test.clear();
    for (int task = 0; task < 3; ++task) {
      test.addWindow({0, 0, limit, 60, 1.0});
      test.endTask();
    }
    return test.isOverfull(equalPrices(model));
  };
  EXPECT_TRUE(isOverfull(89)); // by time
  EXPECT_TRUE(isOverfull(100));
  EXPECT_TRUE(isOverfull(119));
  EXPECT_FALSE(isOverfull(120));
}

TEST(EnergyTest, SeesThatABigTaskLeavesNoRoom) {
  // 75 leaves no room for a 30 within 100, so the 60 and both of these are on the other device.
  TaskGraph graph = graphOf(std::vector<std::vector<int64_t>>(4, {1, 1}), {});
  Machine machine = fullyConnected(2);
  MachineModel machineModel(machine, 0);
  BoundModel model(graph, machineModel);
  auto isOverfull = [&](int64_t limit) {
    EnergyTest test(model);
    test.clear();
    for (int64_t duration : {75, 60, 30, 30}) {
      test.addWindow({0, 0, limit, duration, 1.0});
      test.endTask();
    }
    return test.isOverfull(equalPrices(model));
  };
  EXPECT_TRUE(isOverfull(100));
  EXPECT_TRUE(isOverfull(104));
  EXPECT_FALSE(isOverfull(105));
}

TEST(EnergyTest, LooksAtAnIntervalPerClass) {
  // Four tasks of 10; one device from 0, the other from 20 on: 0..30 and 20..30, or more.
  TaskGraph graph = graphOf({{10, 10}, {10, 10}, {10, 10}, {10, 10}}, {});
  Machine machine = fullyConnected(2);
  MachineModel machineModel(machine, 0);
  BoundModel whole(graph, machineModel), model(whole, TaskId(size_t{0}));
  auto isOverfull = [&](int64_t limit) {
    EnergyTest test(model);
    test.clear();
    for (int task = 0; task < 4; ++task) {
      test.addWindow({0, 0, limit, 10, 1.0});
      if (task > 0)
        test.addWindow({1, 20, limit, 10, 1.0});
      test.endTask();
    }
    return test.isOverfull(equalPrices(model));
  };
  EXPECT_TRUE(isOverfull(29));
  EXPECT_FALSE(isOverfull(30));
}

// ---- refutation

TEST(DestructiveTest, NeverRefutesAnOptimum) {
  uint64_t solved = 0;
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    RandomGraphOptions options = randomOptions(seed, 1, 7);
    options.devices = std::min<size_t>(options.devices, 3);
    RandomProblem problem = randomProblem(options);
    MachineModel machine(problem.machine, 0);
    std::optional<int64_t> best =
        bruteForceOptimum(problem.graph, problem.machine, int64_t{1} << 40, 20'000);
    if (!best)
      continue;
    ++solved;
    BoundModel model(problem.graph, machine);
    std::vector<uint32_t> tasks(problem.graph.taskCount());
    std::iota(tasks.begin(), tasks.end(), 0);
    for (size_t anchor = 0; anchor <= tasks.size(); ++anchor) {
      const BoundModel split =
          anchor < tasks.size() ? BoundModel(model, TaskId(anchor)) : BoundModel(model);
      const HeadsAndTails times = computeHeadsAndTails(split);
      DestructiveTest test(split, times, {findPrices(split, tasks), equalPrices(split)});
      ASSERT_FALSE(test.refutes(*best, /*shave=*/true)) << describe(options);
      ASSERT_FALSE(test.refutes(*best + 1, /*shave=*/true)) << describe(options);
    }
  }
  EXPECT_GE(solved, 1000u);
}

TEST(DestructiveTest, DearEdgesKeepTheirTasksTogether) {
  // A join of five tasks of 10 with transfers of 1000 on five devices: serial, 60. No path shows
  // it.
  std::vector<Edge> edges;
  for (size_t task = 0; task < 5; ++task)
    edges.push_back({task, 5, 1000});
  TaskGraph graph = graphOf(std::vector<std::vector<int64_t>>(6, {10, 10, 10, 10, 10}), edges);
  Machine machine = fullyConnected(5);
  MachineModel machineModel(machine, 0);
  BoundModel model(graph, machineModel);
  HeadsAndTails times = computeHeadsAndTails(model);
  DestructiveTest test(model, times, {equalPrices(model)});
  EXPECT_TRUE(test.refutes(59, false));
  EXPECT_FALSE(test.refutes(60, false));
}

TEST(DestructiveTest, ShavingSeesMore) {
  // Sets of numbers that do not fit into two devices one way or the other.
  uint64_t more = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    RandomGraphOptions options;
    options.family = Family::Pipeline;
    options.tasks = 14;
    options.ccr = 2;
    options.devices = 2;
    options.seed = seed;
    RandomProblem problem = randomProblem(options);
    MachineModel machine(problem.machine, 0);
    BoundModel model(problem.graph, machine), split(model, TaskId(size_t{0}));
    HeadsAndTails times = computeHeadsAndTails(split);
    DestructiveTest test(split, times, {equalPrices(split)});
    auto refuted = [&](bool shave) {
      int64_t limit = times.longestNs, step = limit / 2;
      for (; step > 0; step /= 2)
        while (test.refutes(limit + step, shave))
          limit += step;
      return limit;
    };
    const int64_t plain = refuted(false), shaved = refuted(true);
    EXPECT_GE(shaved, plain);
    more += shaved > plain;
  }
  EXPECT_GE(more, 10u);
}

} // namespace
} // namespace autopar::planning
