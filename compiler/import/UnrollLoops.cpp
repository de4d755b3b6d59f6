// Reads:  scf.for, scf.if and the scalar arithmetic that their bounds and conditions come from.
// Writes: straight-line code. What depends on an induction variable alone is folded to constants.
//
// Outer loops first, so that the bounds of an inner one may depend on the outer induction variable. Every copy of an op is
// counted before it is made, so a loop that is too long is refused after at most max-ops copies.

#include "compiler/Passes.h"
#include "compiler/import/Pins.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::autopar;

namespace mlir::autopar {
#define GEN_PASS_DEF_UNROLLLOOPSPASS
#include "compiler/Passes.h.inc"
} // namespace mlir::autopar

namespace {

/// Loops and conditions inside one another: each level is a level of recursion here.
constexpr int maxNesting = 256;

/// The values that an induction variable takes: lower, lower + step, ... below upper.
struct TripRange {
  __int128 lower = 0, upper = 0, step = 1;
};

class Unroller {
public:
  explicit Unroller(int64_t maxOps) : maxOps(maxOps) {}

  /// Replaces every loop and condition of the block by what it does.
  LogicalResult run(Block &block);

private:
  LogicalResult expandBlock(Block &block, Operation *outer, int depth);
  LogicalResult expand(Operation *op, int depth);
  LogicalResult expandFor(scf::ForOp loop, int depth);
  LogicalResult expandIf(scf::IfOp branch, int depth);
  LogicalResult copy(Operation *op, Operation *outer);
  LogicalResult count(Operation *at, int64_t ops);

  int64_t maxOps;
  int64_t madeOps = 0;
  Operation *outermost = nullptr; // the loop in the function's own block that is being replaced
  IRMapping mapping;              // from values of loop bodies to those of the copy being made
  std::unique_ptr<OpBuilder> builder;
};

std::optional<__int128> getConstant(Value value, bool isUnsigned) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)) || constant.getBitWidth() > 64)
    return std::nullopt;
  if (isUnsigned)
    return static_cast<__int128>(constant.getZExtValue());
  return static_cast<__int128>(constant.getSExtValue());
}

/// Folds scalar arithmetic whose operands are constants and makes the results constants, before `op`. Null if `op` is
/// something else. Upstream's folders leave what would trap, such as a division by zero.
SmallVector<Value> foldScalars(OpBuilder &builder, Operation *op) {
  if (!isa_and_nonnull<arith::ArithDialect>(op->getDialect()) || op->getNumResults() != 1 ||
      op->hasTrait<OpTrait::ConstantLike>() || !op->getResult(0).getType().isIntOrIndex())
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    Attribute constant;
    if (!matchPattern(operand, m_Constant(&constant)))
      return {};
    operands.push_back(constant);
  }
  SmallVector<OpFoldResult> folded;
  if (failed(op->fold(operands, folded)) || folded.size() != 1)
    return {};
  if (auto value = dyn_cast<Value>(folded[0]))
    return {value};
  auto constant = dyn_cast<TypedAttr>(cast<Attribute>(folded[0]));
  if (!constant)
    return {};
  return {arith::ConstantOp::create(builder, op->getLoc(), constant)};
}

LogicalResult Unroller::count(Operation *at, int64_t ops) {
  madeOps += ops;
  if (madeOps <= maxOps)
    return success();
  InFlightDiagnostic error = outermost->emitError("unrolling makes more than ") << maxOps << " ops";
  error.attachNote(at->getLoc()) << "the limit is reached here; shorten the loop, or raise the limit with "
                                    "--autopar-unroll-loops=max-ops=N";
  return error;
}

/// Copies one op of a loop's body to the place of the outermost loop.
LogicalResult Unroller::copy(Operation *op, Operation *outer) {
  int64_t ops = 0;
  op->walk([&](Operation *) { ++ops; });
  if (failed(count(op, ops)))
    return failure();
  Operation *made = builder->clone(*op, mapping);
  if (SmallVector<Value> folded = foldScalars(*builder, made); !folded.empty()) {
    mapping.map(op->getResult(0), folded[0]);
    made->erase();
    return success();
  }
  inheritPin(outer, made);
  return success();
}

LogicalResult Unroller::expandBlock(Block &block, Operation *outer, int depth) {
  for (Operation &op : block.without_terminator()) {
    if (!isa<scf::ForOp, scf::IfOp>(op)) {
      if (failed(copy(&op, outer)))
        return failure();
      continue;
    }
    // The pin of the outer loop holds for the inner one too.
    inheritPin(outer, &op);
    if (failed(expand(&op, depth + 1)))
      return failure();
  }
  return success();
}

