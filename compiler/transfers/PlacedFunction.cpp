#include "compiler/transfers/PlacedFunction.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::autopar;
using ::autopar::DeviceId;
using ::autopar::LinkId;
using ::autopar::Machine;

static std::string_view toStd(StringRef text) { return {text.data(), text.size()}; }

std::optional<uint64_t> mlir::autopar::valueBytes(Type type) {
  if (isa<TokenType>(type))
    return 0;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getElementType().isIntOrFloat())
    return std::nullopt;
  uint64_t bytes = std::max<uint64_t>(1, tensor.getElementTypeBitWidth() / 8);
  if (llvm::is_contained(tensor.getShape(), 0))
    return 0;
  for (int64_t size : tensor.getShape())
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes) ||
        bytes > (uint64_t{1} << 62))
      return std::nullopt;
  return bytes;
}

std::string mlir::autopar::deviceNames(const Machine &machine) {
  std::string names;
  for (const ::autopar::Device &device : machine.devices)
    names += (names.empty() ? "" : ", ") + device.name;
  return names;
}

std::optional<double> mlir::autopar::lookUpForDevice(DictionaryAttr dictionary,
                                                     const ::autopar::Device &device) {
  if (!dictionary)
    return std::nullopt;
  std::string_view kind = ::autopar::DeviceKindName(device.kind);
  Attribute found = dictionary.get(device.name);
  if (!found)
    found = dictionary.get(StringRef(kind.data(), kind.size()));
  if (auto number = dyn_cast_or_null<FloatAttr>(found))
    return number.getValueAsDouble();
  if (auto number = dyn_cast_or_null<IntegerAttr>(found))
    return static_cast<double>(number.getInt());
  return std::nullopt;
}

namespace {

using ValueKind = PlacedFunction::ValueKind;

class Reader {
public:
  Reader(func::FuncOp func, const Machine &machine) : machine(machine) { out.func = func; }

  FailureOr<PlacedFunction> run() {
    if (!out.func.getBody().hasOneBlock()) {
      out.func.emitError("a function of tasks must have one block");
      return failure();
    }
    Block &block = out.func.getBody().front();
    if (failed(readArguments(block)))
      return failure();
    for (Operation &op : block)
      if (failed(readOp(&op)))
        return failure();
    out.operandBegin.push_back(out.operandValues.size());
    return std::move(out);
  }

private:
  FailureOr<DeviceId> findDevice(Operation *op, StringRef name) {
    DeviceId device = machine.FindDevice(toStd(name));
    if (device.valid())
      return device;
    auto error = op->emitOpError() << "names the device '" << name << "', which the machine does not have";
    error.attachNote() << "its devices are " << deviceNames(machine);
    return failure();
  }

  LogicalResult addValue(Operation *op, Value value, ValueKind kind, uint32_t producer,
                         DeviceId device, uint32_t number) {
    if (isa<TokenType>(value.getType()))
      kind = ValueKind::token;
    std::optional<uint64_t> bytes = valueBytes(value.getType());
    if (!bytes)
      return op->emitOpError() << "has a value that is no tensor of numbers, or of more than 2^62 bytes: " << value.getType();
    valueIds[value] = out.values.size();
    out.values.push_back({value, kind, producer, device, *bytes, number});
    return success();
  }

  LogicalResult readArguments(Block &block) {
    DeviceId host = machine.HostDevice();
    for (BlockArgument argument : block.getArguments()) {
      DeviceId device = host.valid() ? host : DeviceId(0);
      if (auto pin = out.func.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                           AutoparDialect::getDeviceAttrName())) {
        FailureOr<DeviceId> found = findDevice(out.func, pin.getValue());
        if (failed(found))
          return failure();
        device = *found;
      }
      if (failed(addValue(out.func, argument, ValueKind::argument, PlacedFunction::none, device,
                          argument.getArgNumber())))
        return failure();
    }
    return success();
  }

