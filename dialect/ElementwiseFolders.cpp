// Folders and canonical forms of the elementwise ops: identities that hold for every input, and correctly rounded
// arithmetic on constants. x + 0 is x only for -0, since -0 + +0 is +0; x * 0 is 0 only for integers.

#include "dialect/Autopar.h"
#include "dialect/ConstantScalars.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::autopar;

static bool isFloat(Type type) { return getElementTypeOrSelf(type).isF32(); }
static bool isBool(Type type) { return getElementTypeOrSelf(type).isSignlessInteger(1); }

static Attribute splatInteger(Type type, int64_t value) {
  return writeScalars(cast<RankedTensorType>(type), {Scalar{0, value}});
}

/// Whether `constant` is the splat of one value: `f` for f32, `i` for integers.
static bool isNumber(Attribute constant, Type type, float f, int64_t i) {
  return isSplatOf(constant, isFloat(type) ? Scalar{f, 0} : Scalar{0, i});
}

/// Folds a binary op on constants: one function for each kind of element. Integers are computed in 64 bits and cut to
/// the element's width when they are written.
template <typename OnFloat, typename OnInt>
static Attribute foldBinary(ArrayRef<Attribute> operands, Type type, OnFloat onFloat, OnInt onInt) {
  bool floats = isFloat(type);
  return foldElementwise(operands, type, [&](ArrayRef<Scalar> x) {
    return floats ? Scalar{onFloat(x[0].f, x[1].f), 0} : Scalar{0, onInt(x[0].i, x[1].i)};
  });
}

template <typename OnFloat, typename OnInt>
static Attribute foldUnary(ArrayRef<Attribute> operands, Type type, OnFloat onFloat, OnInt onInt) {
  bool floats = isFloat(type);
  return foldElementwise(operands, type, [&](ArrayRef<Scalar> x) {
    return floats ? Scalar{onFloat(x[0].f), 0} : Scalar{0, onInt(x[0].i)};
  });
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (isNumber(adaptor.getRhs(), getType(), -0.0f, 0))
    return getLhs();
  return foldBinary(
      adaptor.getOperands(), getType(), [](float x, float y) { return x + y; },
      [](int64_t x, int64_t y) { return x + y; });
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isNumber(adaptor.getRhs(), getType(), 0.0f, 0))
    return getLhs();
  if (!isFloat(getType()) && getLhs() == getRhs())
    return splatInteger(getType(), 0);
  return foldBinary(
      adaptor.getOperands(), getType(), [](float x, float y) { return x - y; },
      [](int64_t x, int64_t y) { return x - y; });
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isNumber(adaptor.getRhs(), getType(), 1.0f, 1))
    return getLhs();
  if (!isFloat(getType()) && isSplatOf(adaptor.getRhs(), {0, 0}))
    return adaptor.getRhs();
  return foldBinary(
      adaptor.getOperands(), getType(), [](float x, float y) { return x * y; },
      [](int64_t x, int64_t y) { return x * y; });
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (isNumber(adaptor.getRhs(), getType(), 1.0f, 1))
    return getLhs();
  // In 64 bits -2^31 / -1 does not overflow; cut to 32 bits it is -2^31 again.
  return foldBinary(
      adaptor.getOperands(), getType(), [](float x, float y) { return x / y; },
      [](int64_t x, int64_t y) { return y == 0 ? int64_t(-1) : x / y; });
}

OpFoldResult RemOp::fold(FoldAdaptor adaptor) {
  if (!isFloat(getType()) && isSplatOf(adaptor.getRhs(), {0, 1}))
    return splatInteger(getType(), 0);
  return foldBinary(
      adaptor.getOperands(), getType(), [](float x, float y) { return std::fmod(x, y); },
      [](int64_t x, int64_t y) { return y == 0 ? x : x % y; });
}

static float maximum(float x, float y) {
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<float>::quiet_NaN();
  if (x == y)
    return std::signbit(x) ? y : x;
  return x > y ? x : y;
}

static float minimum(float x, float y) {
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<float>::quiet_NaN();
  if (x == y)
    return std::signbit(x) ? x : y;
  return x < y ? x : y;
}

OpFoldResult MaxOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return getLhs();
  return foldBinary(adaptor.getOperands(), getType(), maximum,
                    [](int64_t x, int64_t y) { return std::max(x, y); });
}

OpFoldResult MinOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return getLhs();
  return foldBinary(adaptor.getOperands(), getType(), minimum,
                    [](int64_t x, int64_t y) { return std::min(x, y); });
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

static float noFloat(float, float) { return std::numeric_limits<float>::quiet_NaN(); }

/// The element with all bits set.
static int64_t allOnes(Type type) { return isBool(type) ? 1 : -1; }

OpFoldResult AndOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() || isSplatOf(adaptor.getRhs(), {0, allOnes(getType())}))
    return getLhs();
  if (isSplatOf(adaptor.getRhs(), {0, 0}))
    return adaptor.getRhs();
  return foldBinary(adaptor.getOperands(), getType(), noFloat, [](int64_t x, int64_t y) { return x & y; });
}

OpFoldResult OrOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() || isSplatOf(adaptor.getRhs(), {0, 0}))
    return getLhs();
  if (isSplatOf(adaptor.getRhs(), {0, allOnes(getType())}))
    return adaptor.getRhs();
  return foldBinary(adaptor.getOperands(), getType(), noFloat, [](int64_t x, int64_t y) { return x | y; });
}

OpFoldResult XorOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return splatInteger(getType(), 0);
  if (isSplatOf(adaptor.getRhs(), {0, 0}))
    return getLhs();
  return foldBinary(adaptor.getOperands(), getType(), noFloat, [](int64_t x, int64_t y) { return x ^ y; });
}

