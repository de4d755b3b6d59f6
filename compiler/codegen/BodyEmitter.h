// Emits a KernelBody's scalar program at one place of the iteration space, for one element or for neighbours along the
// last dimension. One object per place: values are emitted once.
#ifndef AUTOPAR_COMPILER_CODEGEN_BODYEMITTER_H
#define AUTOPAR_COMPILER_CODEGEN_BODYEMITTER_H

#include "compiler/codegen/KernelBody.h"
#include "compiler/codegen/LaneBuilder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::autopar {

/// The memory of a kernel: one-dimensional memrefs, i1 as i8.
struct KernelBuffers {
  SmallVector<Value> inputs; ///< by input number; null for tokens and for inputs that are not read
  Value product;             ///< of an epilogue
  Value table;               ///< of sin and cos, or null
};

class BodyEmitter {
public:
  /// `place` has an index value for each dimension of the space; the vector's first element in the last one. With
  /// `validLanes` < lanes only that many elements are loaded; the other lanes repeat the first. `isAligned` promises that
  /// the last place is a multiple of the lanes and that buffers start at multiples of 16 bytes.
  BodyEmitter(const KernelBody &body, const KernelBuffers &buffers, LaneBuilder &lanes, ArrayRef<Value> place,
              int64_t validLanes = 0, bool isAligned = false)
      : body(body), buffers(buffers), b(lanes), place(place), validLanes(validLanes ? validLanes : lanes.lanes),
        isAligned(isAligned), values(body.nodes.size()) {}

  Value emit(unsigned node);

  /// offset + sum of coefficient * place, as an index.
  Value address(const IndexExpr &index);

  /// Whether address(index) is known to be a multiple of the lanes, with neighbours in them.
  bool isAlignedAt(const IndexExpr &index) const;

private:
  Value emitLoad(const BodyNode &node);
  Value emitIota(const BodyNode &node);
  Value emitRandom(const BodyNode &node);

  const KernelBody &body;
  const KernelBuffers &buffers;
  LaneBuilder &b;
  SmallVector<Value, 4> place;
  int64_t validLanes;
  bool isAligned;
  std::vector<Value> values;
};

/// Loads `count` neighbours (scalar if the lanes are) into all lanes; i1 comes from bytes. `isAligned`: the address is a
/// multiple of the bytes.
Value loadLanes(LaneBuilder &b, Value memref, Value index, Type element, int64_t count, bool isAligned = false);
/// Stores the first `count` lanes.
void storeLanes(LaneBuilder &b, Value value, Value memref, Value index, int64_t count, bool isAligned = false);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_CODEGEN_BODYEMITTER_H
