// Reductions along dimensions that are not the last: columns side by side, the reduced dimensions outside, so that memory
// is read along its rows. A column's elements combine one after the other, first to last: the bits do not depend on how
// columns are cut.

#include "compiler/codegen/Combiner.h"
#include "compiler/codegen/KernelEmitter.h"
#include "compiler/codegen/MathRoutines.h"

using namespace mlir;
using namespace mlir::autopar;

namespace {
/// Columns whose accumulators argmax and softmax keep on the stack at a time.
constexpr int64_t blockColumns = 256;
/// Rows that a sum takes in per load and store of its accumulators; bodies larger than maxUnrolledNodes are not unrolled.
constexpr int64_t rowsAtOnce = 4;
constexpr size_t maxUnrolledNodes = 12;

class ColumnEmitter {
public:
  explicit ColumnEmitter(KernelContext &context)
      : context(context), shape(context.shape), space(shape.body.space), b(context.loops()),
        scalar(context.builder, context.loc, 0) {
    for (unsigned dim = 0; dim + 1 < space.size(); ++dim)
      (shape.reduced[dim] ? reducedDims : keptDims).push_back(dim);
    linear.coefficients = rowMajorStrides(space);
  }

  void emit();

private:
  /// `body` for every place of the reduced dimensions from `level` on.
  void forReduced(size_t level, SmallVector<Value> &place, size_t levels, llvm::function_ref<void()> body) {
    if (level == levels) {
      body();
      return;
    }
    unsigned dim = reducedDims[level];
    b.loop(b.constant(0), b.constant(space[dim]), 1, [&](Value index) {
      place[dim] = index;
      forReduced(level + 1, place, levels, body);
    });
  }
  void forBlocks(Value begin, Value end, llvm::function_ref<void(Value, Value)> body) {
    b.loop(begin, end, blockColumns, [&](Value first) {
      body(first, b.min(b.add(first, b.constant(blockColumns)), end));
    });
  }
  Value load(Value memory, Value at) {
    return memref::LoadOp::create(context.builder, context.loc, memory, at);
  }
  void store(Value value, Value memory, Value at) {
    memref::StoreOp::create(context.builder, context.loc, value, memory, at);
  }
  /// An array of accumulators on the stack, allocated at the function's entry.
  Value stack(Type element) {
    OpBuilder::InsertionGuard guard(context.builder);
    context.builder.setInsertionPointToStart(&context.function.getBody().front());
    return memref::AllocaOp::create(context.builder, context.loc, MemRefType::get({blockColumns}, element));
  }
  /// The operand's value at `place`; stores the yields that have its shape.
  Value operandAt(ArrayRef<Value> place) {
    BodyEmitter body(shape.body, context.buffers, scalar, place);
    Value value = body.emit(shape.operandNode);
    for (auto [node, memory] : llvm::zip_equal(shape.yields, context.results))
      if (node >= 0)
        storeLanes(scalar, body.emit(node), memory, body.address(linear), 1);
    return value;
  }
  Value addressOf(ArrayRef<Value> place) {
    return BodyEmitter(shape.body, context.buffers, scalar, place).address(linear);
  }

  void reduceColumns(SmallVector<Value> place, Value outer, Value begin, Value end);
  void reduceRows(const Combiner &combiner, SmallVector<Value> place, Value first, int64_t count, Value start,
                  Value begin, Value end);
  void argmaxColumns(SmallVector<Value> place, Value outer, Value begin, Value end);
  void softmaxColumns(SmallVector<Value> place, Value begin, Value end);

