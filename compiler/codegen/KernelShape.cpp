// Which loops a group of ops becomes.
// Reads: the ops. Writes: nothing in the IR.

#include "compiler/codegen/KernelShape.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::autopar;

namespace {
/// Elements of the iteration space in one tile, about: 128 KiB of f32, some microseconds of work.
constexpr int64_t tileElements = 32768;
/// Columns that a piece of a column reduction has at least: less makes poor use of memory pages.
constexpr int64_t minColumns = 256;
/// A transpose works in blocks of this many rows and columns.
constexpr int64_t transposeBlock = 128;
/// Loads further apart than this along the innermost dimension are better made by a transpose of their own.
constexpr int64_t maxFusedStride = 8;
constexpr int64_t smallSpace = 4096;

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }
int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

bool isRoot(Operation *op) { return isa<ReduceOp, ArgmaxOp, SoftmaxOp, ConcatOp, MatmulOp>(op); }

bool isSplatConstant(Value value, const llvm::SmallDenseSet<Operation *, 16> &inside) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && inside.contains(constant) &&
         (constant.getValue().isSplat() || constant.getValue().getNumElements() == 0);
}

/// One classification in progress.
class Classifier {
public:
  Classifier(ArrayRef<Operation *> ops, ArrayRef<Value> yields, ArrayRef<Value> arguments, std::string &why)
      : ops(ops), yields(yields), why(why), inside(ops.begin(), ops.end()), builder(shape.body, inside, inputs) {
    for (Value argument : arguments)
      inputs.insert({argument, static_cast<unsigned>(inputs.size())});
  }

  FailureOr<KernelShape> run();

private:
  LogicalResult classify();
  LogicalResult elementwise();
  LogicalResult reduction(Value operand, ArrayRef<int64_t> axes);
  LogicalResult concat(ConcatOp op);
  LogicalResult matmul(MatmulOp op);
  LogicalResult product(MatmulOp op);
  LogicalResult fail(const Twine &reason) {
    why = reason.str();
    return failure();
  }
  /// Drops unit dimensions and merges neighbours of equal `kind` where every index expression allows it. The last
  /// dimension stays as it is if `keepLast`.
  void collapse(SmallVectorImpl<bool> &kind, bool keepLast);
  unsigned useInput(Value value) {
    return inputs.insert({value, static_cast<unsigned>(inputs.size())}).first->second;
  }

  ArrayRef<Operation *> ops;
  ArrayRef<Value> yields;
  std::string &why;
  llvm::SmallDenseSet<Operation *, 16> inside;
  llvm::MapVector<Value, unsigned> inputs;
  KernelShape shape;
  BodyBuilder builder;
};

FailureOr<KernelShape> Classifier::run() {
  if (failed(classify()))
    return failure();
  if (shape.kind != KernelKind::Matmul && shape.kind != KernelKind::Empty)
    shape.tileCount = shape.tiling.tileCount();
  for (auto &[value, number] : inputs)
    shape.inputs.push_back(value);
  return std::move(shape);
}

LogicalResult Classifier::classify() {
  for (Operation *op : ops) {
    if (!op->hasTrait<IsTensorOp>())
      return fail("'" + op->getName().getStringRef() + "' is no tensor op");
    if (!isRoot(op))
      continue;
    if (shape.root)
      return fail("it holds both '" + shape.root->getName().getStringRef() + "' and '" + op->getName().getStringRef() +
                  "'");
    shape.root = op;
  }
  if (llvm::all_of(yields, [](Value value) { return elementsOf(shapeOf(value)) == 0; })) {
    for (Operation *op : ops)
      for (Value operand : op->getOperands())
        if (!operand.getDefiningOp() || !inside.contains(operand.getDefiningOp()))
          useInput(operand);
    return success(); // Empty
  }
  if (!shape.root)
    return elementwise();
  if (auto reduce = dyn_cast<ReduceOp>(shape.root))
    return reduction(reduce.getOperand(), reduce.getAxes());
  if (auto argmax = dyn_cast<ArgmaxOp>(shape.root))
    return reduction(argmax.getOperand(), {static_cast<int64_t>(argmax.getAxis())});
  if (auto softmax = dyn_cast<SoftmaxOp>(shape.root))
    return reduction(softmax.getOperand(), {static_cast<int64_t>(softmax.getAxis())});
  if (auto op = dyn_cast<ConcatOp>(shape.root))
    return concat(op);
  return matmul(cast<MatmulOp>(shape.root));
}

