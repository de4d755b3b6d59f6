// Kernels: what the codegen stage makes of the tasks' bodies, and the machine code.
#ifndef AUTOPAR_KERNEL_OPS_TD
#define AUTOPAR_KERNEL_OPS_TD

include "dialect/AutoparAttrs.td"
include "dialect/AutoparTypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"

def Autopar_KernelForm : I32EnumAttr<"KernelForm", "what runs a kernel", [
  I32EnumAttrCase<"native", 0>, I32EnumAttrCase<"matmul", 1>]> {
  let cppNamespace = "::mlir::autopar";
  let genSpecializedAttr = 0;
}
def Autopar_KernelFormAttr : EnumAttr<Autopar_Dialect, Autopar_KernelForm, "kernel_form">;

def Autopar_ProductAttr : AttrDef<Autopar_Dialect, "Product"> {
  let mnemonic = "product";
  let summary = "The sizes of a matrix product, field by field those of the schedule's MatmulParams";
  let parameters = (ins "int64_t":$batch, "int64_t":$m, "int64_t":$n, "int64_t":$k, "int64_t":$aBatch,
                        "int64_t":$bBatch, "bool":$transposeA, "bool":$transposeB, "int64_t":$tileM,
                        "int64_t":$tileN);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Autopar_KernelOp : Op<Autopar_Dialect, "kernel", [IsolatedFromAbove, SingleBlock, Symbol]> {
  let summary = "One kernel: what a task's body computes, once for all tasks with an equal body";
  let description = [{
    The region is the body of the task. A launch passes the regions of memory

    - reads: for each entry i of `reads`, the task's operand number i. Native kernels read every tensor operand in order;
      a matmul kernel reads its two factors first (the same operand twice for a square), then the epilogue's operands;
    - writes: the task's tensor results, in order (tokens have no bytes);
    - scratch: one region of `scratch_bytes` bytes, unless that is 0.

    All regions are dense and row-major; i1 takes one byte an element, 0 or 1.

    - `form`: `native` is generated code, entry point NativeKernelFn; `matmul` is the library's product `product`, with a
      generated epilogue (EpilogueFn) where `epilogue` is set.
    - `tile_count`: into how many tiles the launch may be cut; 0 where the results have no elements, and then there is no
      code.
    - Once compiled, the code is in the CPU's `autopar.binary` of the module under the symbol `sym_name`, and in one for
      GPUs if it may run there. Only native kernels with tiles and matmul kernels with an epilogue have code (`hasCode()`).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       Autopar_KernelFormAttr:$form,
                       I64Attr:$tile_count,
                       I64Attr:$scratch_bytes,
                       DenseI64ArrayAttr:$reads,
                       OptionalAttr<Autopar_ProductAttr>:$product,
                       UnitAttr:$epilogue);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $form $sym_name `tiles` `=` $tile_count `scratch` `=` $scratch_bytes `reads` `=` $reads
    (`product` `=` $product^)? (`epilogue` $epilogue^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *getBodyBlock() { return &getBody().front(); }
    /// Whether machine code belongs to this kernel.
    bool hasCode() {
      return getForm() == KernelForm::native ? static_cast<int64_t>(getTileCount()) > 0 : getEpilogue();
    }
  }];
}

def Autopar_CodeOp : Op<Autopar_Dialect, "binary", [Symbol]> {
  let summary = "Machine code of the module's kernels for one processor";
  let description = [{
    For a CPU, `image` is an ELF shared object whose symbols are the kernels' names, all of those that have code; it needs
    libm.so.6 and libc.so.6 at most. `features` are what the processor must have, named as in /proc/cpuinfo.

    For a GPU, `launches` is there and `image` is PTX text that ends with a zero byte. It has the kernels that `launches`
    names, each with its number of blocks and of threads in a block; `features` is the PTX version.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$target, StrArrayAttr:$features,
                       OptionalAttr<DictionaryAttr>:$launches, StrAttr:$image);
  let assemblyFormat = [{
    $sym_name `target` `=` $target `features` `=` $features (`launches` `=` $launches^)? `image` `=` $image attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Blocks and threads a block of kernel `name`; nothing if this is not its GPU code.
    ::std::optional<::std::pair<int64_t, int64_t>> getLaunch(::mlir::StringAttr name);
  }];
}

#endif  // AUTOPAR_KERNEL_OPS_TD
