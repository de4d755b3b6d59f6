// Elementwise tensor ops as arithmetic. The semantics are those that TensorOps.td documents.

#include "compiler/codegen/ElementOps.h"

#include "compiler/codegen/MathRoutines.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::autopar;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace {
constexpr int64_t minI32 = std::numeric_limits<int32_t>::min();

bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }
bool isBool(Value value) { return getElementTypeOrSelf(value.getType()).isInteger(1); }

/// Quotient of i32 toward zero, with b != 0 and not minI32 / -1. Through f64, which is exact for 32 bits and has vectors.
Value divideExactly(LaneBuilder &b, Value n, Value d) {
  Value quotient = b.divf(b.make<arith::SIToFPOp>(b.f64(), n), b.make<arith::SIToFPOp>(b.f64(), d));
  return b.make<arith::FPToSIOp>(b.i32(), quotient);
}

Value divide(LaneBuilder &b, Value n, Value d) {
  Value isZero = b.cmpi(CmpIPredicate::eq, d, b.i32(0));
  Value overflows = b.andi(b.cmpi(CmpIPredicate::eq, n, b.i32(minI32)), b.cmpi(CmpIPredicate::eq, d, b.i32(-1)));
  // Divided by 1, minI32 stays what it is.
  Value quotient = divideExactly(b, n, b.select(b.ori(isZero, overflows), b.i32(1), d));
  return b.select(isZero, b.i32(-1), quotient);
}

Value remainder(LaneBuilder &b, Value n, Value d) {
  // n - (n / 0) * 0 = n and minI32 - minI32 * -1 = 0, as wanted.
  return b.subi(n, b.muli(divide(b, n, d), d));
}

Value compare(LaneBuilder &b, Predicate predicate, Value x, Value y) {
  if (isFloat(x)) {
    static constexpr CmpFPredicate table[] = {CmpFPredicate::OEQ, CmpFPredicate::UNE, CmpFPredicate::OLT,
                                              CmpFPredicate::OLE, CmpFPredicate::OGT, CmpFPredicate::OGE};
    return b.cmpf(table[static_cast<int>(predicate)], x, y);
  }
  static constexpr CmpIPredicate isSigned[] = {CmpIPredicate::eq,  CmpIPredicate::ne,  CmpIPredicate::slt,
                                               CmpIPredicate::sle, CmpIPredicate::sgt, CmpIPredicate::sge};
  static constexpr CmpIPredicate isUnsigned[] = {CmpIPredicate::eq,  CmpIPredicate::ne,  CmpIPredicate::ult,
                                                 CmpIPredicate::ule, CmpIPredicate::ugt, CmpIPredicate::uge};
  return b.cmpi((isBool(x) ? isUnsigned : isSigned)[static_cast<int>(predicate)], x, y);
}

/// Toward zero, saturating, NaN to 0.
Value toI32(LaneBuilder &b, Value x) {
  Value tooLarge = b.cmpf(CmpFPredicate::OGE, x, b.f32(2147483648.0));
  Value tooSmall = b.cmpf(CmpFPredicate::OLT, x, b.f32(-2147483648.0));
  Value outside = b.ori(b.ori(tooLarge, tooSmall), b.isNan(x));
  Value inside = b.make<arith::FPToSIOp>(b.i32(), b.select(outside, b.f32(0.0), x));
  return b.select(tooLarge, b.i32(std::numeric_limits<int32_t>::max()), b.select(tooSmall, b.i32(minI32), inside));
}

Value convert(LaneBuilder &b, Value x, Type to) {
  Type from = getElementTypeOrSelf(x.getType());
  if (from == to)
    return x;
  if (to.isInteger(1))
    return isFloat(x) ? b.cmpf(CmpFPredicate::UNE, x, b.f32(0.0)) : b.cmpi(CmpIPredicate::ne, x, b.i32(0));
  if (from.isInteger(1)) {
    Value number = b.make<arith::ExtUIOp>(b.i32(), x);
    return to.isF32() ? b.make<arith::SIToFPOp>(b.f32(), number) : number;
  }
  return to.isF32() ? b.make<arith::SIToFPOp>(b.f32(), x) : toI32(b, x);
}

Value sign(LaneBuilder &b, Value x) {
  if (isFloat(x)) {
    Value other = b.select(b.isNan(x), x, b.f32(0.0));
    return b.select(b.cmpf(CmpFPredicate::OGT, x, b.f32(0.0)), b.f32(1.0),
                    b.select(b.cmpf(CmpFPredicate::OLT, x, b.f32(0.0)), b.f32(-1.0), other));
  }
  return b.select(b.cmpi(CmpIPredicate::sgt, x, b.i32(0)), b.i32(1), b.shrs(x, b.i32(31)));
}

