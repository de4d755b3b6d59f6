// exp, log, pow, sin, cos and Philox as straight-line arithmetic.

#include "compiler/codegen/MathRoutines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/APInt.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::autopar;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double quietNan = std::numeric_limits<double>::quiet_NaN();
/// Adding these rounds a small f32 or f64 to an integer, which then stands in the low bits.
constexpr double roundF32 = 12582912.0;          // 1.5 * 2^23
constexpr double roundF64 = 6755399441055744.0;  // 1.5 * 2^52
constexpr int64_t roundF32Bits = 0x4B400000;
constexpr int64_t roundF64Bits = 0x4338000000000000;
constexpr double log2E = 1.4426950408889634074;
constexpr double ln2 = 0.69314718055994530942;

/// 2^n for an i32 in [-126, 127].
Value powerOfTwo(LaneBuilder &b, Value n) {
  return b.bitcast(b.f32(), b.shl(b.addi(n, b.i32(127)), b.i32(23)));
}

/// x clamped to [low, high]; NaN stays.
Value clamp(LaneBuilder &b, Value x, Value low, Value high) {
  x = b.select(b.cmpf(CmpFPredicate::OLT, x, low), low, x);
  return b.select(b.cmpf(CmpFPredicate::OGT, x, high), high, x);
}
} // namespace

Value mlir::autopar::emitExp(LaneBuilder &b, Value x) {
  // exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln 2 / 2. Beyond the clamp the result is 0 or inf anyway.
  x = clamp(b, x, b.f32(-104.0), b.f32(89.0));
  Value shifted = b.fma(x, b.f32(log2E), b.f32(roundF32));
  Value n = b.subf(shifted, b.f32(roundF32));
  Value r = b.fma(n, b.f32(-0x1.62e4p-1), x);             // high 17 bits of ln 2: the product is exact
  r = b.fma(n, b.f32(-(ln2 - 0x1.62e4p-1)), r);
  Value q = b.polynomial(r, {0.5, 0.1666666716337204, 0.04166644811630249, 0.008333295583724976,
                             0.0013935454189777374, 0.00019901624182239175});
  Value p = b.addf(b.fma(b.mulf(r, r), q, r), b.f32(1.0));
  // Two factors, since 2^n alone may overflow or be denormal: the last product rounds once.
  Value exponent = b.subi(b.bitcast(b.i32(), shifted), b.i32(roundF32Bits));
  Value half = b.shrs(exponent, b.i32(1));
  return b.mulf(b.mulf(p, powerOfTwo(b, half)), powerOfTwo(b, b.subi(exponent, half)));
}

Value mlir::autopar::emitErf(LaneBuilder &b, Value x) {
  return b.select(b.cmpf(CmpFPredicate::OEQ, x, b.f32(0.0)), x, b.make<math::ErfOp>(x));
}

Value mlir::autopar::emitLog(LaneBuilder &b, Value x) {
  // The polynomial takes the exponent from the bits, which a denormal argument does not have.
  Value isDenormal = b.cmpf(CmpFPredicate::OLT, x, b.f32(0x1p-126));
  Value scaled = b.select(isDenormal, b.mulf(x, b.f32(0x1p23)), x);
  Value log = b.make<math::LogOp>(scaled);
  return b.subf(log, b.select(isDenormal, b.f32(23 * ln2), b.f32(0.0)));
}

