#include "test/compiler/planning/graphs/RandomGraphs.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace autopar::planning {

namespace {

constexpr uint64_t kBytesPerS = 1'000'000'000;

/// The first device is the host where there is one.
std::string deviceName(const RandomGraphOptions &options, bool host, size_t device) {
  if (host)
    return "cpu0";
  const bool isAfterHost = options.deviceSet == DeviceSet::GpuAndCpu;
  return (isAfterHost ? "gpu" : "p") + std::to_string(isAfterHost ? device - 1 : device);
}

class ProblemMaker {
public:
  explicit ProblemMaker(const RandomGraphOptions &options)
      : options(options), random(options.seed * kFamilyCount + uint64_t(options.family)) {}

  RandomProblem make() {
    problem.machine = randomMachine(options, random);
    problem.graph = TaskGraph(problem.machine.devices.size());
    shape = randomShape(options, random);
    drawGroups();
    for (size_t task = 0; task < options.tasks; ++task)
      addTask(task);
    addEdges();
    addInputsAndResults();
    // Nothing above can break a rule of the graph: an error here is an error of this generator.
    if (absl::Status status = problem.graph.finalize(); !status.ok())
      throw std::logic_error(std::string(status.message()));
    return std::move(problem);
  }

private:
  DeviceId randomDevice() {
    return DeviceId(size_t(random.between(0, int64_t(problem.machine.devices.size()) - 1)));
  }

  /// A group's tasks can all run on its home, so that pins and groups never contradict each other.
  void drawGroups() {
    const size_t groups = options.groupPercent > 0 ? 1 + options.tasks / 8 : 0;
    for (size_t group = 0; group < groups; ++group)
      homes.push_back(randomDevice());
  }

  void drawCosts(size_t task, DeviceId home) {
    const size_t devices = problem.machine.devices.size();
    const int64_t thousandths = shape.work.empty()
                                    ? random.between(200, 1800)
                                    : shape.work[task] * random.between(90, 110) / 100;
    const int64_t weight = thousandths * options.meanNs / 1000;
    costs.assign(devices, weight);
    if (options.deviceSet == DeviceSet::GpuAndCpu)
      costs[0] =
          weight * (random.chance(7) ? random.between(30, 90) : random.between(400, 2000)) / 100;
    if (options.deviceSet == DeviceSet::Unrelated)
      for (int64_t &cost : costs)
        cost = weight * random.between(400, 1600) / 1000;
    for (int64_t &cost : costs)
      cost = std::max<int64_t>(cost, 1);
    total += options.deviceSet == DeviceSet::GpuAndCpu ? double(costs.back()) : meanOf(costs);
    for (size_t device = 0; device < devices; ++device)
      if (DeviceId(device) != home && random.chance(options.cannotRunPercent))
        costs[device] = kCannotRun;
  }

  static double meanOf(const std::vector<int64_t> &numbers) {
    double sum = 0;
    for (int64_t number : numbers)
      sum += double(number);
    return sum / double(numbers.size());
  }

  void addTask(size_t index) {
    const bool isGrouped = random.chance(options.groupPercent);
    const size_t group = isGrouped ? size_t(random.between(0, int64_t(homes.size()) - 1)) : 0;
    const DeviceId home = isGrouped ? homes[group] : randomDevice();
    drawCosts(index, home);
    TaskId task = problem.graph.addTask("t" + std::to_string(index), costs);
    if (isGrouped)
      problem.graph.colocate(task, uint32_t(group));
    if (random.chance(options.pinPercent))
      problem.graph.pin(task, home);
    if (random.chance(options.sharePercent)) {
      const uint32_t share = uint32_t(random.between(50'000, 600'000));
      for (size_t device = 0; device < costs.size(); ++device)
        problem.graph.setOccupancy(task, DeviceId(device), share);
    }
  }

  void addEdges() {
    const auto &edges = shape.edges;
    // One value for each edge, or for each task that has successors.
    const size_t values = options.oneValuePerTask ? options.tasks : edges.size();
    std::vector<int64_t> weights(values);
    for (int64_t &weight : weights)
      weight = shape.equalValues ? random.between(900, 1100) : random.between(200, 1800);
    double sum = 0;
    for (size_t edge = 0; edge < edges.size(); ++edge)
      sum += double(weights[options.oneValuePerTask ? edges[edge].first : edge]);
    const double scale =
        sum > 0 ? options.ccr * (total / double(options.tasks)) / (sum / double(edges.size())) : 0;
    std::vector<ValueId> made(values);
    for (size_t edge = 0; edge < edges.size(); ++edge) {
      const auto [from, to] = edges[edge];
      ValueId &value = made[options.oneValuePerTask ? from : edge];
      if (!value.valid()) {
        const double bytes = double(weights[options.oneValuePerTask ? from : edge]) * scale;
        if (random.chance(options.tokenPercent))
          value = problem.graph.addToken(TaskId(size_t(from)));
        else if (random.chance(options.emptyPercent))
          value = problem.graph.addValue(TaskId(size_t(from)), 0);
        else
          value = problem.graph.addValue(TaskId(size_t(from)),
                                         std::max<uint64_t>(1, uint64_t(bytes + 0.5)));
      }
      problem.graph.addOperand(TaskId(size_t(to)), value);
    }
  }

  uint64_t drawBytes() {
    const double bytes = options.ccr * total / double(options.tasks);
    return std::max<uint64_t>(1, uint64_t(bytes * double(random.between(200, 1800)) / 1000));
  }