void Classifier::collapse(SmallVectorImpl<bool> &kind, bool keepLast) {
  KernelBody &body = shape.body;
  SmallVector<int64_t, 4> space;
  SmallVector<bool, 4> kinds;
  SmallVector<unsigned, 4> lastOf; // the innermost old dimension of each new one
  for (unsigned dim = 0; dim < body.space.size(); ++dim) {
    bool isKept = keepLast && dim + 1 == body.space.size();
    if (body.space[dim] == 1 && !isKept)
      continue;
    bool merge = !space.empty() && !isKept && kinds.back() == kind[dim];
    for (const BodyNode &node : body.nodes)
      if (merge && !node.index.coefficients.empty())
        merge = node.index.coefficients[lastOf.back()] == node.index.coefficients[dim] * body.space[dim];
    if (merge) {
      space.back() *= body.space[dim];
      lastOf.back() = dim;
    } else {
      space.push_back(body.space[dim]);
      kinds.push_back(kind[dim]);
      lastOf.push_back(dim);
    }
  }
  for (BodyNode &node : body.nodes) {
    if (node.index.coefficients.empty())
      continue;
    SmallVector<int64_t, 4> coefficients;
    for (unsigned dim : lastOf)
      coefficients.push_back(node.index.coefficients[dim]);
    node.index.coefficients = std::move(coefficients);
  }
  body.space = std::move(space);
  kind.assign(kinds.begin(), kinds.end());
}

/// Cuts rows of `length` elements, `rows` of them, into tiles of about tileElements.
KernelTiling cutRows(int64_t rows, int64_t length) {
  KernelTiling tiling;
  tiling.pieceLength = length;
  if (length > 2 * tileElements) {
    tiling.pieces = ceilDiv(length, tileElements);
    tiling.pieceLength = tileElements;
  } else {
    tiling.itemsPerTile = std::max<int64_t>(1, tileElements / std::max<int64_t>(1, length));
  }
  tiling.items = rows * tiling.pieces;
  return tiling;
}

LogicalResult Classifier::elementwise() {
  KernelBody &body = shape.body;
  body.space.assign(shapeOf(yields[0]).begin(), shapeOf(yields[0]).end());
  for (Value value : yields) {
    FailureOr<unsigned> node = builder.add(value, why);
    if (failed(node))
      return failure();
    shape.yields.push_back(*node);
  }
  SmallVector<bool, 4> kinds(body.space.size(), false);
  collapse(kinds, /*keepLast=*/false);
  if (body.space.empty()) { // one element
    body.space.push_back(1);
    for (BodyNode &node : body.nodes)
      if (node.kind != BodyNode::Kind::Splat && node.kind != BodyNode::Kind::Compute)
        node.index.coefficients.push_back(0);
  }
  int64_t length = body.space.back(), elements = elementsOf(body.space);
  shape.kind = KernelKind::Elementwise;
  shape.tiling = cutRows(elements / length, length);
  for (const BodyNode &node : body.nodes) {
    if (node.kind != BodyNode::Kind::Load || node.index.coefficients.back() <= maxFusedStride)
      continue;
    ArrayRef<int64_t> coefficients = node.index.coefficients;
    if (body.nodes.size() == 1 && llvm::is_contained(coefficients, 1)) {
      int64_t across = body.space[llvm::find(coefficients, 1) - coefficients.begin()];
      shape.kind = KernelKind::Transpose;
      shape.tiling = KernelTiling();
      shape.tiling.pieces = ceilDiv(across, transposeBlock) * ceilDiv(length, transposeBlock);
      shape.tiling.pieceLength = transposeBlock;
      shape.tiling.items = elements / (across * length) * shape.tiling.pieces;
      shape.tiling.itemsPerTile = std::max<int64_t>(
          1, tileElements / (std::min(across, transposeBlock) * std::min(length, transposeBlock)));
      return success();
    }
    if (ops.size() > 1 && body.nodes.size() > 1 && elements > smallSpace)
      return fail("an operand is read across its rows, which a transpose of its own does faster");
  }
  return success();
}

