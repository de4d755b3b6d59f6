// Reads: functions after the stages waits and codegen. Writes: one autopar.schedule each, instead of the function, and
// one autopar.synthetic_kernel per kind of synthetic task.
#include <cmath>
#include <map>

#include "compiler/MachineAttr.h"
#include "compiler/Passes.h"
#include "compiler/waits/FunctionOrders.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

namespace mlir::autopar {
#define GEN_PASS_DEF_LOWERTOSCHEDULEPASS
#include "compiler/Passes.h.inc"
} // namespace mlir::autopar

using namespace mlir;
using namespace mlir::autopar;
using ::autopar::DeviceId;
using ::autopar::Machine;
using ValueKind = PlacedFunction::ValueKind;

namespace {

/// Tasks of different labels should make different bytes, yet a program of 100,000 tasks should not have as many
/// kernels: a label's hash falls into one of these.
constexpr uint64_t seedCount = 16;

/// The kernels of the synthetic tasks of a module, made on demand: one per sizes of the operands, seed and spin.
class SyntheticKernels {
public:
  explicit SyntheticKernels(ModuleOp module) : module(module) {
    for (Operation &op : module.getOps())
      if (auto symbol = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
        symbols.insert(symbol.getValue());
  }

  FlatSymbolRefAttr get(SyntheticTaskOp task, ArrayRef<int64_t> reads, ArrayRef<int64_t> writes,
                        ArrayRef<int64_t> scratch) {
    uint64_t seed = llvm::xxh3_64bits(task.getLabel()) % seedCount;
    std::vector<int64_t> key{static_cast<int64_t>(seed), task.getSpin(), static_cast<int64_t>(reads.size()),
                             static_cast<int64_t>(writes.size())};
    for (ArrayRef<int64_t> sizes : {reads, writes, scratch})
      key.insert(key.end(), sizes.begin(), sizes.end());
    auto [at, isNew] = kernels.try_emplace(std::move(key));
    if (!isNew)
      return at->second;
    std::string name;
    do
      name = "synthetic_" + std::to_string(next++);
    while (!symbols.insert(name).second);
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    SyntheticKernelOp::create(builder, task.getLoc(), name, reads, writes, scratch, seed, task.getSpin());
    return at->second = FlatSymbolRefAttr::get(module.getContext(), name);
  }

private:
  ModuleOp module;
  llvm::StringSet<> symbols;
  std::map<std::vector<int64_t>, FlatSymbolRefAttr> kernels;
  unsigned next = 0;
};

/// Lowers one function.
class Lowering {
public:
  Lowering(const PlacedFunction &function, const Machine &machine, const SymbolTable &symbols,
           SyntheticKernels &synthetic)
      : function(function), machine(machine), symbols(symbols), synthetic(synthetic),
        context(function.func.getContext()), builder(context), done(function.commands.size()) {}

  LogicalResult run() {
    if (failed(placeValues()) || failed(findSignals()))
      return failure();
    graph = buildFunctionGraph(function);
    for (const StreamKey &stream : graph.streams)
      streams.push_back(getStreamAttr(context, stream, machine));

    func::FuncOp func = function.func;
    builder.setInsertionPoint(func);
    auto [makespanNs, lowerBoundNs] = planFigures();
    auto schedule = ScheduleOp::create(builder, func.getLoc(), func.getSymName(), makespanNs, lowerBoundNs);
    Block *body = &schedule.getBody().emplaceBlock();
    builder.setInsertionPointToStart(body);
    addSpaces();
    uint32_t command = 0;
    for (Operation &op : func.getBody().front()) {
      if (isa<ConstantOp, func::ReturnOp>(op))
        continue;
      if (isa<RecordOp, WaitOp>(op)) {
        builder.clone(op);
        if (auto wait = dyn_cast<WaitOp>(op); wait && wait.getReason() == WaitReason::capacity)
          capacity.push_back(recorders.lookup(wait.getEvent()));
        continue;
      }
      LogicalResult added = isa<TransferOp>(op) ? addCopy(command) : addLaunch(command);
      if (failed(added))
        return failure();
      ++command;
    }
    return success();
  }

private:
  std::pair<int64_t, int64_t> planFigures() const {
    int64_t makespanNs = 0, lowerBoundNs = 0;
    for (const PlacedFunction::Command &command : function.commands)
      makespanNs = std::max(makespanNs, command.finishNs);
    if (auto plan = function.func->getAttrOfType<DictionaryAttr>("autopar.plan")) {
      if (auto figure = plan.getAs<IntegerAttr>("makespan_ns"))
        makespanNs = figure.getInt();
      if (auto figure = plan.getAs<IntegerAttr>("lower_bound_ns"))
        lowerBoundNs = figure.getInt();
    }
    return {std::max<int64_t>(makespanNs, 0), std::max<int64_t>(lowerBoundNs, 0)};
  }

