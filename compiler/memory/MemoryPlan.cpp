#include "compiler/memory/MemoryPlan.h"

#include "compiler/MachineAttr.h"
#include "compiler/codegen/KernelShape.h"

using namespace mlir;
using namespace mlir::autopar;
using ::autopar::DeviceId;
using ::autopar::Machine;
using ValueKind = PlacedFunction::ValueKind;

FunctionGraph mlir::autopar::buildFunctionGraph(const PlacedFunction &function) {
  FunctionGraph result;
  CommandGraph &graph = result.graph;
  DenseMap<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> streamIds;
  graph.commands.reserve(function.commands.size());
  for (uint32_t id = 0; id < function.commands.size(); ++id) {
    const PlacedFunction::Command &command = function.commands[id];
    bool isCopy = command.link.valid();
    auto key = std::tuple(command.device.value, isCopy ? command.link.value : PlacedFunction::none - 1, command.stream);
    auto [at, isNew] = streamIds.try_emplace(key, result.streams.size());
    if (isNew)
      result.streams.push_back({command.device, command.link, command.stream});
    graph.commands.push_back({at->second, !isCopy, command.startNs, command.finishNs});
    for (uint32_t operand : function.operands(id))
      if (uint32_t producer = function.values[operand].producer; producer != PlacedFunction::none)
        graph.edges.push_back({producer, id});
  }
  graph.streamCount = result.streams.size();
  return result;
}

FailureOr<std::vector<uint32_t>> mlir::autopar::orderCommands(const PlacedFunction &function,
                                                              const CommandGraph &graph) {
  IssueOrder order = computeIssueOrder(graph);
  if (!order.onCycle)
    return std::move(order.order);
  auto error = function.commands[*order.onCycle].op->emitOpError(
      "cannot be issued: the order of its stream contradicts the order of its operands");
  error.attachNote() << "tasks of one stream run by their planned start; plan the program again";
  return failure();
}

std::vector<uint64_t> mlir::autopar::scratchBytes(Operation *op, const ::autopar::Device &device) {
  if (auto task = dyn_cast<SyntheticTaskOp>(op))
    if (auto bytes = lookUpForDevice(task.getMemoryBytesAttr(), device); bytes && *bytes >= 1)
      return {static_cast<uint64_t>(*bytes)};
  if (auto task = dyn_cast<TaskOp>(op)) {
    FailureOr<KernelShape> shape = classifyKernel(*task.getBodyBlock());
    if (succeeded(shape) && shape->scratchBytes > 0) // what is no kernel is refused by OutlineKernels
      return {shape->scratchBytes};
  }
  return {};
}

namespace {

/// What one device's arena holds: the packer's view and where each buffer goes.
struct Arena {
  ArenaBuffers buffers;
  std::vector<PlannedBuffer *> targets;
};

class Planner {
public:
  Planner(const PlacedFunction &function, const Machine &machine, const CommandTimes &times)
      : function(function), machine(machine), times(times), arenas(machine.devices.size()) {}

  FailureOr<MemoryPlan> run() {
    plan.values.resize(function.values.size());
    plan.devices.resize(machine.devices.size());
    if (failed(markResults()))
      return failure();
    placeFixed();
    collectArenas();
    if (failed(checkSizes()))
      return failure();
    for (uint32_t device = 0; device < arenas.size(); ++device)
      if (failed(pack(device)))
        return failure();
    return std::move(plan);
  }

  std::vector<Arena> takeArenas() {
    plan.values.resize(function.values.size());
    plan.devices.resize(machine.devices.size());
    isResult.assign(function.values.size(), PlacedFunction::none);
    if (succeeded(markResults()))
      collectArenas();
    return std::move(arenas);
  }

private:
  LogicalResult markResults() {
    isResult.assign(function.values.size(), PlacedFunction::none);
    for (auto [number, id] : llvm::enumerate(function.returned)) {
      const PlacedFunction::ValueInfo &value = function.values[id];
      if (value.kind != ValueKind::computed || isResult[id] != PlacedFunction::none) {
        auto error = function.func.emitError()
                     << "result " << number
                     << (value.kind != ValueKind::computed ? " is not computed by a task" : " is returned twice");
        error.attachNote() << "run --autopar-form-tasks, which gives every result a task of its own";
        return failure();
      }
      isResult[id] = number;
    }
    return success();
  }

