// Loops and index arithmetic for kernels.
#ifndef AUTOPAR_COMPILER_CODEGEN_LOOPBUILDER_H
#define AUTOPAR_COMPILER_CODEGEN_LOOPBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace mlir::autopar {

class LoopBuilder {
public:
  /// `isNarrow`: numbers that are divided fit 31 bits; divide in 32.
  LoopBuilder(OpBuilder &builder, Location loc, bool isNarrow = false)
      : builder(builder), loc(loc), isNarrow(isNarrow) {}

  OpBuilder &builder;
  Location loc;
  bool isNarrow;

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }
  Value min(Value a, Value b) { return arith::MinUIOp::create(builder, loc, a, b); }
  Value max(Value a, Value b) { return arith::MaxUIOp::create(builder, loc, a, b); }
  Value div(Value a, int64_t b) { return b == 1 ? a : divide<arith::DivUIOp>(a, b); }
  Value rem(Value a, int64_t b) { return b == 1 ? constant(0) : divide<arith::RemUIOp>(a, b); }
  Value less(Value a, Value b) { return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b); }

  /// if (condition) body().
  void ifThen(Value condition, llvm::function_ref<void()> body) {
    auto ifOp = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(ifOp.thenBlock()->getTerminator());
    body();
  }

  /// condition ? body() : otherwise.
  SmallVector<Value> ifThen(Value condition, ArrayRef<Value> otherwise,
                            llvm::function_ref<SmallVector<Value>()> body) {
    if (otherwise.empty()) {
      ifThen(condition, [&] { (void)body(); });
      return {};
    }
    auto ifOp = scf::IfOp::create(builder, loc, TypeRange(ValueRange(otherwise)), condition, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(ifOp.thenBlock());
    scf::YieldOp::create(builder, loc, body());
    builder.setInsertionPointToEnd(ifOp.elseBlock());
    scf::YieldOp::create(builder, loc, otherwise);
    return SmallVector<Value>(ifOp.getResults());
  }

  /// for (i = low; i < high; i += step) body(i).
  void loop(Value low, Value high, int64_t step, llvm::function_ref<void(Value)> body) {
    auto forOp = scf::ForOp::create(builder, loc, low, high, constant(step));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(forOp.getBody()->getTerminator());
    body(forOp.getInductionVar());
  }

  /// The same, carrying values from one round to the next.
  SmallVector<Value> loop(Value low, Value high, int64_t step, ArrayRef<Value> carried,
                          llvm::function_ref<SmallVector<Value>(Value, ArrayRef<Value>)> body) {
    auto forOp = scf::ForOp::create(
        builder, loc, low, high, constant(step), carried,
        [&](OpBuilder &, Location, Value index, ValueRange values) {
          (void)index;
          (void)values;
        });
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(forOp.getBody());
    SmallVector<Value> values(forOp.getRegionIterArgs().begin(), forOp.getRegionIterArgs().end());
    SmallVector<Value> next = body(forOp.getInductionVar(), values);
    scf::YieldOp::create(builder, loc, next);
    return SmallVector<Value>(forOp.getResults());
  }

  /// Splits a row-major number into one index per dimension.
  SmallVector<Value> delinearise(Value number, ArrayRef<int64_t> sizes) {
    SmallVector<Value> indices(sizes.size());
    for (size_t dim = sizes.size(); dim-- > 0;) {
      indices[dim] = dim == 0 ? number : rem(number, sizes[dim]);
      number = div(number, sizes[dim]);
    }
    return indices;
  }

private:
  template <typename Op>
  Value divide(Value a, int64_t b) {
    if (!isNarrow)
      return Op::create(builder, loc, a, constant(b));
    Type narrow = builder.getI32Type();
    Value small = arith::IndexCastOp::create(builder, loc, narrow, a);
    Value by = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(b));
    return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), Op::create(builder, loc, small, by));
  }
};

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_CODEGEN_LOOPBUILDER_H
