// Reads:  the whole module, after calls are inlined and loops unrolled.
// Writes: nothing. What passes here is what the later stages can take: functions of one block, of autopar ops on static
//         tensors.

#include "compiler/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::autopar;

namespace mlir::autopar {
#define GEN_PASS_DEF_CHECKPROGRAMPASS
#include "compiler/Passes.h.inc"
} // namespace mlir::autopar

namespace {

/// After so many errors the rest is not looked at: a program of another kind has one at each op.
constexpr int maxErrors = 10;

class Checker {
public:
  /// Whether the module can be compiled. Emits an error, with what to do, at each op that cannot.
  bool check(ModuleOp module);

private:
  void checkFunction(func::FuncOp function);
  void checkSignatureType(func::FuncOp function, const Twine &what, Type type);
  void checkOp(Operation *op);
  void checkPin(Operation *op);
  bool isFull() const { return errors >= maxErrors; }

  void refuse(Operation *op, const Twine &what, const Twine &advice) {
    ++errors;
    InFlightDiagnostic error = op->emitError(what);
    error.attachNote() << advice;
  }

  int errors = 0;
};

std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

bool isElementType(Type type) {
  return type.isF32() || type.isF64() || type.isF16() || type.isBF16() || type.isSignlessInteger(1) ||
         type.isSignlessInteger(8) || type.isSignlessInteger(32) || type.isSignlessInteger(64);
}

/// What keeps a value of this type from being an argument or a result; empty if nothing does.
std::string getTypeProblem(Type type) {
  if (isa<TokenType>(type))
    return "a token orders the tasks of one function and cannot cross its border";
  if (isa<UnrankedTensorType>(type))
    return "its rank is unknown: give every dimension as a number";
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return "use a tensor; a single number is tensor<f32>, tensor<i32> or tensor<i1>";
  if (!tensor.hasStaticShape())
    return "its shape is dynamic: give every dimension as a number";
  if (!isElementType(tensor.getElementType()))
    return "its element type is not supported: use f32, i32 or i1";
  if (tensor.getEncoding())
    return "encodings are not supported: leave it out";
  if (!isAddressable(tensor))
    return "it has more than 2^62 bytes";
  return "";
}

void Checker::checkSignatureType(func::FuncOp function, const Twine &what, Type type) {
  std::string problem = getTypeProblem(type);
  if (!problem.empty())
    refuse(function, what + " of '" + function.getSymName() + "' has type " + toString(type), problem);
}

void Checker::checkPin(Operation *op) {
  if (op->getDiscardableAttr(AutoparDialect::getDeviceAttrName()) && !isa_and_nonnull<AutoparDialect>(op->getDialect()))
    refuse(op, "autopar.device on '" + op->getName().getStringRef() + "' has no meaning",
           "pin ops of the autopar dialect, or a function's arguments and results");
}

void Checker::checkOp(Operation *op) {
  if (isa_and_nonnull<AutoparDialect>(op->getDialect())) {
    // The dialect refuses unknown names under autopar.; one without a dialect is most likely a pin that lacks it.
    for (NamedAttribute attr : op->getDiscardableAttrs())
      if (!attr.getNameDialect())
        refuse(op, "'" + op->getName().getStringRef() + "' has no attribute '" + attr.getName().getValue() + "'",
               "a pin is written autopar.device = \"...\"; leave other attributes out or give them a dialect's prefix");
    return;
  }
  if (isa<func::ReturnOp>(op))
    return;
  StringRef name = op->getName().getStringRef();
  if (isa<arith::ConstantOp>(op)) {
    Type type = op->getResult(0).getType();
    // A scalar was the bound of a loop. What else uses it is refused there.
    if (isa<ShapedType>(type))
      refuse(op, "'arith.constant' of a tensor is not supported", "write autopar.constant dense<...> : " + toString(type));
    return;
  }
  if (llvm::any_of(op->getOperandTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); }))
    return refuse(op, "'" + name + "' on a scalar is not supported",
                  "scalars, such as an induction variable, may only be bounds of loops; compute on tensors");
  if (isa_and_nonnull<scf::SCFDialect>(op->getDialect()))
    return refuse(op, "'" + name + "' is not supported", "repeat with scf.for and constant bounds, choose with autopar.select");
  refuse(op, "'" + name + "' is not supported", "a function consists of ops of the autopar dialect, func.call and scf.for");
}

void Checker::checkFunction(func::FuncOp function) {
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    checkSignatureType(function, "argument " + Twine(i), type);
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    checkSignatureType(function, "result " + Twine(i), type);
  checkPin(function);
  if (!function.getBody().hasOneBlock())
    return refuse(function, "'" + function.getSymName() + "' has several blocks",
                  "branches are not supported: choose with autopar.select, repeat with scf.for");
  // What stands in a task is checked by the task.
  for (Operation &op : function.getBody().front()) {
    if (isFull())
      return;
    checkOp(&op);
    checkPin(&op);
  }
}

bool Checker::check(ModuleOp module) {
  bool hasProgram = false;
  for (Operation &op : *module.getBody()) {
    if (isFull())
      break;
    auto function = dyn_cast<func::FuncOp>(op);
    if (function && function.isExternal()) {
      refuse(function, "'" + function.getSymName() + "' has no body", "define the function in this module, or remove it");
    } else if (function) {
      hasProgram = true;
      checkFunction(function);
    } else if (isa_and_nonnull<AutoparDialect>(op.getDialect())) {
      hasProgram = true;
    } else if (isa<ModuleOp>(op)) {
      refuse(&op, "a module inside the module is not supported", "move its functions to the top level");
    } else {
      refuse(&op, "'" + op.getName().getStringRef() + "' at the top level is not supported",
             "a program consists of func.func");
    }
  }
  if (!hasProgram && errors == 0)
    refuse(module, "the module has no public function", "a program is at least one func.func that is not private");
  return errors == 0;
}

class CheckProgram : public mlir::autopar::impl::CheckProgramPassBase<CheckProgram> {
  void runOnOperation() override {
    Checker checker;
    if (!checker.check(getOperation()))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