  KernelContext &context;
  const KernelShape &shape;
  ArrayRef<int64_t> space;
  LoopBuilder b;
  LaneBuilder scalar;
  IndexExpr linear;
  SmallVector<unsigned, 4> keptDims, reducedDims;
  SmallVector<Value> results; ///< of the root
  Value best, sums;           ///< on the stack
};

/// Takes `count` rows from `first` on of the innermost reduced dimension into the results.
void ColumnEmitter::reduceRows(const Combiner &combiner, SmallVector<Value> place, Value first, int64_t count,
                               Value start, Value begin, Value end) {
  b.loop(begin, end, 1, [&](Value column) {
    place.back() = column;
    Value at = b.add(start, column);
    Value sum = load(results[0], at);
    for (int64_t row = 0; row < count; ++row) {
      place[reducedDims.back()] = b.add(first, b.constant(row));
      Value value = operandAt(place);
      // f32 max and min: one operation that keeps NaN, since the accumulator lives in memory.
      if (combiner.getKind() == Combiner::Kind::Max && value.getType().isF32())
        sum = scalar.make<arith::MaximumFOp>(sum, value);
      else if (combiner.getKind() == Combiner::Kind::Min && value.getType().isF32())
        sum = scalar.make<arith::MinimumFOp>(sum, value);
      else
        sum = combiner.take(scalar, {sum}, value, {})[0];
    }
    store(sum, results[0], at);
  });
}

void ColumnEmitter::reduceColumns(SmallVector<Value> place, Value outer, Value begin, Value end) {
  Combiner combiner = Combiner::of(shape.root);
  Value start = b.mul(outer, b.constant(space.back()));
  bool isEmpty = llvm::any_of(space, [](int64_t size) { return size == 0; });
  Value identity = isEmpty ? combiner.empty(scalar) : combiner.identity(scalar, {})[0];
  b.loop(begin, end, 1, [&](Value column) { store(identity, results[0], b.add(start, column)); });
  if (!isEmpty) {
    int64_t rows = space[reducedDims.back()];
    int64_t step = shape.body.nodes.size() <= maxUnrolledNodes ? rowsAtOnce : 1;
    int64_t whole = rows / step * step;
    forReduced(0, place, reducedDims.size() - 1, [&] {
      b.loop(b.constant(0), b.constant(whole), step,
             [&](Value row) { reduceRows(combiner, place, row, step, start, begin, end); });
      if (whole < rows)
        reduceRows(combiner, place, b.constant(whole), rows - whole, start, begin, end);
    });
  }
  for (Value copy : ArrayRef(results).drop_front())
    b.loop(begin, end, 1, [&](Value column) {
      Value at = b.add(start, column);
      store(load(results[0], at), copy, at);
    });
}

void ColumnEmitter::argmaxColumns(SmallVector<Value> place, Value outer, Value begin, Value end) {
  Combiner combiner = Combiner::of(shape.root);
  Value start = b.mul(outer, b.constant(space.back()));
  forBlocks(begin, end, [&](Value first, Value last) {
    Combiner::Accumulator identity = combiner.identity(scalar, scalar.i32(0));
    b.loop(first, last, 1, [&](Value column) {
      store(identity[0], best, b.sub(column, first));
      for (Value memory : results)
        store(identity[1], memory, b.add(start, column));
    });
    forReduced(0, place, reducedDims.size(), [&] {
      Value row = arith::IndexCastOp::create(context.builder, context.loc, context.builder.getI32Type(),
                                             place[reducedDims.back()]);
      b.loop(first, last, 1, [&](Value column) {
        place.back() = column;
        Value slot = b.sub(column, first), at = b.add(start, column);
        Combiner::Accumulator next =
            combiner.take(scalar, {load(best, slot), load(results[0], at)}, operandAt(place), row);
        store(next[0], best, slot);
        for (Value memory : results)
          store(next[1], memory, at);
      });
    });
  });
}

void ColumnEmitter::softmaxColumns(SmallVector<Value> place, Value begin, Value end) {
  Combiner largest(Combiner::Kind::Largest, true), sum(Combiner::Kind::Sum, true);
  auto forColumns = [&](Value first, Value last, llvm::function_ref<void(Value, Value)> body) {
    forReduced(0, place, reducedDims.size(), [&] {
      b.loop(first, last, 1, [&](Value column) {
        place.back() = column;
        body(b.sub(column, first), addressOf(place));
      });
    });
  };
  forBlocks(begin, end, [&](Value first, Value last) {
    b.loop(b.constant(0), b.sub(last, first), 1, [&](Value slot) {
      store(largest.identity(scalar, {})[0], best, slot);
      store(sum.identity(scalar, {})[0], sums, slot);
    });
    forColumns(first, last, [&](Value slot, Value at) {
      Value value = operandAt(place);
      store(value, results[0], at);
      store(largest.take(scalar, {load(best, slot)}, value, {})[0], best, slot);
    });
    forColumns(first, last, [&](Value slot, Value at) {
      Value value = emitExp(scalar, scalar.subf(load(results[0], at), load(best, slot)));
      store(value, results[0], at);
      store(sum.take(scalar, {load(sums, slot)}, value, {})[0], sums, slot);
    });
    b.loop(b.constant(0), b.sub(last, first), 1, [&](Value slot) {
      store(scalar.divf(scalar.f32(1.0), load(sums, slot)), sums, slot);
    });
    forColumns(first, last, [&](Value slot, Value at) {
      Value value = scalar.mulf(load(results[0], at), load(sums, slot));
      for (Value memory : results)
        store(value, memory, at);
    });
  });
}

void ColumnEmitter::emit() {
  for (auto [node, memory] : llvm::zip_equal(shape.yields, context.results))
    if (node < 0)
      results.push_back(memory);
  Type element = shape.body.nodes[shape.operandNode].element;
  if (isa<ArgmaxOp, SoftmaxOp>(shape.root))
    best = stack(element);
  if (isa<SoftmaxOp>(shape.root))
    sums = stack(element);
  SmallVector<int64_t> keptSizes;
  for (unsigned dim : keptDims)
    keptSizes.push_back(space[dim]);
  context.forEachItem([&](Value item) {
    Value outer = b.div(item, shape.tiling.pieces);
    Value begin = b.mul(b.rem(item, shape.tiling.pieces), b.constant(shape.tiling.pieceLength));
    Value end = b.min(b.add(begin, b.constant(shape.tiling.pieceLength)), b.constant(space.back()));
    SmallVector<Value> place(space.size());
    for (auto [dim, index] : llvm::zip_equal(keptDims, b.delinearise(outer, keptSizes)))
      place[dim] = index;
    if (isa<SoftmaxOp>(shape.root))
      softmaxColumns(place, begin, end);
    else if (isa<ArgmaxOp>(shape.root))
      argmaxColumns(place, outer, begin, end);
    else
      reduceColumns(place, outer, begin, end);
  });
}
} // namespace

void mlir::autopar::emitColumn(KernelContext &context) { ColumnEmitter(context).emit(); }