Value relu(LaneBuilder &b, Value x) {
  if (isFloat(x)) // NaN is not <= 0; -0 is
    return b.select(b.cmpf(CmpFPredicate::OLE, x, b.f32(0.0)), b.f32(0.0), x);
  return b.make<arith::MaxSIOp>(x, b.i32(0));
}

Value emitUnary(LaneBuilder &b, Operation *op, Value x, Value table) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<NegOp>([&](auto) { return isFloat(x) ? b.negf(x) : b.subi(b.i32(0), x); })
      .Case<AbsOp>([&](auto) {
        return isFloat(x) ? b.absf(x)
                          : b.select(b.cmpi(CmpIPredicate::slt, x, b.i32(0)), b.subi(b.i32(0), x), x);
      })
      .Case<SignOp>([&](auto) { return sign(b, x); })
      .Case<NotOp>([&](auto) { return b.xori(x, isBool(x) ? b.i1(true) : b.i32(-1)); })
      .Case<ExpOp>([&](auto) { return emitExp(b, x); })
      .Case<LogOp>([&](auto) { return emitLog(b, x); })
      .Case<SqrtOp>([&](auto) { return b.make<math::SqrtOp>(x); })
      .Case<RsqrtOp>([&](auto) { return b.divf(b.f32(1.0), b.make<math::SqrtOp>(x)); })
      .Case<TanhOp>([&](auto) { return b.make<math::TanhOp>(x); })
      .Case<ErfOp>([&](auto) { return emitErf(b, x); })
      .Case<SinOp>([&](auto) { return emitSin(b, x, table); })
      .Case<CosOp>([&](auto) { return emitCos(b, x, table); })
      .Case<FloorOp>([&](auto) { return b.floorf(x); })
      .Case<CeilOp>([&](auto) { return b.make<math::CeilOp>(x); })
      .Case<ReluOp>([&](auto) { return relu(b, x); })
      .Case<SigmoidOp>([&](auto) { return b.divf(b.f32(1.0), b.addf(b.f32(1.0), emitExp(b, b.negf(x)))); })
      .Case<ConvertOp>([&](ConvertOp convertOp) {
        return convert(b, x, cast<RankedTensorType>(convertOp.getResult().getType()).getElementType());
      })
      .Default([](auto) { return Value(); });
}

Value emitBinary(LaneBuilder &b, Operation *op, Value x, Value y) {
  bool isReal = isFloat(x);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<AddOp>([&](auto) { return isReal ? b.addf(x, y) : b.addi(x, y); })
      .Case<SubOp>([&](auto) { return isReal ? b.subf(x, y) : b.subi(x, y); })
      .Case<MulOp>([&](auto) { return isReal ? b.mulf(x, y) : b.muli(x, y); })
      .Case<DivOp>([&](auto) { return isReal ? b.divf(x, y) : divide(b, x, y); })
      .Case<RemOp>([&](auto) { return isReal ? b.make<arith::RemFOp>(x, y) : remainder(b, x, y); })
      .Case<MaxOp>([&](auto) { return isReal ? b.make<arith::MaximumFOp>(x, y) : b.make<arith::MaxSIOp>(x, y); })
      .Case<MinOp>([&](auto) { return isReal ? b.make<arith::MinimumFOp>(x, y) : b.make<arith::MinSIOp>(x, y); })
      .Case<PowOp>([&](auto) { return emitPow(b, x, y); })
      .Case<AndOp>([&](auto) { return b.andi(x, y); })
      .Case<OrOp>([&](auto) { return b.ori(x, y); })
      .Case<XorOp>([&](auto) { return b.xori(x, y); })
      .Case<CompareOp>([&](CompareOp compareOp) { return compare(b, compareOp.getPredicate(), x, y); })
      .Default([](auto) { return Value(); });
}
} // namespace

Value mlir::autopar::emitElementOp(LaneBuilder &b, Operation *op, ArrayRef<Value> operands, Value table) {
  if (operands.size() == 1)
    return emitUnary(b, op, operands[0], table);
  if (operands.size() == 2)
    return emitBinary(b, op, operands[0], operands[1]);
  if (isa<SelectOp>(op) && operands.size() == 3)
    return b.select(operands[0], operands[1], operands[2]);
  return {};
}
