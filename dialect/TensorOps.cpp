// Level 1: what the tensor ops accept. The tags (C1), (C2) ... are those of TensorOps.td. Folders and canonical forms
// are in ElementwiseFolders.cpp and ShapeFolders.cpp.

#include "dialect/Autopar.h"
#include "dialect/ScheduleSyntax.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::autopar;

#define GET_OP_CLASSES
#include "dialect/AutoparOps.cpp.inc"

bool mlir::autopar::isAddressable(RankedTensorType type) {
  int64_t bytes = 8;
  for (int64_t dim : type.getShape())
    if (llvm::MulOverflow(bytes, std::max<int64_t>(dim, 1), bytes) || bytes > int64_t(1) << 62)
      return false;
  return !type.getEncoding();
}

/// An error at `op` with a note that says what to do.
static LogicalResult refuse(Operation *op, const Twine &what, const Twine &advice) {
  InFlightDiagnostic error = op->emitOpError(what);
  error.attachNote() << advice;
  return error;
}

static std::string toString(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleaveComma(values, stream);
  stream << ']';
  return text;
}

static std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static LogicalResult verifySameElementType(Operation *op, StringRef tag, Type operand, Type result) {
  Type from = getElementTypeOrSelf(operand), to = getElementTypeOrSelf(result);
  if (from == to)
    return success();
  return refuse(op, "(" + tag + ") changes the element type from " + toString(from) + " to " + toString(to),
                "change element types with autopar.convert");
}

static LogicalResult verifyAxis(Operation *op, int64_t axis, RankedTensorType type) {
  if (axis >= 0 && axis < type.getRank())
    return success();
  if (type.getRank() == 0)
    return refuse(op, "(C1) axis " + Twine(axis) + " of a tensor of rank 0",
                  "a tensor of rank 0 has no axis: reshape it to one of rank 1 first");
  return refuse(op, "(C1) axis " + Twine(axis) + " of a tensor of rank " + Twine(type.getRank()),
                "give an axis from 0 to " + Twine(type.getRank() - 1));
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  ArrayRef<int64_t> dims = getDims();
  if (int64_t(dims.size()) != from.getRank())
    return refuse(*this, "(C1) has " + Twine(dims.size()) + " dims for an operand of rank " + Twine(from.getRank()),
                  "dims names, for each operand dimension, the result's dimension that it becomes");
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= to.getRank() || (i > 0 && dims[i] <= dims[i - 1]))
      return refuse(*this, "(C2) dims " + toString(dims) + " for a result of rank " + Twine(to.getRank()),
                    "dims must increase strictly and stay below the result's rank; permute with autopar.transpose");
    int64_t fromDim = from.getDimSize(i), toDim = to.getDimSize(dims[i]);
    if (fromDim != 1 && fromDim != toDim)
      return refuse(*this,
                    "(C3) operand dimension " + Twine(i) + " is " + Twine(fromDim) + " but result dimension " +
                        Twine(dims[i]) + " is " + Twine(toDim),
                    "an operand dimension must be 1 or that of the result");
  }
  return verifySameElementType(*this, "C4", from, to);
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  if (from.getNumElements() != to.getNumElements())
    return refuse(*this,
                  "(C1) reshapes " + Twine(from.getNumElements()) + " elements to " + Twine(to.getNumElements()),
                  "a reshape keeps the number of elements; repeat with autopar.broadcast, cut with autopar.slice");
  return verifySameElementType(*this, "C2", from, to);
}

LogicalResult TransposeOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  ArrayRef<int64_t> permutation = getPermutation();
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, from.getRank())))
    return refuse(*this, "(C1) permutation " + toString(permutation) + " of rank " + Twine(from.getRank()),
                  "a permutation holds each dimension of the operand once");
  SmallVector<int64_t> expected;
  for (int64_t dim : permutation)
    expected.push_back(from.getDimSize(dim));
  if (to.getShape() != ArrayRef(expected))
    return refuse(*this, "(C2) gives " + toString(to.getShape()) + " where the permutation gives " + toString(expected),
                  "result dimension i is operand dimension permutation[i]");
  return verifySameElementType(*this, "C2", from, to);
}

LogicalResult SliceOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  ArrayRef<int64_t> offsets = getOffsets(), strides = getStrides();
  int64_t rank = from.getRank();
  if (int64_t(offsets.size()) != rank || int64_t(strides.size()) != rank || to.getRank() != rank)
    return refuse(*this,
                  "(C1) has " + Twine(offsets.size()) + " offsets, " + Twine(strides.size()) +
                      " strides and a result of rank " + Twine(to.getRank()) + " for an operand of rank " + Twine(rank),
                  "each of them needs one entry for each operand dimension; drop dimensions with autopar.reshape");
  for (int64_t i = 0; i < rank; ++i) {
    if (offsets[i] < 0 || strides[i] < 1)
      return refuse(*this,
                    "(C2) offset " + Twine(offsets[i]) + " and stride " + Twine(strides[i]) + " in dimension " +
                        Twine(i),
                    "an offset is at least 0 and a stride at least 1");
    int64_t size = to.getDimSize(i), dim = from.getDimSize(i), last;
    bool inside = offsets[i] <= dim;
    if (size > 0)
      inside = !llvm::MulOverflow(size - 1, strides[i], last) && !llvm::AddOverflow(last, offsets[i], last) &&
               last < dim;
    if (!inside)
      return refuse(*this,
                    "(C3) takes " + Twine(size) + " elements from " + Twine(offsets[i]) + " on in steps of " +
                        Twine(strides[i]) + " out of dimension " + Twine(i) + ", which is " + Twine(dim),
                    "offset + (size - 1) * stride must be below the dimension");
  }
  return verifySameElementType(*this, "C4", from, to);
}

