// The function of a kernel, and the loops of all kinds but reductions.

#include "compiler/codegen/KernelEmitter.h"

#include "compiler/codegen/MathRoutines.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::autopar;

std::string mlir::autopar::implementationName(StringRef name) { return (name + ".impl").str(); }

namespace {
Type storedElement(Type element) {
  return element.isInteger(1) ? Type(IntegerType::get(element.getContext(), 8)) : element;
}

MemRefType memoryOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get({tensor.getNumElements()}, storedElement(tensor.getElementType()));
}

/// Row-major address as an index expression.
IndexExpr rowMajor(ArrayRef<int64_t> space) {
  IndexExpr index;
  index.coefficients = rowMajorStrides(space);
  return index;
}
} // namespace

void KernelContext::forEachItem(llvm::function_ref<void(Value)> body) {
  LoopBuilder b = loops();
  Value perTile = b.constant(shape.tiling.itemsPerTile);
  Value begin = b.mul(range[0], perTile);
  Value end = b.min(b.mul(range[1], perTile), b.constant(shape.tiling.items));
  b.loop(begin, end, 1, body);
}

FailureOr<KernelShape> mlir::autopar::shapeOfKernel(KernelOp kernel) {
  std::string why;
  FailureOr<KernelShape> shape = classifyKernel(*kernel.getBodyBlock(), &why);
  if (failed(shape))
    return kernel.emitOpError() << "cannot be compiled as one kernel: " << why << "; put fewer ops into its task";
  return shape;
}

KernelContext mlir::autopar::startKernel(KernelOp kernel, const KernelShape &shape, ModuleOp module,
                                         OpBuilder &builder, StringRef name, unsigned rangeCount) {
  builder.setInsertionPointToEnd(module.getBody());
  Location loc = kernel.getLoc();
  Block *body = kernel.getBodyBlock();
  bool isEpilogue = shape.kind == KernelKind::Matmul;
  SmallVector<Type> types;
  for (int64_t operand : kernel.getReads())
    types.push_back(memoryOf(body->getArgument(operand).getType()));
  for (Value value : body->getTerminator()->getOperands())
    types.push_back(isEpilogue ? memoryOf(shape.root->getResult(0).getType()) : memoryOf(value.getType()));
  size_t bufferCount = types.size();
  types.append(rangeCount, builder.getIndexType());
  auto function = func::FuncOp::create(builder, loc, name, builder.getFunctionType(types, {}));
  for (size_t buffer = 0; buffer < bufferCount; ++buffer) {
    function.setArgAttr(buffer, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    function.setArgAttr(buffer, LLVM::LLVMDialect::getNoUndefAttrName(), builder.getUnitAttr());
  }
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);

  KernelContext context{shape, builder, loc, {}, {}, {}, function};
  context.buffers.inputs.resize(body->getNumArguments());
  // Backwards, so that the first place of an operand that is read twice stands.
  for (size_t read = kernel.getReads().size(); read-- > 0;)
    context.buffers.inputs[kernel.getReads()[read]] = entry->getArgument(read);
  for (size_t result = kernel.getReads().size(); result < bufferCount; ++result)
    context.results.push_back(entry->getArgument(result));
  if (isEpilogue)
    context.buffers.product = context.results[0];
  for (size_t argument = bufferCount; argument < types.size(); ++argument)
    context.range.push_back(entry->getArgument(argument));
  if (llvm::any_of(shape.body.nodes, [](const BodyNode &node) { return node.op && isa<SinOp, CosOp>(node.op); })) {
    memref::GlobalOp table = getReductionTable(module);
    context.buffers.table = memref::GetGlobalOp::create(builder, loc, table.getType(), table.getSymName());
  }
  return context;
}

