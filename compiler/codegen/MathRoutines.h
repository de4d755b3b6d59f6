// f32 math and random numbers as plain arithmetic. Each routine is one straight line of IEEE operations, so that its bits
// do not depend on the CPU (which must have fused multiply-add), on vector length or on what surrounds it. Bounds against
// the exact value, in units in the last place, as tested: exp 1, log 1, sigmoid 3, tanh 5, erf 5, sin and cos 1.5 (over all
// of f32), pow 1, rsqrt 1.5.
#ifndef AUTOPAR_COMPILER_CODEGEN_MATHROUTINES_H
#define AUTOPAR_COMPILER_CODEGEN_MATHROUTINES_H

#include "compiler/codegen/LaneBuilder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::autopar {

Value emitExp(LaneBuilder &b, Value x);
/// A math.log with denormal arguments scaled, for lowerMath.
Value emitLog(LaneBuilder &b, Value x);
/// A math.erf that keeps the sign of zero, for lowerMath.
Value emitErf(LaneBuilder &b, Value x);
Value emitPow(LaneBuilder &b, Value x, Value y);
/// Needs the table of reduction constants that `getReductionTable` made in the module.
Value emitSin(LaneBuilder &b, Value x, Value table);
Value emitCos(LaneBuilder &b, Value x, Value table);
/// Element `index` (i64) of the stream of `seed`, as documented for autopar.random_uniform.
Value emitRandomUniform(LaneBuilder &b, Value index, uint64_t seed);
/// Elements `index` to `index` + 3 as four lanes, `index` a multiple of 4: one block of the generator.
Value emitRandomBlock(LaneBuilder &b, Value index, uint64_t seed);

/// The memref.global with the constants of sin's and cos's range reduction; made at the first call for the module.
memref::GlobalOp getReductionTable(ModuleOp module);

/// Replaces arith.remf on f32 by a call of a function that this makes in the module: fmod, exact. For targets without libm.
void lowerRemainder(ModuleOp module);
/// Replaces math.tanh, math.erf and math.log on f32 by polynomials.
LogicalResult lowerMath(ModuleOp module);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_CODEGEN_MATHROUTINES_H