namespace {
/// log2 of a positive finite f64 in the range of f32, relative error below 2^-38.
Value log2F64(LaneBuilder &b, Value x) {
  constexpr int64_t sqrtHalf = 0x3FE6A09E667F3BCD;
  Value bits = b.bitcast(b.i64(), x);
  Value exponent = b.shrs(b.subi(bits, b.i64(sqrtHalf)), b.i64(52));
  Value m = b.bitcast(b.f64(), b.subi(bits, b.shl(exponent, b.i64(52)))); // in [sqrt(1/2), sqrt(2))
  Value s = b.divf(b.subf(m, b.f64(1.0)), b.addf(m, b.f64(1.0)));
  Value z = b.mulf(s, s);
  Value series = b.polynomial(z, {2.0, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13}); // of 2 atanh(s)
  Value e = b.make<arith::SIToFPOp>(b.f64(), b.make<arith::TruncIOp>(b.i32(), exponent));
  return b.fma(b.mulf(s, series), b.f64(log2E), e);
}

/// 2^t rounded to f32; t is clamped to where that is 0 or inf.
Value exp2ToF32(LaneBuilder &b, Value t) {
  t = clamp(b, t, b.f64(-200.0), b.f64(200.0));
  Value shifted = b.addf(t, b.f64(roundF64));
  Value g = b.mulf(b.subf(t, b.subf(shifted, b.f64(roundF64))), b.f64(ln2));
  Value p = b.polynomial(g, {1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,
                             1.0 / 362880});
  Value n = b.subi(b.bitcast(b.i64(), shifted), b.i64(roundF64Bits));
  Value bits = b.addi(b.bitcast(b.i64(), p), b.shl(n, b.i64(52)));
  return b.make<arith::TruncFOp>(b.f32(), b.bitcast(b.f64(), bits));
}
} // namespace

Value mlir::autopar::emitPow(LaneBuilder &b, Value x, Value y) {
  Value ax = b.absf(x), ay = b.absf(y);
  Value isInf = b.cmpf(CmpFPredicate::OEQ, ax, b.f32(infinity));
  Value isZero = b.cmpf(CmpFPredicate::OEQ, ax, b.f32(0.0));
  Value log = log2F64(b, b.make<arith::ExtFOp>(b.f64(), ax));
  log = b.select(isZero, b.f64(-infinity), b.select(isInf, b.f64(infinity), log));
  Value power = exp2ToF32(b, b.mulf(b.make<arith::ExtFOp>(b.f64(), y), log));

  Value isInteger = b.cmpf(CmpFPredicate::OEQ, b.floorf(y), y);
  Value half = b.mulf(y, b.f32(0.5));
  Value isOdd = b.andi(isInteger, b.cmpf(CmpFPredicate::ONE, b.floorf(half), half));
  Value hasSign = b.cmpi(CmpIPredicate::slt, b.bitcast(b.i32(), x), b.i32(0));
  power = b.select(b.andi(hasSign, isOdd), b.negf(power), power);
  Value isNegative = b.andi(b.cmpf(CmpFPredicate::OLT, x, b.f32(0.0)), b.xori(isInf, b.i1(true)));
  power = b.select(b.andi(isNegative, b.xori(isInteger, b.i1(true))), b.f32(quietNan), power);
  power = b.select(b.cmpf(CmpFPredicate::UNO, x, y), b.f32(quietNan), power);
  Value isUnit = b.andi(b.cmpf(CmpFPredicate::OEQ, ax, b.f32(1.0)), b.cmpf(CmpFPredicate::OEQ, ay, b.f32(infinity)));
  Value isOne = b.ori(b.cmpf(CmpFPredicate::OEQ, x, b.f32(1.0)), b.cmpf(CmpFPredicate::OEQ, ay, b.f32(0.0)));
  return b.select(b.ori(isUnit, isOne), b.f32(1.0), power);
}

// ---- sin and cos ----------------------------------------------------------------------------------------------------
//
// With x = m 2^t, the quadrant and the fraction of x 2/pi need 2/pi 2^t modulo 4 only. The table holds it for t = 0 ... 104
// as a sum of two numbers: the first has 29 bits, so that its product with m (24 bits) is exact.

