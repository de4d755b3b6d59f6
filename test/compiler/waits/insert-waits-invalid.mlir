// RUN: autopar-opt %s --autopar-attach-machine=machine=%S/../transfers/Inputs/two-gpus.json --autopar-insert-waits --split-input-file --verify-diagnostics

func.func @no_buffers(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{has no buffers}}
  // expected-note @below {{run --autopar-plan-memory first}}
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

func.func @overlapping_buffers() -> tensor<0xf32> {
  %0 = autopar.synthetic_task() {label = "a", cost_ns = {cpu = 10}, buffers = [#autopar.buffer<arena 0 on "cpu0"[0 for 64]>], placement = #autopar.placement<"cpu0" stream 0 at 0 to 10>} : () -> tensor<16xf32>
  // expected-error @below {{writes bytes that another command still needs}}
  %1 = autopar.synthetic_task() {label = "b", cost_ns = {cpu = 10}, buffers = [#autopar.buffer<arena 0 on "cpu0"[32 for 64]>], placement = #autopar.placement<"cpu0" stream 0 at 10 to 20>} : () -> tensor<16xf32>
  // expected-note @below {{which is this one; run --autopar-plan-memory on the program as it is now}}
  %2 = autopar.synthetic_task(%0, %1) {label = "c", cost_ns = {cpu = 10}, buffers = [#autopar.buffer<result 0 on "cpu0"[0 for 0]>], placement = #autopar.placement<"cpu0" stream 0 at 20 to 30>} : (tensor<16xf32>, tensor<16xf32>) -> tensor<0xf32>
  return %2 : tensor<0xf32>
}
