// Level 1: what to compute. Value semantics, ranked tensors of static shape, element types f32, i32 and i1. What holds for
// all ops (rounding, NaN, empty tensors) stands in docs/operations.md; each description says what its op adds. Constraints
// that the types do not say are numbered (C1), (C2) ...: the same tags stand in the verifiers and in the tests' names.
#ifndef AUTOPAR_TENSOR_OPS_TD
#define AUTOPAR_TENSOR_OPS_TD

include "dialect/AutoparAttrs.td"
include "dialect/AutoparTypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Marks the ops of this file: what may stand in a task's body.
def Autopar_IsTensorOp : NativeOpTrait<"IsTensorOp"> {
  let cppNamespace = "::mlir::autopar";
}

class Autopar_TensorOp<string mnemonic, list<Trait> traits = []>
    : Op<Autopar_Dialect, mnemonic, !listconcat([Pure, Autopar_IsTensorOp], traits)>;

// ---- elementwise: all operands and the result have one shape ----

class Autopar_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Autopar_TensorOp<mnemonic, !listconcat([Elementwise, SameOperandsAndResultShape], traits)> {
  let hasFolder = 1;
}

class Autopar_UnaryOp<string mnemonic, Type type, string sum>
    : Autopar_ElementwiseOp<mnemonic, [SameOperandsAndResultType]> {
  let summary = sum;
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

// Math whose last bits are the library's: never folded.
class Autopar_MathOp<string mnemonic, string sum> : Autopar_UnaryOp<mnemonic, Autopar_F32Tensor, sum> {
  let hasFolder = 0;
}

class Autopar_BinaryOp<string mnemonic, Type type, string sum, list<Trait> traits = []>
    : Autopar_ElementwiseOp<mnemonic, !listconcat([SameOperandsAndResultType], traits)> {
  let summary = sum;
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Autopar_AddOp : Autopar_BinaryOp<"add", Autopar_NumberTensor, "Sum", [Commutative]> {
  let description = "f32: IEEE 754, rounded to nearest even. i32: wraps.";
}

def Autopar_SubOp : Autopar_BinaryOp<"sub", Autopar_NumberTensor, "Difference"> {
  let description = "f32: IEEE 754, rounded to nearest even. i32: wraps.";
}

def Autopar_MulOp : Autopar_BinaryOp<"mul", Autopar_NumberTensor, "Product", [Commutative]> {
  let description = "f32: IEEE 754, rounded to nearest even, never contracted with an addition. i32: wraps.";
}

def Autopar_DivOp : Autopar_BinaryOp<"div", Autopar_NumberTensor, "Quotient"> {
  let description = [{
    f32: IEEE 754 (x / 0 is an infinity, 0 / 0 is NaN). i32: signed, truncated toward zero; every input has a result, as in
    RISC-V: x / 0 = -1 and -2147483648 / -1 = -2147483648.
  }];
}

def Autopar_RemOp : Autopar_BinaryOp<"rem", Autopar_NumberTensor, "Remainder, with the sign of the dividend"> {
  let description = [{
    f32: x - n·y for the integer n nearest to x / y toward zero, exactly, as C's `fmodf`: rem(x, ±0) and rem(±inf, y) are
    NaN, rem(x, ±inf) = x, and a zero result has the sign of x. i32: as in RISC-V, rem(x, 0) = x and
    rem(-2147483648, -1) = 0.
  }];
}

def Autopar_MaxOp : Autopar_BinaryOp<"max", Autopar_NumberTensor, "Larger of two; NaN if one is NaN", [Commutative]> {
  let description = "f32: IEEE 754-2019 `maximum`: NaN if one is NaN, and -0 is smaller than +0. i32: signed.";
}

def Autopar_MinOp : Autopar_BinaryOp<"min", Autopar_NumberTensor, "Smaller of two; NaN if one is NaN", [Commutative]> {
  let description = "f32: IEEE 754-2019 `minimum`: NaN if one is NaN, and -0 is smaller than +0. i32: signed.";
}

def Autopar_PowOp : Autopar_BinaryOp<"pow", Autopar_F32Tensor, "Power"> {
  let description = [{
    As C's `powf`: pow(x, ±0) = 1 and pow(1, y) = 1 even for NaN; NaN for a negative x and a y that is no integer.
  }];
  let hasFolder = 0;
}

def Autopar_AndOp : Autopar_BinaryOp<"and", Autopar_IntegerTensor, "Bitwise and", [Commutative]>;
def Autopar_OrOp : Autopar_BinaryOp<"or", Autopar_IntegerTensor, "Bitwise or", [Commutative]>;
def Autopar_XorOp : Autopar_BinaryOp<"xor", Autopar_IntegerTensor, "Bitwise exclusive or", [Commutative]>;

def Autopar_NegOp : Autopar_UnaryOp<"neg", Autopar_NumberTensor, "Negation"> {
  let description = "f32: flips the sign bit, of zeros too. i32: wraps, -(-2147483648) = -2147483648.";
}

def Autopar_AbsOp : Autopar_UnaryOp<"abs", Autopar_NumberTensor, "Absolute value"> {
  let description = "f32: clears the sign bit. i32: wraps, |-2147483648| = -2147483648.";
}

def Autopar_SignOp : Autopar_UnaryOp<"sign", Autopar_NumberTensor, "-1, 0 or 1; NaN for NaN"> {
  let description = "Both zeros give +0.";
}

def Autopar_NotOp : Autopar_UnaryOp<"not", Autopar_IntegerTensor, "Bitwise complement">;

def Autopar_ExpOp : Autopar_MathOp<"exp", "Exponential">;

def Autopar_LogOp : Autopar_MathOp<"log", "Natural logarithm"> {
  let description = "log(±0) = -inf; NaN for a negative operand.";
}

def Autopar_SqrtOp : Autopar_UnaryOp<"sqrt", Autopar_F32Tensor, "Square root"> {
  let description = "Correctly rounded; sqrt(-0) = -0; NaN for a negative operand.";
}

def Autopar_RsqrtOp : Autopar_MathOp<"rsqrt", "1 / square root"> {
  let description = "rsqrt(±0) = ±inf; NaN for a negative operand.";
}

def Autopar_TanhOp : Autopar_MathOp<"tanh", "Hyperbolic tangent">;
def Autopar_ErfOp : Autopar_MathOp<"erf", "Error function">;

def Autopar_SinOp : Autopar_MathOp<"sin", "Sine"> {
  let description = "The operand is in radians; NaN for an infinity.";
}

def Autopar_CosOp : Autopar_MathOp<"cos", "Cosine"> {
  let description = "The operand is in radians; NaN for an infinity.";
}

def Autopar_FloorOp : Autopar_UnaryOp<"floor", Autopar_F32Tensor, "Largest integer that is not larger">;
def Autopar_CeilOp : Autopar_UnaryOp<"ceil", Autopar_F32Tensor, "Smallest integer that is not smaller">;

def Autopar_ReluOp : Autopar_UnaryOp<"relu", Autopar_NumberTensor, "max(x, 0); NaN for NaN"> {
  let description = "relu(-0) = +0.";
}

def Autopar_SigmoidOp : Autopar_MathOp<"sigmoid", "1 / (1 + exp(-x))">;

def Autopar_CompareOp : Autopar_ElementwiseOp<"compare", [SameTypeOperands]> {
  let summary = "Comparison; every comparison with NaN is false but `ne`, which is true";
  let description = [{
    The predicate is `eq`, `ne`, `lt`, `le`, `gt` or `ge`. i32 compares signed; for i1 false is smaller than true; the two
    zeros of f32 are equal.
  }];
  let arguments = (ins Autopar_PredicateAttr:$predicate, Autopar_Tensor:$lhs, Autopar_Tensor:$rhs);
  let results = (outs Autopar_BoolTensor:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasCanonicalizeMethod = 1;
}

def Autopar_SelectOp : Autopar_ElementwiseOp<"select", [AllTypesMatch<["true_value", "false_value", "result"]>]> {
  let summary = "Takes each element from the first value where the condition holds, otherwise from the second";
  let description = "Both values are computed; what is not taken has no effect, not even if it is NaN.";
  let arguments = (ins Autopar_BoolTensor:$condition, Autopar_Tensor:$true_value, Autopar_Tensor:$false_value);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$condition `,` $true_value `,` $false_value attr-dict `:` type($condition) `,` type($result)";
}

def Autopar_ConvertOp : Autopar_ElementwiseOp<"convert"> {
  let summary = "Conversion between element types";
  let description = [{
    - f32 to i32: truncates toward zero and saturates (1e10 gives 2147483647, -inf gives -2147483648); NaN gives 0;
    - i32 to f32: rounds to nearest even;
    - f32 or i32 to i1: x != 0, so NaN gives true;
    - i1 to f32 or i32: false gives 0, true gives 1.
  }];
  let arguments = (ins Autopar_Tensor:$operand);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

// ---- shape ----

class Autopar_ShapeOp<string mnemonic> : Autopar_TensorOp<mnemonic> {
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Autopar_BroadcastOp : Autopar_ShapeOp<"broadcast"> {
  let summary = "Repeats a tensor along new or unit dimensions";
  let description = [{
    Operand dimension i becomes result dimension `dims[i]`; the result's other dimensions are new.

    - (C1) `dims` has one entry for each operand dimension;
    - (C2) `dims` increases strictly and stays below the result's rank;
    - (C3) each operand dimension is 1 or equals its result dimension;
    - (C4) operand and result have the same element type.

    ```mlir
    %1 = autopar.broadcast %row dims = [1] : tensor<10xf32> -> tensor<64x10xf32>
    ```
  }];
  let arguments = (ins Autopar_Tensor:$operand, DenseI64ArrayAttr:$dims);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$operand `dims` `=` $dims attr-dict `:` type($operand) `->` type($result)";
}

def Autopar_ReshapeOp : Autopar_ShapeOp<"reshape"> {
  let summary = "The same elements in row-major order under another shape";
  let description = [{
    - (C1) operand and result have the same number of elements;
    - (C2) operand and result have the same element type.
  }];
  let arguments = (ins Autopar_Tensor:$operand);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

def Autopar_TransposeOp : Autopar_ShapeOp<"transpose"> {
  let summary = "Permutes dimensions: result dimension i is operand dimension permutation[i]";
  let description = [{
    - (C1) `permutation` holds each of 0 ... rank - 1 once;
    - (C2) result dimension i equals operand dimension `permutation[i]`, and the element types are the same.

    ```mlir
    %1 = autopar.transpose %0 permutation = [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
    ```
  }];
  let arguments = (ins Autopar_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$operand `permutation` `=` $permutation attr-dict `:` type($operand) `->` type($result)";
}

def Autopar_SliceOp : Autopar_ShapeOp<"slice"> {
  let summary = "A regular box of a tensor: per dimension an offset, a size (the result's) and a stride";
  let description = [{
    Result element (i, j, ...) is operand element (offsets[0] + i·strides[0], offsets[1] + j·strides[1], ...).

    - (C1) `offsets`, `strides` and the result have one entry for each operand dimension;
    - (C2) each offset is at least 0 and each stride at least 1;
    - (C3) each dimension stays within the operand: offset + (size - 1)·stride < dimension; for size 0, offset <= dimension;
    - (C4) operand and result have the same element type.

    ```mlir
    %1 = autopar.slice %0 offsets = [2, 0] strides = [1, 2] : tensor<8x8xf32> -> tensor<4x4xf32>
    ```
  }];
  let arguments = (ins Autopar_Tensor:$operand, DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$strides);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = [{
    $operand `offsets` `=` $offsets `strides` `=` $strides attr-dict `:` type($operand) `->` type($result)
  }];
}

def Autopar_ConcatOp : Autopar_ShapeOp<"concat"> {
  let summary = "Tensors one after another along one dimension";
  let description = [{
    One operand is allowed, and so are operands without elements.

    - (C1) there is at least one operand;
    - (C2) `axis` is a dimension of the result;
    - (C3) every operand has the result's rank, element type and dimensions, except along `axis`;
    - (C4) along `axis` the operands' dimensions add up to the result's.

    ```mlir
    %2 = autopar.concat %0, %1 axis = 0 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Autopar_Tensor>:$operands, I64Attr:$axis);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$operands `axis` `=` $axis attr-dict `:` functional-type($operands, $result)";
}

// ---- contraction and reduction ----

def Autopar_ReduceOp : Autopar_TensorOp<"reduce"> {
  let summary = "Combines all elements along some dimensions, which disappear";
  let description = [{
    The kind is `sum`, `prod`, `max` or `min`. f32 sums and products accumulate in f32, along the last dimension in 64
    lanes (element i in lane i mod 64) that are combined in a fixed order at the end: the result is the same bits for
    every number of devices, streams and cores, but not those of a sum from left to right. i32 wraps. `max` and `min`
    give NaN if any element is NaN, wherever it stands. Over no elements the result is the neutral element: 0, 1,
    -inf (-2147483648) and +inf (2147483647).

    - (C1) `axes` increases strictly and holds dimensions of the operand only;
    - (C2) the result's shape is the operand's without `axes`, and the element types are the same.

    ```mlir
    %1 = autopar.reduce sum %0 axes = [1] : tensor<64x10xf32> -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Autopar_ReductionAttr:$kind, Autopar_NumberTensor:$operand, DenseI64ArrayAttr:$axes);
  let results = (outs Autopar_NumberTensor:$result);
  let assemblyFormat = "$kind $operand `axes` `=` $axes attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Autopar_ArgmaxOp : Autopar_TensorOp<"argmax"> {
  let summary = "Index (i32) of the largest element along one dimension, which disappears; the first one of equals";
  let description = [{
    As numpy: the first NaN, if there is one, is the largest; the two zeros are equal.

    - (C1) `axis` is a dimension of the operand;
    - (C2) that dimension is at least 1 and at most 2147483647;
    - (C3) the result's shape is the operand's without `axis`.
  }];
  let arguments = (ins Autopar_NumberTensor:$operand, I64Attr:$axis);
  let results = (outs Autopar_I32Tensor:$result);
  let assemblyFormat = "$operand `axis` `=` $axis attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def Autopar_MatmulOp : Autopar_TensorOp<"matmul"> {
  let summary = "Matrix product over the last two dimensions; leading dimensions are a batch";
  let description = [{
    `lhs` is [batch..., m, k] ([batch..., k, m] with `transpose_a`), `rhs` [batch..., k, n] ([batch..., n, k] with
    `transpose_b`), the result [batch..., m, n]. Products are accumulated in f32; k = 0 gives zeros.

    - (C1) both operands and the result have the same rank, at least 2;
    - (C2) both operands have the same k;
    - (C3) each batch dimension is the same in both operands, or 1 in one of them, which is then repeated;
    - (C4) the result is [batch..., m, n].

    ```mlir
    %2 = autopar.matmul %0, %1 transpose_b : tensor<8x64xf32>, tensor<10x64xf32> -> tensor<8x10xf32>
    ```
  }];
  let arguments = (ins Autopar_F32Tensor:$lhs, Autopar_F32Tensor:$rhs, UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs Autopar_F32Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)? attr-dict `:` type($lhs) `,` type($rhs)
    `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The sizes of one product: the result is m x n, the sum runs over k.
    int64_t getM() { return getLhs().getType().getShape().take_back(2)[getTransposeA() ? 1 : 0]; }
    int64_t getK() { return getLhs().getType().getShape().take_back(2)[getTransposeA() ? 0 : 1]; }
    int64_t getN() { return getRhs().getType().getShape().take_back(2)[getTransposeB() ? 0 : 1]; }
  }];
}

def Autopar_SoftmaxOp : Autopar_TensorOp<"softmax", [SameOperandsAndResultType]> {
  let summary = "exp(x - max) / sum(exp(x - max)) along one dimension";
  let description = [{
    A row that holds NaN or +inf, or nothing but -inf, becomes NaN. An empty row stays empty.

    - (C1) `axis` is a dimension of the operand.
  }];
  let arguments = (ins Autopar_F32Tensor:$operand, I64Attr:$axis);
  let results = (outs Autopar_F32Tensor:$result);
  let assemblyFormat = "$operand `axis` `=` $axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

// ---- sources ----

def Autopar_ConstantOp : Autopar_TensorOp<"constant", [ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "A constant tensor";
  let description = [{
    - (C1) the value is written out (`dense<...>`), not a reference to a resource.

    ```mlir
    %0 = autopar.constant dense<1.0> : tensor<4xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Autopar_IotaOp : Autopar_TensorOp<"iota"> {
  let summary = "Each element is its index along one dimension";
  let description = [{
    f32: the index, rounded to nearest even above 2^24.

    - (C1) `axis` is a dimension of the result;
    - (C2) for i32, that dimension is at most 2^31, so that every index fits.
  }];
  let arguments = (ins I64Attr:$axis);
  let results = (outs Autopar_NumberTensor:$result);
  let assemblyFormat = "`axis` `=` $axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Autopar_RandomUniformOp : Autopar_TensorOp<"random_uniform"> {
  let summary = "Uniform numbers in [0, 1) by Philox4x32-10";
  let description = [{
    Element i (row-major) is word i mod 4 of Philox4x32-10 with key = (seed low, seed high) and counter = i / 4 (128 bits,
    little end first), as (word >> 8) * 2^-24. The same bits on every device and for every tiling. Two ops with the same
    seed and type give the same numbers, and are one after common subexpressions are merged.
  }];
  let arguments = (ins I64Attr:$seed);
  let results = (outs Autopar_F32Tensor:$result);
  let assemblyFormat = "`seed` `=` $seed attr-dict `:` type($result)";
}

#endif  // AUTOPAR_TENSOR_OPS_TD
