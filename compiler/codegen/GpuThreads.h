// What the threads of a block do together: ids, barriers, shuffles, shared memory. Emits at the builder's insertion point.
#ifndef AUTOPAR_COMPILER_CODEGEN_GPUTHREADS_H
#define AUTOPAR_COMPILER_CODEGEN_GPUTHREADS_H

#include "compiler/codegen/LaneBuilder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::autopar {

inline constexpr int64_t warpSize = 32;

/// Blocks, and threads a block; along x only.
struct GpuLaunch {
  int64_t grid = 1, block = 1;
  int64_t threads() const { return grid * block; }
};

class GpuThreads {
public:
  GpuThreads(OpBuilder &builder, Location loc, GpuLaunch launch) : builder(builder), loc(loc), launch(launch) {}

  /// Within the block, as an index. Emitted once, where it is first asked for: ask in the function's outermost block.
  Value thread();
  Value block();
  /// Within the grid.
  Value globalThread();

  /// All threads of the block must get here. Orders shared memory.
  void barrier();

  /// The value (f32 or i32, or a vector of them) of the thread `delta` further within its segment of `width` threads of the
  /// warp; something else in the last `delta` threads of a segment. All threads of the segment, and only they, take part.
  Value shuffleDown(Value value, int64_t delta, int64_t width);
  /// The value of the segment's first thread.
  Value shuffleFirst(Value value, int64_t width);

  /// `count` elements of shared memory in `module`, under a name that begins with `name`.
  Value shared(ModuleOp module, StringRef name, int64_t count, Type element);

private:
  Value shuffle(Value value, int64_t by, int64_t width, NVVM::ShflKind kind);
  /// The bits of the segment's threads in a mask of the warp.
  Value segmentMask(int64_t width);
  template <typename Op>
  Value id(int64_t count);

  OpBuilder &builder;
  Location loc;
  GpuLaunch launch;
  Value threadId, blockId;
};

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_CODEGEN_GPUTHREADS_H
