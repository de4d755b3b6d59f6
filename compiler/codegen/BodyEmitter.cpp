// Loads, generators and arithmetic of a kernel's scalar program.

#include "compiler/codegen/BodyEmitter.h"

#include "compiler/codegen/ElementOps.h"
#include "compiler/codegen/MathRoutines.h"

using namespace mlir;
using namespace mlir::autopar;
using arith::CmpIPredicate;

namespace {
Value indexConstant(LaneBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b.builder, b.loc, value);
}

/// 0, step, 2 step, ... of the given integer type; lanes beyond the valid ones repeat the first, as loads do.
Value laneNumbers(LaneBuilder &b, IntegerType type, int64_t step, int64_t validLanes) {
  SmallVector<llvm::APInt> numbers;
  for (int64_t lane = 0; lane < b.lanes; ++lane)
    numbers.emplace_back(type.getWidth(), static_cast<uint64_t>(lane < validLanes ? lane * step : 0), /*isSigned=*/false,
                         /*implicitTrunc=*/true);
  auto vector = VectorType::get({b.lanes}, type);
  return arith::ConstantOp::create(b.builder, b.loc, DenseElementsAttr::get(vector, numbers));
}
/// Of a vector in memory; none if it is not known to be more than an element's.
llvm::MaybeAlign alignmentOf(VectorType type, bool isAligned) {
  uint64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  return isAligned && llvm::isPowerOf2_64(bytes) ? llvm::MaybeAlign(bytes) : llvm::MaybeAlign();
}
} // namespace

Value mlir::autopar::loadLanes(LaneBuilder &b, Value memref, Value index, Type element, int64_t count,
                               bool isAligned) {
  Type stored = cast<MemRefType>(memref.getType()).getElementType();
  Value value;
  if (!b.lanes) {
    value = memref::LoadOp::create(b.builder, b.loc, memref, index);
  } else {
    auto type = VectorType::get({count}, stored);
    value = vector::LoadOp::create(b.builder, b.loc, type, memref, ValueRange{index}, /*nontemporal=*/false,
                                   alignmentOf(type, isAligned));
    if (count < b.lanes) {
      SmallVector<int64_t> lanes(b.lanes, 0);
      for (int64_t lane = 0; lane < count; ++lane)
        lanes[lane] = lane;
      value = vector::ShuffleOp::create(b.builder, b.loc, value, value, lanes);
    }
  }
  if (!element.isInteger(1))
    return value;
  return b.cmpi(CmpIPredicate::ne, value, b.constant(b.builder.getI8IntegerAttr(0)));
}

void mlir::autopar::storeLanes(LaneBuilder &b, Value value, Value memref, Value index, int64_t count,
                               bool isAligned) {
  if (getElementTypeOrSelf(value.getType()).isInteger(1))
    value = b.make<arith::ExtUIOp>(b.type(b.builder.getI8Type()), value);
  if (!b.lanes) {
    memref::StoreOp::create(b.builder, b.loc, value, memref, index);
    return;
  }
  if (count < b.lanes) {
    SmallVector<int64_t> lanes;
    for (int64_t lane = 0; lane < count; ++lane)
      lanes.push_back(lane);
    value = vector::ShuffleOp::create(b.builder, b.loc, value, value, lanes);
  }
  vector::StoreOp::create(b.builder, b.loc, value, memref, ValueRange{index}, /*nontemporal=*/false,
                          alignmentOf(cast<VectorType>(value.getType()), isAligned));
}

Value BodyEmitter::address(const IndexExpr &index) {
  Value sum;
  for (auto [coefficient, at] : llvm::zip_equal(index.coefficients, place)) {
    if (coefficient == 0)
      continue;
    Value term = coefficient == 1 ? at : b.muli(at, indexConstant(b, coefficient));
    sum = sum ? b.addi(sum, term) : term;
  }
  if (!sum)
    return indexConstant(b, index.offset);
  return index.offset ? b.addi(sum, indexConstant(b, index.offset)) : sum;
}

