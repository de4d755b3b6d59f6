#include "compiler/tasks/CostModel.h"

#include "compiler/codegen/KernelShape.h"
#include "compiler/tasks/CostTable.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::autopar;

double mlir::autopar::elementCount(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return 0;
  double count = 1;
  for (int64_t size : tensor.getShape())
    count *= static_cast<double>(size);
  return count;
}

double mlir::autopar::storedBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 0;
  return elementCount(type) * ((tensor.getElementTypeBitWidth() + 7) / 8);
}

// ---- work of one op -------------------------------------------------------------------------------------------------

static bool isInteger(Value value) { return isa<IntegerType>(getElementTypeOrSelf(value.getType())); }

/// ns per element of an elementwise op or a generator.
static double nsPerElement(Operation *op) {
  return TypeSwitch<Operation *, double>(op)
      .Case<DivOp>([](DivOp div) { return isInteger(div.getResult()) ? costs::intDivNs : costs::divNs; })
      .Case<RemOp>([](RemOp rem) { return isInteger(rem.getResult()) ? costs::intDivNs : costs::remNs; })
      .Case<ExpOp>([](auto) { return costs::expNs; })
      .Case<LogOp>([](auto) { return costs::logNs; })
      .Case<SqrtOp>([](auto) { return costs::sqrtNs; })
      .Case<RsqrtOp>([](auto) { return costs::rsqrtNs; })
      .Case<TanhOp>([](auto) { return costs::tanhNs; })
      .Case<ErfOp>([](auto) { return costs::erfNs; })
      .Case<SinOp, CosOp>([](auto) { return costs::sinNs; })
      .Case<PowOp>([](auto) { return costs::powNs; })
      .Case<SigmoidOp>([](auto) { return costs::sigmoidNs; })
      .Case<SoftmaxOp>([](auto) { return costs::softmaxNs; })
      .Case<RandomUniformOp>([](auto) { return costs::randomNs; })
      .Case<TransposeOp>([](auto) { return costs::transposeNs; })
      .Case<SliceOp, ConcatOp>([](auto) { return costs::gatherNs; })
      .Case<ReshapeOp, ConstantOp>([](auto) { return 0.0; })
      .Default([](auto) { return costs::simpleNs; });
}

static Work workOfMatmul(MatmulOp matmul) {
  auto lhs = cast<RankedTensorType>(matmul.getLhs().getType());
  auto result = cast<RankedTensorType>(matmul.getResult().getType());
  int64_t rank = lhs.getRank();
  int64_t rows = result.getDimSize(rank - 2);
  double depth = static_cast<double>(lhs.getDimSize(matmul.getTransposeA() ? rank - 2 : rank - 1));
  Work work;
  work.productFlops = 2 * elementCount(result) * depth;
  if (rows < costs::skinnyProductRows)
    work.productFlops /= costs::skinnyProductShare;
  if (matmul.getTransposeA()) {
    double blocks = std::ceil(static_cast<double>(result.getDimSize(rank - 1)) / costs::productBlockColumns);
    work.coreNs = costs::packTransposedNs * elementCount(lhs) * blocks;
  }
  return work;
}

Work mlir::autopar::workOfOp(Operation *op) {
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return workOfMatmul(matmul);
  Work work;
  if (op->getNumResults() != 1)
    return work;
  if (auto reduce = dyn_cast<ReduceOp>(op))
    work.coreNs = costs::reduceNs * elementCount(reduce.getOperand().getType());
  else if (auto argmax = dyn_cast<ArgmaxOp>(op))
    work.coreNs = costs::argmaxNs * elementCount(argmax.getOperand().getType());
  else
    work.coreNs = nsPerElement(op) * elementCount(op->getResult(0).getType());
  return work;
}

// ---- work of a task -------------------------------------------------------------------------------------------------

/// Bytes that the body reads of one operand: those of its slices where it is only sliced.
static double readBytes(BlockArgument argument) {
  double whole = storedBytes(argument.getType()), sliced = 0;
  for (Operation *user : argument.getUsers()) {
    if (!isa<SliceOp>(user))
      return whole;
    sliced += storedBytes(user->getResult(0).getType());
  }
  return std::min(whole, sliced);
}

