// Reductions along the last dimension, a row at a time. Element i of a row goes to lane i mod 64 (four vectors of 16); at
// the end the lanes combine in a fixed tree. So the bits depend on the row's length alone, not on the CPU's vectors, on
// tiles or on what is fused in. Lengths are static: a shorter last group is emitted for exactly its lanes.

#include "compiler/codegen/Combiner.h"
#include "compiler/codegen/KernelEmitter.h"
#include "compiler/codegen/MathRoutines.h"

using namespace mlir;
using namespace mlir::autopar;

namespace {
constexpr int64_t laneCount = 16;
constexpr int64_t groupCount = 4;

class RowEmitter {
public:
  explicit RowEmitter(KernelContext &context)
      : context(context), shape(context.shape), space(shape.body.space), b(context.loops()),
        lanes(context.builder, context.loc, laneCount), scalar(context.builder, context.loc, 0) {
    for (auto [dim, isReduced] : llvm::enumerate(shape.reduced))
      (isReduced ? reducedDims : keptDims).push_back(dim);
    reducedDims.pop_back(); // the last one is the row
  }

  void emit();

private:
  using Accumulators = SmallVector<Value>; // groupCount accumulators, flat
  /// Takes in `valid` lanes from `place` on.
  using Step = llvm::function_ref<Combiner::Accumulator(ArrayRef<Value> place, int64_t valid,
                                                         const Combiner::Accumulator &into)>;

  void reduceRow(Value row, SmallVector<Value> place);
  void softmaxRow(Value row, SmallVector<Value> place);
  Accumulators start(const Combiner &combiner);
  Accumulators sweep(size_t level, SmallVector<Value> &place, Accumulators values, size_t width, Step step);
  Accumulators sweepRow(SmallVector<Value> &place, Accumulators values, size_t width, Step step);
  /// All lanes of all groups into one scalar accumulator.
  Combiner::Accumulator fold(const Combiner &combiner, const Accumulators &values);
  Value laneNumbers(int64_t first);
  Value indexOf(Value place);
  /// Lanes beyond `valid` become the combiner's identity.
  Value onlyValid(const Combiner &combiner, Value value, int64_t valid);
  /// Stores the yields that have the operand's shape.
  void storeYields(BodyEmitter &body, int64_t valid);

