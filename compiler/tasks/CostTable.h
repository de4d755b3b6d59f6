// Every tabled constant of the cost model, in one place. They stand in for what a machine file leaves out, and for what
// it cannot say (how long a tanh takes). Calibration replaces them: --profile.
//
// Sources: "measured" = one core of an AMD EPYC 9004 class server (Zen 4, AVX-512, L2 1 MiB, L3 32 MiB a core complex),
// kernels as this compiler builds them, 16 Ki f32 elements in cache, minima over bursts of 1 ms.
#ifndef AUTOPAR_COMPILER_TASKS_COSTTABLE_H
#define AUTOPAR_COMPILER_TASKS_COSTTABLE_H

#include <cstdint>

namespace mlir::autopar::costs {

// ---- one core ----
/// oneDNN's f32 product, one thread: measured 105 to 117 GF/s over 128^3 .. 2048^3.
inline constexpr double coreF32Flops = 1.1e11;
/// Products of fewer than 4 rows are bound by reading the other operand: measured 41 GF/s at m = 1.
inline constexpr double skinnyProductShare = 0.37;
inline constexpr int64_t skinnyProductRows = 4;
/// A transposed left operand is packed for each block of columns: measured 0.9 to 1.5 ns an element on 1009 to 4096 rows.
inline constexpr double packTransposedNs = 1.3;
inline constexpr double productBlockColumns = 256;
/// Reading and writing together. DRAM: 26 GB/s measured alone, 12 per core when the others stream too. L2: measured 96 to
/// 115. L3: between the two, not measured apart.
inline constexpr double coreDramBytesPerSecond = 1.2e10;
inline constexpr double coreL3BytesPerSecond = 5.0e10;
inline constexpr double coreL2BytesPerSecond = 1.0e11;
inline constexpr double coreL2Bytes = 1 << 20;
inline constexpr double coreL3Bytes = 16 << 20;
/// So many cores together reach a socket's whole memory bandwidth.
inline constexpr double coresThatFillMemory = 8;
/// Taking a tile from a task and calling its kernel: an estimate; measured below 0.1 us.
inline constexpr double tileNs = 80;

// ---- ns per element on one core, compute only (measured unless said otherwise) ----
inline constexpr double simpleNs = 0.02;   // add, mul, max, compare, select, floor …: estimate, one 512-bit op for 16 elements
inline constexpr double divNs = 0.15;      // by throughput of vdivps, not measured
inline constexpr double intDivNs = 1.5;    // scalar idiv, not measured
inline constexpr double remNs = 5.0;       // fmodf from libm, scalar, not measured
inline constexpr double expNs = 0.226;
inline constexpr double logNs = 0.345;
inline constexpr double sqrtNs = 0.24;
inline constexpr double rsqrtNs = 0.275;
inline constexpr double tanhNs = 0.25;
inline constexpr double erfNs = 0.393;
inline constexpr double sinNs = 1.5;       // sin and cos, with their range reduction
inline constexpr double powNs = 1.9;
inline constexpr double sigmoidNs = 0.40;
inline constexpr double softmaxNs = 0.40;  // the whole of a row, per element
inline constexpr double randomNs = 1.6;    // Philox, a block for each element
inline constexpr double reduceNs = 0.03;   // estimate
inline constexpr double argmaxNs = 0.1;    // not measured
inline constexpr double transposeNs = 0.1; // beyond its traffic: 0.75 of copy
inline constexpr double gatherNs = 0.05;   // slices and concatenations with short rows, not measured

// ---- a GPU for which the machine file gives no rates (a current data-centre part; data sheets) ----
inline constexpr double gpuF32Flops = 6.0e13;
inline constexpr double gpuBytesPerSecond = 3.0e12;
/// Blocks that fill it: 132 multiprocessors, one 64x64 tile of a product each (a vendor's library takes smaller tiles for
/// smaller products; an estimate) or eight blocks of 256 threads.
inline constexpr double gpuProductBlocks = 132;
inline constexpr double gpuProductElementsPerBlock = 64 * 64;
inline constexpr double gpuElementsPerBlock = 1024;
inline constexpr double gpuElementBlocks = 1056;

// ---- what fusing two tasks saves: a launch and a hand-over; per byte a write, a read and a copy to another device ----
inline constexpr double fusionSavedNs = 2500;
inline constexpr double fusionSavedNsPerByte = 2e9 / coreDramBytesPerSecond + 0.1;

} // namespace mlir::autopar::costs

#endif // AUTOPAR_COMPILER_TASKS_COSTTABLE_H