FailureOr<Work> mlir::autopar::workOfTask(TaskOp task, std::string *why) {
  Work work;
  for (Operation &op : task.getBodyBlock()->without_terminator()) {
    Work part = workOfOp(&op);
    work.productFlops += part.productFlops;
    work.coreNs += part.coreNs;
    for (Value result : op.getResults())
      work.elements = std::max(work.elements, elementCount(result.getType()));
    // The blocks of a reduction share what is read, not what is written.
    if (isa<ReduceOp, ArgmaxOp, SoftmaxOp>(op))
      work.elements = std::max(work.elements, elementCount(op.getOperand(0).getType()));
  }
  for (BlockArgument argument : task.getBodyBlock()->getArguments())
    work.bytes += readBytes(argument);
  for (Value result : task.getOutputs()) {
    work.bytes += storedBytes(result.getType());
    work.elements = std::max(work.elements, elementCount(result.getType()));
  }
  FailureOr<KernelShape> shape = classifyKernel(*task.getBodyBlock(), why);
  if (failed(shape))
    return failure();
  work.tiles = shape->tileCount;
  return work;
}

// ---- time on a device -----------------------------------------------------------------------------------------------

/// Bytes per second of one core, by what its caches can keep of `bytes`.
static double coreBandwidth(double bytes, double dram) {
  if (bytes <= costs::coreL2Bytes)
    return std::max(dram, costs::coreL2BytesPerSecond);
  if (bytes <= costs::coreL3Bytes)
    return std::max(dram, costs::coreL3BytesPerSecond);
  return dram;
}

double mlir::autopar::yardstickNs(const Work &work) {
  double compute = work.productFlops / costs::coreF32Flops * 1e9 + work.coreNs;
  return std::max(compute, work.bytes / costs::coreDramBytesPerSecond * 1e9);
}

static double peakFlops(const ::autopar::Device &device, double tabled) {
  auto found = device.peak_flops.find("f32");
  return found != device.peak_flops.end() && found->second > 0 ? found->second : tabled;
}

/// A CPU, or an emulated GPU backed by cores: the tiles are dealt out to the cores in rounds.
static double coresNs(const Work &work, const ::autopar::Device &device, double callBytes) {
  double cores = std::max<uint32_t>(device.cores, 1);
  double corePeak = peakFlops(device, costs::coreF32Flops * cores) / cores;
  // The peak is that of products, whose wider units do little for the arithmetic of other kernels.
  double computeNs = work.productFlops / corePeak * 1e9 + work.coreNs;
  double tiles = static_cast<double>(std::max<int64_t>(work.tiles, 1)), busy = std::min(tiles, cores);
  double rounds = std::ceil(tiles / busy);
  double memory = static_cast<double>(device.memory_bytes_per_s);
  double dram = memory > 0 ? memory / std::min(cores, costs::coresThatFillMemory) : costs::coreDramBytesPerSecond;
  double bandwidth = coreBandwidth(std::max(work.bytes, callBytes) / busy, dram) * busy;
  if (bandwidth == dram * busy && memory > 0)
    bandwidth = std::min(bandwidth, memory);
  return std::max(rounds * (computeNs / tiles + costs::tileNs), work.bytes / bandwidth * 1e9);
}

static double gpuNs(const Work &work, const ::autopar::Device &device) {
  double peak = peakFlops(device, costs::gpuF32Flops);
  double memory = device.memory_bytes_per_s ? static_cast<double>(device.memory_bytes_per_s)
                                            : costs::gpuBytesPerSecond;
  // A kernel that fills a share of the GPU has that share of its peak; a few blocks draw the whole bandwidth.
  double flops = work.productFlops + work.coreNs * 1e-9 * costs::coreF32Flops;
  return std::max(flops / (peak * occupancyOf(work, device)), work.bytes / memory) * 1e9;
}

double mlir::autopar::bytesPerCall(func::FuncOp function) {
  double bytes = 0;
  for (BlockArgument argument : function.getArguments())
    bytes += storedBytes(argument.getType());
  for (auto result : function.getOps<func::ReturnOp>())
    for (Value value : result.getOperands())
      bytes += storedBytes(value.getType());
  return bytes;
}

double mlir::autopar::costNs(const Work &work, const ::autopar::Device &device, double callBytes) {
  if (work.tiles == 0)
    return 0;
  double ns = device.kind == ::autopar::DeviceKind::kCuda ? gpuNs(work, device) : coresNs(work, device, callBytes);
  return std::ceil(ns);
}

double mlir::autopar::occupancyOf(const Work &work, const ::autopar::Device &device) {
  if (device.kind != ::autopar::DeviceKind::kCuda) {
    double cores = std::max<uint32_t>(device.cores, 1);
    return std::clamp(static_cast<double>(work.tiles), 1.0, cores) / cores;
  }
  double share = work.productFlops > 0
                     ? std::ceil(work.elements / costs::gpuProductElementsPerBlock) / costs::gpuProductBlocks
                     : std::ceil(work.elements / costs::gpuElementsPerBlock) / costs::gpuElementBlocks;
  return std::clamp(share, 1.0 / costs::gpuElementBlocks, 1.0);
}
