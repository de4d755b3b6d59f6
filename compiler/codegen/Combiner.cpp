// Accumulators of reductions.

#include "compiler/codegen/Combiner.h"

#include <limits>

using namespace mlir;
using namespace mlir::autopar;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace {
constexpr double positiveInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t smallestI32 = std::numeric_limits<int32_t>::min(), largestI32 = std::numeric_limits<int32_t>::max();
} // namespace

Combiner Combiner::of(Operation *op) {
  bool isFloat = cast<RankedTensorType>(op->getOperand(0).getType()).getElementType().isF32();
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce)
    return Combiner(Kind::Argmax, isFloat);
  switch (reduce.getKind()) {
  case Reduction::sum:
    return Combiner(Kind::Sum, isFloat);
  case Reduction::prod:
    return Combiner(Kind::Prod, isFloat);
  case Reduction::max:
    return Combiner(Kind::Max, isFloat);
  case Reduction::min:
    break;
  }
  return Combiner(Kind::Min, isFloat);
}

Combiner::Accumulator Combiner::identity(LaneBuilder &b, Value firstIndex) const {
  switch (kind) {
  case Kind::Sum: // -0 + x is x for every x, +0 + -0 is not
    return {isFloat ? b.f32(-0.0) : b.i32(0)};
  case Kind::Prod:
    return {isFloat ? b.f32(1.0) : b.i32(1)};
  case Kind::Argmax:
    return {isFloat ? b.f32(-positiveInfinity) : b.i32(smallestI32), firstIndex};
  case Kind::Largest:
    return {b.f32(-positiveInfinity)};
  case Kind::Max:
    if (isFloat)
      return {b.f32(-positiveInfinity), b.f32(0.0)};
    return {b.i32(smallestI32)};
  case Kind::Min:
    if (isFloat)
      return {b.f32(positiveInfinity), b.f32(0.0)};
    return {b.i32(largestI32)};
  }
  return {};
}

Value Combiner::empty(LaneBuilder &b) const {
  return kind == Kind::Sum && isFloat ? b.f32(0.0) : identity(b, {})[0];
}

Value Combiner::combine(LaneBuilder &b, Value left, Value right) const {
  switch (kind) {
  case Kind::Sum:
    return isFloat ? b.addf(left, right) : b.addi(left, right);
  case Kind::Prod:
    return isFloat ? b.mulf(left, right) : b.muli(left, right);
  case Kind::Max:
  case Kind::Largest: // one maxps: the right one only if it is larger
    return isFloat ? b.select(b.cmpf(CmpFPredicate::OGT, right, left), right, left)
                   : b.make<arith::MaxSIOp>(left, right);
  case Kind::Min:
    return isFloat ? b.select(b.cmpf(CmpFPredicate::OLT, right, left), right, left)
                   : b.make<arith::MinSIOp>(left, right);
  case Kind::Argmax:
    break;
  }
  return {};
}

Combiner::Accumulator Combiner::take(LaneBuilder &b, const Accumulator &into, Value value, Value index) const {
  if (kind == Kind::Argmax) {
    // Larger, or the first NaN.
    Value isBetter = isFloat ? b.andi(b.cmpf(CmpFPredicate::UGT, value, into[0]),
                                      b.cmpf(CmpFPredicate::ORD, into[0], into[0]))
                             : b.cmpi(CmpIPredicate::sgt, value, into[0]);
    return {b.select(isBetter, value, into[0]), b.select(isBetter, index, into[1])};
  }
  if (carriesNan())
    return {combine(b, into[0], value), b.select(b.isNan(value), value, into[1])};
  return {combine(b, into[0], value)};
}

Combiner::Accumulator Combiner::merge(LaneBuilder &b, const Accumulator &left, const Accumulator &right) const {
  if (kind == Kind::Argmax) {
    Value isFirst = b.cmpi(CmpIPredicate::slt, right[1], left[1]), isBetter, isEqual;
    if (isFloat) {
      isBetter = b.andi(b.cmpf(CmpFPredicate::UGT, right[0], left[0]), b.cmpf(CmpFPredicate::ORD, left[0], left[0]));
      isEqual = b.ori(b.cmpf(CmpFPredicate::OEQ, right[0], left[0]), b.andi(b.isNan(left[0]), b.isNan(right[0])));
    } else {
      isBetter = b.cmpi(CmpIPredicate::sgt, right[0], left[0]);
      isEqual = b.cmpi(CmpIPredicate::eq, right[0], left[0]);
    }
    Value takeRight = b.ori(isBetter, b.andi(isEqual, isFirst));
    return {b.select(takeRight, right[0], left[0]), b.select(takeRight, right[1], left[1])};
  }
  if (carriesNan())
    return {combine(b, left[0], right[0]), b.select(b.isNan(right[1]), right[1], left[1])};
  return {combine(b, left[0], right[0])};
}

Value Combiner::finish(LaneBuilder &b, const Accumulator &accumulator) const {
  if (kind == Kind::Argmax)
    return accumulator[1];
  if (carriesNan())
    return b.select(b.isNan(accumulator[1]), accumulator[1], accumulator[0]);
  return accumulator[0];
}
