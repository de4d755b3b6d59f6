// RUN: autopar-opt %s --autopar-attach-machine=machine=%S/../transfers/Inputs/two-gpus.json --autopar-lower-to-schedule --split-input-file --verify-diagnostics

func.func @no_buffers(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{has no buffers}}
  // expected-note @below {{run --autopar-plan-memory and --autopar-insert-waits first}}
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

func.func @no_kernel(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{has no kernel}}
  // expected-note @below {{run --autopar-outline-kernels first}}
  %0 = autopar.task(%a = %x) "exp" {buffers = [#autopar.buffer<result 0 on "cpu0"[0 for 64]>], placement = #autopar.placement<"cpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32> {
    %1 = autopar.exp %a : tensor<16xf32>
    autopar.yield %1 : tensor<16xf32>
  }
  return %0 : tensor<16xf32>
}

// -----

func.func @wait_without_its_record(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{waits for event 7, which no record before it names}}
  autopar.wait 7 on @cpu0[0] because capacity
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {cpu = 10}, buffers = [#autopar.buffer<result 0 on "cpu0"[0 for 64]>], placement = #autopar.placement<"cpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

func.func @record_of_nothing(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{stands before the first command}}
  autopar.record 0 on @cpu0[0]
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {cpu = 10}, buffers = [#autopar.buffer<result 0 on "cpu0"[0 for 64]>], placement = #autopar.placement<"cpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
