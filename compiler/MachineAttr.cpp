#include "compiler/MachineAttr.h"

#include "dialect/Autopar.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::autopar;

FailureOr<::autopar::Machine> mlir::autopar::getMachine(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto json = module ? module->getAttrOfType<StringAttr>(AutoparDialect::getMachineAttrName())
                     : StringAttr();
  if (!json) {
    auto error = op->emitError("the module names no machine");
    error.attachNote() << "run --autopar-attach-machine first, or give --machine=";
    return failure();
  }
  absl::StatusOr<::autopar::Machine> machine =
      ::autopar::ParseMachine(std::string_view(json.getValue().data(), json.getValue().size()));
  if (!machine.ok())
    return module->emitError("autopar.machine: ") << std::string(machine.status().message());
  return *std::move(machine);
}

void mlir::autopar::setMachine(ModuleOp module, const ::autopar::Machine &machine) {
  module->setAttr(AutoparDialect::getMachineAttrName(),
                  StringAttr::get(module.getContext(), ::autopar::PrintMachine(machine)));
}
