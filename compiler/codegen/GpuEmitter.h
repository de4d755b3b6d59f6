// From a kernel's body to a function that one thread of a GPU runs. The counterpart of KernelEmitter.h: the same bodies
// (BodyEmitter), other loops around them.
//
// A kernel is a one-dimensional grid of one-dimensional blocks; every extent is compiled in. Ids, barriers and shuffles
// are ops of the nvvm dialect, which LLVM's lowering passes leave alone, so the functions take the same way to LLVM as
// those for the CPU, with the same math routines and no device library. All indices are 64 bits wide; divisions are done
// in 32 where the numbers fit.
//
// Bits. Elementwise kernels, epilogues, products, and reductions along columns by one thread each compute what the CPU's
// code does, bit for bit (NaN apart, whose bits a GPU chooses). So do reductions along rows by 16 threads a row: they keep
// the CPU's 64 lanes and its tree. Long rows that are few take a block each, and long columns that are few a block for 32,
// with trees of their own. Which form a kernel takes depends on its shape alone; no form uses atomics.
#ifndef AUTOPAR_COMPILER_CODEGEN_GPUEMITTER_H
#define AUTOPAR_COMPILER_CODEGEN_GPUEMITTER_H

#include "compiler/codegen/GpuThreads.h"
#include "compiler/codegen/KernelEmitter.h"

#include <limits>

namespace mlir::autopar {

/// Adds to `module` the function of kernel `kernel`, with the kernel's name, one memref per buffer (in the launch's order)
/// and nothing else; buffers start at multiples of 16 bytes. Returns how to launch it, or fails with a diagnostic at the
/// kernel. Only for kernels that have code.
FailureOr<GpuLaunch> emitGpuKernel(KernelOp kernel, ModuleOp module);

/// A kernel for GPUs in the making.
struct GpuContext {
  KernelContext &kernel;
  GpuLaunch launch;
  GpuThreads threads;

  GpuContext(KernelContext &kernel, GpuLaunch launch)
      : kernel(kernel), launch(launch), threads(kernel.builder, kernel.loc, launch) {
    threads.thread(); // in the function's outermost block
    threads.block();
  }

  const KernelShape &shape() const { return kernel.shape; }
  OpBuilder &builder() { return kernel.builder; }
  Location loc() { return kernel.loc; }
  /// Loops whose divisions are of numbers up to `count`.
  LoopBuilder loops(int64_t count) {
    return LoopBuilder(kernel.builder, kernel.loc, count <= std::numeric_limits<int32_t>::max());
  }
  /// Runs body(i) for i = first, first + step, ... below count, where `first` < `step` is a value. One `if` where a step
  /// suffices.
  void forEach(Value first, int64_t step, int64_t count, llvm::function_ref<void(Value)> body);
  /// Runs body(element, lanes) over [0, count), `lanes` elements at a time and one at a time for the rest, all threads of
  /// the grid side by side. With lanes > 0, `element` is a multiple of them.
  void forElements(int64_t count, int64_t lanes, llvm::function_ref<void(Value, LaneBuilder &)> body);
};

/// Threads of a block and most blocks of a grid for kernels that need no particular number.
inline constexpr int64_t gpuBlock = 256, gpuMaxGrid = 2112;
/// Reductions take so many elements per round, so that their loads overlap, if their body has few nodes.
inline constexpr int64_t gpuUnroll = 4;
inline constexpr size_t gpuMaxUnrolledNodes = 12;
/// Enough blocks for `threads` threads, gpuMaxGrid at most, and at least one.
GpuLaunch launchFor(int64_t threads, int64_t block = gpuBlock);

GpuLaunch gpuRowLaunch(const KernelShape &shape);
void emitGpuRow(GpuContext &context);
GpuLaunch gpuColumnLaunch(const KernelShape &shape);
void emitGpuColumn(GpuContext &context);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_CODEGEN_GPUEMITTER_H
