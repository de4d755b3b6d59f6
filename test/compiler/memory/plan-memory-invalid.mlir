// RUN: autopar-opt %s --autopar-attach-machine=machine=%S/../transfers/Inputs/two-gpus.json --autopar-plan-memory --split-input-file --verify-diagnostics

// gpu1 has 4,096 bytes; a value of 4,000 and one of 800 are needed at once.
// expected-error @below {{needs 4832 bytes on 'gpu1', 736 more than its 4096 (4832 for intermediate values, 0 for arguments, results and constants)}}
func.func @too_little_memory() -> (tensor<0xf32> {autopar.device = "gpu1"}) {
  // expected-note @below {{among the largest: 4000 bytes, result 0 of task 'a'}}
  %0 = autopar.synthetic_task() {label = "a", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu1" stream 0 at 0 to 10>} : () -> tensor<1000xf32>
  // expected-note @below {{among the largest: 800 bytes, result 0 of task 'b'}}
  %1 = autopar.synthetic_task(%0) {label = "b", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu1" stream 0 at 20 to 30>} : (tensor<1000xf32>) -> tensor<200xf32>
  %2 = autopar.synthetic_task(%1) {label = "c", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu1" stream 0 at 30 to 40>} : (tensor<200xf32>) -> tensor<0xf32>
  return %2 : tensor<0xf32>
}

// -----

func.func @missing_transfer(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{runs on 'gpu0' but its operand 0 lives on 'cpu0'}}
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// expected-error @below {{result 0 is not computed by a task}}
// expected-note @below {{run --autopar-form-tasks, which gives every result a task of its own}}
func.func @returned_argument(%x: tensor<16xf32>) -> tensor<16xf32> {
  return %x : tensor<16xf32>
}

// -----

// expected-error @below {{the values on 'cpu0' add up to more than 2^62 bytes; make them smaller}}
func.func @sums_that_overflow(%x: tensor<1xf32>) -> tensor<1xf32> {
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 0 to 10>} : (tensor<1xf32>) -> tensor<500000000x1000000000xi64>
  %1 = autopar.synthetic_task(%x) {label = "b", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 1 at 0 to 10>} : (tensor<1xf32>) -> tensor<500000000x1000000000xi64>
  %2 = autopar.synthetic_task(%0, %1) {label = "c", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 20 to 30>} : (tensor<500000000x1000000000xi64>, tensor<500000000x1000000000xi64>) -> tensor<1xf32>
  return %2 : tensor<1xf32>
}
