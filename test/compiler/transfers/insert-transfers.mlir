// RUN: autopar-opt %s --autopar-attach-machine=machine=%S/Inputs/two-gpus.json --autopar-insert-transfers | FileCheck %s

// The machine: cpu0, gpu0, gpu1; one byte a nanosecond; no link from gpu1 to gpu0.

// Arguments live on the host, results return there.
// CHECK-LABEL: @value_goes_there_and_back
// CHECK: %[[IN:.*]] = autopar.transfer %arg0 from "cpu0" to "gpu0" at 0 to 64
// CHECK: %[[R:.*]] = autopar.synthetic_task(%[[IN]])
// CHECK: %[[OUT:.*]] = autopar.transfer %[[R]] from "gpu0" to "cpu0" at 110 to 174
// CHECK: return %[[OUT]]
func.func @value_goes_there_and_back(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu0" stream 0 at 100 to 110>} : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// CHECK-LABEL: @pinned_values_stay
// CHECK-NOT: autopar.transfer
// CHECK: return
func.func @pinned_values_stay(%x: tensor<16xf32> {autopar.device = "gpu0"}) -> (tensor<16xf32> {autopar.device = "gpu0"}) {
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// Two readers on one device and the result: one copy to each device.
// CHECK-LABEL: @one_copy_a_device
// CHECK-COUNT-3: autopar.transfer
// CHECK-NOT: autopar.transfer
func.func @one_copy_a_device(%x: tensor<16xf32> {autopar.device = "gpu0"}) -> (tensor<16xf32>, tensor<16xf32>) {
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32>
  %1 = autopar.synthetic_task(%0) {label = "b", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu1" stream 0 at 200 to 210>} : (tensor<16xf32>) -> tensor<16xf32>
  %2 = autopar.synthetic_task(%0, %1) {label = "c", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu1" stream 0 at 210 to 220>} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %0, %2 : tensor<16xf32>, tensor<16xf32>
}

// CHECK-LABEL: @two_hops_over_the_host
// CHECK: %[[R:.*]] = autopar.synthetic_task
// CHECK-NEXT: %[[HOP:.*]] = autopar.transfer %[[R]] from "gpu1" to "cpu0" at 10 to 74
// CHECK-NEXT: %[[THERE:.*]] = autopar.transfer %[[HOP]] from "cpu0" to "gpu0" at 74 to 138
// CHECK: autopar.synthetic_task(%[[THERE]])
// The host's task reads the copy that passed by.
// CHECK: autopar.synthetic_task(%[[HOP]])
func.func @two_hops_over_the_host(%x: tensor<16xf32> {autopar.device = "gpu1"}) -> (tensor<16xf32>, tensor<16xf32>) {
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu1" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32>
  %1 = autopar.synthetic_task(%0) {label = "b", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu0" stream 0 at 200 to 210>} : (tensor<16xf32>) -> tensor<16xf32>
  %2 = autopar.synthetic_task(%0) {label = "c", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 200 to 210>} : (tensor<16xf32>) -> tensor<16xf32>
  return %1, %2 : tensor<16xf32>, tensor<16xf32>
}

// CHECK-LABEL: @tokens_and_constants_are_everywhere
// CHECK: autopar.constant
// CHECK-NOT: autopar.transfer
// CHECK: return
func.func @tokens_and_constants_are_everywhere() -> (tensor<2xf32> {autopar.device = "gpu1"}) {
  %c = autopar.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %t = autopar.synthetic_task(%c) {label = "a", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu0" stream 0 at 0 to 10>} : (tensor<2xf32>) -> !autopar.token
  %0 = autopar.synthetic_task(%c, %t) {label = "b", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu1" stream 0 at 10 to 20>} : (tensor<2xf32>, !autopar.token) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// Copies of one engine queue in the order in which values are ready.
// CHECK-LABEL: @engines_queue
// CHECK-DAG: autopar.transfer %arg0 from "cpu0" to "gpu0" at 0 to 64
// CHECK-DAG: autopar.transfer %arg1 from "cpu0" to "gpu0" at 64 to 128
func.func @engines_queue(%x: tensor<16xf32>, %y: tensor<16xf32>) -> (tensor<16xf32> {autopar.device = "gpu0"}) {
  %0 = autopar.synthetic_task(%x, %y) {label = "a", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu0" stream 0 at 200 to 210>} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// CHECK-LABEL: @empty_function
// CHECK: return
func.func @empty_function() {
  return
}