FailureOr<TripRange> getRange(scf::ForOp loop, const IRMapping &mapping) {
  bool isUnsigned = loop.getUnsignedCmp();
  struct {
    StringRef name;
    Value value;
    std::optional<__int128> constant;
  } bounds[] = {{"lower bound", loop.getLowerBound(), {}},
                {"upper bound", loop.getUpperBound(), {}},
                {"step", loop.getStep(), {}}};
  for (auto &bound : bounds) {
    bound.constant = getConstant(mapping.lookupOrDefault(bound.value), isUnsigned);
    if (bound.constant)
      continue;
    InFlightDiagnostic error = loop.emitError("the ") << bound.name << " of this loop is not constant";
    error.attachNote() << "loops are unrolled: give bounds and step as arith.constant, or as arithmetic on constants and "
                          "outer induction variables";
    return error;
  }
  if (*bounds[2].constant <= 0) {
    InFlightDiagnostic error = loop.emitError("the step of this loop is ")
                               << static_cast<int64_t>(*bounds[2].constant);
    error.attachNote() << "the step must be at least 1; count upwards";
    return error;
  }
  return TripRange{*bounds[0].constant, *bounds[1].constant, *bounds[2].constant};
}

LogicalResult Unroller::expandFor(scf::ForOp loop, int depth) {
  FailureOr<TripRange> range = getRange(loop, mapping);
  if (failed(range))
    return failure();
  Block &body = *loop.getBody();
  Value index = loop.getInductionVar();
  SmallVector<Value> carried;
  for (Value init : loop.getInitArgs())
    carried.push_back(mapping.lookupOrDefault(init));
  for (__int128 i = range->lower; i < range->upper; i += range->step) {
    // An iteration without ops counts too: it takes time here.
    if (failed(count(loop, 1)))
      return failure();
    mapping.map(loop.getRegionIterArgs(), carried);
    if (!index.use_empty()) {
      auto value = builder->getIntegerAttr(index.getType(), static_cast<int64_t>(i));
      mapping.map(index, arith::ConstantOp::create(*builder, loop.getLoc(), value).getResult());
    }
    if (failed(expandBlock(body, loop, depth)))
      return failure();
    for (auto [value, yielded] : llvm::zip_equal(carried, body.getTerminator()->getOperands()))
      value = mapping.lookupOrDefault(yielded);
  }
  mapping.map(loop.getResults(), carried);
  return success();
}

LogicalResult Unroller::expandIf(scf::IfOp branch, int depth) {
  std::optional<__int128> condition = getConstant(mapping.lookupOrDefault(branch.getCondition()), /*isUnsigned=*/true);
  if (!condition) {
    InFlightDiagnostic error = branch.emitError("the condition of this scf.if is not constant");
    error.attachNote() << "branches are not supported: compute both sides and choose with autopar.select";
    return error;
  }
  Region &taken = *condition ? branch.getThenRegion() : branch.getElseRegion();
  if (taken.empty())
    return success();
  if (failed(expandBlock(taken.front(), branch, depth)))
    return failure();
  for (auto [result, yielded] : llvm::zip_equal(branch.getResults(), taken.front().getTerminator()->getOperands()))
    mapping.map(result, mapping.lookupOrDefault(yielded));
  return success();
}

LogicalResult Unroller::expand(Operation *op, int depth) {
  if (depth > maxNesting) {
    InFlightDiagnostic error = op->emitError("loops and conditions are nested more than ") << maxNesting << " deep";
    error.attachNote() << "move inner loops into functions of their own";
    return error;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return expandFor(loop, depth);
  return expandIf(cast<scf::IfOp>(op), depth);
}

LogicalResult Unroller::run(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    OpBuilder here(&op);
    if (SmallVector<Value> folded = foldScalars(here, &op); !folded.empty()) {
      op.replaceAllUsesWith(folded);
      op.erase();
      continue;
    }
    if (!isa<scf::ForOp, scf::IfOp>(op))
      continue;
    builder = std::make_unique<OpBuilder>(&op);
    outermost = &op;
    mapping.clear();
    if (failed(expand(&op, 1)))
      return failure();
    for (Value result : op.getResults())
      result.replaceAllUsesWith(mapping.lookup(result));
    op.erase();
  }
  return success();
}

class UnrollLoops : public mlir::autopar::impl::UnrollLoopsPassBase<UnrollLoops> {
public:
  using UnrollLoopsPassBase::UnrollLoopsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<arith::ArithDialect>(); }

  void runOnOperation() override {
    Unroller unroller(maxOps);
    // Functions of several blocks are refused by the check that follows.
    if (!getOperation().isExternal() && getOperation().getBody().hasOneBlock() &&
        failed(unroller.run(getOperation().getBody().front())))
      signalPassFailure();
  }
};

} // namespace
