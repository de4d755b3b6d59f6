#include "compiler/schedule/EmitSchedule.h"

#include <map>

#include "compiler/MachineAttr.h"
#include "compiler/schedule/ConstantPool.h"
#include "compiler/transfers/PlacedFunction.h"
#include "dialect/Autopar.h"
#include "llvm/ADT/StringMap.h"
#include "runtime/schedule/checker.h"
#include "runtime/schedule/schedule_file.h"

using namespace mlir;
using namespace mlir::autopar;
namespace rt = ::autopar;

static std::string_view toStd(StringRef text) { return {text.data(), text.size()}; }

static FailureOr<rt::DeviceId> findDevice(Operation *op, const rt::Machine &machine, StringRef name) {
  rt::DeviceId device = machine.FindDevice(toStd(name));
  if (device.valid())
    return device;
  auto error = op->emitOpError() << "names the device '" << name << "', which the machine does not have";
  error.attachNote() << "its devices are " << deviceNames(machine);
  return failure();
}

static FailureOr<rt::TensorType> toTensorType(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  rt::TensorType result;
  if (tensor && tensor.hasStaticShape()) {
    std::string element;
    llvm::raw_string_ostream(element) << tensor.getElementType();
    if (std::optional<rt::ElementType> known = rt::ParseElementType(element)) {
      result.element = *known;
      result.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
      return result;
    }
  }
  op->emitOpError() << "has the type " << type << ", which a schedule cannot hold";
  return failure();
}

namespace {

/// Fills in one function of the schedule.
class FunctionEmitter {
public:
  FunctionEmitter(ScheduleOp op, rt::Schedule &schedule, const llvm::StringMap<uint32_t> &kernels,
                  llvm::StringMap<uint32_t> &strings, ConstantPool &constants)
      : scheduleOp(op), schedule(schedule), machine(schedule.machine), kernels(kernels), strings(strings),
        constants(constants) {}

  FailureOr<rt::Function> run() {
    out.name = scheduleOp.getSymName().str();
    out.predicted_makespan_ns = scheduleOp.getMakespanNs();
    out.lower_bound_ns = scheduleOp.getLowerBoundNs();
    for (Operation &op : *scheduleOp.getBodyBlock())
      if (failed(addOp(&op)))
        return failure();
    out.event_count = events;
    return std::move(out);
  }

private:
  LogicalResult addOp(Operation *op) {
    if (auto port = dyn_cast<ArgumentOp>(op))
      return addPort(port, rt::SpaceKind::kArgument, out.arguments);
    if (auto port = dyn_cast<ResultOp>(op))
      return addPort(port, rt::SpaceKind::kResult, out.results);
    if (auto data = dyn_cast<DataOp>(op))
      return addData(data);
    if (auto arena = dyn_cast<ArenaOp>(op))
      return addArena(arena);
    if (auto launch = dyn_cast<LaunchOp>(op))
      return addLaunch(launch);
    if (auto copy = dyn_cast<CopyOp>(op))
      return addCopy(copy);
    if (auto record = dyn_cast<RecordOp>(op))
      return addEvent(record, rt::CommandKind::kRecord, rt::WaitReason::kData);
    if (auto wait = dyn_cast<WaitOp>(op))
      return addEvent(wait, rt::CommandKind::kWait, toReason(wait.getReason()));
    return op->emitOpError("does not belong into a schedule");
  }

  static rt::WaitReason toReason(WaitReason reason) {
    switch (reason) {
    case WaitReason::data:
      return rt::WaitReason::kData;
    case WaitReason::reuse:
      return rt::WaitReason::kReuse;
    case WaitReason::token:
      return rt::WaitReason::kToken;
    case WaitReason::capacity:
      return rt::WaitReason::kCapacity;
    }
    return rt::WaitReason::kData;
  }

  using SpaceKey = std::tuple<rt::SpaceKind, uint64_t, uint32_t>; // kind, index, device
  rt::SpaceId addSpace(rt::SpaceKind kind, uint64_t index, rt::DeviceId device, uint64_t bytes,
                       uint64_t constantOffset) {
    rt::SpaceId id(out.spaces.size());
    bool isPort = kind == rt::SpaceKind::kArgument || kind == rt::SpaceKind::kResult;
    out.spaces.push_back({kind, device, isPort ? static_cast<uint32_t>(index) : 0, bytes, constantOffset});
    spaces[{kind, index, device.value}] = id;
    return id;
  }

