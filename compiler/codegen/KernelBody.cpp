// From a DAG of elementwise and shape ops to one scalar program.
// Reads: the ops of a body. Writes: nothing in the IR.

#include "compiler/codegen/KernelBody.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::autopar;

namespace {
/// More nodes than this for one kernel: some value is read under very many index maps.
constexpr size_t maxNodes = 4096;

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

bool isElementwise(Operation *op) { return op->hasTrait<OpTrait::Elementwise>() && op->hasTrait<IsTensorOp>(); }

/// Ops whose repetition for every element of a broadcast costs more than the store and load that it saves.
bool isExpensive(Operation *op) {
  return isa<ExpOp, LogOp, SqrtOp, RsqrtOp, TanhOp, ErfOp, SinOp, CosOp, SigmoidOp, PowOp, DivOp, RemOp, RandomUniformOp>(
      op);
}
} // namespace

int64_t mlir::autopar::elementsOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

SmallVector<int64_t, 4> mlir::autopar::rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> strides(shape.size(), 1);
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * shape[dim + 1];
  return strides;
}

BodyBuilder::BodyBuilder(KernelBody &body, const llvm::SmallDenseSet<Operation *, 16> &inside,
                         llvm::MapVector<Value, unsigned> &inputs)
    : body(body), inside(inside), inputs(inputs) {}

FailureOr<unsigned> BodyBuilder::add(Value value, std::string &why) {
  ArrayRef<int64_t> shape = shapeOf(value);
  Map map;
  if (shape == ArrayRef<int64_t>(body.space)) {
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      IndexExpr &index = map.dims.emplace_back();
      index.coefficients.assign(shape.size(), 0);
      index.coefficients[dim] = 1;
    }
  } else {
    if (elementsOf(shape) != elementsOf(body.space)) {
      why = "its values do not share one shape";
      return failure();
    }
    map.linear = true;
    map.dims.emplace_back().coefficients = rowMajorStrides(body.space);
  }
  return addRequest({value, map}, why);
}

bool BodyBuilder::isInput(Value value) const {
  Operation *op = value.getDefiningOp();
  return !op || !inside.contains(op) || value == product;
}

std::vector<int64_t> BodyBuilder::keyOf(const Request &request) const {
  std::vector<int64_t> key = {static_cast<int64_t>(reinterpret_cast<intptr_t>(request.value.getAsOpaquePointer())),
                              request.map.linear};
  for (const IndexExpr &index : request.map.dims) {
    key.push_back(index.offset);
    key.insert(key.end(), index.coefficients.begin(), index.coefficients.end());
  }
  return key;
}

FailureOr<unsigned> BodyBuilder::addRequest(const Request &root, std::string &why) {
  // Depth first with a stack of its own: a body may be a long chain.
  SmallVector<Request> stack = {root};
  size_t steps = 0;
  while (!stack.empty()) {
    if (++steps > 8 * maxNodes || body.nodes.size() > maxNodes) {
      why = "a value is read under too many index maps";
      return failure();
    }
    Request request = stack.back();
    std::vector<int64_t> key = keyOf(request);
    if (known.contains(key)) {
      stack.pop_back();
      continue;
    }
    SmallVector<Request> needs;
    if (failed(expand(request, needs, why)))
      return failure();
    SmallVector<unsigned> operands;
    size_t missing = 0;
    for (const Request &need : llvm::reverse(needs)) {
      auto found = known.find(keyOf(need));
      if (found == known.end()) {
        stack.push_back(need);
        ++missing;
      } else {
        operands.push_back(found->second);
      }
    }
    if (missing)
      continue;
    std::reverse(operands.begin(), operands.end());
    known[key] = makeNode(request, operands);
    stack.pop_back();
  }
  return known[keyOf(root)];
}

LogicalResult BodyBuilder::expand(const Request &request, SmallVectorImpl<Request> &needs, std::string &why) {
  Operation *op = request.value.getDefiningOp();
  if (isInput(request.value))
    return success();
  if (request.map.repeated && isExpensive(op)) {
    why = ("'" + op->getName().getStringRef() + "' would be repeated for every element of a broadcast").str();
    return failure();
  }
  if (isa<RandomUniformOp>(op))
    return success();
  if (isa<IotaOp>(op)) {
    SmallVector<IndexExpr, 4> dims;
    if (!request.map.linear || delinearise(request.map.dims[0], shapeOf(request.value), dims))
      return success();
    why = "the indices of 'autopar.iota' do not survive a reshape";
    return failure();
  }
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    if (constant.getValue().isSplat() || constant.getValue().getNumElements() == 0)
      return success();
    why = "it holds a constant whose elements differ";
    return failure();
  }
  if (isElementwise(op)) {
    for (Value operand : op->getOperands())
      needs.push_back({operand, request.map});
    return success();
  }
  if (isa<BroadcastOp, ReshapeOp, TransposeOp, SliceOp>(op))
    return mapThrough(op, request.map, needs.emplace_back(), why);
  why = ("'" + op->getName().getStringRef() + "' does not work element by element").str();
  return failure();
}