  void addInputsAndResults() {
    std::vector<uint8_t> hasOperand(options.tasks, 0), hasUser(options.tasks, 0);
    for (const auto &[from, to] : shape.edges)
      hasUser[from] = hasOperand[to] = 1;
    for (size_t task = 0; task < options.tasks; ++task) {
      if (options.inputs && !hasOperand[task]) {
        const int64_t where = random.between(1, 100);
        DeviceId resident = where <= 60   ? DeviceId(size_t{0})
                            : where <= 85 ? randomDevice()
                                          : DeviceId();
        problem.graph.addOperand(TaskId(task), problem.graph.addInput(resident, drawBytes()));
      }
      if (options.results && !hasUser[task]) {
        ValueId result = problem.graph.addValue(TaskId(task), drawBytes());
        problem.graph.markProgramResult(result, random.chance(options.pinPercent) ? randomDevice()
                                                                                  : DeviceId());
      }
    }
  }

  const RandomGraphOptions &options;
  Random random;
  RandomProblem problem;
  RandomShape shape;
  std::vector<DeviceId> homes; // by group
  std::vector<int64_t> costs;  // of the task being added
  double total = 0;            // of the tasks on their usual device
};

} // namespace

Machine randomMachine(const RandomGraphOptions &options, Random &random) {
  Machine machine;
  const bool hasHost = options.hasHost || options.deviceSet == DeviceSet::GpuAndCpu;
  const int64_t most = options.overheads ? options.meanNs / 10 : 0;
  for (size_t index = 0; index < options.devices; ++index) {
    Device device;
    device.name = deviceName(options, hasHost && index == 0, index);
    device.kind = hasHost && index == 0 ? DeviceKind::kCpu : DeviceKind::kVirtual;
    device.streams = options.streams;
    device.launch_ns = random.between(0, most);
    device.wait_ns = random.between(0, most);
    machine.devices.push_back(std::move(device));
  }
  if (options.links == LinkSet::Bus)
    machine.engines = {"bus"};
  else if (options.links == LinkSet::Engines)
    for (const Device &device : machine.devices) {
      machine.engines.push_back(device.name + ".in");
      machine.engines.push_back(device.name + ".out");
    }
  const int64_t latency = random.between(0, most);
  for (size_t from = 0; from < options.devices; ++from)
    for (size_t to = 0; to < options.devices; ++to) {
      if (from == to || (options.viaHost && hasHost && from != 0 && to != 0))
        continue;
      Link link;
      link.from = DeviceId(from);
      link.to = DeviceId(to);
      link.bytes_per_s = kBytesPerS;
      link.latency_ns = latency;
      if (options.links == LinkSet::Bus)
        link.engines = {0};
      else if (options.links == LinkSet::Engines)
        link.engines = {uint32_t(2 * from + 1), uint32_t(2 * to)};
      machine.links.push_back(std::move(link));
    }
  return machine;
}

RandomProblem randomProblem(const RandomGraphOptions &options) {
  return ProblemMaker(options).make();
}

RandomGraphOptions randomOptions(uint64_t seed, size_t least, size_t most) {
  Random random(seed);
  RandomGraphOptions options;
  options.seed = seed;
  options.family = Family(random.between(0, kFamilyCount - 1));
  options.tasks = size_t(random.between(int64_t(least), int64_t(most)));
  constexpr double ccrs[] = {0.1, 0.5, 1, 2, 5, 10};
  options.ccr = ccrs[random.between(0, 5)];
  // Small numbers bring ties, big ones odd remainders.
  options.meanNs = random.chance(30) ? 10 : 10'000;
  options.deviceSet = DeviceSet(random.between(0, 2));
  options.devices = size_t(random.chance(80) ? random.between(2, 4) : random.between(1, 8));
  options.streams = uint32_t(random.chance(50) ? 1 : random.between(2, 6));
  options.links = LinkSet(random.between(0, 2));
  options.viaHost = random.chance(30);
  options.hasHost = random.chance(50);
  options.overheads = random.chance(40);
  options.results = random.chance(50);
  options.inputs = random.chance(50);
  options.oneValuePerTask = random.chance(40);
  options.sharePercent = random.chance(35) ? int(random.between(10, 100)) : 0;
  options.pinPercent = random.chance(25) ? int(random.between(5, 60)) : 0;
  options.groupPercent = random.chance(25) ? int(random.between(10, 80)) : 0;
  options.tokenPercent = random.chance(25) ? int(random.between(5, 50)) : 0;
  options.emptyPercent = random.chance(20) ? int(random.between(5, 30)) : 0;
  options.cannotRunPercent = random.chance(25) ? int(random.between(5, 50)) : 0;
  return options;
}

std::string describe(const RandomGraphOptions &options) {
  constexpr const char *sets[] = {"identical", "GPUs and a CPU", "unrelated"};
  constexpr const char *links[] = {"free links", "an engine in and out", "one bus"};
  std::ostringstream text;
  text << familyName(options.family) << ", " << options.tasks << " tasks, ccr " << options.ccr
       << ", mean " << options.meanNs << " ns, seed " << options.seed << ", " << options.devices
       << " devices (" << sets[size_t(options.deviceSet)] << ", " << options.streams
       << " streams), " << links[size_t(options.links)];
  auto flag = [&](bool set, const char *name) {
    if (set)
      text << ", " << name;
  };
  auto percent = [&](int number, const char *name) {
    if (number > 0)
      text << ", " << number << " % " << name;
  };
  flag(options.viaHost, "via the host");
  flag(options.hasHost, "with a host");
  flag(options.overheads, "overheads");
  flag(options.results, "results");
  flag(options.inputs, "inputs");
  flag(options.oneValuePerTask, "one value per task");
  percent(options.sharePercent, "shares");
  percent(options.pinPercent, "pins");
  percent(options.groupPercent, "in groups");
  percent(options.tokenPercent, "tokens");
  percent(options.emptyPercent, "empty values");
  percent(options.cannotRunPercent, "cannot run");
  return text.str();
}

} // namespace autopar::planning
