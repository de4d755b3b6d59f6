#include "test/compiler/planning/graphs/TestGraphs.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace autopar::planning {

namespace {

Device makeDevice(std::string name, DeviceKind kind, uint32_t streams) {
  Device device;
  device.name = std::move(name);
  device.kind = kind;
  device.streams = streams;
  return device;
}

void join(Machine &machine, size_t from, size_t to, uint64_t bytesPerS, int64_t latencyNs,
          std::vector<uint32_t> engines) {
  Link link;
  link.from = DeviceId(from);
  link.to = DeviceId(to);
  link.bytes_per_s = bytesPerS;
  link.latency_ns = latencyNs;
  link.engines = std::move(engines);
  machine.links.push_back(std::move(link));
}

} // namespace

Machine fullyConnected(size_t count) {
  Machine machine;
  for (size_t device = 0; device < count; ++device)
    machine.devices.push_back(makeDevice("p" + std::to_string(device), DeviceKind::kVirtual, 1));
  for (size_t from = 0; from < count; ++from)
    for (size_t to = 0; to < count; ++to)
      if (from != to)
        join(machine, from, to, 1'000'000'000, 0, {});
  return machine;
}

Machine cpuAndGpus(size_t gpus, uint32_t streams, bool peerLinks) {
  Machine machine;
  machine.devices.push_back(makeDevice("cpu0", DeviceKind::kCpu, streams));
  for (size_t gpu = 0; gpu < gpus; ++gpu) {
    std::string name = "gpu" + std::to_string(gpu);
    machine.devices.push_back(makeDevice(name, DeviceKind::kVirtual, streams));
    machine.engines.push_back(name + ".in");
    machine.engines.push_back(name + ".out");
    uint32_t in = 2 * gpu, out = 2 * gpu + 1;
    join(machine, 0, gpu + 1, 1'000'000'000, 5, {in});
    join(machine, gpu + 1, 0, 1'000'000'000, 5, {out});
  }
  for (size_t from = 0; peerLinks && from < gpus; ++from)
    for (size_t to = 0; to < gpus; ++to)
      if (from != to)
        join(machine, from + 1, to + 1, 2'000'000'000, 3,
             {uint32_t(2 * from + 1), uint32_t(2 * to)});
  return machine;
}

Machine gpusOnABus(size_t gpus, uint32_t streams) {
  Machine machine = cpuAndGpus(gpus, streams, /*peerLinks=*/true);
  machine.engines = {"bus"};
  for (Link &link : machine.links)
    link.engines = {0};
  return machine;
}

Machine randomMachine(Random &random) {
  size_t gpus = random.between(1, 4);
  uint32_t streams = random.between(1, 4);
  Machine machine;
  switch (random.between(0, 3)) {
  case 0:
    machine = fullyConnected(gpus + 1);
    break;
  case 1:
    machine = gpusOnABus(gpus, streams);
    break;
  default:
    machine = cpuAndGpus(gpus, streams, random.chance(50));
  }
  for (Device &device : machine.devices) {
    if (random.chance(30))
      device.launch_ns = random.between(0, 10);
    if (random.chance(30))
      device.wait_ns = random.between(0, 10);
    if (random.chance(30))
      device.streams = random.between(1, 8);
  }
  return machine;
}

TaskGraph graphOf(const std::vector<std::vector<int64_t>> &costs, const std::vector<Edge> &edges) {
  TaskGraph graph(costs.front().size());
  for (size_t task = 0; task < costs.size(); ++task)
    graph.addTask("t" + std::to_string(task + 1), costs[task]);
  for (const Edge &edge : edges)
    graph.addOperand(TaskId(edge.to), graph.addValue(TaskId(edge.from), edge.bytes));
  EXPECT_TRUE(graph.finalize().ok());
  return graph;
}

TaskGraph topcuogluGraph() {
  return graphOf({{14, 16, 9},
                  {13, 19, 18},
                  {11, 13, 19},
                  {13, 8, 17},
                  {12, 13, 10},
                  {13, 16, 9},
                  {7, 15, 11},
                  {5, 11, 14},
                  {18, 12, 20},
                  {21, 7, 16}},
                 {{0, 1, 18},
                  {0, 2, 12},
                  {0, 3, 9},
                  {0, 4, 11},
                  {0, 5, 14},
                  {1, 7, 19},
                  {1, 8, 16},
                  {2, 6, 23},
                  {3, 7, 27},
                  {3, 8, 23},
                  {4, 8, 13},
                  {5, 7, 15},
                  {6, 9, 17},
                  {7, 9, 11},
                  {8, 9, 13}});
}

TaskGraph arabnejadGraph() {
  return graphOf({{22, 21, 36},
                  {22, 18, 18},
                  {32, 27, 43},
                  {7, 10, 4},
                  {29, 27, 35},
                  {26, 17, 24},
                  {14, 25, 30},
                  {29, 23, 36},
                  {15, 21, 8},
                  {13, 16, 33}},
                 {{0, 1, 17},
                  {0, 2, 31},
                  {0, 3, 29},
                  {0, 4, 13},
                  {0, 5, 7},
                  {1, 7, 3},
                  {1, 8, 30},
                  {2, 6, 16},
                  {3, 7, 11},
                  {3, 8, 7},
                  {4, 8, 57},
                  {5, 7, 5},
                  {6, 9, 9},
                  {7, 9, 42},
                  {8, 9, 7}});
}

TaskGraph randomGraph(Random &random, const Machine &machine, size_t tasks, bool withPins) {
  const size_t devices = machine.devices.size();
  TaskGraph graph(devices);
  std::vector<ValueId> values;
  auto randomDevice = [&] { return DeviceId(size_t(random.between(0, devices - 1))); };
  for (int64_t input = random.between(0, 3); input > 0; --input)
    values.push_back(graph.addInput(random.chance(30) ? DeviceId() : randomDevice(),
                                    random.chance(15) ? 0 : random.between(1, 60)));
  const int zeroPercent = random.chance(25) ? 40 : 3, sharePercent = random.chance(50) ? 60 : 0;
  const size_t window = random.between(2, 30);
  for (size_t index = 0; index < tasks; ++index) {
    std::vector<int64_t> costs(devices);
    for (int64_t &cost : costs)
      cost = random.chance(zeroPercent) ? 0 : random.between(1, 50);
    // One device always can, so that pins and groups (all to device 0) stay possible.
    for (size_t device = 1; device < devices; ++device)
      if (random.chance(10))
        costs[device] = kCannotRun;
    TaskId task = graph.addTask("t" + std::to_string(index), costs);
    for (size_t device = 0; device < devices; ++device)
      if (random.chance(sharePercent))
        graph.setOccupancy(task, DeviceId(device), uint32_t(random.between(50'000, 1'000'000)));
    if (withPins && random.chance(5))
      graph.pin(task, DeviceId(size_t{0}));
    if (random.chance(5))
      graph.colocate(task, uint32_t(random.between(0, 2)));
    for (int64_t operand = random.between(0, 3); operand > 0 && !values.empty(); --operand) {
      size_t last = values.size() - 1;
      graph.addOperand(task,
                       values[size_t(random.between(last > window ? last - window : 0, last))]);
    }
    for (int64_t result = random.between(1, 2); result > 0; --result) {
      ValueId value = random.chance(10)
                          ? graph.addToken(task)
                          : graph.addValue(task, random.chance(10) ? 0 : random.between(1, 80));
      if (random.chance(10))
        graph.markProgramResult(value);
      if (random.chance(3))
        graph.markProgramResult(value, randomDevice());
      values.push_back(value);
    }
  }
  absl::Status status = graph.finalize();
  EXPECT_TRUE(status.ok()) << status;
  return graph;
}

TaskGraph chainGraph(size_t tasks, size_t devices) {
  TaskGraph graph(devices);
  std::vector<int64_t> costs(devices, 100);
  ValueId last;
  for (size_t index = 0; index < tasks; ++index) {
    TaskId task = graph.addTask("t", costs);
    if (last.valid())
      graph.addOperand(task, last);
    last = graph.addValue(task, 10);
  }
  graph.markProgramResult(last);
  EXPECT_TRUE(graph.finalize().ok());
  return graph;
}

TaskGraph fanOutGraph(size_t tasks, size_t devices) {
  TaskGraph graph(devices);
  std::vector<int64_t> costs(devices, 100);
  ValueId source = graph.addValue(graph.addTask("source", costs), 50);
  std::vector<ValueId> parts;
  for (size_t index = 2; index < tasks; ++index) {
    for (size_t device = 0; device < devices; ++device)
      costs[device] = 80 + int64_t((index * 7 + device) % 41);
    TaskId task = graph.addTask("part", costs);
    graph.addOperand(task, source);
    parts.push_back(graph.addValue(task, 1 + index % 17));
  }
  TaskId join = graph.addTask("join", costs);
  for (ValueId part : parts)
    graph.addOperand(join, part);
  graph.markProgramResult(graph.addValue(join, 8));
  EXPECT_TRUE(graph.finalize().ok());
  return graph;
}

TaskGraph layeredGraph(size_t tasks, size_t width, uint64_t bytes, size_t devices) {
  Random random(tasks + width);
  TaskGraph graph(devices);
  std::vector<ValueId> previous, current;
  std::vector<int64_t> costs(devices);
  for (size_t index = 0; index < tasks; ++index) {
    int64_t base = random.between(50, 150);
    for (int64_t &cost : costs)
      cost = base + random.between(0, 20);
    TaskId task = graph.addTask("t", costs);
    for (int edge = 0; edge < 3 && !previous.empty(); ++edge)
      graph.addOperand(task, previous[size_t(random.between(0, previous.size() - 1))]);
    current.push_back(graph.addValue(task, uint64_t(random.between(1, 2 * bytes))));
    if (current.size() == width) {
      previous.swap(current);
      current.clear();
    }
  }
  EXPECT_TRUE(graph.finalize().ok());
  return graph;
}

TaskGraph independentGraph(size_t tasks, size_t devices) {
  TaskGraph graph(devices);
  std::vector<int64_t> costs(devices);
  for (size_t index = 0; index < tasks; ++index) {
    for (size_t device = 0; device < devices; ++device)
      costs[device] = 50 + int64_t((index * 31 + device * 7) % 97);
    TaskId task = graph.addTask("t", costs);
    for (size_t device = 0; device < devices; ++device)
      graph.setOccupancy(task, DeviceId(device), uint32_t(100'000 + (index * 7919) % 800'000));
  }
  EXPECT_TRUE(graph.finalize().ok());
  return graph;
}

TaskGraph denseGraph(size_t tasks, size_t width, size_t devices) {
  TaskGraph graph(devices);
  std::vector<int64_t> costs(devices);
  std::vector<ValueId> previous, current;
  for (size_t index = 0; index < tasks; ++index) {
    for (size_t device = 0; device < devices; ++device)
      costs[device] = 80 + int64_t((index * 13 + device * 7) % 50);
    TaskId task = graph.addTask("t", costs);
    for (ValueId operand : previous)
      graph.addOperand(task, operand);
    current.push_back(graph.addValue(task, 10));
    if (current.size() == width) {
      previous.swap(current);
      current.clear();
    }
  }
  EXPECT_TRUE(graph.finalize().ok());
  return graph;
}

TaskGraph reductionsGraph(size_t tasks, size_t devices) {
  TaskGraph graph(devices);
  std::vector<int64_t> costs(devices);
  ValueId input = graph.addInput(DeviceId(size_t{0}), 5000);
  for (size_t index = 0; index < tasks; ++index) {
    for (size_t device = 0; device < devices; ++device)
      costs[device] = 80 + int64_t((index * 13 + device * 7) % 50);
    TaskId task = graph.addTask("reduction", costs);
    graph.addOperand(task, input);
    graph.markProgramResult(graph.addValue(task, 8));
  }
  EXPECT_TRUE(graph.finalize().ok());
  return graph;
}

} // namespace autopar::planning