  /// Arguments, results and constants have spaces of their own.
  void placeFixed() {
    std::vector<std::vector<bool>> constantOn(machine.devices.size(),
                                              std::vector<bool>(function.constants.size(), false));
    for (uint32_t id = 0; id < function.values.size(); ++id) {
      const PlacedFunction::ValueInfo &value = function.values[id];
      PlannedBuffer &buffer = plan.values[id];
      buffer.device = value.device;
      buffer.bytes = value.bytes;
      if (value.kind == ValueKind::argument || isResult[id] != PlacedFunction::none) {
        buffer.space = value.kind == ValueKind::argument ? SpaceKind::argument : SpaceKind::result;
        buffer.index = value.kind == ValueKind::argument ? value.number : isResult[id];
        addFixed(value.device, value.bytes);
      } else if (value.kind == ValueKind::constant) {
        buffer.space = SpaceKind::constant;
        buffer.index = value.number;
      }
    }
    for (uint32_t id = 0; id < function.commands.size(); ++id)
      for (uint32_t operand : function.operands(id)) {
        const PlacedFunction::ValueInfo &value = function.values[operand];
        uint32_t device = function.commands[id].device.index();
        if (value.kind != ValueKind::constant || constantOn[device][value.number])
          continue;
        constantOn[device][value.number] = true;
        addFixed(DeviceId(device), value.bytes);
      }
  }

  void collectArenas() {
    // Uses by value, as compressed rows.
    std::vector<uint32_t> useBegin(function.values.size() + 1, 0), users(function.operandValues.size());
    for (uint32_t operand : function.operandValues)
      ++useBegin[operand + 1];
    for (size_t value = 0; value < function.values.size(); ++value)
      useBegin[value + 1] += useBegin[value];
    std::vector<uint32_t> next(useBegin.begin(), useBegin.end() - 1);
    for (uint32_t id = 0; id < function.commands.size(); ++id)
      for (uint32_t operand : function.operands(id))
        users[next[operand]++] = id;

    collectScratch();
    for (uint32_t id = 0; id < function.values.size(); ++id) {
      const PlacedFunction::ValueInfo &value = function.values[id];
      if (value.kind != ValueKind::computed || isResult[id] != PlacedFunction::none || value.bytes == 0)
        continue;
      Arena &arena = arenas[value.device.index()];
      arena.buffers.add(value.bytes, value.producer,
                        {users.begin() + useBegin[id], users.begin() + useBegin[id + 1]}, times.happens);
      arena.targets.push_back(&plan.values[id]);
    }
    for (uint32_t id = 0; id < function.commands.size(); ++id)
      for (uint32_t i = plan.scratchBegin[id]; i < plan.scratchBegin[id + 1]; ++i) {
        if (plan.scratch[i].bytes == 0)
          continue;
        Arena &arena = arenas[plan.scratch[i].device.index()];
        arena.buffers.add(plan.scratch[i].bytes, id, {}, times.happens);
        arena.targets.push_back(&plan.scratch[i]);
      }
  }

  /// Sums of sizes must not overflow, even where a device's memory is unlimited.
  LogicalResult checkSizes() {
    constexpr uint64_t most = uint64_t{1} << 62;
    for (uint32_t device = 0; device < arenas.size(); ++device) {
      uint64_t total = plan.devices[device].fixedBytes;
      for (uint64_t bytes : arenas[device].buffers.bytes)
        total = std::min(most, total) + std::min(most, bytes) + bufferAlignment;
      if (total > most)
        return function.func.emitError() << "the values on '" << machine.devices[device].name
                                         << "' add up to more than 2^62 bytes; make them smaller";
    }
    return success();
  }
  void addFixed(DeviceId device, uint64_t bytes) {
    uint64_t &total = plan.devices[device.index()].fixedBytes;
    total = std::min(total + bytes, ~uint64_t{0} >> 1); // each is at most 2^62
  }

