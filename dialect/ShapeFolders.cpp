// Folders of the ops that move elements, and of contractions over nothing. Chains of one kind become one op.

#include "dialect/Autopar.h"
#include "dialect/ConstantScalars.h"

#include "mlir/IR/PatternMatch.h"

#include <limits>

using namespace mlir;
using namespace mlir::autopar;

/// The constant whose element at `index` is the operand's at `source(index)` (both row-major multi-indices); a splat
/// stays one. Null if the operand is no constant or the result too large.
static Attribute foldMove(Attribute constant, RankedTensorType from, RankedTensorType to,
                          function_ref<void(ArrayRef<int64_t>, MutableArrayRef<int64_t>)> source) {
  if (to.getNumElements() == 0)
    return nullptr;
  if (std::optional<Scalar> splat = readSplat(constant))
    return writeScalars(to, {*splat});
  std::optional<SmallVector<Scalar>> operand = readScalars(constant);
  if (!operand || to.getNumElements() > maxFoldedElements)
    return nullptr;
  SmallVector<Scalar> results;
  SmallVector<int64_t> index(to.getRank(), 0), sourceIndex(from.getRank(), 0);
  for (int64_t count = to.getNumElements(); count > 0; --count) {
    source(index, sourceIndex);
    int64_t linear = 0;
    for (int64_t i = 0; i < from.getRank(); ++i)
      linear = linear * from.getDimSize(i) + sourceIndex[i];
    results.push_back((*operand)[linear]);
    for (int64_t i = to.getRank() - 1; i >= 0 && ++index[i] == to.getDimSize(i); --i)
      index[i] = 0;
  }
  return writeScalars(to, results);
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  RankedTensorType from = getOperand().getType(), to = getType();
  if (from == to)
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<BroadcastOp>()) {
    SmallVector<int64_t> dims;
    for (int64_t dim : inner.getDims())
      dims.push_back(getDims()[dim]);
    setDims(dims);
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  return foldMove(adaptor.getOperand(), from, to, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
    for (auto [i, dim] : llvm::enumerate(getDims()))
      source[i] = from.getDimSize(i) == 1 ? 0 : index[dim];
  });
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  RankedTensorType from = getOperand().getType(), to = getType();
  if (from == to)
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<ReshapeOp>()) {
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  auto elements = dyn_cast_or_null<DenseElementsAttr>(adaptor.getOperand());
  if (elements && (elements.isSplat() || elements.getNumElements() <= maxFoldedElements))
    return elements.reshape(to);
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int64_t> permutation = getPermutation();
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> composed;
    for (int64_t dim : permutation)
      composed.push_back(inner.getPermutation()[dim]);
    setPermutation(composed);
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  return foldMove(adaptor.getOperand(), getOperand().getType(), getType(),
                  [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
                    for (auto [i, dim] : llvm::enumerate(getPermutation()))
                      source[dim] = index[i];
                  });
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  RankedTensorType from = getOperand().getType(), to = getType();
  if (from == to)
    return getOperand();
  // What a stride over one element is, or an offset of nothing, does not matter: 1 and 0.
  SmallVector<int64_t> offsets(getOffsets()), strides(getStrides());
  for (int64_t i = 0; i < to.getRank(); ++i) {
    if (to.getDimSize(i) <= 1)
      strides[i] = 1;
    if (to.getDimSize(i) == 0)
      offsets[i] = 0;
  }
  auto inner = getOperand().getDefiningOp<SliceOp>();
  if (inner) {
    for (int64_t i = 0; i < to.getRank(); ++i) {
      if (to.getDimSize(i) > 0)
        offsets[i] = inner.getOffsets()[i] + offsets[i] * inner.getStrides()[i];
      if (to.getDimSize(i) > 1)
        strides[i] *= inner.getStrides()[i];
    }
    getOperandMutable().assign(inner.getOperand());
  }
  if (inner || getOffsets() != ArrayRef(offsets) || getStrides() != ArrayRef(strides)) {
    setOffsets(offsets);
    setStrides(strides);
    return getResult();
  }
  return foldMove(adaptor.getOperand(), from, to, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
    for (int64_t i = 0; i < to.getRank(); ++i)
      source[i] = offsets[i] + index[i] * strides[i];
  });
}

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  if (getOperands().size() == 1)
    return getOperands().front();
  // Operands without elements add nothing; one of them stays if there is no other.
  auto isEmpty = [&](Value operand) { return cast<RankedTensorType>(operand.getType()).getDimSize(getAxis()) == 0; };
  SmallVector<Value> rest(llvm::make_filter_range(getOperands(), [&](Value operand) { return !isEmpty(operand); }));
  if (rest.empty())
    return getOperands().front();
  if (rest.size() != getOperands().size()) {
    getOperandsMutable().assign(rest);
    return getResult();
  }
  std::optional<Scalar> first = readSplat(adaptor.getOperands().front());
  if (first && llvm::all_of(adaptor.getOperands(), [&](Attribute value) { return isSplatOf(value, *first); }))
    return writeScalars(getType(), {*first});
  return {};
}

/// What a reduction over nothing gives.
static Scalar getNeutral(Reduction kind) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  switch (kind) {
  case Reduction::sum: return {0.0f, 0};
  case Reduction::prod: return {1.0f, 1};
  case Reduction::max: return {-inf, std::numeric_limits<int32_t>::min()};
  case Reduction::min: return {inf, std::numeric_limits<int32_t>::max()};
  }
  return {};
}

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  if (getAxes().empty())
    return getOperand();
  if (getOperand().getType().getNumElements() == 0 && getType().getNumElements() > 0)
    return writeScalars(getType(), {getNeutral(getKind())});
  return {};
}

OpFoldResult MatmulOp::fold(FoldAdaptor) {
  if (getK() == 0 && getType().getNumElements() > 0)
    return writeScalars(getType(), {Scalar{0.0f, 0}});
  return {};
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }
