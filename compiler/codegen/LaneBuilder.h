// Arithmetic on one element, or on a vector of elements, written once for both. No operation here carries a fast-math
// flag: LLVM may vectorise the code but not change its bits, so a loop's vector body and its scalar rest agree.
// Emits at the builder's insertion point; owns nothing.
#ifndef AUTOPAR_COMPILER_CODEGEN_LANEBUILDER_H
#define AUTOPAR_COMPILER_CODEGEN_LANEBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::autopar {

class LaneBuilder {
public:
  /// `lanes` 0: scalars; otherwise vectors of that many elements.
  LaneBuilder(OpBuilder &builder, Location loc, int64_t lanes) : builder(builder), loc(loc), lanes(lanes) {}

  OpBuilder &builder;
  Location loc;
  int64_t lanes;

  Type type(Type element) const { return lanes ? Type(VectorType::get({lanes}, element)) : element; }
  Type f32() const { return type(builder.getF32Type()); }
  Type f64() const { return type(builder.getF64Type()); }
  Type i1() const { return type(builder.getI1Type()); }
  Type i32() const { return type(builder.getI32Type()); }
  Type i64() const { return type(builder.getI64Type()); }

  /// The same scalar in all lanes.
  Value constant(TypedAttr scalar) {
    if (!lanes)
      return arith::ConstantOp::create(builder, loc, scalar);
    auto vector = VectorType::get({lanes}, scalar.getType());
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(vector, Attribute(scalar)));
  }
  Value f32(double value) { return constant(builder.getF32FloatAttr(static_cast<float>(value))); }
  Value f64(double value) { return constant(builder.getF64FloatAttr(value)); }
  Value i32(int64_t value) {
    return constant(builder.getIntegerAttr(builder.getI32Type(), static_cast<int32_t>(value)));
  }
  Value i64(int64_t value) { return constant(builder.getI64IntegerAttr(value)); }
  Value i1(bool value) { return constant(builder.getBoolAttr(value)); }
  /// `scalar` in all lanes.
  Value spread(Value scalar) {
    return lanes ? Value(vector::BroadcastOp::create(builder, loc, type(scalar.getType()), scalar)) : scalar;
  }

  template <typename Op, typename... Args>
  Value make(Args &&...args) {
    return Op::create(builder, loc, std::forward<Args>(args)...);
  }
  Value addf(Value a, Value b) { return make<arith::AddFOp>(a, b); }
  Value subf(Value a, Value b) { return make<arith::SubFOp>(a, b); }
  Value mulf(Value a, Value b) { return make<arith::MulFOp>(a, b); }
  Value divf(Value a, Value b) { return make<arith::DivFOp>(a, b); }
  Value fma(Value a, Value b, Value c) { return make<math::FmaOp>(a, b, c); }
  Value addi(Value a, Value b) { return make<arith::AddIOp>(a, b); }
  Value subi(Value a, Value b) { return make<arith::SubIOp>(a, b); }
  Value muli(Value a, Value b) { return make<arith::MulIOp>(a, b); }
  Value andi(Value a, Value b) { return make<arith::AndIOp>(a, b); }
  Value ori(Value a, Value b) { return make<arith::OrIOp>(a, b); }
  Value xori(Value a, Value b) { return make<arith::XOrIOp>(a, b); }
  Value shl(Value a, Value b) { return make<arith::ShLIOp>(a, b); }
  Value shru(Value a, Value b) { return make<arith::ShRUIOp>(a, b); }
  Value shrs(Value a, Value b) { return make<arith::ShRSIOp>(a, b); }
  Value cmpf(arith::CmpFPredicate predicate, Value a, Value b) { return make<arith::CmpFOp>(predicate, a, b); }
  Value cmpi(arith::CmpIPredicate predicate, Value a, Value b) { return make<arith::CmpIOp>(predicate, a, b); }
  Value select(Value condition, Value a, Value b) { return make<arith::SelectOp>(condition, a, b); }
  Value bitcast(Type to, Value a) { return make<arith::BitcastOp>(to, a); }
  Value isNan(Value a) { return cmpf(arith::CmpFPredicate::UNO, a, a); }
  Value negf(Value a) { return make<arith::NegFOp>(a); }
  Value absf(Value a) { return make<math::AbsFOp>(a); }
  Value floorf(Value a) { return make<math::FloorOp>(a); }

  /// coefficients[0] + x * (coefficients[1] + x * ...), in f32 or f64 as x, with fused multiply-adds.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    bool isDouble = getElementTypeOrSelf(x.getType()).isF64();
    auto number = [&](double value) { return isDouble ? f64(value) : f32(value); };
    Value sum = number(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, number(coefficient));
    return sum;
  }
};

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_CODEGEN_LANEBUILDER_H