  void collectScratch() {
    plan.scratchBegin.assign(1, 0);
    for (const PlacedFunction::Command &command : function.commands) {
      if (!command.link.valid())
        for (uint64_t bytes : scratchBytes(command.op, machine.devices[command.device.index()]))
          plan.scratch.push_back({SpaceKind::arena, 0, command.device, 0, bytes});
      plan.scratchBegin.push_back(plan.scratch.size());
    }
  }

  LogicalResult pack(uint32_t device) {
    MemoryPlan::DeviceMemory &memory = plan.devices[device];
    memory.limitBytes = machine.devices[device].memory_bytes;
    Arena &arena = arenas[device];
    for (ReuseOrder order : {ReuseOrder::happensBefore, ReuseOrder::plannedTime, ReuseOrder::issueOrder}) {
      ArenaPacking packing = packArena(arena.buffers, times, order);
      memory.arenaBytes = packing.bytes;
      memory.order = order;
      for (uint32_t b = 0; b < arena.buffers.size(); ++b)
        arena.targets[b]->offset = packing.offsets[b];
      // The packers are not trusted: each byte's owners must follow each other.
      if (findConflict(arena.buffers, times, order, packing.offsets))
        return function.func.emitError("internal error: two buffers share bytes while both are in use");
      if (memory.fits())
        break;
    }
    return success();
  }

  const PlacedFunction &function;
  const Machine &machine;
  const CommandTimes &times;
  MemoryPlan plan;
  std::vector<Arena> arenas;
  std::vector<uint32_t> isResult; // by value: result number, or none
};

/// Graph, order and clocks of a function, in the order in which they are needed.
struct Analysis {
  FunctionGraph graph;
  std::vector<uint32_t> order;
  std::optional<HappensBefore> happens;
  std::optional<CommandTimes> times;

  LogicalResult run(const PlacedFunction &function) {
    graph = buildFunctionGraph(function);
    FailureOr<std::vector<uint32_t>> issue = orderCommands(function, graph.graph);
    if (failed(issue))
      return failure();
    order = std::move(*issue);
    happens.emplace(graph.graph, order);
    times.emplace(graph.graph, *happens, order);
    return success();
  }
};

constexpr uint32_t maxExactBuffers = 256;

} // namespace

FailureOr<MemoryPlan> mlir::autopar::planMemory(const PlacedFunction &function, const Machine &machine) {
  Analysis analysis;
  if (failed(analysis.run(function)))
    return failure();
  return Planner(function, machine, *analysis.times).run();
}

FailureOr<std::vector<MemoryStats>> mlir::autopar::computeMemoryStats(func::FuncOp func) {
  FailureOr<Machine> machine = getMachine(func);
  if (failed(machine))
    return failure();
  std::vector<MemoryStats> stats(machine->devices.size());
  if (func.isDeclaration())
    return stats;
  FailureOr<PlacedFunction> function = readPlacedFunction(func, *machine);
  Analysis analysis;
  if (failed(function) || failed(analysis.run(*function)))
    return failure();
  func.walk([&](Operation *op) {
    for (StringRef name : {"buffers", "scratch"})
      if (auto buffers = op->getAttrOfType<ArrayAttr>(name))
        for (BufferAttr buffer : buffers.getAsRange<BufferAttr>()) {
          DeviceId device = machine->FindDevice({buffer.getDevice().data(), buffer.getDevice().size()});
          if (buffer.getSpace() != SpaceKind::arena || !device.valid())
            continue;
          uint64_t end = static_cast<uint64_t>(buffer.getOffset() + buffer.getBytes());
          stats[device.index()].peakBytes = std::max(stats[device.index()].peakBytes, end);
        }
  });
  std::vector<Arena> arenas = Planner(*function, *machine, *analysis.times).takeArenas();
  for (auto [device, arena] : llvm::enumerate(arenas))
    stats[device].peakLowerBoundBytes = arena.buffers.size() <= maxExactBuffers
                                            ? largestLiveSet(arena.buffers, *analysis.times)
                                            : liveLowerBound(arena.buffers, *analysis.times);
  return stats;
}