LogicalResult BodyBuilder::mapThrough(Operation *op, const Map &map, Request &need, std::string &why) {
  Value operand = op->getOperand(0);
  ArrayRef<int64_t> from = shapeOf(operand), to = shapeOf(op->getResult(0));
  need.value = operand;
  need.map.repeated = map.repeated;
  if (isa<ReshapeOp>(op)) {
    need.map.linear = true;
    need.map.dims = {linearOf(map, to)};
    return success();
  }
  SmallVector<IndexExpr, 4> dims;
  if (!map.linear)
    dims = map.dims;
  else if (!delinearise(map.dims[0], to, dims)) {
    why = ("the indices of '" + op->getName().getStringRef() + "' do not survive a reshape").str();
    return failure();
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    need.map.repeated |= elementsOf(to) > elementsOf(from);
    for (auto [dim, target] : llvm::enumerate(broadcast.getDims())) {
      if (from[dim] == 1)
        need.map.dims.emplace_back().coefficients.assign(body.space.size(), 0);
      else
        need.map.dims.push_back(dims[target]);
    }
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    need.map.dims.resize(dims.size());
    for (auto [dim, source] : llvm::enumerate(transpose.getPermutation()))
      need.map.dims[source] = dims[dim];
  } else {
    auto slice = cast<SliceOp>(op);
    for (auto [index, offset, stride] : llvm::zip_equal(dims, slice.getOffsets(), slice.getStrides())) {
      index.offset = index.offset * stride + offset;
      for (int64_t &coefficient : index.coefficients)
        coefficient *= stride;
    }
    need.map.dims = std::move(dims);
  }
  return success();
}

IndexExpr BodyBuilder::linearOf(const Map &map, ArrayRef<int64_t> shape) const {
  if (map.linear)
    return map.dims[0];
  IndexExpr linear;
  linear.coefficients.assign(body.space.size(), 0);
  for (auto [index, stride] : llvm::zip_equal(map.dims, rowMajorStrides(shape))) {
    linear.offset += index.offset * stride;
    for (auto [sum, coefficient] : llvm::zip_equal(linear.coefficients, index.coefficients))
      sum += coefficient * stride;
  }
  // The coefficient of a dimension of size 1 never counts.
  for (auto [coefficient, size] : llvm::zip_equal(linear.coefficients, body.space))
    if (size == 1)
      coefficient = 0;
  return linear;
}

bool BodyBuilder::delinearise(const IndexExpr &linear, ArrayRef<int64_t> shape,
                              SmallVectorImpl<IndexExpr> &dims) const {
  SmallVector<int64_t, 4> strides = rowMajorStrides(shape);
  dims.resize(shape.size());
  for (IndexExpr &index : dims)
    index.coefficients.assign(body.space.size(), 0);
  if (elementsOf(shape) == 0)
    return true;
  int64_t offset = linear.offset;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    dims[dim].offset = offset / strides[dim];
    offset %= strides[dim];
  }
  for (size_t d = 0; d < body.space.size(); ++d) {
    int64_t coefficient = linear.coefficients[d];
    if (coefficient == 0 || body.space[d] == 1)
      continue;
    size_t dim = 0;
    while (dim < shape.size() && (shape[dim] == 1 || strides[dim] > coefficient))
      ++dim;
    if (dim == shape.size() || coefficient % strides[dim] != 0)
      return false;
    dims[dim].coefficients[d] = coefficient / strides[dim];
  }
  for (auto [index, size] : llvm::zip_equal(dims, shape)) {
    int64_t last = index.offset;
    for (auto [coefficient, extent] : llvm::zip_equal(index.coefficients, body.space))
      last += coefficient * (extent - 1);
    if (last >= size)
      return false;
  }
  return true;
}

unsigned BodyBuilder::makeNode(const Request &request, ArrayRef<unsigned> operands) {
  Operation *op = request.value.getDefiningOp();
  bool leaf = isInput(request.value);
  // A shape op is its operand, read elsewhere.
  if (!leaf && isa<BroadcastOp, ReshapeOp, TransposeOp, SliceOp>(op))
    return operands[0];
  BodyNode node;
  node.element = cast<RankedTensorType>(request.value.getType()).getElementType();
  if (leaf) {
    node.kind = BodyNode::Kind::Load;
    node.input = request.value == product
                     ? productInput
                     : inputs.insert({request.value, static_cast<unsigned>(inputs.size())}).first->second;
    node.index = linearOf(request.map, shapeOf(request.value));
  } else if (auto constant = dyn_cast<ConstantOp>(op)) {
    node.kind = BodyNode::Kind::Splat;
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    node.value = elements.getNumElements() == 0 ? Builder(op->getContext()).getZeroAttr(node.element)
                                                : elements.getSplatValue<Attribute>();
  } else if (auto iota = dyn_cast<IotaOp>(op)) {
    node.kind = BodyNode::Kind::Iota;
    SmallVector<IndexExpr, 4> dims = request.map.dims;
    if (request.map.linear)
      delinearise(request.map.dims[0], shapeOf(request.value), dims);
    node.index = dims[iota.getAxis()];
  } else if (auto random = dyn_cast<RandomUniformOp>(op)) {
    node.kind = BodyNode::Kind::Random;
    node.seed = random.getSeed();
    node.index = linearOf(request.map, shapeOf(request.value));
  } else {
    node.kind = BodyNode::Kind::Compute;
    node.op = op;
    node.operands.assign(operands.begin(), operands.end());
  }
  body.nodes.push_back(std::move(node));
  return body.nodes.size() - 1;
}
