// Reads: placements, transfers. Writes: `buffers` on tasks and transfers, `scratch` on tasks.
#include "compiler/MachineAttr.h"
#include "compiler/Passes.h"
#include "compiler/memory/MemoryPlan.h"

namespace mlir::autopar {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "compiler/Passes.h.inc"
} // namespace mlir::autopar

using namespace mlir;
using namespace mlir::autopar;
using ::autopar::DeviceId;
using ::autopar::Machine;

namespace {

StringRef labelOf(Operation *op) {
  auto label = op->getAttrOfType<StringAttr>("label");
  return label ? label.getValue() : StringRef();
}

BufferAttr toAttribute(MLIRContext *context, const PlannedBuffer &buffer, const Machine &machine) {
  return BufferAttr::get(context, buffer.space, buffer.index, machine.devices[buffer.device.index()].name,
                         static_cast<int64_t>(buffer.offset), static_cast<int64_t>(buffer.bytes));
}

/// Says which device, how many bytes over, and the largest values in its arena.
void reportExceeded(const PlacedFunction &function, const Machine &machine, const MemoryPlan &plan,
                    DeviceId device) {
  const MemoryPlan::DeviceMemory &memory = plan.devices[device.index()];
  auto error = function.func.emitError()
               << "needs " << memory.arenaBytes + memory.fixedBytes << " bytes on '"
               << machine.devices[device.index()].name << "', " << memory.arenaBytes + memory.fixedBytes - memory.limitBytes
               << " more than its " << memory.limitBytes << " (" << memory.arenaBytes << " for intermediate values, "
               << memory.fixedBytes
               << " for arguments, results and constants); pin less to it, raise its memory_bytes or plan for another machine";
  struct Item {
    uint64_t bytes;
    uint32_t value;
  };
  std::vector<Item> items;
  for (auto [id, buffer] : llvm::enumerate(plan.values))
    if (buffer.device == device && buffer.bytes > 0)
      items.push_back({buffer.bytes, static_cast<uint32_t>(id)});
  constexpr size_t shown = 5;
  size_t count = std::min(items.size(), shown);
  std::partial_sort(items.begin(), items.begin() + count, items.end(), [](const Item &a, const Item &b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.value < b.value;
  });
  for (const Item &item : ArrayRef(items).take_front(count)) {
    const PlacedFunction::ValueInfo &value = function.values[item.value];
    Diagnostic &note = error.attachNote(value.value.getLoc());
    note << "among the largest: " << item.bytes << " bytes, ";
    if (value.producer == PlacedFunction::none)
      note << "argument " << value.number;
    else if (function.commands[value.producer].link.valid())
      note << "a copy of a value of another device";
    else
      note << "result " << value.number << " of task '" << labelOf(function.commands[value.producer].op) << "'";
  }
}

/// Every byte of an arena goes to a buffer only after the earlier ones in it are done with, in the order chosen; nothing
/// reaches beyond a space.
LogicalResult verifyPlan(const PlacedFunction &function, const MemoryPlan &plan) {
  for (auto [id, buffer] : llvm::enumerate(plan.values)) {
    const PlacedFunction::ValueInfo &value = function.values[id];
    if (buffer.bytes != value.bytes || (buffer.space == SpaceKind::arena && buffer.offset % bufferAlignment != 0))
      return function.func.emitError() << "internal error: value " << id << " has a bad buffer";
    if (buffer.space == SpaceKind::arena && value.kind == PlacedFunction::ValueKind::computed &&
        buffer.offset + buffer.bytes > plan.devices[buffer.device.index()].arenaBytes)
      return function.func.emitError() << "internal error: value " << id << " reaches beyond its arena";
  }
  return success();
}

class PlanMemory : public mlir::autopar::impl::PlanMemoryPassBase<PlanMemory> {
public:
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isDeclaration())
      return;
    FailureOr<Machine> machine = getMachine(func);
    if (failed(machine))
      return signalPassFailure();
    FailureOr<PlacedFunction> function = readPlacedFunction(func, *machine);
    if (failed(function) || failed(verifyResidence(*function, *machine)))
      return signalPassFailure();
    FailureOr<MemoryPlan> plan = planMemory(*function, *machine);
    if (failed(plan) || failed(verifyPlan(*function, *plan)))
      return signalPassFailure();
    for (uint32_t device = 0; device < machine->devices.size(); ++device)
      if (!plan->devices[device].fits()) {
        reportExceeded(*function, *machine, *plan, DeviceId(device));
        return signalPassFailure();
      }
    apply(*function, *machine, *plan);
  }

private:
  void apply(const PlacedFunction &function, const Machine &machine, const MemoryPlan &plan) {
    Builder builder(&getContext());
    for (uint32_t id = 0; id < function.commands.size(); ++id) {
      Operation *op = function.commands[id].op;
      SmallVector<Attribute> buffers, scratch;
      auto [first, end] = function.results(id);
      for (uint32_t value = first; value < end; ++value)
        buffers.push_back(toAttribute(&getContext(), plan.values[value], machine));
      for (uint32_t i = plan.scratchBegin[id]; i < plan.scratchBegin[id + 1]; ++i)
        scratch.push_back(toAttribute(&getContext(), plan.scratch[i], machine));
      setBuffers(op, builder.getArrayAttr(buffers), scratch.empty() ? ArrayAttr() : builder.getArrayAttr(scratch));
    }
  }

  static void setBuffers(Operation *op, ArrayAttr buffers, ArrayAttr scratch) {
    if (auto transfer = dyn_cast<TransferOp>(op)) {
      transfer.setBuffersAttr(buffers);
      return;
    }
    auto set = [&](auto task) {
      task.setBuffersAttr(buffers);
      if (scratch)
        task.setScratchAttr(scratch);
      else
        task.removeScratchAttr();
    };
    if (auto task = dyn_cast<TaskOp>(op))
      set(task);
    else
      set(cast<SyntheticTaskOp>(op));
  }
};

} // namespace