LogicalResult mlir::autopar::emitKernel(KernelOp kernel, ModuleOp module) {
  FailureOr<KernelShape> shape = shapeOfKernel(kernel);
  if (failed(shape))
    return failure();
  OpBuilder builder(module.getContext());
  KernelContext context = startKernel(kernel, *shape, module, builder, implementationName(kernel.getSymName()),
                                      shape->kind == KernelKind::Matmul ? 4 : 2);
  context.function.setPrivate();
  switch (shape->kind) {
  case KernelKind::Empty:
    break;
  case KernelKind::Elementwise:
    emitElementwise(context);
    break;
  case KernelKind::Row:
    emitRow(context);
    break;
  case KernelKind::Column:
    emitColumn(context);
    break;
  case KernelKind::Transpose:
    emitTranspose(context);
    break;
  case KernelKind::Concat:
    emitConcat(context);
    break;
  case KernelKind::Matmul:
    emitEpilogue(context);
    break;
  case KernelKind::Product:
    emitProduct(context);
    break;
  }
  builder.setInsertionPointToEnd(&context.function.getBody().front());
  func::ReturnOp::create(builder, context.loc);
  return success();
}

void mlir::autopar::emitElementwise(KernelContext &context) {
  const KernelShape &shape = context.shape;
  ArrayRef<int64_t> space = shape.body.space;
  LoopBuilder b = context.loops();
  LaneBuilder scalar(context.builder, context.loc, 0);
  int64_t length = space.back();
  context.forEachItem([&](Value item) {
    Value row = b.div(item, shape.tiling.pieces);
    Value begin = b.constant(0), end = b.constant(length);
    if (shape.tiling.pieces > 1) {
      begin = b.mul(b.rem(item, shape.tiling.pieces), b.constant(shape.tiling.pieceLength));
      end = b.min(b.add(begin, b.constant(shape.tiling.pieceLength)), end);
    }
    SmallVector<Value> place = b.delinearise(row, space.drop_back());
    place.push_back({});
    Value rowStart = b.mul(row, b.constant(length));
    b.loop(begin, end, 1, [&](Value column) {
      place.back() = column;
      BodyEmitter body(shape.body, context.buffers, scalar, place);
      Value to = b.add(rowStart, column);
      for (auto [node, memory] : llvm::zip_equal(shape.yields, context.results))
        storeLanes(scalar, body.emit(node), memory, to, 1);
    });
  });
}

void mlir::autopar::emitEpilogue(KernelContext &context) {
  const KernelShape &shape = context.shape;
  ArrayRef<int64_t> space = shape.body.space;
  LoopBuilder b = context.loops();
  LaneBuilder scalar(context.builder, context.loc, 0);
  b.loop(context.range[0], context.range[1], 1, [&](Value row) {
    SmallVector<Value> place = b.delinearise(row, space.drop_back());
    place.push_back({});
    Value rowStart = b.mul(row, b.constant(space.back()));
    b.loop(context.range[2], context.range[3], 1, [&](Value column) {
      place.back() = column;
      BodyEmitter body(shape.body, context.buffers, scalar, place);
      Value result = body.emit(shape.yields[0]);
      if (!result.getType().isF32())
        result = scalar.bitcast(scalar.f32(), result);
      storeLanes(scalar, result, context.results[0], b.add(rowStart, column), 1);
    });
  });
}

// ---- data movement --------------------------------------------------------------------------------------------------

void mlir::autopar::emitConcat(KernelContext &context) {
  auto op = cast<ConcatOp>(context.shape.root);
  auto resultType = cast<RankedTensorType>(op.getResult().getType());
  int64_t axis = op.getAxis();
  ArrayRef<int64_t> shape = resultType.getShape();
  int64_t inner = elementsOf(shape.drop_front(axis + 1)), rowLength = shape[axis] * inner;
  LoopBuilder b = context.loops();
  LaneBuilder scalar(context.builder, context.loc, 0);

  // A tile is a range of the result, row-major; a row of it holds one run of each operand.
  Value pieceLength = b.constant(context.shape.tiling.pieceLength);
  Value low = b.mul(context.range[0], pieceLength);
  Value high = b.min(b.mul(context.range[1], pieceLength), b.constant(resultType.getNumElements()));
  Value firstRow = b.div(low, rowLength);
  Value lastRow = b.div(b.add(high, b.constant(rowLength - 1)), rowLength);
  b.loop(firstRow, lastRow, 1, [&](Value row) {
    Value rowStart = b.mul(row, b.constant(rowLength));
    int64_t offset = 0;
    for (Value operand : op.getOperands()) {
      auto type = cast<RankedTensorType>(operand.getType());
      int64_t run = type.getDimSize(axis) * inner;
      if (run == 0)
        continue;
      Value start = b.add(rowStart, b.constant(offset));
      Value begin = b.max(start, low), end = b.min(b.add(start, b.constant(run)), high);
      Value source = b.mul(row, b.constant(run));
      Value splat;
      if (auto constant = operand.getDefiningOp<ConstantOp>())
        splat = scalar.constant(cast<TypedAttr>(cast<DenseElementsAttr>(constant.getValue()).getSplatValue<Attribute>()));
      b.loop(begin, end, 1, [&](Value to) {
        Value value = splat;
        if (!value) {
          Value memory = context.buffers.inputs[cast<BlockArgument>(operand).getArgNumber()];
          value = memref::LoadOp::create(context.builder, context.loc, memory, b.add(source, b.sub(to, start)));
        }
        storeLanes(scalar, value, context.results[0], to, 1);
      });
      offset += run;
    }
  });
}

