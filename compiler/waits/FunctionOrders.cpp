#include "compiler/waits/FunctionOrders.h"

#include <algorithm>
#include <numeric>

#include "compiler/memory/OnlinePacking.h"
#include "compiler/planning/FunctionTasks.h"
#include "compiler/planning/PlanAttr.h"
#include "compiler/planning/model/MachineModel.h"
#include "compiler/waits/CapacityOrder.h"

using namespace mlir;
using namespace mlir::autopar;
using ::autopar::DeviceId;
using ::autopar::Machine;
using ::autopar::planning::kFullOccupancy;
using ::autopar::planning::TaskId;

ArrayAttr mlir::autopar::getBuffers(Operation *op) {
  if (auto task = dyn_cast<TaskOp>(op))
    return task.getBuffersAttr();
  if (auto task = dyn_cast<SyntheticTaskOp>(op))
    return task.getBuffersAttr();
  if (auto transfer = dyn_cast<TransferOp>(op))
    return transfer.getBuffersAttr();
  return {};
}

ArrayAttr mlir::autopar::getScratch(Operation *op) {
  if (auto task = dyn_cast<TaskOp>(op))
    return task.getScratchAttr();
  if (auto task = dyn_cast<SyntheticTaskOp>(op))
    return task.getScratchAttr();
  return {};
}

StreamAttr mlir::autopar::getStreamAttr(MLIRContext *context, const StreamKey &stream, const Machine &machine) {
  StringRef device = machine.devices[stream.device.index()].name;
  if (!stream.link.valid())
    return StreamAttr::get(context, device, StreamDirection::compute, stream.ordinal, "");
  const ::autopar::Link &link = machine.links[stream.link.index()];
  DeviceId host = machine.HostDevice();
  if (link.from == host)
    return StreamAttr::get(context, device, StreamDirection::in, stream.ordinal, "");
  if (link.to == host)
    return StreamAttr::get(context, device, StreamDirection::out, stream.ordinal, "");
  return StreamAttr::get(context, device, StreamDirection::to, stream.ordinal, machine.devices[link.to.index()].name);
}

namespace {

/// The arenas' buffers of a function as its attributes say them.
struct PlacedBuffers {
  ArenaBuffers lives;
  std::vector<DeviceId> device;
  std::vector<uint64_t> offset;
};

class OrderCollector {
public:
  OrderCollector(const PlacedFunction &function, const Machine &machine, const CommandGraph &graph,
                 const std::vector<uint32_t> &order)
      : function(function), machine(machine), graph(graph), order(order), happens(graph, order),
        times(graph, happens, order) {}

  FailureOr<std::vector<OrderEdge>> run() {
    for (uint32_t id = 0; id < function.commands.size(); ++id)
      for (uint32_t operand : function.operands(id)) {
        const PlacedFunction::ValueInfo &value = function.values[operand];
        bool isToken = value.kind == PlacedFunction::ValueKind::token;
        if (value.producer != PlacedFunction::none)
          edges.push_back({value.producer, id, isToken ? OrderReason::token : OrderReason::data});
      }
    if (failed(readBuffers()) || failed(addReuse()) || failed(addCapacity()))
      return failure();
    return std::move(edges);
  }

private:
  LogicalResult readBuffers() {
    std::vector<std::vector<uint32_t>> users(function.values.size());
    for (uint32_t id = 0; id < function.commands.size(); ++id)
      for (uint32_t operand : function.operands(id))
        users[operand].push_back(id);
    for (uint32_t id = 0; id < function.commands.size(); ++id) {
      Operation *op = function.commands[id].op;
      ArrayAttr placed = getBuffers(op);
      if (!placed || placed.size() != op->getNumResults()) {
        auto error = op->emitOpError("has no buffers");
        error.attachNote() << "run --autopar-plan-memory first";
        return failure();
      }
      auto [first, end] = function.results(id);
      for (uint32_t value = first; value < end; ++value)
        if (failed(add(op, cast<BufferAttr>(placed[value - first]), id, std::move(users[value]))))
          return failure();
      if (ArrayAttr scratch = getScratch(op))
        for (BufferAttr buffer : scratch.getAsRange<BufferAttr>())
          if (failed(add(op, buffer, id, {})))
            return failure();
    }
    return success();
  }