  LogicalResult readOp(Operation *op) {
    if (isa<RecordOp, WaitOp>(op))
      return success();
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      out.constants.push_back(constant);
      return addValue(op, constant.getResult(), ValueKind::constant, PlacedFunction::none, DeviceId(),
                      out.constants.size() - 1);
    }
    if (auto task = dyn_cast<TaskOp>(op))
      return readTask(op, task.getPlacementAttr());
    if (auto task = dyn_cast<SyntheticTaskOp>(op))
      return readTask(op, task.getPlacementAttr());
    if (auto transfer = dyn_cast<TransferOp>(op))
      return readTransfer(transfer);
    if (auto result = dyn_cast<func::ReturnOp>(op))
      return readReturn(result);
    auto error = op->emitOpError("is not a task");
    error.attachNote() << "run --autopar-form-tasks first";
    return failure();
  }

  LogicalResult addCommand(PlacedFunction::Command command, DeviceId resultDevice) {
    Operation *op = command.op;
    uint32_t id = out.commands.size();
    out.commands.push_back(command);
    out.operandBegin.push_back(out.operandValues.size());
    out.firstResult.push_back(out.values.size());
    for (Value operand : op->getOperands())
      out.operandValues.push_back(valueIds.lookup(operand));
    for (OpResult result : op->getResults())
      if (failed(addValue(op, result, ValueKind::computed, id, resultDevice, result.getResultNumber())))
        return failure();
    return success();
  }

  LogicalResult readTask(Operation *op, PlacementAttr placement) {
    if (!placement) {
      auto error = op->emitOpError("has no placement");
      error.attachNote() << "run --autopar-plan-schedule first";
      return failure();
    }
    FailureOr<DeviceId> device = findDevice(op, placement.getDevice());
    if (failed(device))
      return failure();
    uint32_t streams = machine.devices[device->index()].streams;
    if (placement.getStream() >= static_cast<int64_t>(streams))
      return op->emitOpError() << "is placed on stream " << placement.getStream() << " of '"
                               << placement.getDevice() << "', which has " << streams;
    if (placement.getFinishNs() > (int64_t{1} << 62))
      return op->emitOpError() << "is planned to finish at " << placement.getFinishNs() << " ns; the most is 2^62";
    PlacedFunction::Command command;
    command.op = op;
    command.device = *device;
    command.stream = placement.getStream();
    command.startNs = placement.getStartNs();
    command.finishNs = placement.getFinishNs();
    return addCommand(command, *device);
  }

  LogicalResult readTransfer(TransferOp op) {
    FailureOr<DeviceId> from = findDevice(op, op.getFrom()), to = findDevice(op, op.getTo());
    if (failed(from) || failed(to))
      return failure();
    PlacedFunction::Command command;
    command.op = op;
    command.link = machine.FindLink(*from, *to);
    if (!command.link.valid())
      return op.emitOpError() << "has no link from '" << op.getFrom() << "' to '" << op.getTo() << "'";
    command.device = *from == machine.HostDevice() ? *to : *from;
    command.stream = op.getStream();
    command.startNs = static_cast<int64_t>(op.getStartNs());
    command.finishNs = static_cast<int64_t>(op.getFinishNs());
    return addCommand(command, *to);
  }

  LogicalResult readReturn(func::ReturnOp op) {
    DeviceId host = machine.HostDevice();
    for (OpOperand &operand : op->getOpOperands()) {
      if (isa<TokenType>(operand.get().getType()))
        return op.emitOpError("returns a token; a function can only return tensors");
      DeviceId device = host;
      unsigned number = operand.getOperandNumber();
      if (auto pin = out.func.getResultAttrOfType<StringAttr>(number, AutoparDialect::getDeviceAttrName())) {
        FailureOr<DeviceId> found = findDevice(out.func, pin.getValue());
        if (failed(found))
          return failure();
        device = *found;
      }
      out.returned.push_back(valueIds.lookup(operand.get()));
      out.resultDevice.push_back(device);
    }
    return success();
  }

  const Machine &machine;
  PlacedFunction out;
  DenseMap<Value, uint32_t> valueIds;
};

} // namespace

FailureOr<PlacedFunction> mlir::autopar::readPlacedFunction(func::FuncOp func, const Machine &machine) {
  return Reader(func, machine).run();
}

LogicalResult mlir::autopar::verifyResidence(const PlacedFunction &function, const Machine &machine) {
  for (uint32_t id = 0; id < function.commands.size(); ++id) {
    const PlacedFunction::Command &command = function.commands[id];
    DeviceId device = command.device;
    if (command.link.valid())
      device = machine.links[command.link.index()].from;
    for (auto [number, operand] : llvm::enumerate(function.operands(id))) {
      const PlacedFunction::ValueInfo &value = function.values[operand];
      bool resident = value.bytes == 0 || !value.device.valid() || value.device == device;
      if (!resident)
        return command.op->emitOpError() << "runs on '" << machine.devices[device.index()].name
                                         << "' but its operand " << number << " lives on '"
                                         << machine.devices[value.device.index()].name << "'";
    }
  }
  for (auto [number, value] : llvm::enumerate(function.returned)) {
    DeviceId device = function.resultDevice[number], home = function.values[value].device;
    if (device.valid() && home.valid() && device != home)
      return function.func.emitError() << "result " << number << " goes to '"
                                       << machine.devices[device.index()].name << "' but lives on '"
                                       << machine.devices[home.index()].name << "'";
  }
  return success();
}