  LogicalResult placeValues() {
    buffers.resize(function.values.size());
    for (auto [id, value] : llvm::enumerate(function.values)) {
      if (value.kind == ValueKind::argument)
        buffers[id] = BufferAttr::get(context, SpaceKind::argument, value.number, nameOf(value.device), 0, value.bytes);
      if (value.producer == PlacedFunction::none)
        continue;
      Operation *op = function.commands[value.producer].op;
      ArrayAttr placed = getBuffers(op);
      if (!placed || placed.size() != op->getNumResults()) {
        auto error = op->emitOpError("has no buffers");
        error.attachNote() << "run --autopar-plan-memory and --autopar-insert-waits first";
        return failure();
      }
      buffers[id] = cast<BufferAttr>(placed[value.number]);
    }
    return success();
  }

  /// Commands whose end is waited for by what reads no bytes of theirs: for tokens, empty values and capacity. These
  /// orders go into the schedule as such, so that the checker proves them.
  LogicalResult findSignals() {
    signals.assign(function.commands.size(), false);
    for (uint32_t operand : function.operandValues)
      if (isMereOrder(function.values[operand]))
        signals[function.values[operand].producer] = true;
    uint32_t command = PlacedFunction::none;
    for (Operation &op : function.func.getBody().front()) {
      if (auto record = dyn_cast<RecordOp>(op)) {
        if (command == PlacedFunction::none)
          return record.emitOpError("stands before the first command, so there is nothing to record");
        recorders[record.getEvent()] = command;
      } else if (auto wait = dyn_cast<WaitOp>(op)) {
        auto recorder = recorders.find(wait.getEvent());
        if (recorder == recorders.end())
          return wait.emitOpError() << "waits for event " << wait.getEvent() << ", which no record before it names";
        if (wait.getReason() == WaitReason::capacity)
          signals[recorder->second] = true;
      } else if (isa<TaskOp, SyntheticTaskOp, TransferOp>(op))
        ++command; // from none to 0, ...
    }
    return success();
  }
  static bool isMereOrder(const PlacedFunction::ValueInfo &value) {
    return value.producer != PlacedFunction::none && value.bytes == 0;
  }

  StringRef nameOf(DeviceId device) const { return machine.devices[device.index()].name; }

