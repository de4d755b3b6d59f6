// A kernel for GPUs: its function, its launch, and all kinds but reductions.

#include "compiler/codegen/GpuEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::autopar;

namespace {
constexpr int64_t accessBytes = 16;
/// Nodes times lanes beyond which a thread takes fewer elements at a time, to stay within its registers.
constexpr int64_t maxNodesInFlight = 512;
/// A transpose goes through squares of shared memory, rows of 33 elements so that columns meet different banks.
constexpr int64_t gpuSquare = 32, gpuSquarePitch = 33, gpuSquareRows = gpuBlock / gpuSquare;

int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

int64_t bytesOf(Type element) { return element.isInteger(1) ? 1 : element.getIntOrFloatBitWidth() / 8; }

/// How many neighbours of the innermost dimension one thread takes: 16 bytes of the widest operand that is read or written
/// along it, if rows are whole multiples of that; 0 for one at a time.
int64_t lanesOf(const KernelShape &shape, ArrayRef<Value> results) {
  int64_t widest = 1;
  for (Value memory : results)
    widest = std::max(widest, bytesOf(cast<MemRefType>(memory.getType()).getElementType()));
  for (const BodyNode &node : shape.body.nodes)
    if (node.kind == BodyNode::Kind::Load && !node.index.coefficients.empty() && node.index.coefficients.back() == 1)
      widest = std::max(widest, bytesOf(node.element));
  ArrayRef<int64_t> space = shape.body.space;
  int64_t nodes = shape.body.nodes.size(), lanes = accessBytes / widest;
  auto fits = [&] {
    return nodes * lanes <= maxNodesInFlight && (space.size() == 1 ? space[0] >= lanes : space.back() % lanes == 0);
  };
  while (lanes > 1 && !fits())
    lanes /= 2;
  return lanes > 1 ? lanes : 0;
}

/// Of the pieces of a concat, in elements: the same width for all of them.
int64_t concatLanes(ConcatOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t inner = elementsOf(type.getShape().drop_front(op.getAxis() + 1));
  int64_t lanes = accessBytes / bytesOf(type.getElementType());
  for (Value operand : op.getOperands())
    while (lanes > 1 && cast<RankedTensorType>(operand.getType()).getDimSize(op.getAxis()) * inner % lanes != 0)
      lanes /= 2;
  return lanes > 1 ? lanes : 0;
}

Value splatOf(LaneBuilder &b, ConstantOp constant) {
  return b.constant(cast<TypedAttr>(cast<DenseElementsAttr>(constant.getValue()).getSplatValue<Attribute>()));
}

// ---- elementwise ----------------------------------------------------------------------------------------------------

/// Kernels over one space whose results are row-major in it: elementwise ones, and the epilogue of a whole product.
void emitElements(GpuContext &context, int64_t lanes) {
  const KernelShape &shape = context.shape();
  ArrayRef<int64_t> space = shape.body.space;
  int64_t count = elementsOf(space);
  LoopBuilder b = context.loops(count);
  context.forElements(count, lanes, [&](Value element, LaneBuilder &builder) {
    SmallVector<Value> place = b.delinearise(element, space);
    BodyEmitter body(shape.body, context.kernel.buffers, builder, place, 0, /*isAligned=*/true);
    for (auto [node, memory] : llvm::zip_equal(shape.yields, context.kernel.results)) {
      Value result = body.emit(node);
      // What replaces a product is stored as the product's type.
      if (shape.kind == KernelKind::Matmul && result.getType() != builder.f32())
        result = builder.bitcast(builder.f32(), result);
      storeLanes(builder, result, memory, element, builder.lanes, /*isAligned=*/true);
    }
  });
}

// ---- data movement --------------------------------------------------------------------------------------------------

void emitGpuConcat(GpuContext &context, int64_t lanes) {
  auto op = cast<ConcatOp>(context.shape().root);
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t inner = elementsOf(type.getShape().drop_front(op.getAxis() + 1));
  int64_t rowLength = type.getDimSize(op.getAxis()) * inner, offset = 0;
  LoopBuilder b = context.loops(type.getNumElements());
  for (Value operand : op.getOperands()) {
    auto own = cast<RankedTensorType>(operand.getType());
    int64_t run = own.getDimSize(op.getAxis()) * inner;
    if (own.getNumElements() == 0)
      continue;
    context.forElements(own.getNumElements(), lanes, [&](Value element, LaneBuilder &builder) {
      Value value;
      if (auto constant = operand.getDefiningOp<ConstantOp>())
        value = splatOf(builder, constant);
      else
        value = loadLanes(builder, context.kernel.buffers.inputs[cast<BlockArgument>(operand).getArgNumber()], element,
                          own.getElementType(), builder.lanes, /*isAligned=*/true);
      Value row = b.mul(b.div(element, run), b.constant(rowLength));
      Value to = b.add(b.add(row, b.rem(element, run)), b.constant(offset));
      storeLanes(builder, value, context.kernel.results[0], to, builder.lanes, /*isAligned=*/true);
    });
    offset += run;
  }
}

/// Squares of one transpose: along the source's rows (`across`) and along the result's (the last dimension).
struct TransposeSquares {
  explicit TransposeSquares(const KernelShape &shape) : space(shape.body.space) {
    const IndexExpr &index = shape.body.nodes[0].index;
    across = llvm::find(index.coefficients, 1) - index.coefficients.begin();
    for (size_t dim = 0; dim + 1 < space.size(); ++dim)
      if (dim != across)
        outer.push_back(space[dim]);
    rows = ceilDiv(space[across], gpuSquare);
    columns = ceilDiv(space.back(), gpuSquare);
    count = elementsOf(outer) * rows * columns;
  }
  ArrayRef<int64_t> space;
  size_t across;
  SmallVector<int64_t> outer;
  int64_t rows, columns, count;
};

void emitGpuTranspose(GpuContext &context) {
  const KernelShape &shape = context.shape();
  const BodyNode &load = shape.body.nodes[0];
  TransposeSquares squares(shape);
  ArrayRef<int64_t> space = squares.space;
  IndexExpr target;
  target.coefficients = rowMajorStrides(space);
  LoopBuilder b = context.loops(elementsOf(space));
  LaneBuilder scalar(context.builder(), context.loc(), 0);
  auto module = context.kernel.function->getParentOfType<ModuleOp>();
  Value source = context.kernel.buffers.inputs[load.input];
  Type element = cast<MemRefType>(source.getType()).getElementType();
  Value shared = context.threads.shared(module, "autopar_square", gpuSquare * gpuSquarePitch, element);
  Value x = b.rem(context.threads.thread(), gpuSquare), y = b.div(context.threads.thread(), gpuSquare);

  context.forEach(context.threads.block(), context.launch.grid, squares.count, [&](Value item) {
    SmallVector<Value> outer = b.delinearise(b.div(item, squares.rows * squares.columns), squares.outer);
    Value piece = b.rem(item, squares.rows * squares.columns);
    Value row = b.mul(b.div(piece, squares.columns), b.constant(gpuSquare));
    Value column = b.mul(b.rem(piece, squares.columns), b.constant(gpuSquare));
    // Element (row + i, column + j), if there is one.
    auto at = [&](Value i, Value j, llvm::function_ref<void(BodyEmitter &)> body) {
      SmallVector<Value> place(space.size());
      for (size_t dim = 0, next = 0; dim + 1 < space.size(); ++dim)
        place[dim] = dim == squares.across ? b.add(row, i) : outer[next++];
      place.back() = b.add(column, j);
      Value isInside = arith::AndIOp::create(context.builder(), context.loc(),
                                             b.less(place[squares.across], b.constant(space[squares.across])),
                                             b.less(place.back(), b.constant(space.back())));
      b.ifThen(isInside, [&] {
        BodyEmitter emitter(shape.body, context.kernel.buffers, scalar, place);
        body(emitter);
      });
    };
    auto slot = [&](Value i, Value j) { return b.add(b.mul(j, b.constant(gpuSquarePitch)), i); };
    for (int64_t step = 0; step < gpuSquare; step += gpuSquareRows) {
      Value j = b.add(y, b.constant(step));
      at(x, j, [&](BodyEmitter &place) {
        Value value = memref::LoadOp::create(context.builder(), context.loc(), source, place.address(load.index));
        memref::StoreOp::create(context.builder(), context.loc(), value, shared, slot(x, j));
      });
    }
    context.threads.barrier();
    for (int64_t step = 0; step < gpuSquare; step += gpuSquareRows) {
      Value i = b.add(y, b.constant(step));
      at(i, x, [&](BodyEmitter &place) {
        Value value = memref::LoadOp::create(context.builder(), context.loc(), shared, slot(i, x));
        memref::StoreOp::create(context.builder(), context.loc(), value, context.kernel.results[0],
                                place.address(target));
      });
    }
    context.threads.barrier(); // before the next square
  });
}

// ---- products that the library cannot do ----------------------------------------------------------------------------

/// One thread an element, along k in order.
void emitGpuProduct(GpuContext &context) {
  const KernelShape &shape = context.shape();
  auto op = cast<MatmulOp>(shape.root);
  auto type = cast<RankedTensorType>(op.getResult().getType());
  LoopBuilder b = context.loops(type.getNumElements());
  context.forElements(type.getNumElements(), 0, [&](Value element, LaneBuilder &scalar) {
    SmallVector<Value> place = b.delinearise(element, type.getShape());
    Value column = place.pop_back_val(), row = place.pop_back_val();
    auto load = [&](Value factor, Value row, Value column, bool isTransposed) -> Value {
      if (auto constant = factor.getDefiningOp<ConstantOp>())
        return splatOf(scalar, constant);
      ArrayRef<int64_t> own = cast<RankedTensorType>(factor.getType()).getShape();
      SmallVector<int64_t, 4> strides = rowMajorStrides(own);
      if (isTransposed)
        std::swap(row, column);
      Value at = b.add(b.mul(row, b.constant(strides[own.size() - 2])), column);
      for (auto [dim, index] : llvm::enumerate(place))
        if (own[dim] != 1)
          at = b.add(at, b.mul(index, b.constant(strides[dim])));
      Value memory = context.kernel.buffers.inputs[cast<BlockArgument>(factor).getArgNumber()];
      return memref::LoadOp::create(context.builder(), context.loc(), memory, at);
    };
    Value sum = b.loop(b.constant(0), b.constant(shape.k), 1, {scalar.f32(0.0)},
                       [&](Value along, ArrayRef<Value> carried) -> SmallVector<Value> {
                         Value product = scalar.mulf(load(op.getLhs(), row, along, op.getTransposeA()),
                                                     load(op.getRhs(), along, column, op.getTransposeB()));
                         return {scalar.addf(carried[0], product)};
                       })[0];
    storeLanes(scalar, sum, context.kernel.results[0], element, 1);
  });
}

// ---- the function ---------------------------------------------------------------------------------------------------

/// The driver knows a kernel by its name, which PTX must be able to spell.
bool isPtxName(StringRef name) {
  return !name.empty() && (llvm::isAlpha(name[0]) || (name.size() > 1 && (name[0] == '_' || name[0] == '$'))) &&
         llvm::all_of(name.drop_front(), [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; });
}

void setAttributes(KernelContext &context, size_t readCount) {
  Builder &b = context.builder;
  func::FuncOp function = context.function;
  for (size_t buffer = 0; buffer < function.getNumArguments(); ++buffer) {
    function.setArgAttr(buffer, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(accessBytes));
    if (buffer < readCount) // goes through the cache for constants
      function.setArgAttr(buffer, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
  }
}
} // namespace

GpuLaunch mlir::autopar::launchFor(int64_t threads, int64_t block) {
  return {std::clamp<int64_t>(ceilDiv(threads, block), 1, gpuMaxGrid), block};
}

void GpuContext::forEach(Value first, int64_t step, int64_t count, llvm::function_ref<void(Value)> body) {
  LoopBuilder b = loops(count);
  if (count > step)
    b.loop(first, b.constant(count), step, body);
  else if (count == step)
    body(first);
  else
    b.ifThen(b.less(first, b.constant(count)), [&] { body(first); });
}

void GpuContext::forElements(int64_t count, int64_t lanes, llvm::function_ref<void(Value, LaneBuilder &)> body) {
  LoopBuilder b = loops(count);
  LaneBuilder scalar(builder(), loc(), 0);
  Value thread = threads.globalThread();
  if (lanes <= 1) {
    forEach(thread, launch.threads(), count, [&](Value element) { body(element, scalar); });
    return;
  }
  LaneBuilder wide(builder(), loc(), lanes);
  if (count >= lanes)
    forEach(thread, launch.threads(), count / lanes,
            [&](Value piece) { body(b.mul(piece, b.constant(lanes)), wide); });
  int64_t rest = count % lanes;
  if (rest != 0)
    b.ifThen(b.less(thread, b.constant(rest)), [&] { body(b.add(thread, b.constant(count - rest)), scalar); });
}

FailureOr<GpuLaunch> mlir::autopar::emitGpuKernel(KernelOp kernel, ModuleOp module) {
  FailureOr<KernelShape> shape = shapeOfKernel(kernel);
  if (failed(shape))
    return failure();
  if (!isPtxName(kernel.getSymName()))
    return kernel.emitOpError() << "has the name '" << kernel.getSymName()
                                << "', which code for a GPU cannot have; use letters, digits and _";
  OpBuilder builder(module.getContext());
  KernelContext base = startKernel(kernel, *shape, module, builder, kernel.getSymName(), 0);
  setAttributes(base, kernel.getReads().size());

  GpuLaunch launch;
  int64_t lanes = 0;
  switch (shape->kind) {
  case KernelKind::Empty:
    break;
  case KernelKind::Elementwise:
  case KernelKind::Matmul:
    lanes = lanesOf(*shape, base.results);
    launch = launchFor(ceilDiv(elementsOf(shape->body.space), std::max<int64_t>(1, lanes)));
    break;
  case KernelKind::Concat:
    lanes = concatLanes(cast<ConcatOp>(shape->root));
    launch = launchFor(ceilDiv(cast<MemRefType>(base.results[0].getType()).getNumElements(), std::max<int64_t>(1, lanes)));
    break;
  case KernelKind::Transpose:
    launch = launchFor(TransposeSquares(*shape).count * gpuBlock);
    break;
  case KernelKind::Product:
    launch = launchFor(cast<MemRefType>(base.results[0].getType()).getNumElements());
    break;
  case KernelKind::Row:
    launch = gpuRowLaunch(*shape);
    break;
  case KernelKind::Column:
    launch = gpuColumnLaunch(*shape);
    break;
  }

  GpuContext context(base, launch);
  switch (shape->kind) {
  case KernelKind::Empty:
    break;
  case KernelKind::Elementwise:
  case KernelKind::Matmul:
    emitElements(context, lanes);
    break;
  case KernelKind::Concat:
    emitGpuConcat(context, lanes);
    break;
  case KernelKind::Transpose:
    emitGpuTranspose(context);
    break;
  case KernelKind::Product:
    emitGpuProduct(context);
    break;
  case KernelKind::Row:
    emitGpuRow(context);
    break;
  case KernelKind::Column:
    emitGpuColumn(context);
    break;
  }
  func::ReturnOp::create(builder, context.loc());
  return launch;
}
