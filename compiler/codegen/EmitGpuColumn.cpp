// Reductions along dimensions that are not the last, on a GPU. Neighbouring threads take neighbouring columns. If there are
// enough columns to fill a GPU, or few rows, each column has one thread, which takes its rows first to last as the CPU does.
// Otherwise 16 threads share a column: thread y takes rows y, y + 16, ..., and the 16 partial results combine in order.

#include "compiler/codegen/Combiner.h"
#include "compiler/codegen/GpuEmitter.h"
#include "compiler/codegen/MathRoutines.h"

using namespace mlir;
using namespace mlir::autopar;

namespace {
constexpr int64_t sharedColumns = 32, sharers = 16;
/// Columns from which on, and rows up to which, a column has a thread of its own.
constexpr int64_t manyColumns = 8192, fewRows = 128;

struct Extents {
  explicit Extents(const KernelShape &shape) {
    for (auto [size, isReduced] : llvm::zip_equal(shape.body.space, shape.reduced))
      (isReduced ? rows : columns) *= size;
    isShared = columns < manyColumns && rows > fewRows;
  }
  int64_t rows = 1, columns = 1;
  bool isShared;
};

class GpuColumnEmitter {
public:
  explicit GpuColumnEmitter(GpuContext &context)
      : context(context), shape(context.shape()), space(shape.body.space), extents(shape),
        groups(extents.isShared ? sharers : 1), b(context.loops(elementsOf(space))),
        scalar(context.builder(), context.loc(), 0) {
    for (auto [dim, isReduced] : llvm::enumerate(shape.reduced)) {
      (isReduced ? reducedDims : keptDims).push_back(dim);
      (isReduced ? reducedSizes : keptSizes).push_back(space[dim]);
    }
    linear.coefficients = rowMajorStrides(space);
    for (auto [node, memory] : llvm::zip_equal(shape.yields, context.kernel.results))
      if (node < 0)
        results.push_back(memory);
    group = extents.isShared ? b.div(context.threads.thread(), sharedColumns) : b.constant(0);
  }

  void emit();

private:
  using Accumulator = Combiner::Accumulator;
  /// Takes the element in row number `row` of the place's column.
  using Step = llvm::function_ref<Accumulator(Value row, ArrayRef<Value> place, const Accumulator &into)>;

  /// The thread's rows of one column, one after the other.
  Accumulator sweep(SmallVector<Value> place, Accumulator values, Step step);
  /// The accumulators of the threads that share a column, combined; all of them get the result.
  Accumulator gather(const Combiner &combiner, const Accumulator &values);
  Accumulator merge(const Combiner &combiner, const Accumulator &left, const Accumulator &right);
  Accumulator take(const Combiner &combiner, const Accumulator &into, Value value, Value row);
  /// f32 max and min: one operation that keeps NaN and knows the sign of zero, so that any order gives the same.
  static bool isExtremum(const Combiner &combiner, Value value) {
    return value.getType().isF32() &&
           (combiner.getKind() == Combiner::Kind::Max || combiner.getKind() == Combiner::Kind::Min);
  }
  Value extremum(const Combiner &combiner, Value left, Value right) {
    return combiner.getKind() == Combiner::Kind::Max ? scalar.make<arith::MaximumFOp>(left, right)
                                                     : scalar.make<arith::MinimumFOp>(left, right);
  }
  Value valueAt(ArrayRef<Value> place);
  Value addressOf(ArrayRef<Value> place) {
    return BodyEmitter(shape.body, context.kernel.buffers, scalar, place).address(linear);
  }
  /// Reduces over the place's column if `isValid` (null: it is); without, the identity.
  Accumulator partial(const Combiner &combiner, ArrayRef<Value> place, Value isValid, Step step);
  void reduceColumn(Value column, ArrayRef<Value> place, Value isValid);
  void softmaxColumn(ArrayRef<Value> place, Value isValid);