bool BodyEmitter::isAlignedAt(const IndexExpr &index) const {
  if (!isAligned || !b.lanes || validLanes != b.lanes || index.offset % b.lanes != 0 || index.coefficients.empty() ||
      index.coefficients.back() != 1)
    return false;
  return llvm::all_of(ArrayRef(index.coefficients).drop_back(),
                      [&](int64_t coefficient) { return coefficient % b.lanes == 0; });
}

Value BodyEmitter::emitLoad(const BodyNode &node) {
  Value memref = node.input == productInput ? buffers.product : buffers.inputs[node.input];
  Value at = address(node.index);
  int64_t step = node.index.coefficients.empty() ? 0 : node.index.coefficients.back();
  if (!b.lanes || step == 1)
    return loadLanes(b, memref, at, node.element, validLanes, isAlignedAt(node.index));
  LaneBuilder scalar(b.builder, b.loc, 0);
  if (step == 0)
    return b.spread(loadLanes(scalar, memref, at, node.element, 1));
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < b.lanes; ++lane) {
    if (lane < validLanes)
      elements.push_back(loadLanes(scalar, memref, b.addi(at, indexConstant(b, lane * step)), node.element, 1));
    else
      elements.push_back(elements[0]);
  }
  return vector::FromElementsOp::create(b.builder, b.loc, cast<VectorType>(b.type(node.element)), elements);
}

Value BodyEmitter::emitIota(const BodyNode &node) {
  // In 32 bits where they suffice: AVX2 converts no 64-bit integers.
  int64_t last = node.index.offset;
  for (auto [coefficient, size] : llvm::zip_equal(node.index.coefficients, body.space))
    last += coefficient * std::max<int64_t>(0, size - 1) + (b.lanes ? coefficient * b.lanes : 0);
  bool isNarrow = last <= std::numeric_limits<int32_t>::max();
  IntegerType integer = isNarrow ? b.builder.getI32Type() : b.builder.getI64Type();
  Value number = arith::IndexCastOp::create(b.builder, b.loc, integer, address(node.index));
  if (b.lanes) {
    int64_t step = node.index.coefficients.empty() ? 0 : node.index.coefficients.back();
    number = b.addi(b.spread(number), laneNumbers(b, integer, step, validLanes));
  }
  if (node.element.isF32())
    return b.make<arith::SIToFPOp>(b.f32(), number);
  return isNarrow ? number : b.make<arith::TruncIOp>(b.i32(), number);
}

Value BodyEmitter::emitRandom(const BodyNode &node) {
  IntegerType integer = b.builder.getI64Type();
  Value index = arith::IndexCastOp::create(b.builder, b.loc, integer, address(node.index));
  if (b.lanes == 4 && isAlignedAt(node.index))
    return emitRandomBlock(b, index, node.seed);
  if (b.lanes) {
    int64_t step = node.index.coefficients.empty() ? 0 : node.index.coefficients.back();
    index = b.addi(b.spread(index), laneNumbers(b, integer, step, validLanes));
  }
  return emitRandomUniform(b, index, node.seed);
}

Value BodyEmitter::emit(unsigned root) {
  // Operands stand before their users: one sweep over what the root needs.
  std::vector<bool> needed(root + 1, false);
  needed[root] = true;
  for (unsigned number = root + 1; number-- > 0;)
    if (needed[number] && !values[number])
      for (unsigned operand : body.nodes[number].operands)
        needed[operand] = true;
  for (unsigned number = 0; number <= root; ++number) {
    if (!needed[number] || values[number])
      continue;
    const BodyNode &node = body.nodes[number];
    switch (node.kind) {
    case BodyNode::Kind::Load:
      values[number] = emitLoad(node);
      break;
    case BodyNode::Kind::Splat:
      values[number] = b.constant(cast<TypedAttr>(node.value));
      break;
    case BodyNode::Kind::Iota:
      values[number] = emitIota(node);
      break;
    case BodyNode::Kind::Random:
      values[number] = emitRandom(node);
      break;
    case BodyNode::Kind::Compute: {
      SmallVector<Value, 3> operands;
      for (unsigned operand : node.operands)
        operands.push_back(values[operand]);
      values[number] = emitElementOp(b, node.op, operands, buffers.table);
      break;
    }
    }
  }
  return values[root];
}