namespace {
constexpr int64_t squareSize = 16;

/// One square of a transpose: rows of the source become columns of the result.
void emitSquare(KernelContext &context, Value source, Value from, int64_t fromStride, Value to, int64_t toStride) {
  LoopBuilder b = context.loops();
  OpBuilder &builder = context.builder;
  Type element = cast<MemRefType>(source.getType()).getElementType();
  auto line = VectorType::get({squareSize}, element);
  auto squareType = VectorType::get({squareSize, squareSize}, element);
  Value square = arith::ConstantOp::create(builder, context.loc, builder.getZeroAttr(squareType));
  for (int64_t number = 0; number < squareSize; ++number) {
    Value at = b.add(from, b.constant(number * fromStride));
    Value vector = vector::LoadOp::create(builder, context.loc, line, source, ValueRange{at});
    square = vector::InsertOp::create(builder, context.loc, vector, square, ArrayRef<int64_t>{number});
  }
  square = vector::TransposeOp::create(builder, context.loc, square, ArrayRef<int64_t>{1, 0});
  for (int64_t number = 0; number < squareSize; ++number) {
    Value vector = vector::ExtractOp::create(builder, context.loc, square, ArrayRef<int64_t>{number});
    Value at = b.add(to, b.constant(number * toStride));
    vector::StoreOp::create(builder, context.loc, vector, context.results[0], ValueRange{at});
  }
}
} // namespace

void mlir::autopar::emitTranspose(KernelContext &context) {
  const KernelShape &shape = context.shape;
  const BodyNode &load = shape.body.nodes[0];
  ArrayRef<int64_t> space = shape.body.space;
  size_t rank = space.size();
  size_t across = llvm::find(load.index.coefficients, 1) - load.index.coefficients.begin();
  int64_t acrossSize = space[across], length = space.back(), block = shape.tiling.pieceLength;
  int64_t columnBlocks = (length + block - 1) / block;
  IndexExpr target = rowMajor(space);
  Value source = context.buffers.inputs[load.input];
  LoopBuilder b = context.loops();
  LaneBuilder scalar(context.builder, context.loc, 0);

  SmallVector<int64_t> outerSizes;
  for (size_t dim = 0; dim + 1 < rank; ++dim)
    if (dim != across)
      outerSizes.push_back(space[dim]);
  context.forEachItem([&](Value item) {
    SmallVector<Value> outer = b.delinearise(b.div(item, shape.tiling.pieces), outerSizes);
    Value piece = b.rem(item, shape.tiling.pieces);
    Value row = b.mul(b.div(piece, columnBlocks), b.constant(block));
    Value column = b.mul(b.rem(piece, columnBlocks), b.constant(block));
    Value rowEnd = b.min(b.add(row, b.constant(block)), b.constant(acrossSize));
    Value columnEnd = b.min(b.add(column, b.constant(block)), b.constant(length));
    auto placeOf = [&](Value i, Value j) {
      SmallVector<Value> place(rank);
      for (size_t dim = 0, next = 0; dim + 1 < rank; ++dim)
        place[dim] = dim == across ? i : outer[next++];
      place[rank - 1] = j;
      return place;
    };
    auto copyOne = [&](Value i, Value j) {
      BodyEmitter body(shape.body, context.buffers, scalar, placeOf(i, j));
      Value value = memref::LoadOp::create(context.builder, context.loc, source, body.address(load.index));
      memref::StoreOp::create(context.builder, context.loc, value, context.results[0], body.address(target));
    };
    Value rowSquares = row, columnSquares = column;
    if (load.element.getIntOrFloatBitWidth() == 32 && acrossSize >= squareSize && length >= squareSize) {
      auto roundDown = [&](Value from, Value to) { // whole squares only
        Value extent = b.sub(to, from);
        return b.sub(to, b.rem(extent, squareSize));
      };
      rowSquares = roundDown(row, rowEnd);
      columnSquares = roundDown(column, columnEnd);
      b.loop(row, rowSquares, squareSize, [&](Value i) {
        b.loop(column, columnSquares, squareSize, [&](Value j) {
          BodyEmitter body(shape.body, context.buffers, scalar, placeOf(i, j));
          emitSquare(context, source, body.address(load.index), load.index.coefficients.back(), body.address(target),
                     target.coefficients[across]);
        });
      });
      // Right edge of the rows of squares; what is below follows.
      b.loop(row, rowSquares, 1, [&](Value i) {
        b.loop(columnSquares, columnEnd, 1, [&](Value j) { copyOne(i, j); });
      });
      b.loop(rowSquares, rowEnd, 1, [&](Value i) { b.loop(column, columnEnd, 1, [&](Value j) { copyOne(i, j); }); });
      return;
    }
    b.loop(row, rowEnd, 1, [&](Value i) { b.loop(column, columnEnd, 1, [&](Value j) { copyOne(i, j); }); });
  });
}