namespace {
constexpr int64_t tableEntries = 105;
constexpr StringLiteral tableName = "autopar_two_over_pi";

/// Row t of the table.
std::pair<double, double> twoOverPi(int64_t t) {
  // 2/pi to 256 bits behind the point.
  static const llvm::APInt bits(400, "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561", 16);
  llvm::APInt value = bits.shl(t).trunc(258).zext(400); // modulo 4
  uint64_t high = value.lshr(258 - 29).getZExtValue();
  llvm::APInt low = value - llvm::APInt(400, high).shl(258 - 29);
  int cut = std::max(0, static_cast<int>(low.getActiveBits()) - 53);
  return {std::ldexp(static_cast<double>(high), 258 - 29 - 256),
          std::ldexp(static_cast<double>(low.lshr(cut).getZExtValue()), cut - 256)};
}

/// r = x - q pi/2 with |r| <= pi/4 as f32, and q modulo 4 in the low bits of an i32.
std::pair<Value, Value> reduceAngle(LaneBuilder &b, Value x, Value table) {
  Value exponent = b.andi(b.shru(b.bitcast(b.i32(), x), b.i32(23)), b.i32(255));
  Value t = b.subi(exponent, b.i32(127 + 23)); // x is an integer times 2^t
  t = b.select(b.cmpi(CmpIPredicate::slt, t, b.i32(0)), b.i32(0), t);
  t = b.select(b.cmpi(CmpIPredicate::sgt, t, b.i32(tableEntries - 1)), b.i32(0), t); // inf and NaN
  Value scale = b.bitcast(b.f32(), b.shl(b.subi(b.i32(127), t), b.i32(23)));
  Value m = b.make<arith::ExtFOp>(b.f64(), b.mulf(x, scale));
  auto lookUp = [&](int64_t column) -> Value {
    Value index = b.addi(b.shl(t, b.i32(1)), b.i32(column));
    if (b.lanes) {
      Value zero = arith::ConstantIndexOp::create(b.builder, b.loc, 0);
      return b.make<vector::GatherOp>(cast<VectorType>(b.f64()), table, ValueRange{zero}, index, b.i1(true), b.f64(0.0));
    }
    Value place = arith::IndexCastOp::create(b.builder, b.loc, b.builder.getIndexType(), index);
    return memref::LoadOp::create(b.builder, b.loc, table, place);
  };
  Value high = lookUp(0), low = lookUp(1);
  Value product = b.mulf(m, high); // exact
  Value shifted = b.addf(product, b.f64(roundF64));
  Value fraction = b.fma(m, low, b.subf(product, b.subf(shifted, b.f64(roundF64))));
  // m times low may carry the fraction past one half: round once more.
  Value again = b.addf(fraction, b.f64(roundF64));
  fraction = b.subf(fraction, b.subf(again, b.f64(roundF64)));
  Value quadrant = b.addi(b.make<arith::TruncIOp>(b.i32(), b.bitcast(b.i64(), shifted)),
                          b.make<arith::TruncIOp>(b.i32(), b.bitcast(b.i64(), again)));
  Value r = b.make<arith::TruncFOp>(b.f32(), b.mulf(fraction, b.f64(1.57079632679489661923)));
  return {r, quadrant};
}

Value sineOrCosine(LaneBuilder &b, Value x, Value table, int64_t quarter) {
  auto [r, quadrant] = reduceAngle(b, x, table);
  quadrant = b.addi(quadrant, b.i32(quarter));
  Value z = b.mulf(r, r);
  Value sine = b.fma(b.mulf(z, r), b.polynomial(z, {-0.1666666716337204, 0.008333331905305386, -0.00019840015738736838,
                                                    2.7240794224780984e-06}),
                     r);
  Value cosine = b.polynomial(z, {1.0, -0.5, 0.0416666679084301, -0.00138888880610466, 2.4800539904390462e-05,
                                  -2.729333345996565e-07});
  Value isOdd = b.cmpi(CmpIPredicate::ne, b.andi(quadrant, b.i32(1)), b.i32(0));
  Value magnitude = b.select(isOdd, cosine, sine);
  Value sign = b.shl(b.andi(quadrant, b.i32(2)), b.i32(30));
  return b.bitcast(b.f32(), b.xori(b.bitcast(b.i32(), magnitude), sign));
}
} // namespace

Value mlir::autopar::emitSin(LaneBuilder &b, Value x, Value table) {
  Value sine = sineOrCosine(b, x, table, 0);
  // Keeps the sign of zero, which the reduction loses.
  return b.select(b.cmpf(CmpFPredicate::OEQ, x, b.f32(0.0)), x, sine);
}

