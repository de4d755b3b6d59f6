// Level 2: what may run in parallel.
#ifndef AUTOPAR_TASK_OPS_TD
#define AUTOPAR_TASK_OPS_TD

include "dialect/AutoparAttrs.td"
include "dialect/AutoparTypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// The attributes that the stages add to a task, one stage after another. All are absent in a program as written.
//   tasks:    label, cost_ns, occupancy, tile_count
//   planning: placement
//   memory:   buffers (one per result; an empty buffer for a token), scratch
//   codegen:  kernel

def Autopar_TaskOp : Op<Autopar_Dialect, "task", [IsolatedFromAbove, SingleBlock]> {
  let summary = "The unit of scheduling: one library call or one fused kernel";
  let description = [{
    The region's arguments stand for the operands, its `autopar.yield` gives the results. `cost_ns` says per device name
    or kind (the name beats the kind) how long it takes when alone; a device in neither cannot run it. `occupancy` says,
    alike, which share of the device it fills, in (0, 1]; 1 where absent. `tile_count` is into how many independent
    pieces the kernel may be cut.
  }];
  let arguments = (ins Variadic<Autopar_Edge>:$inputs,
                       StrAttr:$label,
                       OptionalAttr<DictionaryAttr>:$cost_ns,
                       OptionalAttr<DictionaryAttr>:$occupancy,
                       OptionalAttr<I64Attr>:$tile_count,
                       OptionalAttr<StrAttr>:$device,
                       OptionalAttr<StrAttr>:$colocate,
                       OptionalAttr<Autopar_PlacementAttr>:$placement,
                       OptionalAttr<Autopar_BufferArrayAttr>:$buffers,
                       OptionalAttr<Autopar_BufferArrayAttr>:$scratch,
                       OptionalAttr<FlatSymbolRefAttr>:$kernel);
  let results = (outs Variadic<Autopar_Edge>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *getBodyBlock() { return &getBody().front(); }
  }];
}

def Autopar_YieldOp : Op<Autopar_Dialect, "yield", [Pure, Terminator, ReturnLike, ParentOneOf<["TaskOp", "KernelOp"]>]> {
  let summary = "Ends a task's region with the task's results";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

def Autopar_SyntheticTaskOp : Op<Autopar_Dialect, "synthetic_task"> {
  let summary = "A task of a given cost that computes nothing: it sleeps, and moves real bytes on its edges";
  let description = [{
    `cost_ns` and `occupancy` as in `autopar.task`. `memory_bytes` (dictionary alike) is working memory while it runs.
    Tasks of one `colocate` group run on one device. Never erased, merged, fused or repeated.
  }];
  let arguments = (ins Variadic<Autopar_Edge>:$inputs,
                       StrAttr:$label,
                       DictionaryAttr:$cost_ns,
                       OptionalAttr<DictionaryAttr>:$occupancy,
                       OptionalAttr<DictionaryAttr>:$memory_bytes,
                       OptionalAttr<StrAttr>:$device,
                       OptionalAttr<StrAttr>:$colocate,
                       UnitAttr:$spin,
                       OptionalAttr<Autopar_PlacementAttr>:$placement,
                       OptionalAttr<Autopar_BufferArrayAttr>:$buffers,
                       OptionalAttr<Autopar_BufferArrayAttr>:$scratch,
                       OptionalAttr<FlatSymbolRefAttr>:$kernel);
  let results = (outs Variadic<Autopar_Edge>:$outputs);
  let assemblyFormat = "`(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
  let hasVerifier = 1;
}

def Autopar_TransferOp : Op<Autopar_Dialect, "transfer", [AllTypesMatch<["operand", "result"]>]> {
  let summary = "Copies a value from one device's memory to another's";
  let arguments = (ins Autopar_BytesTensor:$operand, StrAttr:$from, StrAttr:$to,
                       I64Attr:$start_ns, I64Attr:$finish_ns,
                       OptionalAttr<Autopar_BufferArrayAttr>:$buffers);
  let results = (outs Autopar_BytesTensor:$result);
  let assemblyFormat = [{
    $operand `from` $from `to` $to `at` $start_ns `to` $finish_ns attr-dict `:` type($result)
  }];
}

#endif  // AUTOPAR_TASK_OPS_TD