LogicalResult Classifier::reduction(Value operand, ArrayRef<int64_t> axes) {
  KernelBody &body = shape.body;
  body.space.assign(shapeOf(operand).begin(), shapeOf(operand).end());
  for (Value value : yields) {
    if (value.getDefiningOp() == shape.root) {
      shape.yields.push_back(-1);
      continue;
    }
    FailureOr<unsigned> node = builder.add(value, why);
    if (failed(node))
      return failure();
    shape.yields.push_back(*node);
  }
  if (!llvm::is_contained(shape.yields, -1))
    return fail("the result of '" + shape.root->getName().getStringRef() + "' is not delivered");
  FailureOr<unsigned> node = builder.add(operand, why);
  if (failed(node))
    return failure();
  shape.operandNode = *node;

  shape.reduced.assign(body.space.size(), false);
  for (int64_t axis : axes)
    shape.reduced[axis] = true;
  collapse(shape.reduced, /*keepLast=*/false);
  if (!llvm::is_contained(shape.reduced, true)) { // only unit dimensions are reduced
    body.space.insert(body.space.begin(), 1);
    shape.reduced.insert(shape.reduced.begin(), true);
    for (BodyNode &node : body.nodes)
      if (node.kind != BodyNode::Kind::Splat && node.kind != BodyNode::Kind::Compute)
        node.index.coefficients.insert(node.index.coefficients.begin(), 0);
  }
  int64_t kept = 1, swept = 1;
  for (auto [size, isReduced] : llvm::zip_equal(body.space, shape.reduced))
    (isReduced ? swept : kept) *= size;
  size_t rank = body.space.size();
  if (shape.reduced.back()) {
    shape.kind = KernelKind::Row;
    // The lane of an element is its place along the merged last dimensions: that must not depend on what is fused in.
    if (rank > 1 && shape.reduced[rank - 2])
      return fail("an operand is not contiguous along the reduced dimensions");
    shape.tiling.items = kept;
    shape.tiling.itemsPerTile = std::max<int64_t>(1, tileElements / std::max<int64_t>(1, swept));
    return success();
  }
  shape.kind = KernelKind::Column;
  int64_t columns = body.space.back();
  KernelTiling &tiling = shape.tiling;
  tiling.pieceLength = columns;
  if (swept > 0 && columns > 2 * tileElements / swept) {
    int64_t wanted = ceilDiv(tileElements / swept, 64) * 64;
    tiling.pieceLength = std::min(columns, std::max(minColumns, wanted));
  }
  tiling.pieces = ceilDiv(columns, tiling.pieceLength);
  tiling.items = kept / columns * tiling.pieces;
  tiling.itemsPerTile = std::max<int64_t>(1, tileElements / std::max<int64_t>(1, swept) / tiling.pieceLength);
  return success();
}

LogicalResult Classifier::concat(ConcatOp op) {
  if (yields.size() != 1 || yields[0].getDefiningOp() != op)
    return fail("a concat is a kernel of its own");
  for (Value operand : op.getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (!producer || !inside.contains(producer))
      useInput(operand);
    else if (!isSplatConstant(operand, inside))
      return fail("a concat is a kernel of its own");
  }
  shape.kind = KernelKind::Concat;
  shape.tiling.pieceLength = tileElements;
  shape.tiling.items = ceilDiv(elementsOf(shapeOf(yields[0])), tileElements);
  return success();
}

