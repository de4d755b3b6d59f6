// The dialect itself. One dialect, three levels: tensor ops (what to compute), tasks (what may run in parallel) and the
// schedule (where, on which stream and when).
#ifndef AUTOPAR_DIALECT_TD
#define AUTOPAR_DIALECT_TD

include "mlir/IR/OpBase.td"

def Autopar_Dialect : Dialect {
  let name = "autopar";
  let cppNamespace = "::mlir::autopar";
  let summary = "Tensor programs, the tasks they consist of, and their schedules";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Pins an op, an argument or a result to a device: a string, the device's name.
    static constexpr ::llvm::StringLiteral getDeviceAttrName() { return "autopar.device"; }
    /// The machine that a module was planned for: a string, the machine file's canonical JSON. Written by the
    /// planning stage, read by the later ones, so that a printed module can be resumed.
    static constexpr ::llvm::StringLiteral getMachineAttrName() { return "autopar.machine"; }
    /// How far a module has come: a string, the name of the last stage that ran. Written and read by the pipeline.
    static constexpr ::llvm::StringLiteral getStageAttrName() { return "autopar.stage"; }
    /// The plan of a function: a dictionary, written by PlanSchedule (see compiler/planning/PlanAttr.h for its keys).
    static constexpr ::llvm::StringLiteral getPlanAttrName() { return "autopar.plan"; }
  }];
}

#endif  // AUTOPAR_DIALECT_TD
