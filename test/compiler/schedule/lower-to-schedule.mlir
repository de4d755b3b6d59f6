// RUN: autopar-opt %s --autopar-attach-machine=machine=%S/../transfers/Inputs/two-gpus.json --autopar-insert-transfers --autopar-plan-memory --autopar-insert-waits --autopar-outline-kernels --autopar-lower-to-schedule | FileCheck %s
// Printed and read back, it is the same.
// RUN: autopar-opt %s --autopar-attach-machine=machine=%S/../transfers/Inputs/two-gpus.json --autopar-insert-transfers --autopar-plan-memory --autopar-insert-waits --autopar-outline-kernels --autopar-lower-to-schedule | autopar-opt | FileCheck %s

// CHECK-NOT: func.func

// CHECK-LABEL: autopar.schedule @one_task makespan = 10 lower_bound = 0 {
// CHECK-NEXT: autopar.argument 0 "" on @cpu0 : tensor<16xf32>
// CHECK-NEXT: autopar.result 0 "" on @cpu0 : tensor<16xf32>
// CHECK-NEXT: autopar.launch @exp_0 on @cpu0[0] "exp" at 0 to 10 reads(arg0@cpu0[0 for 64]) writes(result0@cpu0[0 for 64]) scratch()
// CHECK-NEXT: }
func.func @one_task(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = autopar.task(%a = %x) "exp" {placement = #autopar.placement<"cpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32> {
    %1 = autopar.exp %a : tensor<16xf32>
    autopar.yield %1 : tensor<16xf32>
  }
  return %0 : tensor<16xf32>
}

// Tokens, and orders that no bytes show, are named by the launch that comes after.
// CHECK-LABEL: autopar.schedule @copies_tokens_and_constants
// CHECK: autopar.data 0 = dense<{{.*}}> : tensor<2xf32>
// CHECK: autopar.arena @gpu0 bytes = 8
// CHECK: autopar.arena @gpu1 bytes = 8
// CHECK: %[[DONE:.*]] = autopar.launch @synthetic_0 on @gpu0[0] "a" at 0 to 10 for 7 reads(const0@gpu0[0 for 8]) writes(@gpu0[0 for 8]) scratch() -> !autopar.token
// CHECK-NEXT: autopar.record 0 on @gpu0[0]
// CHECK-NEXT: autopar.wait 0 on @gpu0[to @gpu1] because data
// CHECK-NEXT: autopar.copy on @gpu0[to @gpu1] "a to gpu1" at 10 to 18 @gpu0[0 for 8] to @gpu1[0 for 8]
// CHECK-NEXT: autopar.record 1 on @gpu0[to @gpu1]
// CHECK-NEXT: autopar.wait 1 on @gpu1[0] because data
// CHECK-NEXT: autopar.launch @synthetic_1 on @gpu1[0] "b" at 20 to 30 for 10 reads(const0@gpu1[0 for 8], @gpu1[0 for 8]) writes(result0@gpu1[0 for 8]) scratch() after(%[[DONE]])
func.func @copies_tokens_and_constants() -> (tensor<2xf32> {autopar.device = "gpu1"}) {
  %c = autopar.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r, %t = autopar.synthetic_task(%c) {label = "a", cost_ns = {virtual = 10, gpu0 = 7}, placement = #autopar.placement<"gpu0" stream 0 at 0 to 10>} : (tensor<2xf32>) -> (tensor<2xf32>, !autopar.token)
  %0 = autopar.synthetic_task(%c, %r, %t) {label = "b", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu1" stream 0 at 20 to 30>} : (tensor<2xf32>, tensor<2xf32>, !autopar.token) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK: autopar.kernel native @exp_0
// CHECK: autopar.synthetic_kernel @synthetic_0 reads [8] writes [8] scratch [] seed = {{[0-9]+}}
// CHECK: autopar.synthetic_kernel @synthetic_1 reads [8, 8] writes [8] scratch [] seed = {{[0-9]+}}