  LogicalResult add(Operation *op, BufferAttr buffer, uint32_t definition, std::vector<uint32_t> users) {
    if (buffer.getSpace() != SpaceKind::arena || buffer.getBytes() == 0)
      return success();
    DeviceId device = machine.FindDevice({buffer.getDevice().data(), buffer.getDevice().size()});
    if (!device.valid()) {
      auto error = op->emitOpError() << "has a buffer on '" << buffer.getDevice()
                                     << "', which the machine does not have";
      error.attachNote() << "its devices are " << deviceNames(machine);
      return failure();
    }
    buffers.lives.add(static_cast<uint64_t>(buffer.getBytes()), definition, std::move(users), happens);
    buffers.device.push_back(device);
    buffers.offset.push_back(static_cast<uint64_t>(buffer.getOffset()));
    return success();
  }

  LogicalResult addReuse() {
    std::vector<uint32_t> byDefinition(buffers.lives.size());
    std::iota(byDefinition.begin(), byDefinition.end(), 0);
    std::sort(byDefinition.begin(), byDefinition.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(times.position[buffers.lives.definition[a]], a) <
             std::pair(times.position[buffers.lives.definition[b]], b);
    });
    std::vector<ByteOwners> owners(machine.devices.size());
    std::optional<std::pair<uint32_t, uint32_t>> clash;
    for (uint32_t later : byDefinition) {
      uint32_t definition = buffers.lives.definition[later];
      uint32_t previous = ~0u;
      owners[buffers.device[later].index()].take(
          buffers.offset[later], buffers.lives.bytes[later], later, [&](uint32_t earlier) {
            if (earlier == previous)
              return; // the next piece of the same owner
            previous = earlier;
            for (uint32_t i = buffers.lives.endBegin[earlier]; i < buffers.lives.endBegin[earlier + 1]; ++i) {
              uint32_t end = buffers.lives.ends[i];
              if (times.position[end] >= times.position[definition])
                clash = {end, definition};
              else
                edges.push_back({end, definition, OrderReason::reuse});
            }
          });
      if (clash) {
        auto error = function.commands[clash->second].op->emitOpError(
            "writes bytes that another command still needs");
        error.attachNote(function.commands[clash->first].op->getLoc())
            << "which is this one; run --autopar-plan-memory on the program as it is now";
        return failure();
      }
    }
    return success();
  }

  LogicalResult addCapacity() {
    // A plan and its order must agree on what fits, so the shares of a planned program are the planner's own: no task takes
    // less of a device than one stream of it. A program that was placed by hand says its shares itself.
    std::optional<PlanAttr> plan = getPlan(function.func);
    std::optional<FunctionTasks> tasks;
    DenseMap<Operation *, uint32_t> taskIds;
    ::autopar::planning::MachineModel model(machine, plan ? plan->maxStreams : 0);
    if (plan) {
      FailureOr<FunctionTasks> read = readFunctionTasks(function.func, machine);
      if (failed(read))
        return failure();
      tasks = std::move(*read);
      for (auto [id, op] : llvm::enumerate(tasks->tasks))
        taskIds[op] = id;
    }
    std::vector<CapacityUse> uses;
    for (uint32_t id : order) {
      const PlacedFunction::Command &command = function.commands[id];
      if (command.link.valid())
        continue;
      CapacityUse &use = uses.emplace_back(id, command.device.index());
      if (tasks)
        use.share = std::max(kFullOccupancy / model.streams(command.device),
                             tasks->graph.occupancy(TaskId(taskIds.at(command.op)), command.device));
      else if (std::optional<double> share = lookUpForDevice(occupancyOf(command.op), machine.devices[use.device]))
        use.share = static_cast<uint32_t>(std::clamp(*share, 0.0, 1.0) * kFullOccupancy);
    }
    std::vector<OrderEdge> capacity = orderByCapacity(graph, uses, machine.devices.size());
    edges.insert(edges.end(), capacity.begin(), capacity.end());
    return success();
  }

  static DictionaryAttr occupancyOf(Operation *op) {
    if (auto task = dyn_cast<TaskOp>(op))
      return task.getOccupancyAttr();
    return cast<SyntheticTaskOp>(op).getOccupancyAttr();
  }

  const PlacedFunction &function;
  const Machine &machine;
  const CommandGraph &graph;
  const std::vector<uint32_t> &order;
  HappensBefore happens;
  CommandTimes times;
  PlacedBuffers buffers;
  std::vector<OrderEdge> edges;
};

} // namespace

FailureOr<std::vector<OrderEdge>> mlir::autopar::collectOrders(const PlacedFunction &function,
                                                               const Machine &machine, const CommandGraph &graph,
                                                               const std::vector<uint32_t> &order) {
  return OrderCollector(function, machine, graph, order).run();
}
