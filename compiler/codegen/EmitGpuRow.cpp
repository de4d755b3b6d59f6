// Reductions along the last dimension on a GPU. A team of threads takes a row: 16 threads if rows are short or many (two
// teams a warp), else a block.
//
// A team of T threads has 4 T lanes; element i of a row goes to lane i mod 4 T, and a lane takes its elements in order. With
// T = 16 these are the CPU's 64 lanes (EmitRow.cpp) and they combine in the CPU's tree, so that sums have the CPU's bits. Where
// rows are whole groups of four elements, a thread has four neighbouring lanes and loads them at once; otherwise lanes t,
// t + T, t + 2 T, t + 3 T. Which, changes nothing in what a lane takes.

#include "compiler/codegen/Combiner.h"
#include "compiler/codegen/GpuEmitter.h"
#include "compiler/codegen/MathRoutines.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::autopar;

namespace {
constexpr int64_t smallTeam = 16, largeTeam = 512;
constexpr int64_t lanesPerThread = 4;
/// Rows up to this length, or as many rows as this, have small teams: there the GPU is full, or the row soon done.
constexpr int64_t longRow = 1024, manyRows = 2048;

int64_t teamOf(const KernelShape &shape) {
  int64_t length = 1;
  for (auto [size, isReduced] : llvm::zip_equal(shape.body.space, shape.reduced))
    if (isReduced)
      length *= size;
  return length <= longRow || shape.tiling.items >= manyRows ? smallTeam : largeTeam;
}

class GpuRowEmitter {
public:
  explicit GpuRowEmitter(GpuContext &context)
      : context(context), shape(context.shape()), space(shape.body.space), team(teamOf(shape)),
        isVector(space.back() % lanesPerThread == 0), b(context.loops(elementsOf(space))),
        lanes(context.builder(), context.loc(), isVector ? lanesPerThread : 0), scalar(context.builder(), context.loc(), 0),
        threads(context.threads) {
    for (auto [dim, isReduced] : llvm::enumerate(shape.reduced))
      (isReduced ? reducedDims : keptDims).push_back(dim);
    reducedDims.pop_back(); // the last one is the row
    member = b.rem(threads.thread(), team);
    for (auto [node, memory] : llvm::zip_equal(shape.yields, context.kernel.results))
      if (node < 0)
        results.push_back(memory);
    linear.coefficients = rowMajorStrides(space);
  }

  void emit();

private:
  /// One value per component of an accumulator and per slot, flat, slots outside: a thread's slot is a vector of its four
  /// lanes, or one of four scalars.
  using Slots = SmallVector<Value>;
  using Step = llvm::function_ref<Combiner::Accumulator(ArrayRef<Value> place, const Combiner::Accumulator &into)>;

  int64_t slotCount() const { return isVector ? 1 : lanesPerThread; }
  Slots start(const Combiner &combiner);
  Slots sweep(size_t level, SmallVector<Value> &place, Slots values, Step step);
  Slots sweepRow(SmallVector<Value> &place, Slots values, Step step);
  /// Combines the slots of a thread, then the threads of the team. Every thread of the team gets the result.
  Combiner::Accumulator fold(const Combiner &combiner, const Slots &values);
  Combiner::Accumulator foldSmall(const Combiner &combiner, const Slots &values);
  Combiner::Accumulator foldLarge(const Combiner &combiner, const Slots &values);
  Combiner::Accumulator mergeDown(const Combiner &combiner, LaneBuilder &builder, const Combiner::Accumulator &value,
                                  int64_t delta, int64_t width);
  /// Of one thread: its slots, or the lanes of its vector.
  Combiner::Accumulator foldSlots(const Combiner &combiner, const Slots &values);
  Combiner::Accumulator foldVector(const Combiner &combiner, const Combiner::Accumulator &value);
  Value indexOf(Value column);
  Value valueAt(ArrayRef<Value> place);
  void reduceRow(Value row, SmallVector<Value> place);
  void softmaxRow(Value row, SmallVector<Value> place);

