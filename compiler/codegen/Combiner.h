// How the accumulators of a reduction combine. One object serves scalars and vectors of any length.
#ifndef AUTOPAR_COMPILER_CODEGEN_COMBINER_H
#define AUTOPAR_COMPILER_CODEGEN_COMBINER_H

#include "compiler/codegen/LaneBuilder.h"
#include "dialect/Autopar.h"

namespace mlir::autopar {

/// sum, prod, max, min of f32 or i32, argmax, or Largest: the largest number, NaN ignored (softmax needs no more).
/// An accumulator is one value, or two: f32 max and min carry a NaN beside the largest number, so that the number needs one
/// instruction; argmax carries the index.
class Combiner {
public:
  enum class Kind { Sum, Prod, Max, Min, Argmax, Largest };

  Combiner(Kind kind, bool isFloat) : kind(kind), isFloat(isFloat) {}
  /// Of a reduce or argmax op.
  static Combiner of(Operation *op);

  using Accumulator = SmallVector<Value, 2>;

  Kind getKind() const { return kind; }
  /// What combines with x to x. An argmax's index starts at `firstIndex` (i32), that of the accumulator's first element.
  Accumulator identity(LaneBuilder &b, Value firstIndex) const;
  /// The result over no elements.
  Value empty(LaneBuilder &b) const;
  /// Takes in one value, for argmax with its index, in increasing order of indices.
  Accumulator take(LaneBuilder &b, const Accumulator &into, Value value, Value index) const;
  /// Combines two accumulators; for argmax any order.
  Accumulator merge(LaneBuilder &b, const Accumulator &left, const Accumulator &right) const;
  Value finish(LaneBuilder &b, const Accumulator &accumulator) const;
  /// Whether a repeated element would change the result.
  bool countsRepeats() const { return kind == Kind::Sum || kind == Kind::Prod; }

private:
  bool carriesNan() const { return isFloat && (kind == Kind::Max || kind == Kind::Min); }
  Value combine(LaneBuilder &b, Value left, Value right) const;

  Kind kind;
  bool isFloat;
};

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_CODEGEN_COMBINER_H