  void addSpaces() {
    func::FuncOp func = function.func;
    for (const PlacedFunction::ValueInfo &value : function.values) {
      if (value.kind != ValueKind::argument)
        continue;
      auto named = dyn_cast<NameLoc>(value.value.getLoc());
      ArgumentOp::create(builder, value.value.getLoc(), value.number, named ? named.getName().getValue() : "",
                         nameOf(value.device), value.value.getType());
    }
    for (auto [number, id] : llvm::enumerate(function.returned))
      ResultOp::create(builder, func.getLoc(), number, "", nameOf(function.values[id].device),
                       function.values[id].value.getType());
    for (uint32_t number = 0; number < function.constants.size(); ++number) {
      ConstantOp constant = function.constants[number];
      if (!constant.getResult().use_empty())
        DataOp::create(builder, constant.getLoc(), number, constant.getValue());
    }
    std::vector<int64_t> arenaBytes(machine.devices.size(), -1);
    auto cover = [&](BufferAttr buffer) {
      DeviceId device = machine.FindDevice({buffer.getDevice().data(), buffer.getDevice().size()});
      if (buffer.getSpace() == SpaceKind::arena && device.valid())
        arenaBytes[device.index()] = std::max(arenaBytes[device.index()], buffer.getOffset() + buffer.getBytes());
    };
    for (auto [id, buffer] : llvm::enumerate(buffers))
      if (buffer && function.values[id].kind == ValueKind::computed)
        cover(buffer);
    for (uint32_t id = 0; id < function.commands.size(); ++id)
      for (uint32_t operand : function.operands(id))
        if (isEmptyTensor(function.values[operand])) {
          int64_t &bytes = arenaBytes[sourceDevice(function.commands[id]).index()];
          bytes = std::max<int64_t>(bytes, 0);
        }
    for (const PlacedFunction::Command &command : function.commands)
      if (ArrayAttr scratch = getScratch(command.op))
        for (BufferAttr buffer : scratch.getAsRange<BufferAttr>())
          cover(buffer);
    for (auto [device, bytes] : llvm::enumerate(arenaBytes))
      if (bytes >= 0)
        ArenaOp::create(builder, func.getLoc(), nameOf(DeviceId(device)), bytes);
  }

  /// Where a command reads.
  DeviceId sourceDevice(const PlacedFunction::Command &command) const {
    return command.link.valid() ? machine.links[command.link.index()].from : command.device;
  }
  static bool isEmptyTensor(const PlacedFunction::ValueInfo &value) {
    return value.bytes == 0 && (value.kind == ValueKind::argument || value.kind == ValueKind::computed);
  }

  /// The buffer of operand `number`. A constant, or an empty tensor, is on the command's own device.
  BufferAttr operandBuffer(uint32_t command, uint32_t number, DeviceId device) const {
    uint32_t id = function.operands(command)[number];
    const PlacedFunction::ValueInfo &value = function.values[id];
    if (value.kind == ValueKind::constant)
      return BufferAttr::get(context, SpaceKind::constant, value.number, nameOf(device), 0, value.bytes);
    if (isEmptyTensor(value))
      return BufferAttr::get(context, SpaceKind::arena, 0, nameOf(device), 0, 0);
    return buffers[id];
  }

  SmallVector<Value> orderOnly(uint32_t command) {
    SmallVector<Value> after;
    for (uint32_t before : capacity)
      after.push_back(done[before]);
    capacity.clear();
    for (uint32_t operand : function.operands(command))
      if (isMereOrder(function.values[operand])) {
        Value token = done[function.values[operand].producer];
        if (!llvm::is_contained(after, token))
          after.push_back(token);
      }
    return after;
  }
  Type doneType(uint32_t command) const { return signals[command] ? TokenType::get(context) : Type(); }