LogicalResult ConcatOp::verify() {
  RankedTensorType to = getType();
  if (getOperands().empty())
    return refuse(*this, "(C1) has no operands", "give at least one operand");
  int64_t axis = getAxis(), total = 0;
  if (axis < 0 || axis >= to.getRank())
    return refuse(*this, "(C2) axis " + Twine(axis) + " for a result of rank " + Twine(to.getRank()),
                  "the axis is a dimension of the result; tensors of rank 0 are reshaped to rank 1 first");
  for (auto [index, operand] : llvm::enumerate(getOperands())) {
    auto from = cast<RankedTensorType>(operand.getType());
    bool fits = from.getRank() == to.getRank() && from.getElementType() == to.getElementType();
    for (int64_t i = 0; fits && i < to.getRank(); ++i)
      fits = i == axis || from.getDimSize(i) == to.getDimSize(i);
    if (!fits)
      return refuse(*this,
                    "(C3) operand " + Twine(index) + " is " + toString(from) + " but the result is " + toString(to),
                    "rank, element type and all dimensions but the axis, " + Twine(axis) + ", must be the same");
    total += from.getDimSize(axis);
  }
  if (total != to.getDimSize(axis))
    return refuse(*this,
                  "(C4) the operands add up to " + Twine(total) + " along axis " + Twine(axis) +
                      " but the result has " + Twine(to.getDimSize(axis)),
                  "the result's dimension is the sum of the operands'");
  return success();
}

//===----------------------------------------------------------------------===//
// Contraction and reduction
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  ArrayRef<int64_t> axes = getAxes();
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] < 0 || axes[i] >= from.getRank() || (i > 0 && axes[i] <= axes[i - 1]))
      return refuse(*this, "(C1) axes " + toString(axes) + " of an operand of rank " + Twine(from.getRank()),
                    "axes must increase strictly and be dimensions of the operand");
  SmallVector<int64_t> expected;
  for (int64_t i = 0; i < from.getRank(); ++i)
    if (!llvm::is_contained(axes, i))
      expected.push_back(from.getDimSize(i));
  if (to.getShape() != ArrayRef(expected))
    return refuse(*this, "(C2) gives " + toString(to.getShape()) + " where the axes leave " + toString(expected),
                  "the reduced dimensions disappear; bring them back with autopar.reshape");
  return verifySameElementType(*this, "C2", from, to);
}

LogicalResult ArgmaxOp::verify() {
  RankedTensorType from = getOperand().getType();
  int64_t axis = getAxis();
  if (failed(verifyAxis(*this, axis, from)))
    return failure();
  int64_t size = from.getDimSize(axis);
  if (size < 1 || size > std::numeric_limits<int32_t>::max())
    return refuse(*this, "(C2) dimension " + Twine(axis) + " has " + Twine(size) + " elements",
                  "argmax needs at least one element, and at most 2147483647 to count them in i32");
  SmallVector<int64_t> expected(from.getShape());
  expected.erase(expected.begin() + axis);
  if (getType().getShape() != ArrayRef(expected))
    return refuse(*this,
                  "(C3) gives " + toString(getType().getShape()) + " where the axis leaves " + toString(expected),
                  "the axis disappears; bring it back with autopar.reshape");
  return success();
}

LogicalResult MatmulOp::verify() {
  RankedTensorType a = getLhs().getType(), b = getRhs().getType(), to = getType();
  int64_t rank = to.getRank();
  if (a.getRank() != rank || b.getRank() != rank || rank < 2)
    return refuse(*this,
                  "(C1) multiplies ranks " + Twine(a.getRank()) + " and " + Twine(b.getRank()) + " to rank " +
                      Twine(rank),
                  "all three have one rank, at least 2; add dimensions with autopar.reshape");
  int64_t otherK = b.getDimSize(rank - (getTransposeB() ? 1 : 2));
  if (getK() != otherK)
    return refuse(*this,
                  "(C2) k is " + Twine(getK()) + " in the left operand, " + toString(a) + ", but " + Twine(otherK) +
                      " in the right one, " + toString(b),
                  "the inner dimensions must agree; transpose_a and transpose_b swap the last two dimensions");
  SmallVector<int64_t> expected;
  for (int64_t i = 0; i < rank - 2; ++i) {
    int64_t left = a.getDimSize(i), right = b.getDimSize(i);
    if (left != right && left != 1 && right != 1)
      return refuse(*this, "(C3) batch dimension " + Twine(i) + " is " + Twine(left) + " and " + Twine(right),
                    "batch dimensions must be the same or 1");
    expected.push_back(left == 1 ? right : left);
  }
  expected.append({getM(), getN()});
  if (to.getShape() != ArrayRef(expected))
    return refuse(*this, "(C4) gives " + toString(to.getShape()) + " where the operands give " + toString(expected),
                  "the result is [batch..., m, n]");
  return success();
}

LogicalResult SoftmaxOp::verify() { return verifyAxis(*this, getAxis(), getType()); }

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  if (!isa<DenseElementsAttr>(getValue()))
    return refuse(*this, "(C1) the value is not written out", "write it as dense<...>");
  return success();
}

LogicalResult IotaOp::verify() {
  if (failed(verifyAxis(*this, getAxis(), getType())))
    return failure();
  int64_t size = getType().getDimSize(getAxis());
  if (getType().getElementType().isInteger(32) && size > int64_t(1) << 31)
    return refuse(*this, "(C2) dimension " + Twine(getAxis()) + " has " + Twine(size) + " elements",
                  "an index above 2147483647 does not fit in i32");
  return success();
}