  GpuContext &context;
  const KernelShape &shape;
  ArrayRef<int64_t> space;
  int64_t team;
  bool isVector;
  LoopBuilder b;
  LaneBuilder lanes, scalar;
  GpuThreads &threads;
  Value member; ///< number of the thread in its team
  SmallVector<unsigned, 4> keptDims, reducedDims;
  SmallVector<Value> results; ///< of the root
  SmallVector<Value> shared;  ///< of large teams: one element a warp, per component
  IndexExpr linear;
};

/// The numbers of the elements from `column` on, as i32 lanes.
Value GpuRowEmitter::indexOf(Value column) {
  Value first = arith::IndexCastOp::create(context.builder(), context.loc(), context.builder().getI32Type(), column);
  if (!isVector)
    return first;
  auto type = VectorType::get({lanesPerThread}, context.builder().getI32Type());
  Value numbers = arith::ConstantOp::create(context.builder(), context.loc(),
                                            DenseElementsAttr::get(type, ArrayRef<int32_t>{0, 1, 2, 3}));
  return lanes.addi(lanes.spread(first), numbers);
}

GpuRowEmitter::Slots GpuRowEmitter::start(const Combiner &combiner) {
  Slots values;
  for (int64_t slot = 0; slot < slotCount(); ++slot) {
    Value first;
    if (combiner.getKind() == Combiner::Kind::Argmax)
      first = indexOf(isVector ? b.mul(member, b.constant(lanesPerThread)) : b.add(member, b.constant(slot * team)));
    llvm::append_range(values, combiner.identity(lanes, first));
  }
  return values;
}

GpuRowEmitter::Slots GpuRowEmitter::sweepRow(SmallVector<Value> &place, Slots values, Step step) {
  int64_t length = space.back(), chunk = lanesPerThread * team, slots = slotCount();
  size_t width = values.size() / slots;
  int64_t unroll = shape.body.nodes.size() <= gpuMaxUnrolledNodes && isVector ? gpuUnroll : 1;
  auto takeSlot = [&](Value first, int64_t slot, Slots &into) {
    place.back() = isVector ? b.add(first, b.mul(member, b.constant(lanesPerThread)))
                            : b.add(b.add(first, member), b.constant(slot * team));
    Combiner::Accumulator old(into.begin() + slot * width, into.begin() + (slot + 1) * width);
    llvm::copy(step(place, old), into.begin() + slot * width);
  };
  auto takeChunk = [&](Value first, Slots &into) {
    for (int64_t slot = 0; slot < slots; ++slot)
      takeSlot(first, slot, into);
  };
  int64_t round = chunk * unroll, rounds = length / round * round, whole = length / chunk * chunk;
  if (rounds > 0)
    values = b.loop(b.constant(0), b.constant(rounds), round, values, [&](Value first, ArrayRef<Value> carried) {
      Slots next(carried);
      for (int64_t group = 0; group < unroll; ++group)
        takeChunk(b.add(first, b.constant(group * chunk)), next);
      return next;
    });
  for (int64_t first = rounds; first < whole; first += chunk)
    takeChunk(b.constant(first), values);
  // The threads that still have elements.
  int64_t rest = length - whole;
  for (int64_t slot = 0; slot < slots; ++slot) {
    int64_t members = isVector ? rest / lanesPerThread : std::clamp<int64_t>(rest - slot * team, 0, team);
    if (members == 0)
      continue;
    auto take = [&] {
      Slots next = values;
      takeSlot(b.constant(whole), slot, next);
      return next;
    };
    values = members == team ? take() : b.ifThen(b.less(member, b.constant(members)), values, take);
  }
  return values;
}

GpuRowEmitter::Slots GpuRowEmitter::sweep(size_t level, SmallVector<Value> &place, Slots values, Step step) {
  if (level == reducedDims.size())
    return sweepRow(place, std::move(values), step);
  unsigned dim = reducedDims[level];
  return b.loop(b.constant(0), b.constant(space[dim]), 1, values, [&](Value index, ArrayRef<Value> carried) {
    place[dim] = index;
    return sweep(level + 1, place, Slots(carried), step);
  });
}

// ---- combining ------------------------------------------------------------------------------------------------------

Combiner::Accumulator GpuRowEmitter::mergeDown(const Combiner &combiner, LaneBuilder &builder,
                                               const Combiner::Accumulator &value, int64_t delta, int64_t width) {
  Combiner::Accumulator other;
  for (Value component : value)
    other.push_back(threads.shuffleDown(component, delta, width));
  return combiner.merge(builder, value, other);
}

Combiner::Accumulator GpuRowEmitter::foldVector(const Combiner &combiner, const Combiner::Accumulator &value) {
  auto lane = [&](int64_t number) {
    Combiner::Accumulator one;
    for (Value component : value)
      one.push_back(vector::ExtractOp::create(context.builder(), context.loc(), component, number));
    return one;
  };
  // Halves onto each other, as on the CPU.
  return combiner.merge(scalar, combiner.merge(scalar, lane(0), lane(2)), combiner.merge(scalar, lane(1), lane(3)));
}

Combiner::Accumulator GpuRowEmitter::foldSlots(const Combiner &combiner, const Slots &values) {
  if (isVector)
    return foldVector(combiner, Combiner::Accumulator(ArrayRef<Value>(values)));
  size_t width = values.size() / lanesPerThread;
  auto slot = [&](int64_t number) {
    return Combiner::Accumulator(values.begin() + number * width, values.begin() + (number + 1) * width);
  };
  return combiner.merge(scalar, combiner.merge(scalar, slot(0), slot(1)), combiner.merge(scalar, slot(2), slot(3)));
}

Combiner::Accumulator GpuRowEmitter::foldSmall(const Combiner &combiner, const Slots &values) {
  // The CPU's tree: four groups of 16 lanes in pairs, then halves onto each other. A vector's thread t has lanes 4 t to
  // 4 t + 3, so that threads 4 apart are in neighbouring groups; a scalar's has lane t of every group.
  Combiner::Accumulator all;
  if (isVector) {
    all = Combiner::Accumulator(ArrayRef<Value>(values));
    for (int64_t delta : {4, 8, 2, 1})
      all = mergeDown(combiner, lanes, all, delta, smallTeam);
    all = foldVector(combiner, all);
  } else {
    all = foldSlots(combiner, values);
    for (int64_t delta : {8, 4, 2, 1})
      all = mergeDown(combiner, scalar, all, delta, smallTeam);
  }
  for (Value &component : all)
    component = threads.shuffleFirst(component, smallTeam);
  return all;
}

Combiner::Accumulator GpuRowEmitter::foldLarge(const Combiner &combiner, const Slots &values) {
  Combiner::Accumulator all = foldSlots(combiner, values);
  for (int64_t delta = warpSize / 2; delta > 0; delta /= 2)
    all = mergeDown(combiner, scalar, all, delta, warpSize);
  constexpr int64_t warps = largeTeam / warpSize;
  auto module = context.kernel.function->getParentOfType<ModuleOp>();
  if (shared.empty()) {
    // At the function's begin, for all folds.
    OpBuilder::InsertionGuard guard(context.builder());
    context.builder().setInsertionPointToStart(&context.kernel.function.getBody().front());
    for (size_t number = 0; number < 2; ++number)
      shared.push_back(threads.shared(module, "autopar_partial", warps, context.builder().getI32Type()));
  }
  auto toBits = [&](Value value) { return value.getType().isF32() ? scalar.bitcast(scalar.i32(), value) : value; };
  threads.barrier(); // the fold before has been read
  Value warp = b.div(threads.thread(), warpSize), isFirst = b.less(b.rem(threads.thread(), warpSize), b.constant(1));
  b.ifThen(isFirst, [&] {
    for (auto [component, memory] : llvm::zip(all, shared))
      memref::StoreOp::create(context.builder(), context.loc(), toBits(component), memory, warp);
  });
  threads.barrier();
  Combiner::Accumulator total;
  for (int64_t number = 0; number < warps; ++number) {
    Combiner::Accumulator part;
    for (auto [component, memory] : llvm::zip(all, shared)) {
      Value bits = memref::LoadOp::create(context.builder(), context.loc(), memory, b.constant(number));
      part.push_back(component.getType().isF32() ? scalar.bitcast(scalar.f32(), bits) : bits);
    }
    total = number == 0 ? part : combiner.merge(scalar, total, part);
  }
  return total;
}

Combiner::Accumulator GpuRowEmitter::fold(const Combiner &combiner, const Slots &values) {
  return team == smallTeam ? foldSmall(combiner, values) : foldLarge(combiner, values);
}

// ---- rows -----------------------------------------------------------------------------------------------------------

/// The operand's elements at `place`; stores the yields that have its shape.
Value GpuRowEmitter::valueAt(ArrayRef<Value> place) {
  BodyEmitter body(shape.body, context.kernel.buffers, lanes, place, 0, /*isAligned=*/true);
  Value value = body.emit(shape.operandNode);
  for (auto [node, memory] : llvm::zip_equal(shape.yields, context.kernel.results))
    if (node >= 0)
      storeLanes(lanes, body.emit(node), memory, body.address(linear), lanes.lanes, body.isAlignedAt(linear));
  return value;
}

void GpuRowEmitter::reduceRow(Value row, SmallVector<Value> place) {
  Combiner combiner = Combiner::of(shape.root);
  Value result;
  if (llvm::is_contained(space, 0)) {
    result = combiner.empty(scalar);
  } else {
    Slots values = sweep(0, place, start(combiner), [&](ArrayRef<Value> at, const Combiner::Accumulator &into) {
      Value value = valueAt(at);
      Value index = combiner.getKind() == Combiner::Kind::Argmax ? indexOf(at.back()) : Value();
      return combiner.take(lanes, into, value, index);
    });
    result = combiner.finish(scalar, fold(combiner, values));
  }
  b.ifThen(b.less(member, b.constant(1)), [&] {
    for (Value memory : results)
      storeLanes(scalar, result, memory, row, 1);
  });
}

void GpuRowEmitter::softmaxRow(Value row, SmallVector<Value> place) {
  // As on the CPU: what is more than a load is kept in the result's place, and so are the exponentials. A thread reads
  // there only what it wrote.
  Combiner largest(Combiner::Kind::Largest, true), sum(Combiner::Kind::Sum, true);
  bool isLoad = shape.body.nodes[shape.operandNode].kind == BodyNode::Kind::Load;
  Value rowStart = b.mul(row, b.constant(space.back()));
  auto kept = [&](Value at) {
    return loadLanes(lanes, results[0], at, context.builder().getF32Type(), lanes.lanes, isVector);
  };
  auto keep = [&](Value value, Value memory, Value at) {
    storeLanes(lanes, value, memory, at, lanes.lanes, isVector);
  };
  Slots values = sweep(0, place, start(largest), [&](ArrayRef<Value> at, const Combiner::Accumulator &into) {
    Value value = valueAt(at);
    if (!isLoad)
      keep(value, results[0], b.add(rowStart, at.back()));
    return largest.take(lanes, into, value, {});
  });
  Value max = lanes.spread(fold(largest, values)[0]);
  values = sweep(0, place, start(sum), [&](ArrayRef<Value> at, const Combiner::Accumulator &into) {
    BodyEmitter body(shape.body, context.kernel.buffers, lanes, at, 0, /*isAligned=*/true);
    Value to = b.add(rowStart, at.back());
    Value value = emitExp(lanes, lanes.subf(isLoad ? body.emit(shape.operandNode) : kept(to), max));
    keep(value, results[0], to);
    return sum.take(lanes, into, value, {});
  });
  Value scale = lanes.spread(scalar.divf(scalar.f32(1.0), fold(sum, values)[0]));
  sweep(0, place, {}, [&](ArrayRef<Value> at, const Combiner::Accumulator &) -> Combiner::Accumulator {
    Value to = b.add(rowStart, at.back());
    Value value = lanes.mulf(kept(to), scale);
    for (Value memory : results)
      keep(value, memory, to);
    return {};
  });
}

void GpuRowEmitter::emit() {
  SmallVector<int64_t> keptSizes;
  for (unsigned dim : keptDims)
    keptSizes.push_back(space[dim]);
  int64_t teams = context.launch.block / team;
  Value first = b.add(b.mul(threads.block(), b.constant(teams)), b.div(threads.thread(), team));
  context.forEach(first, context.launch.grid * teams, shape.tiling.items, [&](Value row) {
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

GpuLaunch mlir::autopar::gpuRowLaunch(const KernelShape &shape) {
  int64_t team = teamOf(shape);
  return launchFor(shape.tiling.items * team, team == smallTeam ? gpuBlock : largeTeam);
}

void mlir::autopar::emitGpuRow(GpuContext &context) { GpuRowEmitter(context).emit(); }