  LogicalResult addLaunch(uint32_t id) {
    const PlacedFunction::Command &command = function.commands[id];
    Operation *op = command.op;
    SmallVector<Attribute> reads, writes;
    auto [first, end] = function.results(id);
    for (uint32_t value = first; value < end; ++value)
      if (function.values[value].kind != ValueKind::token)
        writes.push_back(buffers[value]);
    SmallVector<Attribute> scratch;
    if (ArrayAttr placed = getScratch(op))
      scratch.assign(placed.begin(), placed.end());

    FlatSymbolRefAttr kernel;
    IntegerAttr durationNs;
    if (auto task = dyn_cast<SyntheticTaskOp>(op)) {
      for (uint32_t number = 0; number < op->getNumOperands(); ++number)
        if (function.values[function.operands(id)[number]].kind != ValueKind::token)
          reads.push_back(operandBuffer(id, number, command.device));
      kernel = synthetic.get(task, sizes(reads), sizes(writes), sizes(scratch));
      std::optional<double> costNs = lookUpForDevice(task.getCostNs(), machine.devices[command.device.index()]);
      durationNs = builder.getI64IntegerAttr(std::llround(costNs.value_or(command.finishNs - command.startNs)));
    } else {
      auto realTask = cast<TaskOp>(op);
      kernel = realTask.getKernelAttr();
      auto body = kernel ? symbols.lookup<KernelOp>(kernel.getAttr()) : KernelOp();
      if (!body) {
        auto error = op->emitOpError("has no kernel");
        error.attachNote() << "run --autopar-outline-kernels first";
        return failure();
      }
      for (int64_t number : body.getReads()) {
        if (number < 0 || number >= op->getNumOperands())
          return op->emitOpError() << "has no operand " << number << ", which kernel '" << body.getSymName() << "' reads";
        reads.push_back(operandBuffer(id, number, command.device));
      }
    }
    auto launch = LaunchOp::create(
        builder, op->getLoc(), doneType(id), kernel, streams[graph.graph.commands[id].stream], labelOf(op),
        builder.getI64IntegerAttr(command.startNs), builder.getI64IntegerAttr(command.finishNs), durationNs,
        builder.getArrayAttr(reads), builder.getArrayAttr(writes), builder.getArrayAttr(scratch), orderOnly(id));
    done[id] = launch.getDone();
    return success();
  }

  LogicalResult addCopy(uint32_t id) {
    const PlacedFunction::Command &command = function.commands[id];
    auto transfer = cast<TransferOp>(command.op);
    const PlacedFunction::ValueInfo &value = function.values[function.operands(id)[0]];
    std::string label;
    if (value.producer != PlacedFunction::none)
      label = labelOf(function.commands[value.producer].op).getValue().str();
    else
      label = "argument " + std::to_string(value.number);
    auto copy = CopyOp::create(
        builder, transfer.getLoc(), doneType(id), streams[graph.graph.commands[id].stream],
        builder.getStringAttr(label + " to " + transfer.getTo()), builder.getI64IntegerAttr(command.startNs),
        builder.getI64IntegerAttr(command.finishNs),
        operandBuffer(id, 0, sourceDevice(command)), buffers[function.results(id).first],
        orderOnly(id));
    done[id] = copy.getDone();
    return success();
  }

  static SmallVector<int64_t> sizes(ArrayRef<Attribute> list) {
    SmallVector<int64_t> result;
    for (Attribute buffer : list)
      result.push_back(cast<BufferAttr>(buffer).getBytes());
    return result;
  }

  StringAttr labelOf(Operation *op) {
    if (auto task = dyn_cast<TaskOp>(op))
      return task.getLabelAttr();
    if (auto task = dyn_cast<SyntheticTaskOp>(op))
      return task.getLabelAttr();
    return builder.getStringAttr("copy");
  }

  const PlacedFunction &function;
  const Machine &machine;
  const SymbolTable &symbols;
  SyntheticKernels &synthetic;
  MLIRContext *context;
  OpBuilder builder;
  FunctionGraph graph;
  std::vector<StreamAttr> streams;
  std::vector<BufferAttr> buffers; // by value
  std::vector<bool> signals;       // by command
  std::vector<Value> done;         // by command: its token, if it signals
  DenseMap<uint64_t, uint32_t> recorders; // by event: the command before its record
  std::vector<uint32_t> capacity;         // commands that the next one waits for because of capacity
};

class LowerToSchedule : public mlir::autopar::impl::LowerToSchedulePassBase<LowerToSchedule> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
    if (functions.empty())
      return;
    FailureOr<Machine> machine = getMachine(module);
    if (failed(machine))
      return signalPassFailure();
    SymbolTable symbols(module);
    SyntheticKernels synthetic(module);
    for (func::FuncOp func : functions) {
      if (!func.isDeclaration()) {
        FailureOr<PlacedFunction> function = readPlacedFunction(func, *machine);
        if (failed(function) || failed(Lowering(*function, *machine, symbols, synthetic).run()))
          return signalPassFailure();
      }
      func.erase();
    }
  }
};

} // namespace
