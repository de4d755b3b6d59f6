// Types of the dialect, and the tensor constraints that its ops share.
#ifndef AUTOPAR_TYPES_TD
#define AUTOPAR_TYPES_TD

include "dialect/AutoparDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonTypeConstraints.td"

def Autopar_TokenType : TypeDef<Autopar_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "Orders two tasks without data";
  let description = [{
    A token is a result of one task and an operand of others: they start after it has finished. No bytes move.
  }];
}

// Static shape, no encoding, and at most 2^62 bytes (8 an element, each zero dimension counted as 1), so that no later
// stage overflows when it multiplies the dimensions.
class Autopar_TensorOf<list<Type> elements> : RankedTensorOf<
    elements, [HasStaticShapePred, CPred<"::mlir::autopar::isAddressable(::llvm::cast<::mlir::RankedTensorType>($_self))">],
    "static tensor of less than 2^62 bytes and without an encoding,">;

def Autopar_Element : AnyTypeOf<[F32, I32, I1], "f32, i32 or i1">;
def Autopar_Tensor : Autopar_TensorOf<[Autopar_Element]>;
def Autopar_F32Tensor : Autopar_TensorOf<[F32]>;
def Autopar_I32Tensor : Autopar_TensorOf<[I32]>;
def Autopar_NumberTensor : Autopar_TensorOf<[F32, I32]>;
def Autopar_IntegerTensor : Autopar_TensorOf<[I32, I1]>;
def Autopar_BoolTensor : Autopar_TensorOf<[I1]>;
// What flows between tasks: bytes of any element type, or mere order.
def Autopar_BytesTensor : Autopar_TensorOf<[F32, F64, F16, BF16, I1, I8, I32, I64]>;
def Autopar_Edge : AnyTypeOf<[Autopar_BytesTensor, Autopar_TokenType]>;

#endif  // AUTOPAR_TYPES_TD