  template <typename PortOp>
  LogicalResult addPort(PortOp op, rt::SpaceKind kind, std::vector<rt::Port> &ports) {
    FailureOr<rt::DeviceId> device = findDevice(op, machine, op.getDevice());
    if (failed(device))
      return failure();
    FailureOr<rt::TensorType> type = toTensorType(op, op.getType());
    if (failed(type))
      return failure();
    if (op.getNumber() != ports.size())
      return op.emitOpError() << "has number " << op.getNumber() << ", expected " << ports.size();
    rt::SpaceId space = addSpace(kind, ports.size(), *device, type->bytes(), 0);
    ports.push_back({op.getName().str(), std::move(*type), space});
    return success();
  }

  LogicalResult addData(DataOp op) {
    FailureOr<uint64_t> offset = constants.add(op, op.getValue());
    if (failed(offset))
      return failure();
    data[op.getNumber()] = {*offset, valueBytes(op.getValue().getType()).value_or(0)};
    return success();
  }

  LogicalResult addArena(ArenaOp op) {
    FailureOr<rt::DeviceId> device = findDevice(op, machine, op.getDevice());
    if (failed(device))
      return failure();
    if (spaces.contains({rt::SpaceKind::kArena, 0, device->value}))
      return op.emitOpError() << "is the second arena of '" << op.getDevice() << "'";
    addSpace(rt::SpaceKind::kArena, 0, *device, op.getBytes(), 0);
    return success();
  }

  FailureOr<rt::SpaceId> findSpace(Operation *op, BufferAttr buffer) {
    FailureOr<rt::DeviceId> device = findDevice(op, machine, buffer.getDevice());
    if (failed(device))
      return failure();
    static constexpr rt::SpaceKind kinds[] = {rt::SpaceKind::kArena, rt::SpaceKind::kArgument,
                                              rt::SpaceKind::kResult, rt::SpaceKind::kConstant};
    rt::SpaceKind kind = kinds[static_cast<int>(buffer.getSpace())];
    uint64_t index = kind == rt::SpaceKind::kArena ? 0 : buffer.getIndex();
    if (auto found = spaces.find({kind, index, device->value}); found != spaces.end())
      return found->second;
    if (kind == rt::SpaceKind::kConstant)
      if (auto known = data.find(index); known != data.end())
        return addSpace(kind, index, *device, known->second.bytes, known->second.offset);
    op->emitOpError() << "uses a buffer of a space that the schedule does not declare: " << buffer;
    return failure();
  }

  LogicalResult addRegion(Operation *op, BufferAttr buffer) {
    FailureOr<rt::SpaceId> space = findSpace(op, buffer);
    if (failed(space))
      return failure();
    uint64_t bytes = buffer.getBytes();
    out.regions.push_back({*space, static_cast<uint64_t>(buffer.getOffset()), bytes, bytes, 1});
    return success();
  }

  FailureOr<rt::StreamId> findStream(Operation *op, StreamAttr attr) {
    auto [at, isNew] = streams.try_emplace(attr, rt::StreamId(out.streams.size()));
    if (!isNew)
      return at->second;
    FailureOr<rt::DeviceId> device = findDevice(op, machine, attr.getDevice());
    if (failed(device))
      return failure();
    rt::Stream stream;
    stream.device = *device;
    stream.ordinal = attr.getOrdinal();
    if (attr.getDirection() != StreamDirection::compute) {
      rt::DeviceId host = machine.HostDevice(), from = *device, to = *device;
      if (attr.getDirection() == StreamDirection::in)
        from = host;
      else
        to = attr.getDirection() == StreamDirection::out ? host : machine.FindDevice(toStd(attr.getPeer()));
      stream.kind = rt::StreamKind::kCopy;
      if (from.valid() && to.valid())
        stream.link = machine.FindLink(from, to);
      if (!stream.link.valid()) {
        op->emitOpError("goes on the copy stream of a link that the machine does not have");
        return failure();
      }
    }
    out.streams.push_back(stream);
    return at->second;
  }

  /// Index into Schedule::strings.
  uint32_t labelId(StringRef label) {
    auto [at, isNew] = strings.try_emplace(label, schedule.strings.size());
    if (isNew)
      schedule.strings.push_back(label.str());
    return at->second;
  }