Value mlir::autopar::emitCos(LaneBuilder &b, Value x, Value table) { return sineOrCosine(b, x, table, 1); }

memref::GlobalOp mlir::autopar::getReductionTable(ModuleOp module) {
  if (auto global = module.lookupSymbol<memref::GlobalOp>(tableName))
    return global;
  SmallVector<double> numbers;
  for (int64_t t = 0; t < tableEntries; ++t) {
    auto [high, low] = twoOverPi(t);
    numbers.push_back(high);
    numbers.push_back(low);
  }
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = MemRefType::get({2 * tableEntries}, builder.getF64Type());
  auto tensor = RankedTensorType::get({2 * tableEntries}, builder.getF64Type());
  return memref::GlobalOp::create(builder, module.getLoc(), tableName, builder.getStringAttr("private"), type,
                                  DenseElementsAttr::get(tensor, ArrayRef<double>(numbers)), /*constant=*/true,
                                  /*alignment=*/builder.getI64IntegerAttr(64));
}

// ---- random numbers -------------------------------------------------------------------------------------------------

namespace {
/// The four words of block `block` (i64).
std::array<Value, 4> philox(LaneBuilder &b, Value block, uint64_t seed) {
  std::array<Value, 4> counter = {b.make<arith::TruncIOp>(b.i32(), block),
                                  b.make<arith::TruncIOp>(b.i32(), b.shru(block, b.i64(32))), b.i32(0), b.i32(0)};
  uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  auto multiply = [&](int64_t factor, Value word, Value &high, Value &low) {
    Value product = b.muli(b.make<arith::ExtUIOp>(b.i64(), word), b.i64(factor));
    low = b.make<arith::TruncIOp>(b.i32(), product);
    high = b.make<arith::TruncIOp>(b.i32(), b.shru(product, b.i64(32)));
  };
  for (int round = 0; round < 10; ++round) {
    Value high0, low0, high1, low1;
    multiply(0xD2511F53, counter[0], high0, low0);
    multiply(0xCD9E8D57, counter[2], high1, low1);
    counter = {b.xori(b.xori(high1, counter[1]), b.i32(key[0])), low1,
               b.xori(b.xori(high0, counter[3]), b.i32(key[1])), low0};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

Value toUniform(LaneBuilder &b, Value word) {
  // 24 bits are exact as a signed i32.
  Value number = b.make<arith::SIToFPOp>(b.f32(), b.shru(word, b.i32(8)));
  return b.mulf(number, b.f32(0x1p-24));
}
} // namespace

Value mlir::autopar::emitRandomUniform(LaneBuilder &b, Value index, uint64_t seed) {
  std::array<Value, 4> words = philox(b, b.shru(index, b.i64(2)), seed);
  Value word = b.make<arith::TruncIOp>(b.i32(), b.andi(index, b.i64(3)));
  auto isWord = [&](int64_t number) { return b.cmpi(CmpIPredicate::eq, word, b.i32(number)); };
  Value chosen =
      b.select(isWord(0), words[0], b.select(isWord(1), words[1], b.select(isWord(2), words[2], words[3])));
  return toUniform(b, chosen);
}

Value mlir::autopar::emitRandomBlock(LaneBuilder &b, Value index, uint64_t seed) {
  LaneBuilder scalar(b.builder, b.loc, 0);
  std::array<Value, 4> words = philox(scalar, scalar.shru(index, scalar.i64(2)), seed);
  return toUniform(b, vector::FromElementsOp::create(b.builder, b.loc, cast<VectorType>(b.i32()), words));
}

// ---- remainder ------------------------------------------------------------------------------------------------------

namespace {
constexpr StringLiteral remainderName = "autopar_remainder";

/// fmod of two f32, exact: long division in f64, 24 bits of the quotient at a time. In each step r and t are multiples of
/// t's last bit, r < 2^25 t, so that quotient times t and the difference are exact; the rounded quotient is at most one too
/// large.
func::FuncOp makeRemainder(ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Location loc = module.getLoc();
  Type f32 = builder.getF32Type();
  auto function = func::FuncOp::create(builder, loc, remainderName, builder.getFunctionType({f32, f32}, {f32}));
  function.setPrivate();
  builder.setInsertionPointToStart(function.addEntryBlock());
  LaneBuilder b(builder, loc, 0);
  Value x = function.getArgument(0), y = function.getArgument(1);
  Value ax = b.make<arith::ExtFOp>(b.f64(), b.absf(x)), ay = b.make<arith::ExtFOp>(b.f64(), b.absf(y));
  Value isFinite = b.andi(b.cmpf(CmpFPredicate::OLT, ax, b.f64(infinity)), b.cmpf(CmpFPredicate::OGT, ay, b.f64(0.0)));
  Value start = b.select(isFinite, ax, b.f64(0.0));
  auto loop = scf::WhileOp::create(
      builder, loc, b.f64(), start,
      [&](OpBuilder &inner, Location, ValueRange carried) {
        LaneBuilder in(inner, loc, 0);
        scf::ConditionOp::create(inner, loc, in.cmpf(CmpFPredicate::OGE, carried[0], ay), carried);
      },
      [&](OpBuilder &inner, Location, ValueRange carried) {
        LaneBuilder in(inner, loc, 0);
        auto exponent = [&](Value value) { return in.shru(in.bitcast(in.i64(), value), in.i64(52)); };
        Value shift = in.subi(in.subi(exponent(carried[0]), exponent(ay)), in.i64(24));
        shift = in.make<arith::MaxSIOp>(shift, in.i64(0));
        Value power = in.bitcast(in.f64(), in.shl(in.addi(shift, in.i64(1023)), in.i64(52)));
        Value t = in.mulf(ay, power);
        Value rest = in.subf(carried[0], in.mulf(in.floorf(in.divf(carried[0], t)), t));
        rest = in.select(in.cmpf(CmpFPredicate::OLT, rest, in.f64(0.0)), in.addf(rest, t), rest);
        scf::YieldOp::create(inner, loc, rest);
      });
  Value rest = b.make<arith::TruncFOp>(b.f32(), loop.getResult(0));
  Value sign = b.andi(b.bitcast(b.i32(), x), b.i32(std::numeric_limits<int32_t>::min()));
  rest = b.bitcast(b.f32(), b.ori(b.bitcast(b.i32(), rest), sign));
  // x by infinity is x: start is x then, and the loop does nothing.
  Value isNumber = b.andi(isFinite, b.cmpf(CmpFPredicate::ORD, y, y));
  func::ReturnOp::create(builder, loc, b.select(isNumber, rest, b.f32(quietNan)));
  return function;
}
} // namespace

void mlir::autopar::lowerRemainder(ModuleOp module) {
  SmallVector<arith::RemFOp> ops;
  module.walk([&](arith::RemFOp op) { ops.push_back(op); });
  if (ops.empty())
    return;
  func::FuncOp function = makeRemainder(module);
  for (arith::RemFOp op : ops) {
    OpBuilder builder(op);
    auto call = [&](Value x, Value y) {
      return func::CallOp::create(builder, op.getLoc(), function, ValueRange{x, y}).getResult(0);
    };
    Value result;
    if (auto type = dyn_cast<VectorType>(op.getType())) {
      SmallVector<Value> elements;
      for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
        elements.push_back(call(vector::ExtractOp::create(builder, op.getLoc(), op.getLhs(), lane),
                                vector::ExtractOp::create(builder, op.getLoc(), op.getRhs(), lane)));
      result = vector::FromElementsOp::create(builder, op.getLoc(), type, elements);
    } else {
      result = call(op.getLhs(), op.getRhs());
    }
    op.getResult().replaceAllUsesWith(result);
    op.erase();
  }
}

LogicalResult mlir::autopar::lowerMath(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return name == math::TanhOp::getOperationName() || name == math::ErfOp::getOperationName() ||
           name == math::LogOp::getOperationName();
  });
  return applyPatternsGreedily(module, std::move(patterns));
}