  GpuContext &context;
  const KernelShape &shape;
  ArrayRef<int64_t> space;
  Extents extents;
  int64_t groups;
  LoopBuilder b;
  LaneBuilder scalar;
  Value group; ///< number of the thread among those that share its column
  SmallVector<unsigned, 4> keptDims, reducedDims;
  SmallVector<int64_t, 4> keptSizes, reducedSizes;
  SmallVector<Value> results; ///< of the root
  SmallVector<Value> shared;  ///< i32, one element a thread, per component
  IndexExpr linear;
};

GpuColumnEmitter::Accumulator GpuColumnEmitter::sweep(SmallVector<Value> place, Accumulator values, Step step) {
  int64_t unroll = shape.body.nodes.size() <= gpuMaxUnrolledNodes ? gpuUnroll : 1;
  int64_t round = groups * unroll, rounds = extents.rows / round * round;
  auto takeRow = [&](Value row, ArrayRef<Value> into) {
    for (auto [dim, index] : llvm::zip_equal(reducedDims, b.delinearise(row, reducedSizes)))
      place[dim] = index;
    return step(row, place, Accumulator(into));
  };
  if (rounds > 0)
    values = b.loop(b.constant(0), b.constant(rounds), round, values, [&](Value first, ArrayRef<Value> carried) {
      Accumulator next(carried);
      for (int64_t turn = 0; turn < unroll; ++turn)
        next = takeRow(b.add(b.add(first, b.constant(turn * groups)), group), next);
      return llvm::to_vector(ArrayRef<Value>(next));
    });
  for (int64_t first = rounds; first < extents.rows; first += groups) {
    auto takeRest = [&] { return SmallVector<Value>(takeRow(b.add(b.constant(first), group), values)); };
    int64_t rest = extents.rows - first;
    values = rest >= groups ? takeRest() : b.ifThen(b.less(group, b.constant(rest)), values, takeRest);
  }
  return values;
}

GpuColumnEmitter::Accumulator GpuColumnEmitter::merge(const Combiner &combiner, const Accumulator &left,
                                                      const Accumulator &right) {
  if (left.size() == 1 && isExtremum(combiner, left[0]))
    return {extremum(combiner, left[0], right[0])};
  return combiner.merge(scalar, left, right);
}

GpuColumnEmitter::Accumulator GpuColumnEmitter::take(const Combiner &combiner, const Accumulator &into, Value value,
                                                     Value row) {
  if (isExtremum(combiner, value))
    return {extremum(combiner, into[0], value)};
  Value index;
  if (combiner.getKind() == Combiner::Kind::Argmax)
    index = arith::IndexCastOp::create(context.builder(), context.loc(), context.builder().getI32Type(), row);
  return combiner.take(scalar, into, value, index);
}

GpuColumnEmitter::Accumulator GpuColumnEmitter::gather(const Combiner &combiner, const Accumulator &values) {
  if (!extents.isShared)
    return values;
  if (shared.empty()) {
    OpBuilder::InsertionGuard guard(context.builder());
    context.builder().setInsertionPointToStart(&context.kernel.function.getBody().front());
    auto module = context.kernel.function->getParentOfType<ModuleOp>();
    for (size_t number = 0; number < (isa<ArgmaxOp>(shape.root) ? 2 : 1); ++number)
      shared.push_back(context.threads.shared(module, "autopar_partial", sharers * sharedColumns,
                                              context.builder().getI32Type()));
  }
  context.threads.barrier(); // what was gathered before has been read
  for (auto [component, memory] : llvm::zip(values, shared)) {
    Value bits = component.getType().isF32() ? scalar.bitcast(scalar.i32(), component) : component;
    memref::StoreOp::create(context.builder(), context.loc(), bits, memory, context.threads.thread());
  }
  context.threads.barrier();
  Value column = b.rem(context.threads.thread(), sharedColumns);
  Accumulator total;
  for (int64_t number = 0; number < sharers; ++number) {
    Accumulator part;
    for (auto [component, memory] : llvm::zip(values, shared)) {
      Value bits = memref::LoadOp::create(context.builder(), context.loc(), memory,
                                          b.add(column, b.constant(number * sharedColumns)));
      part.push_back(component.getType().isF32() ? scalar.bitcast(scalar.f32(), bits) : bits);
    }
    total = number == 0 ? part : merge(combiner, total, part);
  }
  return total;
}

/// The operand's value at `place`; stores the yields that have its shape.
Value GpuColumnEmitter::valueAt(ArrayRef<Value> place) {
  BodyEmitter body(shape.body, context.kernel.buffers, scalar, place);
  Value value = body.emit(shape.operandNode);
  for (auto [node, memory] : llvm::zip_equal(shape.yields, context.kernel.results))
    if (node >= 0)
      storeLanes(scalar, body.emit(node), memory, body.address(linear), 1);
  return value;
}

GpuColumnEmitter::Accumulator GpuColumnEmitter::partial(const Combiner &combiner, ArrayRef<Value> place, Value isValid,
                                                        Step step) {
  Value zero = combiner.getKind() == Combiner::Kind::Argmax ? scalar.i32(0) : Value();
  Accumulator identity = combiner.identity(scalar, zero);
  if (combiner.getKind() == Combiner::Kind::Argmax && extents.isShared) // the first row of this thread
    identity[1] = arith::IndexCastOp::create(context.builder(), context.loc(), context.builder().getI32Type(), group);
  if (isExtremum(combiner, identity[0]))
    identity.truncate(1);
  auto run = [&] { return SmallVector<Value>(sweep(SmallVector<Value>(place), identity, step)); };
  return isValid ? Accumulator(b.ifThen(isValid, identity, run)) : Accumulator(run());
}

void GpuColumnEmitter::reduceColumn(Value column, ArrayRef<Value> place, Value isValid) {
  Combiner combiner = Combiner::of(shape.root);
  Value result;
  if (llvm::is_contained(space, 0)) {
    result = combiner.empty(scalar);
  } else {
    Accumulator total =
        gather(combiner, partial(combiner, place, isValid, [&](Value row, ArrayRef<Value> at, const Accumulator &into) {
                 return take(combiner, into, valueAt(at), row);
               }));
    result = total.size() == 1 ? total[0] : combiner.finish(scalar, total);
  }
  auto store = [&] {
    for (Value memory : results)
      storeLanes(scalar, result, memory, column, 1);
  };
  if (!isValid)
    return store();
  b.ifThen(scalar.andi(isValid, b.less(group, b.constant(1))), store);
}

void GpuColumnEmitter::softmaxColumn(ArrayRef<Value> place, Value isValid) {
  // As on the CPU; a thread reads from the results only what it wrote.
  Combiner largest(Combiner::Kind::Largest, true), sum(Combiner::Kind::Sum, true);
  auto load = [&](Value at) -> Value { return memref::LoadOp::create(context.builder(), context.loc(), results[0], at); };
  auto store = [&](Value value, Value memory, Value at) {
    memref::StoreOp::create(context.builder(), context.loc(), value, memory, at);
  };
  Value max = gather(largest, partial(largest, place, isValid,
                                      [&](Value, ArrayRef<Value> at, const Accumulator &into) {
                                        Value value = valueAt(at);
                                        store(value, results[0], addressOf(at));
                                        return largest.take(scalar, into, value, {});
                                      }))[0];
  Value total = gather(sum, partial(sum, place, isValid, [&](Value, ArrayRef<Value> at, const Accumulator &into) {
                         Value address = addressOf(at);
                         Value value = emitExp(scalar, scalar.subf(load(address), max));
                         store(value, results[0], address);
                         return sum.take(scalar, into, value, {});
                       }))[0];
  Value scale = scalar.divf(scalar.f32(1.0), total);
  auto scaleAll = [&] {
    sweep(SmallVector<Value>(place), {}, [&](Value, ArrayRef<Value> at, const Accumulator &) -> Accumulator {
      Value address = addressOf(at), value = scalar.mulf(load(address), scale);
      for (Value memory : results)
        store(value, memory, address);
      return {};
    });
  };
  if (isValid)
    b.ifThen(isValid, scaleAll);
  else
    scaleAll();
}

void GpuColumnEmitter::emit() {
  auto emitColumn = [&](Value column, Value isValid) {
    SmallVector<Value> place(space.size());
    for (auto [dim, index] : llvm::zip_equal(keptDims, b.delinearise(column, keptSizes)))
      place[dim] = index;
    if (isa<SoftmaxOp>(shape.root))
      softmaxColumn(place, isValid);
    else
      reduceColumn(column, place, isValid);
  };
  if (!extents.isShared) {
    context.forElements(extents.columns, 0, [&](Value column, LaneBuilder &) { emitColumn(column, {}); });
    return;
  }
  // All threads of a block make the same rounds, since they meet at barriers; some may be beyond the last column.
  int64_t blocks = (extents.columns + sharedColumns - 1) / sharedColumns;
  context.forEach(context.threads.block(), context.launch.grid, blocks, [&](Value block) {
    Value column = b.add(b.mul(block, b.constant(sharedColumns)), b.rem(context.threads.thread(), sharedColumns));
    emitColumn(column, b.less(column, b.constant(extents.columns)));
  });
}
} // namespace

GpuLaunch mlir::autopar::gpuColumnLaunch(const KernelShape &shape) {
  Extents extents(shape);
  constexpr int64_t block = sharedColumns * sharers;
  return extents.isShared ? launchFor((extents.columns + sharedColumns - 1) / sharedColumns * block, block)
                          : launchFor(extents.columns);
}

void mlir::autopar::emitGpuColumn(GpuContext &context) { GpuColumnEmitter(context).emit(); }