  /// What launches and copies share.
  template <typename Op>
  FailureOr<rt::Command> startCommand(Op op) {
    rt::Command command;
    FailureOr<rt::StreamId> stream = findStream(op, op.getStream());
    if (failed(stream))
      return failure();
    command.stream = *stream;
    command.label = labelId(op.getLabel());
    command.start_ns = static_cast<int64_t>(op.getStartNs());
    command.finish_ns = static_cast<int64_t>(op.getFinishNs());
    command.first_region = out.regions.size();
    uint32_t index = out.commands.size();
    for (Value token : op.getAfter())
      out.token_edges.push_back({commandOf.lookup(token), index});
    if (Value token = op.getDone())
      commandOf[token] = index;
    return command;
  }

  LogicalResult addLaunch(LaunchOp op) {
    FailureOr<rt::Command> command = startCommand(op);
    if (failed(command))
      return failure();
    command->kind = rt::CommandKind::kLaunch;
    auto kernel = kernels.find(op.getKernel());
    if (kernel == kernels.end())
      return op.emitOpError() << "runs '" << op.getKernel() << "', which is no kernel of this module";
    command->kernel = rt::KernelId(kernel->second);
    command->duration_ns = op.getDurationNs().value_or(0);
    command->reads = op.getReads().size();
    command->writes = op.getWrites().size();
    command->scratch = op.getScratch().size();
    for (ArrayAttr list : {op.getReads(), op.getWrites(), op.getScratch()})
      for (BufferAttr buffer : list.getAsRange<BufferAttr>())
        if (failed(addRegion(op, buffer)))
          return failure();
    out.commands.push_back(*command);
    return success();
  }

  LogicalResult addCopy(CopyOp op) {
    FailureOr<rt::Command> command = startCommand(op);
    if (failed(command))
      return failure();
    command->kind = rt::CommandKind::kCopy;
    command->reads = command->writes = 1;
    if (failed(addRegion(op, op.getSource())) || failed(addRegion(op, op.getTarget())))
      return failure();
    out.commands.push_back(*command);
    return success();
  }

  template <typename Op>
  LogicalResult addEvent(Op op, rt::CommandKind kind, rt::WaitReason reason) {
    FailureOr<rt::StreamId> stream = findStream(op, op.getStream());
    if (failed(stream))
      return failure();
    if (op.getEvent() >= (uint64_t{1} << 31))
      return op.emitOpError() << "has event number " << op.getEvent() << ", which is too large";
    rt::Command command;
    command.kind = kind;
    command.reason = reason;
    command.stream = *stream;
    command.event = rt::EventId(op.getEvent());
    command.first_region = out.regions.size();
    events = std::max<uint32_t>(events, op.getEvent() + 1);
    out.commands.push_back(command);
    return success();
  }

  struct Data {
    uint64_t offset, bytes;
  };
  ScheduleOp scheduleOp;
  rt::Schedule &schedule;
  const rt::Machine &machine;
  const llvm::StringMap<uint32_t> &kernels;
  llvm::StringMap<uint32_t> &strings;
  ConstantPool &constants;
  rt::Function out;
  std::map<SpaceKey, rt::SpaceId> spaces;
  std::map<uint64_t, Data> data;
  DenseMap<Attribute, rt::StreamId> streams;
  DenseMap<Value, uint32_t> commandOf;
  uint32_t events = 0;
};

} // namespace

static void addBinary(CodeOp op, rt::Schedule &schedule) {
  rt::CodeModule code;
  code.format = op.getLaunches() ? rt::CodeFormat::kPtx : rt::CodeFormat::kElf;
  code.target = op.getTarget().str();
  for (Attribute feature : op.getFeatures())
    code.features.push_back(cast<StringAttr>(feature).getValue().str());
  StringRef image = op.getImage();
  code.image.assign(image.bytes_begin(), image.bytes_end());
  schedule.modules.push_back(std::move(code));
}

