// RUN: autopar-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(autopar-attach-machine{machine=%S/Inputs/cpu-and-gpu.json},func.func(autopar-plan-schedule))'

func.func @no_device_can_run_it() {
  // expected-error@+2 {{'t' cannot run on any device: cost_ns names none of them}}
  // expected-note@+1 {{the machine's devices are cpu0, gpu0}}
  autopar.synthetic_task() {label = "t", cost_ns = {cuda = 1.0, gpu7 = 1.0}} : () -> ()
  return
}

// -----

func.func @pinned_where_it_cannot_run() {
  // expected-error@+1 {{'t' is pinned to device 'gpu0', which cannot run it: cost_ns does not name it}}
  autopar.synthetic_task() {label = "t", device = "gpu0", cost_ns = {cpu = 1.0}} : () -> ()
  return
}

// -----

// expected-error@+1 {{no device can run task 'b' together with the tasks that it is co-located with}}
func.func @group_without_a_common_device() {
  autopar.synthetic_task() {label = "a", cost_ns = {cpu = 1.0}, colocate = "g"} : () -> ()
  autopar.synthetic_task() {label = "b", cost_ns = {virtual = 1.0}, colocate = "g"} : () -> ()
  return
}

// -----

func.func @op_that_is_no_task(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+2 {{is not a task}}
  // expected-note@+1 {{run --autopar-form-tasks first}}
  %0 = autopar.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
