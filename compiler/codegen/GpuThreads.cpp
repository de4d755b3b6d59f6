// Threads of a GPU as ops of the nvvm dialect.

#include "compiler/codegen/GpuThreads.h"

using namespace mlir;
using namespace mlir::autopar;

namespace {
Value constantI32(OpBuilder &builder, Location loc, uint32_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(builder.getI32Type(), static_cast<int32_t>(value)));
}
} // namespace

template <typename Op>
Value GpuThreads::id(int64_t count) {
  auto op = Op::create(builder, loc, builder.getI32Type());
  op.setRangeAttr(LLVM::ConstantRangeAttr::get(builder.getContext(), 32, 0, count));
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), op);
}

Value GpuThreads::thread() {
  if (!threadId)
    threadId = id<NVVM::ThreadIdXOp>(launch.block);
  return threadId;
}

Value GpuThreads::block() {
  if (!blockId)
    blockId = id<NVVM::BlockIdXOp>(launch.grid);
  return blockId;
}

Value GpuThreads::globalThread() {
  Value perBlock = arith::ConstantIndexOp::create(builder, loc, launch.block);
  Value first = arith::MulIOp::create(builder, loc, block(), perBlock);
  return arith::AddIOp::create(builder, loc, first, thread());
}

void GpuThreads::barrier() { NVVM::Barrier0Op::create(builder, loc); }

Value GpuThreads::segmentMask(int64_t width) {
  Value ones = constantI32(builder, loc, static_cast<uint32_t>((uint64_t{1} << width) - 1));
  if (width == warpSize)
    return ones;
  // width << first lane of the segment
  Value lane = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), thread());
  Value first = arith::AndIOp::create(builder, loc, lane, constantI32(builder, loc, warpSize - width));
  return arith::ShLIOp::create(builder, loc, ones, first);
}

Value GpuThreads::shuffle(Value value, int64_t by, int64_t width, NVVM::ShflKind kind) {
  Value mask = segmentMask(width), offset = constantI32(builder, loc, by);
  Value clamp = constantI32(builder, loc, (warpSize - width) << 8 | (warpSize - 1));
  auto one = [&](Value scalar) -> Value {
    return NVVM::ShflOp::create(builder, loc, scalar.getType(), mask, scalar, offset, clamp, kind, UnitAttr());
  };
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return one(value);
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
    elements.push_back(one(vector::ExtractOp::create(builder, loc, value, lane)));
  return vector::FromElementsOp::create(builder, loc, type, elements);
}

Value GpuThreads::shuffleDown(Value value, int64_t delta, int64_t width) {
  return shuffle(value, delta, width, NVVM::ShflKind::down);
}

Value GpuThreads::shuffleFirst(Value value, int64_t width) { return shuffle(value, 0, width, NVVM::ShflKind::idx); }

Value GpuThreads::shared(ModuleOp module, StringRef name, int64_t count, Type element) {
  std::string unique = name.str();
  for (unsigned number = 0; module.lookupSymbol(unique); ++number)
    unique = (name + Twine(number)).str();
  constexpr int64_t sharedSpace = 3;
  auto type = MemRefType::get({count}, element, MemRefLayoutAttrInterface(), builder.getI64IntegerAttr(sharedSpace));
  OpBuilder global = OpBuilder::atBlockBegin(module.getBody());
  memref::GlobalOp::create(global, loc, unique, builder.getStringAttr("private"), type, builder.getUnitAttr(),
                           /*constant=*/false, builder.getI64IntegerAttr(16));
  return memref::GetGlobalOp::create(builder, loc, type, unique);
}
