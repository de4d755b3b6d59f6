// RUN: autopar-opt %s --autopar-attach-machine=machine=%S/../transfers/Inputs/two-gpus.json --autopar-insert-transfers --autopar-plan-memory --autopar-insert-waits | FileCheck %s

// Under happens-before the two chains would need 8,000 bytes of gpu1's 4,096: the second one reuses the first one's bytes,
// and waits for it.
// CHECK-LABEL: @second_chain_reuses_the_first
// CHECK: label = "b"
// CHECK: autopar.wait {{[0-9]+}} on @gpu1[1] because reuse
// CHECK: label = "d"
func.func @second_chain_reuses_the_first() -> (tensor<0xf32>, tensor<0xf32>) {
  %0 = autopar.synthetic_task() {label = "a", cost_ns = {virtual = 10}, occupancy = {virtual = 0.5}, placement = #autopar.placement<"gpu1" stream 0 at 0 to 10>} : () -> tensor<1000xf32>
  %2 = autopar.synthetic_task(%0) {label = "b", cost_ns = {virtual = 10}, occupancy = {virtual = 0.5}, placement = #autopar.placement<"gpu1" stream 0 at 20 to 30>} : (tensor<1000xf32>) -> tensor<0xf32>
  %3 = autopar.synthetic_task() {label = "d", cost_ns = {virtual = 10}, occupancy = {virtual = 0.5}, placement = #autopar.placement<"gpu1" stream 1 at 30 to 40>} : () -> tensor<1000xf32>
  %5 = autopar.synthetic_task(%3) {label = "f", cost_ns = {virtual = 10}, occupancy = {virtual = 0.5}, placement = #autopar.placement<"gpu1" stream 1 at 50 to 60>} : (tensor<1000xf32>) -> tensor<0xf32>
  return %2, %5 : tensor<0xf32>, tensor<0xf32>
}
