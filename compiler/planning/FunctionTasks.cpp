#include "compiler/planning/FunctionTasks.h"

#include <cmath>
#include <map>

#include "compiler/transfers/PlacedFunction.h"
#include "dialect/Autopar.h"

using namespace mlir;
using namespace mlir::autopar;
using ::autopar::DeviceId;
using ::autopar::Machine;
using ::autopar::planning::kCannotRun;
using ::autopar::planning::kFullOccupancy;
using ::autopar::planning::TaskId;
using ::autopar::planning::ValueId;

namespace {

/// What both kinds of task say about where and how they run.
struct TaskTraits {
  StringRef label;
  DictionaryAttr costNs, occupancy, memoryBytes;
  StringAttr device, colocate;
};

TaskTraits traitsOf(TaskOp op) {
  return {op.getLabel(),      op.getCostNsAttr(),  op.getOccupancyAttr(), {},
          op.getDeviceAttr(), op.getColocateAttr()};
}

TaskTraits traitsOf(SyntheticTaskOp op) {
  return {op.getLabel(),           op.getCostNsAttr(), op.getOccupancyAttr(),
          op.getMemoryBytesAttr(), op.getDeviceAttr(), op.getColocateAttr()};
}

class Reader {
public:
  Reader(func::FuncOp func, const Machine &machine)
      : func(func), machine(machine),
        hasLimitedMemory(llvm::any_of(machine.devices, [](const auto &device) { return device.memory_bytes > 0; })),
        out(machine.devices.size()) {}

  FailureOr<FunctionTasks> run() {
    if (!func.getBody().hasOneBlock()) {
      func.emitError("a function of tasks must have one block");
      return failure();
    }
    Block &block = func.getBody().front();
    if (failed(readArguments(block)))
      return failure();
    for (Operation &op : block)
      if (failed(readOp(&op)))
        return failure();
    if (absl::Status status = out.graph.finalize(); !status.ok())
      return func.emitError(std::string(status.message()));
    return std::move(out);
  }

private:
  FailureOr<DeviceId> findDevice(Operation *op, StringAttr name) {
    DeviceId device = machine.FindDevice({name.getValue().data(), name.getValue().size()});
    if (device.valid())
      return device;
    auto error = op->emitError() << "is pinned to device '" << name.getValue()
                                 << "', which the machine does not have";
    error.attachNote() << "its devices are " << deviceNames(machine)
                       << "; change the pin or give --ignore-pins";
    return failure();
  }

  FailureOr<uint64_t> bytesOf(Operation *op, Value value) {
    if (std::optional<uint64_t> bytes = valueBytes(value.getType()))
      return *bytes;
    return op->emitError() << "has a value of more than 2^62 bytes, of type " << value.getType();
  }

  void addValue(Value value, ValueId id) {
    out.valueIds[value] = id;
    out.values.push_back(value);
  }

  LogicalResult readArguments(Block &block) {
    DeviceId host = machine.HostDevice();
    for (BlockArgument argument : block.getArguments()) {
      DeviceId device = host.valid() ? host : DeviceId(size_t{0});
      if (auto pin = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                       AutoparDialect::getDeviceAttrName())) {
        FailureOr<DeviceId> found = findDevice(func, pin);
        if (failed(found))
          return failure();
        device = *found;
      }
      FailureOr<uint64_t> bytes = bytesOf(func, argument);
      if (failed(bytes))
        return failure();
      addValue(argument, out.graph.addInput(device, *bytes));
    }
    return success();
  }

