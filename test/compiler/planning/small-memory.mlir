// A device that cannot hold a task's operands and results at once is no place for it, however fast it is.
// RUN: split-file %s %t
// RUN: autopar-opt %t/product.mlir --machine=%t/small.json --stop-after=planning | FileCheck %s
// CHECK: placement = #autopar.placement<"cpu0"
// Pinned to it, it is refused with its sizes.
// RUN: not autopar-opt %t/pinned.mlir --machine=%t/small.json --stop-after=memory 2>&1 | FileCheck %s --check-prefix=PINNED
// PINNED: error: needs {{[0-9]+}} bytes on 'gpu0'{{.*}}; pin less to it, raise its memory_bytes or plan for another machine

//--- product.mlir
func.func @main(%a: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = autopar.matmul %a, %a : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
//--- pinned.mlir
func.func @main(%a: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = autopar.matmul %a, %a {autopar.device = "gpu0"} : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
//--- small.json
{ "devices": [ {"name": "cpu0", "kind": "cpu", "cores": 1, "streams": 1, "peak_flops": {"f32": 1e9}},
               {"name": "gpu0", "kind": "virtual", "cores": 1, "memory_bytes": 100000, "peak_flops": {"f32": 1e13}} ],
  "links": [ {"from": "cpu0", "to": "gpu0", "bytes_per_s": 100000000000},
             {"from": "gpu0", "to": "cpu0", "bytes_per_s": 100000000000} ] }
