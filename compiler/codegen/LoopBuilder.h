// Loops and index arithmetic for kernels.
#ifndef AUTOPAR_COMPILER_CODEGEN_LOOPBUILDER_H
#define AUTOPAR_COMPILER_CODEGEN_LOOPBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace mlir::autopar {

class LoopBuilder {
public:
  LoopBuilder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  OpBuilder &builder;
  Location loc;

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }
  Value min(Value a, Value b) { return arith::MinUIOp::create(builder, loc, a, b); }
  Value max(Value a, Value b) { return arith::MaxUIOp::create(builder, loc, a, b); }
  Value div(Value a, int64_t b) { return b == 1 ? a : Value(arith::DivUIOp::create(builder, loc, a, constant(b))); }
  Value rem(Value a, int64_t b) {
    return b == 1 ? constant(0) : Value(arith::RemUIOp::create(builder, loc, a, constant(b)));
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
};

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_CODEGEN_LOOPBUILDER_H
