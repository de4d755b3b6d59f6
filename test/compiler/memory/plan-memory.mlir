// RUN: autopar-opt %s --autopar-attach-machine=machine=%S/../transfers/Inputs/two-gpus.json --autopar-insert-transfers --autopar-plan-memory | FileCheck %s

// A chain needs two buffers: what is read, and what is written. The last value goes straight into the result.
// CHECK-LABEL: @chain_needs_two_buffers
// CHECK: buffers = [#autopar.buffer<arena 0 on "cpu0"[[[A:[0-9]+]] for 64]>]{{.*}}label = "a"
// CHECK: buffers = [#autopar.buffer<arena 0 on "cpu0"[[[B:[0-9]+]] for 64]>]{{.*}}label = "b"
// CHECK: buffers = [#autopar.buffer<arena 0 on "cpu0"[[[A]] for 64]>]{{.*}}label = "c"
// CHECK: buffers = [#autopar.buffer<arena 0 on "cpu0"[[[B]] for 64]>]{{.*}}label = "d"
// CHECK: buffers = [#autopar.buffer<result 0 on "cpu0"[0 for 64]>]{{.*}}label = "e"
func.func @chain_needs_two_buffers(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32>
  %1 = autopar.synthetic_task(%0) {label = "b", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 10 to 20>} : (tensor<16xf32>) -> tensor<16xf32>
  %2 = autopar.synthetic_task(%1) {label = "c", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 20 to 30>} : (tensor<16xf32>) -> tensor<16xf32>
  %3 = autopar.synthetic_task(%2) {label = "d", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 30 to 40>} : (tensor<16xf32>) -> tensor<16xf32>
  %4 = autopar.synthetic_task(%3) {label = "e", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 40 to 50>} : (tensor<16xf32>) -> tensor<16xf32>
  return %4 : tensor<16xf32>
}

// A result on another device is copied into the result space: the copy's buffer is the result.
// CHECK-LABEL: @copy_goes_into_the_result
// CHECK: arena 0 on "gpu0"[0 for 64]
// CHECK: arena 0 on "gpu0"[64 for 64]
// CHECK: autopar.transfer {{.*}} from "gpu0" to "cpu0" {{.*}} {buffers = [#autopar.buffer<result 0 on "cpu0"[0 for 64]>]}
func.func @copy_goes_into_the_result(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu0" stream 0 at 64 to 74>} : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// Working memory is a buffer too, and only while the task runs. Tokens and empty tensors have empty buffers.
// CHECK-LABEL: @scratch_tokens_and_empty_values
// CHECK: buffers = [#autopar.buffer<arena 0 on "cpu0"[0 for 0]>, #autopar.buffer<arena 0 on "cpu0"[0 for 0]>]{{.*}}label = "a"{{.*}}scratch = [#autopar.buffer<arena 0 on "cpu0"[0 for 1000]>]
// CHECK: label = "b"{{.*}}scratch = [#autopar.buffer<arena 0 on "cpu0"[0 for 500]>]
func.func @scratch_tokens_and_empty_values(%x: tensor<16xf32>) -> tensor<16xf32> {
  %t, %e = autopar.synthetic_task(%x) {label = "a", cost_ns = {cpu = 10}, memory_bytes = {cpu = 1000}, placement = #autopar.placement<"cpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> (!autopar.token, tensor<0x4xf32>)
  %0 = autopar.synthetic_task(%t, %e) {label = "b", cost_ns = {cpu = 10}, memory_bytes = {cpu = 500}, placement = #autopar.placement<"cpu0" stream 0 at 10 to 20>} : (!autopar.token, tensor<0x4xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// Two chains on two streams do not share: nothing says which is first. gpu1 has 4,096 bytes, and four buffers of 1,024
// fill it.
// CHECK-LABEL: @streams_do_not_share
// CHECK-COUNT-4: arena 0 on "gpu1"[{{[0-9]+}} for 1000]
func.func @streams_do_not_share() -> (tensor<0xf32>, tensor<0xf32>) {
  %0 = autopar.synthetic_task() {label = "a", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu1" stream 0 at 0 to 10>} : () -> tensor<250xf32>
  %1 = autopar.synthetic_task(%0) {label = "b", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu1" stream 0 at 10 to 20>} : (tensor<250xf32>) -> tensor<250xf32>
  %2 = autopar.synthetic_task(%1) {label = "c", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu1" stream 0 at 20 to 30>} : (tensor<250xf32>) -> tensor<0xf32>
  %3 = autopar.synthetic_task() {label = "d", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu1" stream 1 at 30 to 40>} : () -> tensor<250xf32>
  %4 = autopar.synthetic_task(%3) {label = "e", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu1" stream 1 at 40 to 50>} : (tensor<250xf32>) -> tensor<250xf32>
  %5 = autopar.synthetic_task(%4) {label = "f", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu1" stream 1 at 50 to 60>} : (tensor<250xf32>) -> tensor<0xf32>
  return %2, %5 : tensor<0xf32>, tensor<0xf32>
}