LogicalResult Classifier::matmul(MatmulOp op) {
  SmallVector<int64_t, 4> full(shapeOf(op.getResult()).drop_back(2));
  shape.batch = elementsOf(full);
  shape.m = op.getM();
  shape.n = op.getN();
  shape.k = op.getK();
  bool isLibrary = true;
  auto batchesOf = [&](Value factor) {
    ArrayRef<int64_t> own = shapeOf(factor).drop_back(2);
    isLibrary &= own == ArrayRef<int64_t>(full) || elementsOf(own) == 1;
    return elementsOf(own);
  };
  shape.lhsBatch = batchesOf(op.getLhs());
  shape.rhsBatch = batchesOf(op.getRhs());
  for (Value factor : {op.getLhs(), op.getRhs()}) {
    Operation *producer = factor.getDefiningOp();
    if (!producer || !inside.contains(producer))
      useInput(factor);
    else if (isSplatConstant(factor, inside))
      isLibrary = false;
    else
      return fail("a factor of the product is computed in it");
  }
  bool isAlone = yields.size() == 1 && yields[0].getDefiningOp() == op;
  if (!isLibrary) {
    if (!isAlone)
      return fail("a product with a splat factor or with mixed batches is a kernel of its own");
    return product(op);
  }
  shape.kind = KernelKind::Matmul;
  shape.tileCount = shape.batch * ceilDiv(shape.m, shape.tileM) * ceilDiv(shape.n, shape.tileN);
  if (isAlone)
    return success();

  auto type = cast<RankedTensorType>(yields[0].getType());
  if (yields.size() != 1 || type.getElementTypeBitWidth() != 32)
    return fail("an epilogue delivers one value of 4 bytes an element");
  shape.body.space.assign(shapeOf(op.getResult()).begin(), shapeOf(op.getResult()).end());
  builder.setProduct(op.getResult());
  FailureOr<unsigned> node = builder.add(yields[0], why);
  if (failed(node))
    return failure();
  shape.yields.push_back(*node);
  // The product is overwritten in place: it must be read exactly where the result is written.
  SmallVector<int64_t, 4> strides = rowMajorStrides(shape.body.space);
  bool readsProduct = false;
  for (const BodyNode &node : shape.body.nodes) {
    if (node.kind != BodyNode::Kind::Load || node.input != productInput)
      continue;
    readsProduct = true;
    for (auto [dim, size] : llvm::enumerate(shape.body.space))
      if (size != 1 && node.index.coefficients[dim] != strides[dim])
        return fail("the epilogue moves elements of the product");
    if (node.index.offset != 0)
      return fail("the epilogue moves elements of the product");
  }
  if (!readsProduct)
    return fail("the product is not used");
  SmallVector<bool, 4> kinds(shape.body.space.size(), false);
  collapse(kinds, /*keepLast=*/true);
  return success();
}

LogicalResult Classifier::product(MatmulOp op) {
  shape.kind = KernelKind::Product;
  shape.tiling.items = shape.batch * shape.m;
  shape.tiling.itemsPerTile =
      std::max<int64_t>(1, tileElements / std::max<int64_t>(1, shape.n) / std::max<int64_t>(1, shape.k));
  return success();
}

FailureOr<KernelShape> classify(ArrayRef<Operation *> ops, ArrayRef<Value> yields, ArrayRef<Value> arguments,
                                std::string *why) {
  std::string reason;
  FailureOr<KernelShape> result = Classifier(ops, yields, arguments, reason).run();
  if (failed(result) && why)
    *why = reason;
  return result;
}
} // namespace

FailureOr<KernelShape> mlir::autopar::classifyKernel(ArrayRef<Operation *> ops, ArrayRef<Value> yields,
                                                     std::string *why) {
  return classify(ops, yields, {}, why);
}

FailureOr<KernelShape> mlir::autopar::classifyKernel(Block &body, std::string *why) {
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  SmallVector<Value> arguments(body.getArguments());
  return classify(ops, SmallVector<Value>(body.getTerminator()->getOperands()), arguments, why);
}
