// Level 1: what to compute. Value semantics, ranked tensors of static shape, element types f32, i32 and i1.
#ifndef AUTOPAR_TENSOR_OPS_TD
#define AUTOPAR_TENSOR_OPS_TD

include "dialect/AutoparAttrs.td"
include "dialect/AutoparTypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Autopar_TensorOp<string mnemonic, list<Trait> traits = []>
    : Op<Autopar_Dialect, mnemonic, !listconcat([Pure], traits)>;

// ---- elementwise: all operands and the result have one shape ----

class Autopar_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Autopar_TensorOp<mnemonic, !listconcat([Elementwise, SameOperandsAndResultShape], traits)>;

class Autopar_UnaryOp<string mnemonic, Type type, string sum>
    : Autopar_ElementwiseOp<mnemonic, [SameOperandsAndResultType]> {
  let summary = sum;
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

class Autopar_BinaryOp<string mnemonic, Type type, string sum, list<Trait> traits = []>
    : Autopar_ElementwiseOp<mnemonic, !listconcat([SameOperandsAndResultType], traits)> {
  let summary = sum;
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Autopar_AddOp : Autopar_BinaryOp<"add", Autopar_NumberTensor, "Sum", [Commutative]>;
def Autopar_SubOp : Autopar_BinaryOp<"sub", Autopar_NumberTensor, "Difference">;
def Autopar_MulOp : Autopar_BinaryOp<"mul", Autopar_NumberTensor, "Product", [Commutative]>;
def Autopar_DivOp : Autopar_BinaryOp<"div", Autopar_NumberTensor, "Quotient">;
def Autopar_RemOp : Autopar_BinaryOp<"rem", Autopar_NumberTensor, "Remainder, with the sign of the dividend">;
def Autopar_MaxOp : Autopar_BinaryOp<"max", Autopar_NumberTensor, "Larger of two; NaN if one is NaN", [Commutative]>;
def Autopar_MinOp : Autopar_BinaryOp<"min", Autopar_NumberTensor, "Smaller of two; NaN if one is NaN", [Commutative]>;
def Autopar_PowOp : Autopar_BinaryOp<"pow", Autopar_F32Tensor, "Power">;
def Autopar_AndOp : Autopar_BinaryOp<"and", Autopar_IntegerTensor, "Bitwise and", [Commutative]>;
def Autopar_OrOp : Autopar_BinaryOp<"or", Autopar_IntegerTensor, "Bitwise or", [Commutative]>;
def Autopar_XorOp : Autopar_BinaryOp<"xor", Autopar_IntegerTensor, "Bitwise exclusive or", [Commutative]>;

def Autopar_NegOp : Autopar_UnaryOp<"neg", Autopar_NumberTensor, "Negation">;
def Autopar_AbsOp : Autopar_UnaryOp<"abs", Autopar_NumberTensor, "Absolute value">;
def Autopar_SignOp : Autopar_UnaryOp<"sign", Autopar_NumberTensor, "-1, 0 or 1; NaN for NaN">;
def Autopar_NotOp : Autopar_UnaryOp<"not", Autopar_IntegerTensor, "Bitwise complement">;
def Autopar_ExpOp : Autopar_UnaryOp<"exp", Autopar_F32Tensor, "Exponential">;
def Autopar_LogOp : Autopar_UnaryOp<"log", Autopar_F32Tensor, "Natural logarithm">;
def Autopar_SqrtOp : Autopar_UnaryOp<"sqrt", Autopar_F32Tensor, "Square root">;
def Autopar_RsqrtOp : Autopar_UnaryOp<"rsqrt", Autopar_F32Tensor, "1 / square root">;
def Autopar_TanhOp : Autopar_UnaryOp<"tanh", Autopar_F32Tensor, "Hyperbolic tangent">;
def Autopar_ErfOp : Autopar_UnaryOp<"erf", Autopar_F32Tensor, "Error function">;
def Autopar_SinOp : Autopar_UnaryOp<"sin", Autopar_F32Tensor, "Sine">;
def Autopar_CosOp : Autopar_UnaryOp<"cos", Autopar_F32Tensor, "Cosine">;
def Autopar_FloorOp : Autopar_UnaryOp<"floor", Autopar_F32Tensor, "Largest integer that is not larger">;
def Autopar_CeilOp : Autopar_UnaryOp<"ceil", Autopar_F32Tensor, "Smallest integer that is not smaller">;
def Autopar_ReluOp : Autopar_UnaryOp<"relu", Autopar_NumberTensor, "max(x, 0); NaN for NaN">;
def Autopar_SigmoidOp : Autopar_UnaryOp<"sigmoid", Autopar_F32Tensor, "1 / (1 + exp(-x))">;

def Autopar_CompareOp : Autopar_ElementwiseOp<"compare", [SameTypeOperands]> {
  let summary = "Comparison; every comparison with NaN is false but `ne`, which is true";
  let arguments = (ins Autopar_PredicateAttr:$predicate, Autopar_Tensor:$lhs, Autopar_Tensor:$rhs);
  let results = (outs Autopar_BoolTensor:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
}

def Autopar_SelectOp : Autopar_ElementwiseOp<"select", [AllTypesMatch<["true_value", "false_value", "result"]>]> {
  let summary = "Takes each element from the first value where the condition holds, otherwise from the second";
  let arguments = (ins Autopar_BoolTensor:$condition, Autopar_Tensor:$true_value, Autopar_Tensor:$false_value);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$condition `,` $true_value `,` $false_value attr-dict `:` type($condition) `,` type($result)";
}

def Autopar_ConvertOp : Autopar_ElementwiseOp<"convert"> {
  let summary = "Conversion between element types";
  let arguments = (ins Autopar_Tensor:$operand);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

// ---- shape ----

def Autopar_BroadcastOp : Autopar_TensorOp<"broadcast"> {
  let summary = "Repeats a tensor along new or unit dimensions";
  let description = [{
    `dims[i]` is the result's dimension that operand dimension i becomes; strictly increasing. An operand dimension is
    1 or equals that result dimension.
  }];
  let arguments = (ins Autopar_Tensor:$operand, DenseI64ArrayAttr:$dims);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$operand `dims` `=` $dims attr-dict `:` type($operand) `->` type($result)";
}

def Autopar_ReshapeOp : Autopar_TensorOp<"reshape"> {
  let summary = "The same elements in row-major order under another shape";
  let arguments = (ins Autopar_Tensor:$operand);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

def Autopar_TransposeOp : Autopar_TensorOp<"transpose"> {
  let summary = "Permutes dimensions: result dimension i is operand dimension permutation[i]";
  let arguments = (ins Autopar_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$operand `permutation` `=` $permutation attr-dict `:` type($operand) `->` type($result)";
}

def Autopar_SliceOp : Autopar_TensorOp<"slice"> {
  let summary = "A regular box of a tensor: per dimension an offset, a size (the result's) and a stride";
  let arguments = (ins Autopar_Tensor:$operand, DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$strides);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = [{
    $operand `offsets` `=` $offsets `strides` `=` $strides attr-dict `:` type($operand) `->` type($result)
  }];
}

def Autopar_ConcatOp : Autopar_TensorOp<"concat"> {
  let summary = "Tensors one after another along one dimension";
  let arguments = (ins Variadic<Autopar_Tensor>:$operands, I64Attr:$axis);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "$operands `axis` `=` $axis attr-dict `:` functional-type($operands, $result)";
}

// ---- contraction and reduction ----

def Autopar_ReduceOp : Autopar_TensorOp<"reduce"> {
  let summary = "Combines all elements along some dimensions, which disappear";
  let arguments = (ins Autopar_ReductionAttr:$kind, Autopar_NumberTensor:$operand, DenseI64ArrayAttr:$axes);
  let results = (outs Autopar_NumberTensor:$result);
  let assemblyFormat = "$kind $operand `axes` `=` $axes attr-dict `:` type($operand) `->` type($result)";
}

def Autopar_ArgmaxOp : Autopar_TensorOp<"argmax"> {
  let summary = "Index (i32) of the largest element along one dimension, which disappears; the first one of equals";
  let arguments = (ins Autopar_NumberTensor:$operand, I64Attr:$axis);
  let results = (outs StaticShapeTensorOf<[I32]>:$result);
  let assemblyFormat = "$operand `axis` `=` $axis attr-dict `:` type($operand) `->` type($result)";
}

def Autopar_MatmulOp : Autopar_TensorOp<"matmul"> {
  let summary = "Matrix product over the last two dimensions; leading dimensions are a batch";
  let description = [{
    `lhs` is [batch..., m, k] ([batch..., k, m] with `transpose_a`), `rhs` [batch..., k, n] ([batch..., n, k] with
    `transpose_b`). Both have the same rank >= 2; a batch dimension of 1 is repeated to the other's. k = 0 gives zeros.
  }];
  let arguments = (ins Autopar_F32Tensor:$lhs, Autopar_F32Tensor:$rhs, UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs Autopar_F32Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)? attr-dict `:` type($lhs) `,` type($rhs)
    `->` type($result)
  }];
}

def Autopar_SoftmaxOp : Autopar_TensorOp<"softmax", [SameOperandsAndResultType]> {
  let summary = "exp(x - max) / sum(exp(x - max)) along one dimension";
  let arguments = (ins Autopar_F32Tensor:$operand, I64Attr:$axis);
  let results = (outs Autopar_F32Tensor:$result);
  let assemblyFormat = "$operand `axis` `=` $axis attr-dict `:` type($result)";
}

// ---- sources ----

def Autopar_ConstantOp : Autopar_TensorOp<"constant", [ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "A constant tensor";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Autopar_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Autopar_IotaOp : Autopar_TensorOp<"iota"> {
  let summary = "Each element is its index along one dimension";
  let arguments = (ins I64Attr:$axis);
  let results = (outs Autopar_NumberTensor:$result);
  let assemblyFormat = "`axis` `=` $axis attr-dict `:` type($result)";
}

def Autopar_RandomUniformOp : Autopar_TensorOp<"random_uniform"> {
  let summary = "Uniform numbers in [0, 1) by Philox4x32-10";
  let description = [{
    Element i (row-major) is word i mod 4 of Philox4x32-10 with key = (seed low, seed high) and counter = i / 4 (128 bits,
    little end first), as (word >> 8) * 2^-24. The same bits on every device and for every tiling.
  }];
  let arguments = (ins I64Attr:$seed);
  let results = (outs Autopar_F32Tensor:$result);
  let assemblyFormat = "`seed` `=` $seed attr-dict `:` type($result)";
}

#endif  // AUTOPAR_TENSOR_OPS_TD
