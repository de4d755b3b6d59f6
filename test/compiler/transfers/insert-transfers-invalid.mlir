// RUN: autopar-opt %s --autopar-attach-machine=machine=%S/Inputs/two-gpus.json --autopar-insert-transfers --split-input-file --verify-diagnostics
// RUN: autopar-opt %S/Inputs/no-way.mlir --autopar-attach-machine=machine=%S/Inputs/no-links.json --autopar-insert-transfers --verify-diagnostics

func.func @no_placement(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{has no placement}}
  // expected-note @below {{run --autopar-plan-schedule first}}
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {virtual = 10}} : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

func.func @unknown_device(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{names the device 'gpu7', which the machine does not have}}
  // expected-note @below {{its devices are cpu0, gpu0, gpu1}}
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu7" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

func.func @too_high_a_stream(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{is placed on stream 5 of 'gpu0', which has 2}}
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu0" stream 5 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

func.func @starts_before_its_operand(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-note @below {{the operand is made here}}
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32>
  // expected-error @below {{starts at 5 ns, before its operand 0 is finished at 10 ns}}
  %1 = autopar.synthetic_task(%0) {label = "b", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 1 at 5 to 15>} : (tensor<16xf32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}

// -----

// expected-error @below {{has a value that is no tensor of numbers, or of more than 2^62 bytes: 'tensor<4xindex>'}}
func.func @value_without_bytes(%x: tensor<4xindex>) {
  return
}

// -----

func.func @not_a_task(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{is not a task}}
  // expected-note @below {{run --autopar-form-tasks first}}
  %0 = autopar.exp %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

func.func @beyond_all_times(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{is planned to finish at 9000000000000000000 ns; the most is 2^62}}
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 0 to 9000000000000000000>} : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
