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
    The region's arguments stand for the operands; its `autopar.yield` gives the results that are tensors. A token among
    the operands makes the task wait; a token among the results is there when the task has finished.

    `label` is for people. `cost_ns` says per device name or kind (the name beats the kind) how many nanoseconds it takes
    when alone; a device in neither cannot run it. `occupancy` says, alike, which share of the device it fills; 1 where
    absent. `tile_count` is into how many independent pieces the kernel may be cut; 0 where there is nothing to compute.
    `device` pins the task to a device; tasks of one `colocate` group run on one device. The other attributes belong to the
    stages that write them.

    - (C1) each cost is a number from 0 to 1e15, each occupancy a number above 0 and at most 1;
    - (C2) `device` and `colocate` are not empty;
    - (C3) `buffers` has one entry for each result;
    - (C4) the region's arguments have the operands' types;
    - (C5) the region holds tensor ops only, and ends with an `autopar.yield` of the results that are tensors, in order.

    ```mlir
    %1 = autopar.task(%a = %x, %b = %y) "sum" {cost_ns = {cpu = 900.0}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
      %0 = autopar.add %a, %b : tensor<4xf32>
      autopar.yield %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Autopar_Edge>:$inputs,
                       StrAttr:$label,
                       OptionalAttr<DictionaryAttr>:$cost_ns,
                       OptionalAttr<DictionaryAttr>:$occupancy,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$tile_count,
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
  let description = "Gives the results that are tensors, in order; tokens are not named.";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

def Autopar_SyntheticTaskOp : Op<Autopar_Dialect, "synthetic_task"> {
  let summary = "A task of a given cost that computes nothing: it sleeps, and moves real bytes on its edges";
  let description = [{
    `label`, `cost_ns`, `occupancy`, `device` and `colocate` are those of `autopar.task`; `memory_bytes`, a dictionary alike,
    is how much memory it works in besides its operands and results. Operands and results are the edges of the graph: their
    types say how many bytes move, and tokens order without bytes.

    When run, it sleeps until its cost on that device has passed (with `spin` it burns a core instead), and fills its results
    with bytes that depend on all bytes of its operands: whoever reads a wrong or late operand gives a wrong result. The
    bytes are the same on every device. Tensors of floating-point type may so hold any bits, NaN included.

    It is never erased, merged, fused or repeated, and has the same effect in the generic form, which scripts write.

    - (C1) each cost is a number from 0 to 1e15, each occupancy a number above 0 and at most 1, and each `memory_bytes` a
      number from 0 to 1e18;
    - (C2) `device` and `colocate` are not empty;
    - (C3) `buffers` has one entry for each result;
    - (C4) `cost_ns` names at least one device or kind of device;
    - (C5) no result is of i1, since the bytes that it makes are not all 0 or 1.

    ```mlir
    %r:2 = "autopar.synthetic_task"(%a) {label = "t3", cost_ns = {p0 = 14.0, p1 = 16.0, cpu = 20.0}}
        : (tensor<18xi8>) -> (tensor<12xi8>, tensor<9xi8>)
    %s, %done = autopar.synthetic_task(%r#0) {label = "t4", cost_ns = {cpu = 5.0}} : (tensor<12xi8>) -> (tensor<4xf32>, !autopar.token)
    ```
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
  let description = [{
    The times are the plan's, in nanoseconds. `stream` numbers the copy streams of the link: there are several only where
    its transfers never queue.

    - (C1) `from` and `to` name two different devices;
    - (C2) it does not finish before it starts.

    ```mlir
    %1 = autopar.transfer %0 from "gpu0" to "cpu0" at 1000 to 9000 : tensor<1024xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Autopar_BytesTensor:$operand, StrAttr:$from, StrAttr:$to,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$start_ns,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$finish_ns,
                       OptionalAttr<Autopar_BufferArrayAttr>:$buffers,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$stream);
  let results = (outs Autopar_BytesTensor:$result);
  let assemblyFormat = [{
    $operand `from` $from `to` $to `at` $start_ns `to` $finish_ns attr-dict `:` type($result)
  }];
}

#endif  // AUTOPAR_TASK_OPS_TD
