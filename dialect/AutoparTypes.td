// Types of the dialect, and the tensor constraints that its ops share.
#ifndef AUTOPAR_TYPES_TD
#define AUTOPAR_TYPES_TD

include "dialect/AutoparDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonTypeConstraints.td"

def Autopar_TokenType : TypeDef<Autopar_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "Orders two tasks without data";
}

def Autopar_Element : AnyTypeOf<[F32, I32, I1], "f32, i32 or i1">;
def Autopar_Tensor : StaticShapeTensorOf<[Autopar_Element]>;
def Autopar_F32Tensor : StaticShapeTensorOf<[F32]>;
def Autopar_NumberTensor : StaticShapeTensorOf<[F32, I32]>;
def Autopar_IntegerTensor : StaticShapeTensorOf<[I32, I1]>;
def Autopar_BoolTensor : StaticShapeTensorOf<[I1]>;
// What flows between tasks: bytes of any element type, or mere order.
def Autopar_BytesTensor : StaticShapeTensorOf<[F32, F64, F16, BF16, I1, I8, I32, I64]>;
def Autopar_Edge : AnyTypeOf<[Autopar_BytesTensor, Autopar_TokenType]>;

#endif  // AUTOPAR_TYPES_TD