static LogicalResult addKernel(KernelOp op, ArrayRef<CodeOp> binaries, rt::Schedule &schedule) {
  rt::Kernel kernel;
  kernel.name = op.getSymName().str();
  kernel.tile_count = static_cast<int64_t>(op.getTileCount());
  kernel.reads = op.getReads().size();
  Block *body = op.getBodyBlock();
  for (int64_t number : op.getReads()) {
    if (number < 0 || number >= body->getNumArguments())
      return op.emitOpError() << "has no argument " << number << " to read";
    kernel.operand_bytes.push_back(valueBytes(body->getArgument(number).getType()).value_or(0));
  }
  for (Type type : body->getTerminator()->getOperandTypes()) {
    kernel.operand_bytes.push_back(valueBytes(type).value_or(0));
    ++kernel.writes;
  }
  if (uint64_t scratch = op.getScratchBytes()) {
    kernel.operand_bytes.push_back(scratch);
    kernel.scratch = 1;
  }
  if (op.getForm() == KernelForm::matmul) {
    ProductAttr product = op.getProductAttr();
    if (!product)
      return op.emitOpError("is a matmul without its sizes");
    kernel.kind = rt::KernelKind::kMatmul;
    kernel.matmul = {product.getBatch(),  product.getM(),          product.getN(),          product.getK(),
                     product.getABatch(), product.getBBatch(),     product.getTransposeA(), product.getTransposeB(),
                     product.getTileM(),  product.getTileN()};
  }
  bool hasCpuCode = false;
  for (uint32_t number = 0; op.hasCode() && number < binaries.size(); ++number) {
    CodeOp binary = binaries[number];
    if (!binary.getLaunches()) {
      kernel.codes.push_back({number, kernel.name});
      hasCpuCode = true;
    } else if (auto launch = binary.getLaunch(op.getSymNameAttr())) {
      kernel.codes.push_back(
          {number, kernel.name, static_cast<uint32_t>(launch->first), static_cast<uint32_t>(launch->second)});
    }
  }
  if (op.hasCode() && !hasCpuCode) {
    auto error = op.emitOpError("has no machine code");
    error.attachNote() << "run --autopar-compile-kernels first";
    return failure();
  }
  schedule.kernels.push_back(std::move(kernel));
  return success();
}

static void addSyntheticKernel(SyntheticKernelOp op, rt::Schedule &schedule) {
  rt::Kernel kernel;
  kernel.name = op.getSymName().str();
  kernel.kind = rt::KernelKind::kSynthetic;
  kernel.reads = op.getReads().size();
  kernel.writes = op.getWrites().size();
  kernel.scratch = op.getScratch().size();
  for (ArrayRef<int64_t> sizes : {op.getReads(), op.getWrites(), op.getScratch()})
    kernel.operand_bytes.insert(kernel.operand_bytes.end(), sizes.begin(), sizes.end());
  kernel.spin = op.getSpin();
  kernel.seed = op.getSeed();
  schedule.kernels.push_back(std::move(kernel));
}

FailureOr<rt::Schedule> mlir::autopar::buildSchedule(ModuleOp module) {
  FailureOr<rt::Machine> machine = getMachine(module);
  if (failed(machine))
    return failure();
  rt::Schedule schedule;
  schedule.producer = "autopar-opt " AUTOPAR_VERSION;
  schedule.machine = std::move(*machine);
  schedule.strings.push_back("");
  llvm::StringMap<uint32_t> strings, kernels;
  strings[""] = 0;
  SmallVector<CodeOp> binaries(module.getOps<CodeOp>());
  for (CodeOp op : binaries)
    addBinary(op, schedule);
  for (Operation &op : module.getOps()) {
    uint32_t number = schedule.kernels.size();
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      if (failed(addKernel(kernel, binaries, schedule)))
        return failure();
      kernels[kernel.getSymName()] = number;
    } else if (auto kernel = dyn_cast<SyntheticKernelOp>(op)) {
      addSyntheticKernel(kernel, schedule);
      kernels[kernel.getSymName()] = number;
    }
  }
  ConstantPool constants;
  for (auto op : module.getOps<ScheduleOp>()) {
    FailureOr<rt::Function> function = FunctionEmitter(op, schedule, kernels, strings, constants).run();
    if (failed(function))
      return failure();
    schedule.functions.push_back(std::move(*function));
  }
  if (schedule.functions.empty()) {
    auto error = module.emitError("the program has no function to schedule");
    error.attachNote() << "write at least one public func.func with a body";
    return failure();
  }
  schedule.constants = constants.takeBytes();
  return schedule;
}

LogicalResult mlir::autopar::writeSchedule(ModuleOp module, StringRef path) {
  FailureOr<rt::Schedule> schedule = buildSchedule(module);
  if (failed(schedule))
    return failure();
  absl::Status checked = rt::CheckSchedule(*schedule, schedule->constants.size());
  if (!checked.ok())
    return module.emitError("the schedule is not safe: ") << std::string(checked.message());
  absl::Status written = rt::WriteScheduleFile(*schedule, path.str());
  if (!written.ok())
    return module.emitError() << std::string(written.message());
  return success();
}