  LogicalResult readOp(Operation *op) {
    if (isa<RecordOp, WaitOp>(op))
      return success();
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      FailureOr<uint64_t> bytes = bytesOf(op, constant.getResult());
      if (failed(bytes))
        return failure();
      addValue(constant.getResult(), out.graph.addInput(DeviceId(), *bytes));
      return success();
    }
    if (auto transfer = dyn_cast<TransferOp>(op)) {
      out.valueIds[transfer.getResult()] = out.valueIds.lookup(transfer.getOperand());
      out.transfers.push_back(op);
      return success();
    }
    if (auto task = dyn_cast<TaskOp>(op))
      return readTask(op, traitsOf(task));
    if (auto task = dyn_cast<SyntheticTaskOp>(op))
      return readTask(op, traitsOf(task));
    if (auto result = dyn_cast<func::ReturnOp>(op))
      return readReturn(result);
    auto error = op->emitOpError("is not a task");
    error.attachNote() << "run --autopar-form-tasks first";
    return failure();
  }

  /// Attributes are unique, so that a dictionary is read once however many tasks share it.
  const std::vector<int64_t> &costsOf(DictionaryAttr dictionary) {
    auto [entry, isNew] = knownCosts.try_emplace(dictionary);
    if (isNew)
      for (const ::autopar::Device &device : machine.devices) {
        std::optional<double> cost = lookUpForDevice(dictionary, device);
        entry->second.push_back(cost ? std::llround(*cost) : kCannotRun);
      }
    return entry->second;
  }

  const std::vector<double> &numbersOf(DictionaryAttr dictionary, double otherwise) {
    auto [entry, isNew] = knownNumbers.try_emplace(dictionary);
    if (isNew)
      for (const ::autopar::Device &device : machine.devices)
        entry->second.push_back(lookUpForDevice(dictionary, device).value_or(otherwise));
    return entry->second;
  }

  /// The costs without those of devices, other than the host, whose memory cannot hold the task's operands and results
  /// at once. A pinned or co-located task keeps its devices, and so does one that would be left with none: what does not
  /// fit is reported with its sizes when memory is planned.
  FailureOr<SmallVector<int64_t>> dropDevicesTooSmall(Operation *op, const TaskTraits &traits,
                                                      ArrayRef<int64_t> costs) {
    SmallVector<int64_t> fitting(costs);
    bool isFree = !traits.device && !traits.colocate && !op->getAttr(AutoparDialect::getDeviceAttrName());
    if (!isFree || !hasLimitedMemory)
      return fitting;
    uint64_t needed = 0;
    llvm::SmallPtrSet<Value, 8> counted;
    for (Value value : llvm::concat<Value>(llvm::to_vector(op->getOperands()),
                                           llvm::map_to_vector(op->getResults(), [](OpResult r) -> Value { return r; })))
      if (!isa<TokenType>(value.getType()) && counted.insert(value).second) {
        FailureOr<uint64_t> bytes = bytesOf(op, value);
        if (failed(bytes))
          return failure();
        needed += *bytes;
      }
    DeviceId host = machine.HostDevice();
    for (size_t device = 0; device < fitting.size(); ++device) {
      uint64_t limit = machine.devices[device].memory_bytes;
      double working = traits.memoryBytes ? numbersOf(traits.memoryBytes, 0)[device] : 0;
      if (limit > 0 && DeviceId(device) != host && static_cast<double>(needed) + working > static_cast<double>(limit))
        fitting[device] = kCannotRun;
    }
    if (llvm::all_of(fitting, [](int64_t cost) { return cost == kCannotRun; }))
      return SmallVector<int64_t>(costs);
    return fitting;
  }

  /// One thread issues all launches of a GPU, one after the other: however little of it a kernel fills, no
  /// more of them run side by side than launches fit into the time of one.
  double launchShare(size_t device, int64_t costNs) const {
    const ::autopar::Device &description = machine.devices[device];
    if (description.kind != ::autopar::DeviceKind::kCuda || description.launch_ns == 0 || costNs < 0)
      return 0;
    int64_t launchesInTheTimeOfOne = (description.launch_ns + costNs) / description.launch_ns;
    return 1.0 / static_cast<double>(launchesInTheTimeOfOne);
  }

  LogicalResult readTask(Operation *op, const TaskTraits &traits) {
    if (!traits.costNs) {
      auto error = op->emitOpError("has no cost_ns");
      error.attachNote() << "run --autopar-estimate-costs first, or give the cost per device";
      return failure();
    }
    const std::vector<int64_t> &costs = costsOf(traits.costNs);
    if (llvm::all_of(costs, [](int64_t cost) { return cost == kCannotRun; })) {
      auto error = op->emitOpError() << "'" << traits.label
                                     << "' cannot run on any device: cost_ns names none of them";
      error.attachNote() << "the machine's devices are " << deviceNames(machine);
      return failure();
    }
    FailureOr<SmallVector<int64_t>> fitting = dropDevicesTooSmall(op, traits, costs);
    if (failed(fitting))
      return failure();
    TaskId task = out.graph.addTask(traits.label.str(), *fitting);
    out.tasks.push_back(op);
    if (traits.occupancy) {
      const std::vector<double> &shares = numbersOf(traits.occupancy, 1);
      for (size_t device = 0; device < shares.size(); ++device)
        if (double share = std::max(shares[device], launchShare(device, costs[device])); share < 1)
          out.graph.setOccupancy(task, DeviceId(device), static_cast<uint32_t>(share * kFullOccupancy));
    }
    if (traits.memoryBytes) {
      const std::vector<double> &bytes = numbersOf(traits.memoryBytes, 0);
      for (size_t device = 0; device < bytes.size(); ++device)
        out.graph.setMemoryBytes(task, DeviceId(device), static_cast<uint64_t>(bytes[device]));
    }
    if (failed(readPlaceRules(op, traits, task, costs)))
      return failure();
    for (Value operand : op->getOperands())
      out.graph.addOperand(task, out.valueIds.lookup(operand));
    for (OpResult result : op->getResults()) {
      if (isa<TokenType>(result.getType())) {
        addValue(result, out.graph.addToken(task));
        continue;
      }
      FailureOr<uint64_t> bytes = bytesOf(op, result);
      if (failed(bytes))
        return failure();
      addValue(result, out.graph.addValue(task, *bytes));
    }
    return success();
  }

  LogicalResult readPlaceRules(Operation *op, const TaskTraits &traits, TaskId task,
                               ArrayRef<int64_t> costs) {
    StringAttr pin = traits.device;
    if (!pin)
      pin = op->getAttrOfType<StringAttr>(AutoparDialect::getDeviceAttrName());
    if (pin) {
      FailureOr<DeviceId> device = findDevice(op, pin);
      if (failed(device))
        return failure();
      if (costs[device->index()] == kCannotRun)
        return op->emitOpError() << "'" << traits.label << "' is pinned to device '"
                                 << pin.getValue()
                                 << "', which cannot run it: cost_ns does not name it";
      out.graph.pin(task, *device);
    }
    if (traits.colocate)
      out.graph.colocate(task, groups.try_emplace(traits.colocate, groups.size()).first->second);
    return success();
  }

  LogicalResult readReturn(func::ReturnOp op) {
    for (OpOperand &operand : op->getOpOperands()) {
      DeviceId device;
      if (auto pin = func.getResultAttrOfType<StringAttr>(operand.getOperandNumber(),
                                                          AutoparDialect::getDeviceAttrName())) {
        FailureOr<DeviceId> found = findDevice(func, pin);
        if (failed(found))
          return failure();
        device = *found;
      }
      out.graph.markProgramResult(out.valueIds.lookup(operand.get()), device);
    }
    return success();
  }

  func::FuncOp func;
  const Machine &machine;
  bool hasLimitedMemory; // on some device
  FunctionTasks out;
  DenseMap<DictionaryAttr, std::vector<int64_t>> knownCosts;
  DenseMap<DictionaryAttr, std::vector<double>> knownNumbers;
  DenseMap<StringAttr, uint32_t> groups;
};

} // namespace

FailureOr<FunctionTasks> mlir::autopar::readFunctionTasks(func::FuncOp func,
                                                          const Machine &machine) {
  return Reader(func, machine).run();
}