OpFoldResult NotOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getOperand().getDefiningOp<NotOp>())
    return inner.getOperand();
  int64_t mask = allOnes(getType());
  return foldElementwise(adaptor.getOperands(), getType(),
                         [=](ArrayRef<Scalar> x) { return Scalar{0, x[0].i ^ mask}; });
}

//===----------------------------------------------------------------------===//
// Unary arithmetic
//===----------------------------------------------------------------------===//

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getOperand().getDefiningOp<NegOp>())
    return inner.getOperand();
  return foldUnary(
      adaptor.getOperands(), getType(), [](float x) { return -x; }, [](int64_t x) { return -x; });
}

OpFoldResult AbsOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getDefiningOp<AbsOp>())
    return getOperand();
  return foldUnary(
      adaptor.getOperands(), getType(), [](float x) { return std::fabs(x); },
      [](int64_t x) { return x < 0 ? -x : x; });
}

OpFoldResult SignOp::fold(FoldAdaptor adaptor) {
  return foldUnary(
      adaptor.getOperands(), getType(),
      [](float x) { return std::isnan(x) ? x : x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f; },
      [](int64_t x) { return int64_t(x > 0) - int64_t(x < 0); });
}

OpFoldResult SqrtOp::fold(FoldAdaptor adaptor) {
  return foldUnary(
      adaptor.getOperands(), getType(), [](float x) { return std::sqrt(x); }, [](int64_t x) { return x; });
}

OpFoldResult FloorOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getDefiningOp<FloorOp>() || getOperand().getDefiningOp<CeilOp>())
    return getOperand();
  return foldUnary(
      adaptor.getOperands(), getType(), [](float x) { return std::floor(x); }, [](int64_t x) { return x; });
}

OpFoldResult CeilOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getDefiningOp<FloorOp>() || getOperand().getDefiningOp<CeilOp>())
    return getOperand();
  return foldUnary(
      adaptor.getOperands(), getType(), [](float x) { return std::ceil(x); }, [](int64_t x) { return x; });
}

OpFoldResult ReluOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getDefiningOp<ReluOp>())
    return getOperand();
  return foldUnary(
      adaptor.getOperands(), getType(), [](float x) { return maximum(x, 0.0f); },
      [](int64_t x) { return std::max<int64_t>(x, 0); });
}

//===----------------------------------------------------------------------===//
// Compare, select, convert
//===----------------------------------------------------------------------===//

/// The same comparison with the operands exchanged.
static Predicate swapped(Predicate predicate) {
  switch (predicate) {
  case Predicate::lt: return Predicate::gt;
  case Predicate::le: return Predicate::ge;
  case Predicate::gt: return Predicate::lt;
  case Predicate::ge: return Predicate::le;
  default: return predicate;
  }
}

template <typename T>
static bool holds(Predicate predicate, T x, T y) {
  switch (predicate) {
  case Predicate::eq: return x == y;
  case Predicate::ne: return x != y;
  case Predicate::lt: return x < y;
  case Predicate::le: return x <= y;
  case Predicate::gt: return x > y;
  case Predicate::ge: return x >= y;
  }
  return false;
}

OpFoldResult CompareOp::fold(FoldAdaptor adaptor) {
  bool floats = isFloat(getLhs().getType());
  Predicate predicate = getPredicate();
  // A NaN does not equal itself.
  if (!floats && getLhs() == getRhs())
    return splatInteger(getType(), holds<int64_t>(predicate, 0, 0));
  return foldElementwise(adaptor.getOperands(), getType(), [&](ArrayRef<Scalar> x) {
    return Scalar{0, floats ? holds(predicate, x[0].f, x[1].f) : holds(predicate, x[0].i, x[1].i)};
  });
}

LogicalResult CompareOp::canonicalize(CompareOp op, PatternRewriter &rewriter) {
  if (!matchPattern(op.getLhs(), m_Constant()) || matchPattern(op.getRhs(), m_Constant()))
    return failure();
  // In place, so that a pin stays.
  rewriter.modifyOpInPlace(op, [&] {
    op.setPredicate(swapped(op.getPredicate()));
    Value lhs = op.getLhs();
    op.getLhsMutable().assign(op.getRhs());
    op.getRhsMutable().assign(lhs);
  });
  return success();
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getTrueValue() == getFalseValue())
    return getTrueValue();
  if (std::optional<Scalar> condition = readSplat(adaptor.getCondition()))
    return condition->i ? getTrueValue() : getFalseValue();
  if (isBool(getType()) && isSplatOf(adaptor.getTrueValue(), {0, 1}) && isSplatOf(adaptor.getFalseValue(), {0, 0}))
    return getCondition();
  return foldElementwise(adaptor.getOperands(), getType(), [](ArrayRef<Scalar> x) { return x[0].i ? x[1] : x[2]; });
}

static int64_t truncateToI32(float x) {
  if (std::isnan(x))
    return 0;
  if (x >= 2147483648.0f)
    return std::numeric_limits<int32_t>::max();
  if (x <= -2147483648.0f)
    return std::numeric_limits<int32_t>::min();
  return static_cast<int64_t>(x);
}

OpFoldResult ConvertOp::fold(FoldAdaptor adaptor) {
  Type from = getOperand().getType(), to = getType();
  if (from == to)
    return getOperand();
  return foldElementwise(adaptor.getOperands(), to, [&](ArrayRef<Scalar> x) {
    if (isFloat(to))
      return Scalar{static_cast<float>(x[0].i), 0};
    if (!isFloat(from))
      return Scalar{0, isBool(to) ? x[0].i != 0 : x[0].i};
    return Scalar{0, isBool(to) ? x[0].f != 0 : truncateToI32(x[0].f)};
  });
}
