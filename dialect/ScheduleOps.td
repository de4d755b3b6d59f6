// Level 3: where, on which stream and in which issue order. One-to-one with the schedule file.
#ifndef AUTOPAR_SCHEDULE_OPS_TD
#define AUTOPAR_SCHEDULE_OPS_TD

include "dialect/AutoparAttrs.td"
include "dialect/AutoparTypes.td"
include "mlir/IR/SymbolInterfaces.td"

// ---- streams ----

def Autopar_StreamDirection : I32EnumAttr<"StreamDirection", "what a stream carries", [
  I32EnumAttrCase<"compute", 0>, I32EnumAttrCase<"in", 1>, I32EnumAttrCase<"out", 2>, I32EnumAttrCase<"to", 3>]> {
  let cppNamespace = "::mlir::autopar";
}

def Autopar_StreamAttr : AttrDef<Autopar_Dialect, "Stream"> {
  let mnemonic = "stream";
  let summary = "A compute stream of a device, or a copy stream of one link";
  let description = [{
    Ops print it short: `@gpu0[2]` is compute stream 2 of gpu0. Copy streams are named by the device that drives them:
    `@gpu0[in]` carries the link from the host device to gpu0, `@gpu0[out]` the link back, `@gpu0[to gpu1]` the link
    from gpu0 to gpu1. A link whose transfers never queue may have several: `@gpu0[in 1]`, `@gpu0[to gpu1 1]`. `peer` is
    empty but for `to`.
  }];
  let parameters = (ins StringRefParameter<"device name">:$device, EnumParameter<Autopar_StreamDirection>:$direction,
                        "int64_t":$ordinal, StringRefParameter<"other device's name">:$peer);
  let assemblyFormat = "`<` $device `,` $direction `,` $ordinal `,` $peer `>`";
  let genVerifyDecl = 1;
}

// ---- waits: levels 2 and 3 ----

def Autopar_RecordOp : Op<Autopar_Dialect, "record"> {
  let summary = "The event happens when everything before it on its stream has finished";
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$event, Autopar_StreamAttr:$stream);
  let assemblyFormat = "$event `on` custom<Stream>($stream) attr-dict";
}

def Autopar_WaitOp : Op<Autopar_Dialect, "wait"> {
  let summary = "What follows on the stream starts only after the event";
  let description = [{
    Stands after the record of its event in issue order. The reason: `data` (reads what was written there), `token`
    (ordered by a token), `reuse` (overwrites bytes that were in use there), `capacity` (the device was full).
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$event, Autopar_StreamAttr:$stream,
                       Autopar_WaitReasonAttr:$reason);
  let assemblyFormat = "$event `on` custom<Stream>($stream) `because` `` $reason attr-dict";
}

// ---- the schedule ----

def Autopar_ScheduleOp : Op<Autopar_Dialect, "schedule",
    [IsolatedFromAbove, SingleBlock, NoTerminator, Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "One function as a list of commands in issue order";
  let description = [{
    First the spaces (`autopar.argument`, `autopar.result`, `autopar.data`, `autopar.arena`), then the commands
    (`autopar.launch`, `autopar.copy`, `autopar.record`, `autopar.wait`).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ConfinedAttr<I64Attr, [IntNonNegative]>:$makespan_ns,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$lower_bound_ns);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `makespan` `=` $makespan_ns `lower_bound` `=` $lower_bound_ns attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    ::mlir::Block *getBodyBlock() { return &getBody().front(); }
  }];
}

class Autopar_InSchedule<string mnemonic, list<Trait> traits = []>
    : Op<Autopar_Dialect, mnemonic, !listconcat([HasParent<"ScheduleOp">], traits)>;

def Autopar_ArgumentOp : Autopar_InSchedule<"argument"> {
  let summary = "An argument: number, name, where it lives, type";
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$number, StrAttr:$name, StrAttr:$device, TypeAttr:$type);
  let assemblyFormat = "$number $name `on` custom<DeviceName>($device) `:` $type attr-dict";
}

def Autopar_ResultOp : Autopar_InSchedule<"result"> {
  let summary = "A result: number, name, where it is written, type";
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$number, StrAttr:$name, StrAttr:$device, TypeAttr:$type);
  let assemblyFormat = "$number $name `on` custom<DeviceName>($device) `:` $type attr-dict";
}

def Autopar_DataOp : Autopar_InSchedule<"data"> {
  let summary = "The bytes of constant `number`";
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$number, ElementsAttr:$value);
  let assemblyFormat = "$number `=` $value attr-dict";
}

def Autopar_ArenaOp : Autopar_InSchedule<"arena"> {
  let summary = "Planned scratch memory of one device";
  let arguments = (ins StrAttr:$device, ConfinedAttr<I64Attr, [IntNonNegative]>:$bytes);
  let assemblyFormat = "custom<DeviceName>($device) `bytes` `=` $bytes attr-dict";
}

def Autopar_LaunchOp : Autopar_InSchedule<"launch"> {
  let summary = "Runs a kernel on a compute stream";
  let description = [{
    `reads`, `writes` and `scratch` are the kernel's operands. Regions print short: `@gpu0[64 for 256]` are 256 bytes at
    offset 64 of gpu0's arena, `arg0@gpu0[0 for 256]` of argument 0, which lives on gpu0, and alike for `result0` and
    `const0`. `after` names commands that must have finished though no bytes say so.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Autopar_StreamAttr:$stream, StrAttr:$label, I64Attr:$start_ns,
                       I64Attr:$finish_ns, OptionalAttr<I64Attr>:$duration_ns, Autopar_BufferArrayAttr:$reads,
                       Autopar_BufferArrayAttr:$writes, Autopar_BufferArrayAttr:$scratch,
                       Variadic<Autopar_TokenType>:$after);
  let results = (outs Optional<Autopar_TokenType>:$done);
  let assemblyFormat = [{
    $kernel `on` custom<Stream>($stream) $label `at` $start_ns `to` $finish_ns (`for` $duration_ns^)?
    `reads` `` custom<Buffers>($reads) `writes` `` custom<Buffers>($writes) `scratch` `` custom<Buffers>($scratch)
    (`after` `` `(` $after^ `)`)? attr-dict (`->` type($done)^)?
  }];
}

def Autopar_CopyOp : Autopar_InSchedule<"copy"> {
  let summary = "Copies bytes from one device's memory to another's, on the link's copy stream";
  let arguments = (ins Autopar_StreamAttr:$stream, StrAttr:$label, I64Attr:$start_ns, I64Attr:$finish_ns,
                       Autopar_BufferAttr:$source, Autopar_BufferAttr:$target, Variadic<Autopar_TokenType>:$after);
  let results = (outs Optional<Autopar_TokenType>:$done);
  let assemblyFormat = [{
    `on` custom<Stream>($stream) $label `at` $start_ns `to` $finish_ns custom<Buffer>($source) `to`
    custom<Buffer>($target) (`after` `` `(` $after^ `)`)? attr-dict (`->` type($done)^)?
  }];
}

def Autopar_SyntheticKernelOp : Op<Autopar_Dialect, "synthetic_kernel", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "What synthetic tasks with operands of equal sizes run: sleep, then stir the operands into the results";
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$reads, DenseI64ArrayAttr:$writes,
                       DenseI64ArrayAttr:$scratch, I64Attr:$seed, UnitAttr:$spin);
  let assemblyFormat = [{
    $sym_name `reads` $reads `writes` $writes `scratch` $scratch `seed` `=` $seed (`spin` $spin^)? attr-dict
  }];
}

#endif  // AUTOPAR_SCHEDULE_OPS_TD
