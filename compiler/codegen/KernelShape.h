// What one kernel may hold, and how it is cut into tiles. A pure analysis, shared by the stage that forms tasks (may these
// ops be one kernel?) and by the code generator (which loops?).
//
// One kernel is one of
//   - a DAG of elementwise ops, splat constants, iota, random_uniform and shape ops (broadcast, reshape, transpose, slice)
//     over one iteration space, all of whose yields have that many elements;
//   - the same, ending in one reduce, argmax or softmax whose result is yielded (other yields: values of the operand's
//     shape);
//   - one matmul, or one matmul followed by a DAG as above with a single yield of the product's shape and of 4 bytes an
//     element, written in place over the product. The factors are inputs of the kernel (a splat constant as a factor is a
//     kernel of its own), other operands of the DAG are inputs or splats;
//   - one concat of inputs or splat constants.
// Every tensor op alone, with or without its splat operands, is a kernel, except where the last line above applies.
// Not synchronised; linear in the number of ops unless values are read under many index maps.
#ifndef AUTOPAR_COMPILER_CODEGEN_KERNELSHAPE_H
#define AUTOPAR_COMPILER_CODEGEN_KERNELSHAPE_H

#include "compiler/codegen/KernelBody.h"
#include "dialect/Autopar.h"

#include <cstdint>
#include <string>

namespace mlir::autopar {

enum class KernelKind {
  Empty,       ///< no result has elements: no code
  Elementwise, ///< loop nest over the iteration space
  Row,         ///< reduce, argmax or softmax along the last dimension: a row at a time
  Column,      ///< the same along other dimensions: columns side by side
  Transpose,   ///< one transpose that moves the last dimension
  Concat,
  Matmul,      ///< the library's product, with an epilogue if `body` has nodes
  Product      ///< a product that the library cannot do (mixed broadcast of batches): generated loops
};

/// How the work is cut: `items` independent items, `itemsPerTile` of them a tile. An item is one row of the iteration
/// space's outer part, or one of the `pieces` pieces of it, each `pieceLength` long (the last one shorter).
struct KernelTiling {
  int64_t items = 0;
  int64_t itemsPerTile = 1;
  int64_t pieces = 1;
  int64_t pieceLength = 0;

  int64_t tileCount() const { return (items + itemsPerTile - 1) / itemsPerTile; }
};

struct KernelShape {
  KernelKind kind = KernelKind::Empty;
  int64_t tileCount = 0;
  uint64_t scratchBytes = 0; ///< of the whole launch
  /// The elementwise part. Its space is the iteration space with unit dimensions dropped and neighbours merged as far as
  /// all index expressions allow (in an epilogue the last dimension, the product's columns, stays as it is).
  KernelBody body;
  /// Row, Column: per dimension of the space whether `root` reduces it. Row: the last one is reduced, Column: it is not.
  SmallVector<bool, 4> reduced;
  SmallVector<int64_t, 2> yields; ///< per yielded tensor: its node, or -1 for `root`'s result
  int64_t operandNode = -1;       ///< Row, Column: the node that `root` reduces
  Operation *root = nullptr; ///< Row, Column: reduce, argmax or softmax; Concat, Matmul, Product: the op
  KernelTiling tiling;       ///< of all kinds but Matmul
  SmallVector<Value> inputs; ///< in the order of the block's arguments, or of first use for a group of ops
  /// Matmul: batch, m, n, k, batches of the factors; tiles of the library call.
  int64_t batch = 1, m = 0, n = 0, k = 0, lhsBatch = 1, rhsBatch = 1, tileM = 128, tileN = 256;
};

/// Whether `ops` (in program order; splat constants included) can be one kernel that delivers `yields`, and how. Otherwise
/// a failure, and in `why`, if given, the reason as a fragment of a sentence.
FailureOr<KernelShape> classifyKernel(ArrayRef<Operation *> ops, ArrayRef<Value> yields, std::string *why = nullptr);

/// The same for the body of a task or kernel, which ends with autopar.yield.
FailureOr<KernelShape> classifyKernel(Block &body, std::string *why = nullptr);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_CODEGEN_KERNELSHAPE_H
