// Reads:  functions and their func.calls.
// Writes: public functions without calls; private functions are gone.
//
// Callees come first, so each body is cloned when it is already free of calls, and the size of every result is known before
// anything is cloned: a chain of functions that call each other twice doubles at each step, and must be refused in time.

#include "compiler/Passes.h"
#include "compiler/import/Pins.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::autopar;

namespace mlir::autopar {
#define GEN_PASS_DEF_INLINECALLSPASS
#include "compiler/Passes.h.inc"
} // namespace mlir::autopar

namespace {

/// Most ops that one function may have after inlining. What a schedule holds is far below.
constexpr int64_t maxInlinedOps = 1'000'000;

struct Callee {
  func::FuncOp function;
  SmallVector<func::CallOp> calls; // all calls in its body, loops included
  int64_t ops = 0;                 // in its body, once everything is inlined
  enum { Unseen, Open, Done } state = Unseen;
};

class Inliner {
public:
  explicit Inliner(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>())
      callees[function.getSymName()].function = function;
  }

  /// Inlines everything that `root` calls, directly or not. Emits an error and fails on recursion, on a call of what has no
  /// body, and on a result of more than maxInlinedOps.
  LogicalResult run(func::FuncOp root);

private:
  void open(Callee &callee);
  LogicalResult checkCall(func::CallOp call, Callee &target);
  LogicalResult close(Callee &callee);

  llvm::StringMap<Callee> callees;
};

/// Lists the calls of a function when it is first met.
void Inliner::open(Callee &callee) {
  callee.state = Callee::Open;
  callee.function.getBody().walk([&](Operation *op) {
    ++callee.ops;
    if (auto call = dyn_cast<func::CallOp>(op))
      callee.calls.push_back(call);
  });
}

LogicalResult Inliner::checkCall(func::CallOp call, Callee &target) {
  StringRef name = call.getCallee();
  if (target.state == Callee::Open) {
    InFlightDiagnostic error = call.emitError("call of '") << name << "' is recursive";
    error.attachNote() << "calls are inlined, so a function must not call itself, not even through others; repeat with "
                          "scf.for and constant bounds";
    return error;
  }
  if (!target.function || target.function.isExternal()) {
    InFlightDiagnostic error = call.emitError("call of '") << name << "', which has no body";
    error.attachNote() << "calls are inlined: define the function in the same module";
    return error;
  }
  if (!target.function.getBody().hasOneBlock()) {
    InFlightDiagnostic error = call.emitError("call of '") << name << "', which has several blocks";
    error.attachNote() << "branches are not supported: choose with autopar.select, repeat with scf.for";
    return error;
  }
  return success();
}

/// Clones the body of `callee`, which is one block, in place of the call. An op's location becomes its own at the call's.
static void inlineCall(func::CallOp call, func::FuncOp callee) {
  Block &body = callee.getBody().front();
  IRMapping mapping;
  mapping.map(body.getArguments(), call.getOperands());
  OpBuilder builder(call);
  for (Operation &op : body.without_terminator()) {
    Operation *copy = builder.clone(op, mapping);
    copy->walk([&](Operation *inner) { inner->setLoc(CallSiteLoc::get(inner->getLoc(), call.getLoc())); });
    inheritPin(call, copy);
  }
  for (auto [result, value] : llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  call.erase();
}

/// All callees are free of calls: clones them into this function.
LogicalResult Inliner::close(Callee &callee) {
  for (func::CallOp call : callee.calls) {
    callee.ops += callees[call.getCallee()].ops;
    if (callee.ops > maxInlinedOps) {
      InFlightDiagnostic error = call.emitError("inlining calls makes more than ")
                                 << maxInlinedOps << " ops of '" << callee.function.getSymName() << "'";
      error.attachNote() << "call fewer functions, or make their bodies smaller";
      return error;
    }
  }
  for (func::CallOp call : callee.calls)
    inlineCall(call, callees[call.getCallee()].function);
  callee.calls.clear();
  callee.state = Callee::Done;
  return success();
}

LogicalResult Inliner::run(func::FuncOp root) {
  // A depth-first walk over the calls, with a stack of its own: chains of calls may be long.
  SmallVector<std::pair<Callee *, size_t>> stack;
  auto enter = [&](Callee &callee) {
    open(callee);
    stack.emplace_back(&callee, 0);
  };
  Callee &first = callees[root.getSymName()];
  if (first.state == Callee::Unseen)
    enter(first);
  while (!stack.empty()) {
    auto &[callee, next] = stack.back();
    if (next == callee->calls.size()) {
      if (failed(close(*callee)))
        return failure();
      stack.pop_back();
      continue;
    }
    func::CallOp call = callee->calls[next++];
    Callee &target = callees[call.getCallee()];
    if (failed(checkCall(call, target)))
      return failure();
    if (target.state == Callee::Unseen)
      enter(target);
  }
  return success();
}

class InlineCalls : public mlir::autopar::impl::InlineCallsPassBase<InlineCalls> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Inliner inliner(module);
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal() && failed(inliner.run(function)))
        return signalPassFailure();
    // Nothing calls them any more.
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (!function.isPublic())
        function.erase();
  }
};

} // namespace
