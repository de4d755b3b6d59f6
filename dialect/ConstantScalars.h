// Constants as plain scalars, for the folders. Internal to dialect/.
//
// A fold must give the very bits that the kernels give. So only correctly rounded operations are folded, on splats and on
// constants of at most maxFoldedElements elements, and never to NaN, whose payload is the kernel's affair.
#ifndef AUTOPAR_DIALECT_CONSTANTSCALARS_H
#define AUTOPAR_DIALECT_CONSTANTSCALARS_H

#include "dialect/Autopar.h"

namespace mlir::autopar {

inline constexpr int64_t maxFoldedElements = 1024;

/// One element: `f` of an f32, `i` of an i32 (sign-extended) or an i1 (0 or 1).
struct Scalar {
  float f = 0;
  int64_t i = 0;
};

/// All elements of a constant in row-major order, a single one for a splat. Nothing for what is not a constant of f32, i32
/// or i1, has no elements, or is no splat and larger than maxFoldedElements.
std::optional<SmallVector<Scalar>> readScalars(Attribute constant);

/// The value of a splat.
std::optional<Scalar> readSplat(Attribute constant);

/// Whether the constant is a splat of exactly these bits (so that +0 and -0 differ).
bool isSplatOf(Attribute constant, Scalar value);

/// The constant of this type with these elements (one value: a splat); null if one of them is NaN.
Attribute writeScalars(RankedTensorType type, ArrayRef<Scalar> values);

/// Applies `evaluate` to each element of the constants; null if one of them cannot be read.
Attribute foldElementwise(ArrayRef<Attribute> constants, Type resultType,
                          function_ref<Scalar(ArrayRef<Scalar>)> evaluate);

} // namespace mlir::autopar

#endif // AUTOPAR_DIALECT_CONSTANTSCALARS_H
