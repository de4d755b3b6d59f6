// Attributes and enums of the dialect.
#ifndef AUTOPAR_ATTRS_TD
#define AUTOPAR_ATTRS_TD

include "dialect/AutoparDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

// ---- level 1 ----

def Autopar_Predicate : I32EnumAttr<"Predicate", "comparison", [
  I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
  I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::mlir::autopar";
  let genSpecializedAttr = 0;
}
def Autopar_PredicateAttr : EnumAttr<Autopar_Dialect, Autopar_Predicate, "predicate">;

def Autopar_Reduction : I32EnumAttr<"Reduction", "how a reduction combines", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"prod", 1>, I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>]> {
  let cppNamespace = "::mlir::autopar";
  let genSpecializedAttr = 0;
}
def Autopar_ReductionAttr : EnumAttr<Autopar_Dialect, Autopar_Reduction, "reduction">;

// ---- levels 2 and 3 ----

def Autopar_PlacementAttr : AttrDef<Autopar_Dialect, "Placement"> {
  let mnemonic = "placement";
  let summary = "Where and when a task runs: device, compute stream, predicted start and finish in nanoseconds";
  let parameters = (ins StringRefParameter<"device name">:$device, "int64_t":$stream, "int64_t":$startNs,
                        "int64_t":$finishNs);
  let assemblyFormat = "`<` $device `stream` $stream `at` $startNs `to` $finishNs `>`";
  let genVerifyDecl = 1;
}

def Autopar_SpaceKind : I32EnumAttr<"SpaceKind", "which kind of memory a buffer lives in", [
  I32EnumAttrCase<"arena", 0>, I32EnumAttrCase<"argument", 1>, I32EnumAttrCase<"result", 2>,
  I32EnumAttrCase<"constant", 3>]> {
  let cppNamespace = "::mlir::autopar";
}

def Autopar_BufferAttr : AttrDef<Autopar_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "Where the bytes of a value live";
  let description = [{
    `arena "gpu0"[4096 for 1024]`: 1024 bytes at offset 4096 of gpu0's arena. For `argument`, `result` and `constant`
    the index is the argument, result or constant number, and the device is where that space lives.
  }];
  let parameters = (ins EnumParameter<Autopar_SpaceKind>:$space, "int64_t":$index,
                        StringRefParameter<"device name">:$device, "int64_t":$offset, "int64_t":$bytes);
  let assemblyFormat = "`<` $space $index `on` $device `[` $offset `for` $bytes `]` `>`";
  let genVerifyDecl = 1;
}
def Autopar_BufferArrayAttr : TypedArrayAttrBase<Autopar_BufferAttr, "array of buffers">;

def Autopar_WaitReason : I32EnumAttr<"WaitReason", "why a stream waits", [
  I32EnumAttrCase<"data", 0>, I32EnumAttrCase<"reuse", 1>, I32EnumAttrCase<"token", 2>,
  I32EnumAttrCase<"capacity", 3>]> {
  let cppNamespace = "::mlir::autopar";
  let genSpecializedAttr = 0;
}
def Autopar_WaitReasonAttr : EnumAttr<Autopar_Dialect, Autopar_WaitReason, "wait_reason">;

#endif  // AUTOPAR_ATTRS_TD
