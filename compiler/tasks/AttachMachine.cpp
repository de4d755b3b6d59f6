// Reads: the option `machine`, autopar.machine of the module, the pins (autopar.device, `device` of tasks).
// Writes: autopar.machine. With ignore-pins, drops every pin.
//
// Without the option a module keeps the machine that it names (it is being resumed); one that names none gets `host`.

#include "compiler/MachineAttr.h"
#include "compiler/Passes.h"

#include "llvm/ADT/STLExtras.h"

#include <string>

namespace mlir::autopar {

#define GEN_PASS_DEF_ATTACHMACHINEPASS
#include "compiler/Passes.h.inc"

namespace {

/// The pin of an op: `device` of a task, else autopar.device.
StringAttr getPin(Operation *op, StringAttr name) {
  if (auto task = dyn_cast<TaskOp>(op); task && task.getDeviceAttr())
    return task.getDeviceAttr();
  if (auto task = dyn_cast<SyntheticTaskOp>(op); task && task.getDeviceAttr())
    return task.getDeviceAttr();
  return dyn_cast_or_null<StringAttr>(op->getDiscardableAttr(name));
}

class AttachMachine : public impl::AttachMachinePassBase<AttachMachine> {
public:
  using AttachMachinePassBase::AttachMachinePassBase;

  void runOnOperation() override {
    FailureOr<::autopar::Machine> chosen = chooseMachine();
    if (failed(chosen))
      return signalPassFailure();
    if (ignorePins)
      dropPins();
    else if (failed(checkPins(*chosen)))
      return signalPassFailure();
  }

private:
  FailureOr<::autopar::Machine> chooseMachine();
  LogicalResult forgetOldMachine();
  void dropPins();
  LogicalResult checkPins(const ::autopar::Machine &chosen);
};

FailureOr<::autopar::Machine> AttachMachine::chooseMachine() {
  ModuleOp module = getOperation();
  bool isPresent = module->hasAttr(AutoparDialect::getMachineAttrName());
  if (machine.empty() && isPresent)
    return getMachine(module);
  std::string spec = machine.empty() ? std::string("host") : machine.getValue();
  absl::StatusOr<::autopar::Machine> loaded = ::autopar::LoadMachine(spec);
  if (!loaded.ok()) {
    emitError(UnknownLoc::get(&getContext())) << std::string(loaded.status().message());
    return failure();
  }
  if (isPresent) {
    FailureOr<::autopar::Machine> old = getMachine(module);
    if (failed(old))
      return failure();
    if (::autopar::PrintMachine(*old) == ::autopar::PrintMachine(*loaded))
      return *std::move(loaded);
    if (failed(forgetOldMachine()))
      return failure();
  }
  setMachine(module, *loaded);
  return *std::move(loaded);
}

/// Costs that were estimated for another machine are dropped, so that EstimateCosts writes them anew. A plan for another
/// machine cannot be undone.
LogicalResult AttachMachine::forgetOldMachine() {
  WalkResult result = getOperation().walk([&](Operation *op) {
    if (isa<TransferOp>(op) || op->hasAttr("placement")) {
      op->emitError("is already planned for another machine; give the machine that the module names, or start from "
                    "--stop-after=tasks");
      return WalkResult::interrupt();
    }
    if (auto task = dyn_cast<TaskOp>(op)) {
      task.removeCostNsAttr();
      task.removeOccupancyAttr();
      return WalkResult::skip();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void AttachMachine::dropPins() {
  auto name = StringAttr::get(&getContext(), AutoparDialect::getDeviceAttrName());
  getOperation().walk([&](Operation *op) {
    op->removeDiscardableAttr(name);
    if (auto task = dyn_cast<TaskOp>(op))
      task.removeDeviceAttr();
    else if (auto task = dyn_cast<SyntheticTaskOp>(op))
      task.removeDeviceAttr();
    else if (auto function = dyn_cast<func::FuncOp>(op)) {
      for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
        function.removeArgAttr(i, name);
      for (unsigned i = 0, e = function.getNumResults(); i != e; ++i)
        function.removeResultAttr(i, name);
    }
  });
}

LogicalResult AttachMachine::checkPins(const ::autopar::Machine &chosen) {
  std::string known;
  for (const ::autopar::Device &device : chosen.devices)
    known += (known.empty() ? "" : ", ") + device.name;
  LogicalResult result = success();
  auto check = [&](StringAttr pin, Location loc, const Twine &what) {
    if (!pin || chosen.FindDevice(std::string_view(pin.getValue().data(), pin.getValue().size())).valid())
      return;
    emitError(loc) << what << " is pinned to '" << pin.getValue() << "', but the machine has " << known
                   << "; pin to one of these or give --ignore-pins";
    result = failure();
  };
  auto name = StringAttr::get(&getContext(), AutoparDialect::getDeviceAttrName());
  getOperation().walk([&](Operation *op) {
    check(getPin(op, name), op->getLoc(), op->getName().getStringRef());
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      return;
    for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i) {
      Location loc = function.isExternal() ? function.getLoc() : function.getArgument(i).getLoc();
      check(function.getArgAttrOfType<StringAttr>(i, name), loc, "argument " + Twine(i));
    }
    for (unsigned i = 0, e = function.getNumResults(); i != e; ++i)
      check(function.getResultAttrOfType<StringAttr>(i, name), function.getLoc(), "result " + Twine(i));
  });
  return result;
}

} // namespace
} // namespace mlir::autopar