  KernelContext &context;
  const KernelShape &shape;
  ArrayRef<int64_t> space;
  LoopBuilder b;
  LaneBuilder lanes, scalar;
  SmallVector<unsigned, 4> keptDims, reducedDims;
};

Value RowEmitter::laneNumbers(int64_t first) {
  SmallVector<int32_t> numbers;
  for (int64_t lane = 0; lane < laneCount; ++lane)
    numbers.push_back(first + lane);
  auto type = VectorType::get({laneCount}, context.builder.getI32Type());
  return arith::ConstantOp::create(context.builder, context.loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
}

Value RowEmitter::indexOf(Value place) {
  Value base = arith::IndexCastOp::create(context.builder, context.loc, context.builder.getI32Type(), place);
  return lanes.addi(lanes.spread(base), laneNumbers(0));
}

Value RowEmitter::onlyValid(const Combiner &combiner, Value value, int64_t valid) {
  if (valid == laneCount || !combiner.countsRepeats())
    return value;
  SmallVector<bool> mask(laneCount, false);
  std::fill_n(mask.begin(), valid, true);
  auto type = VectorType::get({laneCount}, context.builder.getI1Type());
  Value isValid = arith::ConstantOp::create(context.builder, context.loc, DenseElementsAttr::get(type, mask));
  return lanes.select(isValid, value, combiner.identity(lanes, {})[0]);
}

RowEmitter::Accumulators RowEmitter::start(const Combiner &combiner) {
  Accumulators values;
  for (int64_t group = 0; group < groupCount; ++group) {
    Value first = combiner.getKind() == Combiner::Kind::Argmax ? laneNumbers(group * laneCount) : Value();
    llvm::append_range(values, combiner.identity(lanes, first));
  }
  return values;
}

RowEmitter::Accumulators RowEmitter::sweepRow(SmallVector<Value> &place, Accumulators values, size_t width,
                                              Step step) {
  int64_t length = space.back(), chunk = laneCount * groupCount, full = length / chunk * chunk;
  auto takeGroup = [&](Value column, int64_t group, int64_t valid, Accumulators &into) {
    place.back() = b.add(column, b.constant(group * laneCount));
    Combiner::Accumulator old(into.begin() + group * width, into.begin() + (group + 1) * width);
    llvm::copy(step(place, valid, old), into.begin() + group * width);
  };
  if (full > 0)
    values = b.loop(b.constant(0), b.constant(full), chunk, values, [&](Value column, ArrayRef<Value> carried) {
      Accumulators next(carried);
      for (int64_t group = 0; group < groupCount; ++group)
        takeGroup(column, group, laneCount, next);
      return next;
    });
  Value column = b.constant(full);
  for (int64_t group = 0, rest = length - full; rest > 0; ++group, rest -= laneCount)
    takeGroup(column, group, std::min(rest, laneCount), values);
  return values;
}

RowEmitter::Accumulators RowEmitter::sweep(size_t level, SmallVector<Value> &place, Accumulators values, size_t width,
                                           Step step) {
  if (level == reducedDims.size())
    return sweepRow(place, std::move(values), width, step);
  unsigned dim = reducedDims[level];
  return b.loop(b.constant(0), b.constant(space[dim]), 1, values, [&](Value index, ArrayRef<Value> carried) {
    place[dim] = index;
    return sweep(level + 1, place, Accumulators(carried), width, step);
  });
}

Combiner::Accumulator RowEmitter::fold(const Combiner &combiner, const Accumulators &values) {
  size_t width = values.size() / groupCount;
  auto groupOf = [&](int64_t group) {
    return Combiner::Accumulator(values.begin() + group * width, values.begin() + (group + 1) * width);
  };
  Combiner::Accumulator all = combiner.merge(lanes, combiner.merge(lanes, groupOf(0), groupOf(1)),
                                             combiner.merge(lanes, groupOf(2), groupOf(3)));
  for (int64_t half = laneCount / 2; half > 0; half /= 2) {
    LaneBuilder narrow(context.builder, context.loc, half);
    Combiner::Accumulator low, high;
    SmallVector<int64_t> lowLanes, highLanes;
    for (int64_t lane = 0; lane < half; ++lane) {
      lowLanes.push_back(lane);
      highLanes.push_back(half + lane);
    }
    for (Value value : all) {
      low.push_back(vector::ShuffleOp::create(context.builder, context.loc, value, value, lowLanes));
      high.push_back(vector::ShuffleOp::create(context.builder, context.loc, value, value, highLanes));
    }
    all = combiner.merge(narrow, low, high);
  }
  for (Value &value : all)
    value = vector::ExtractOp::create(context.builder, context.loc, value, 0);
  return all;
}

void RowEmitter::storeYields(BodyEmitter &body, int64_t valid) {
  IndexExpr linear;
  linear.coefficients = rowMajorStrides(space);
  for (auto [node, memory] : llvm::zip_equal(shape.yields, context.results))
    if (node >= 0)
      storeLanes(lanes, body.emit(node), memory, body.address(linear), valid);
}

void RowEmitter::reduceRow(Value row, SmallVector<Value> place) {
  Combiner combiner = Combiner::of(shape.root);
  Value result;
  if (llvm::any_of(space, [](int64_t size) { return size == 0; })) {
    result = combiner.empty(scalar);
  } else {
    Accumulators values = start(combiner);
    size_t width = values.size() / groupCount;
    values = sweep(0, place, values, width,
                   [&](ArrayRef<Value> at, int64_t valid, const Combiner::Accumulator &into) {
                     BodyEmitter body(shape.body, context.buffers, lanes, at, valid);
                     Value value = onlyValid(combiner, body.emit(shape.operandNode), valid);
                     storeYields(body, valid);
                     Value index = combiner.getKind() == Combiner::Kind::Argmax ? indexOf(at.back()) : Value();
                     return combiner.take(lanes, into, value, index);
                   });
    result = combiner.finish(scalar, fold(combiner, values));
  }
  for (auto [node, memory] : llvm::zip_equal(shape.yields, context.results))
    if (node < 0)
      storeLanes(scalar, result, memory, row, 1);
}

void RowEmitter::softmaxRow(Value row, SmallVector<Value> place) {
  Combiner largest(Combiner::Kind::Largest, true), sum(Combiner::Kind::Sum, true);
  SmallVector<Value> results;
  for (auto [node, memory] : llvm::zip_equal(shape.yields, context.results))
    if (node < 0)
      results.push_back(memory);
  Value start0 = b.mul(row, b.constant(space.back()));
  // What is more than a load is computed once and kept in the result's place.
  bool isLoad = shape.body.nodes[shape.operandNode].kind == BodyNode::Kind::Load;
  Accumulators values = sweep(0, place, start(largest), 1,
                              [&](ArrayRef<Value> at, int64_t valid, const Combiner::Accumulator &into) {
                                BodyEmitter body(shape.body, context.buffers, lanes, at, valid);
                                Value value = body.emit(shape.operandNode);
                                storeYields(body, valid);
                                if (!isLoad)
                                  storeLanes(lanes, value, results[0], b.add(start0, at.back()), valid);
                                return largest.take(lanes, into, value, {});
                              });
  Value max = lanes.spread(fold(largest, values)[0]);
  values = sweep(0, place, start(sum), 1,
                 [&](ArrayRef<Value> at, int64_t valid, const Combiner::Accumulator &into) {
                   BodyEmitter body(shape.body, context.buffers, lanes, at, valid);
                   Value to = b.add(start0, at.back());
                   Value value = isLoad ? body.emit(shape.operandNode)
                                        : loadLanes(lanes, results[0], to, context.builder.getF32Type(), valid);
                   value = emitExp(lanes, lanes.subf(value, max));
                   storeLanes(lanes, value, results[0], to, valid);
                   return sum.take(lanes, into, onlyValid(sum, value, valid), {});
                 });
  Value scale = scalar.divf(scalar.f32(1.0), fold(sum, values)[0]);
  b.loop(start0, b.add(start0, b.constant(space.back())), 1, [&](Value at) {
    Value value = memref::LoadOp::create(context.builder, context.loc, results[0], at);
    value = scalar.mulf(value, scale);
    for (Value memory : results)
      memref::StoreOp::create(context.builder, context.loc, value, memory, at);
  });
}

void RowEmitter::emit() {
  SmallVector<int64_t> keptSizes;
  for (unsigned dim : keptDims)
    keptSizes.push_back(space[dim]);
  context.forEachItem([&](Value row) {
    SmallVector<Value> place(space.size());
    for (auto [dim, index] : llvm::zip_equal(keptDims, b.delinearise(row, keptSizes)))
      place[dim] = index;
    if (isa<SoftmaxOp>(shape.root))
      softmaxRow(row, place);
    else
      reduceRow(row, place);
  });
}
} // namespace

void mlir::autopar::emitRow(KernelContext &context) { RowEmitter(context).emit(); }