// ---- products that the library cannot do ----------------------------------------------------------------------------

void mlir::autopar::emitProduct(KernelContext &context) {
  const KernelShape &shape = context.shape;
  auto op = cast<MatmulOp>(shape.root);
  LoopBuilder b = context.loops();
  LaneBuilder scalar(context.builder, context.loc, 0);
  ArrayRef<int64_t> full = cast<RankedTensorType>(op.getResult().getType()).getShape().drop_back(2);

  // The element of a factor at a batch place and two indices that count along `rowStride` and `columnStride`.
  auto load = [&](Value factor, ArrayRef<Value> batch, Value row, Value column, bool isTransposed) -> Value {
    if (auto constant = factor.getDefiningOp<ConstantOp>())
      return scalar.constant(cast<TypedAttr>(cast<DenseElementsAttr>(constant.getValue()).getSplatValue<Attribute>()));
    ArrayRef<int64_t> own = cast<RankedTensorType>(factor.getType()).getShape();
    SmallVector<int64_t, 4> strides = rowMajorStrides(own);
    if (isTransposed)
      std::swap(row, column);
    Value at = b.add(b.mul(row, b.constant(strides[own.size() - 2])), column);
    for (auto [dim, index] : llvm::enumerate(batch))
      if (own[dim] != 1)
        at = b.add(at, b.mul(index, b.constant(strides[dim])));
    Value memory = context.buffers.inputs[cast<BlockArgument>(factor).getArgNumber()];
    return memref::LoadOp::create(context.builder, context.loc, memory, at);
  };

  Value result = context.results[0];
  context.forEachItem([&](Value item) {
    SmallVector<Value> batch = b.delinearise(b.div(item, shape.m), full);
    Value row = b.rem(item, shape.m), start = b.mul(item, b.constant(shape.n));
    Value zero = b.constant(0), n = b.constant(shape.n);
    b.loop(zero, n, 1, [&](Value column) {
      memref::StoreOp::create(context.builder, context.loc, scalar.f32(0.0), result, b.add(start, column));
    });
    b.loop(zero, b.constant(shape.k), 1, [&](Value along) {
      Value lhs = load(op.getLhs(), batch, row, along, op.getTransposeA());
      b.loop(zero, n, 1, [&](Value column) {
        Value at = b.add(start, column);
        Value sum = memref::LoadOp::create(context.builder, context.loc, result, at);
        sum = scalar.addf(sum, scalar.mulf(lhs, load(op.getRhs(), batch, along, column, op.getTransposeB())));
        memref::StoreOp::create(context.builder, context.loc, sum, result, at);
      });
    });
  });
}
