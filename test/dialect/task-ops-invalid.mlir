// RUN: autopar-opt %s --split-input-file --verify-diagnostics

func.func @synthetic_task_c1_negative_cost() {
  // expected-error@+2 {{'autopar.synthetic_task' op (C1) cost_ns of 'cpu' is -1.000000e+00}}
  // expected-note@+1 {{it must be a number from 0.000000e+00 up to 1.000000e+15}}
  autopar.synthetic_task() {label = "t", cost_ns = {cpu = -1.0}} : () -> ()
  return
}

// -----

func.func @synthetic_task_c1_cost_is_nan() {
  // expected-error@+2 {{(C1) cost_ns of 'cpu' is}}
  // expected-note@+1 {{it must be a number}}
  autopar.synthetic_task() {label = "t", cost_ns = {cpu = 0x7FF8000000000000 : f64}} : () -> ()
  return
}

// -----

func.func @synthetic_task_c1_cost_is_a_string() {
  // expected-error@+2 {{(C1) cost_ns of 'cpu' is "long"}}
  // expected-note@+1 {{it must be a number}}
  autopar.synthetic_task() {label = "t", cost_ns = {cpu = "long"}} : () -> ()
  return
}

// -----

func.func @synthetic_task_c1_occupancy_above_one() {
  // expected-error@+2 {{(C1) occupancy of 'cpu' is 1.5}}
  // expected-note@+1 {{it must be a number above 0.000000e+00 up to 1.000000e+00}}
  autopar.synthetic_task() {label = "t", cost_ns = {cpu = 1.0}, occupancy = {cpu = 1.5}} : () -> ()
  return
}

// -----

func.func @synthetic_task_c1_negative_memory() {
  // expected-error@+2 {{(C1) memory_bytes of 'cpu' is -5}}
  // expected-note@+1 {{it must be a number}}
  autopar.synthetic_task() {label = "t", cost_ns = {cpu = 1.0}, memory_bytes = {cpu = -5}} : () -> ()
  return
}

// -----

func.func @synthetic_task_c2_empty_device() {
  // expected-error@+2 {{(C2) device is empty}}
  // expected-note@+1 {{name a device, or leave device out}}
  autopar.synthetic_task() {label = "t", cost_ns = {cpu = 1.0}, device = ""} : () -> ()
  return
}

// -----

func.func @synthetic_task_c2_empty_group() {
  // expected-error@+2 {{(C2) colocate is empty}}
  // expected-note@+1 {{name a group, or leave colocate out}}
  autopar.synthetic_task() {label = "t", cost_ns = {cpu = 1.0}, colocate = ""} : () -> ()
  return
}

// -----

func.func @synthetic_task_c3_buffers_do_not_match() {
  // expected-error@+2 {{(C3) has 0 results but 1 buffers}}
  // expected-note@+1 {{buffers are written by the memory stage}}
  autopar.synthetic_task() {label = "t", cost_ns = {cpu = 1.0}, buffers = [#autopar.buffer<arena 0 on "cpu0"[0 for 8]>]} : () -> ()
  return
}

// -----

func.func @synthetic_task_c4_no_cost() {
  // expected-error@+2 {{(C4) cost_ns is empty}}
  // expected-note@+1 {{give a cost for at least one device or kind of device}}
  autopar.synthetic_task() {label = "t", cost_ns = {}} : () -> ()
  return
}

// -----

func.func @synthetic_task_without_a_label() {
  // expected-error@+1 {{'autopar.synthetic_task' op requires attribute 'label'}}
  "autopar.synthetic_task"() {cost_ns = {cpu = 1.0}} : () -> ()
  return
}

// -----

func.func @edges_are_static_tensors_or_tokens(%a: tensor<?xf32>) {
  // expected-error@+1 {{operand #0 must be variadic of}}
  autopar.synthetic_task(%a) {label = "t", cost_ns = {cpu = 1.0}} : (tensor<?xf32>) -> ()
  return
}

// -----

func.func @task_c4_argument_type_differs(%x: tensor<4xf32>) {
  // expected-error@+2 {{(C4) the region's arguments are not of the operands' types}}
  // expected-note@+1 {{one argument for each operand}}
  "autopar.task"(%x) <{label = "t"}> ({
  ^bb0(%a: tensor<5xf32>):
    "autopar.yield"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @task_c5_holds_a_task() {
  autopar.task() "t" : () -> () {
    // expected-error@+2 {{'autopar.synthetic_task' op (C5) stands in a task}}
    // expected-note@+1 {{a task holds tensor ops only}}
    autopar.synthetic_task() {label = "t", cost_ns = {cpu = 1.0}} : () -> ()
    autopar.yield
  }
  return
}

// -----

func.func @task_c5_no_yield() {
  // expected-error@+2 {{(C5) the region does not end with autopar.yield}}
  // expected-note@+1 {{yield the task's results}}
  autopar.task() "t" : () -> () {
    %0 = autopar.constant dense<1.0> : tensor<2xf32>
  }
  return
}

// -----

func.func @task_c5_yields_another_type() {
  // expected-error@+2 {{(C5) the yielded values are not of the results' types}}
  // expected-note@+1 {{yield one value for each result that is a tensor}}
  %0 = autopar.task() "t" : () -> tensor<3xf32> {
    %1 = autopar.constant dense<1.0> : tensor<2xf32>
    autopar.yield %1 : tensor<2xf32>
  }
  return
}

// -----

func.func @task_uses_a_value_from_outside(%x: tensor<2xf32>) {
  // expected-note@+1 {{required by region isolation constraints}}
  %0 = autopar.task() "t" : () -> tensor<2xf32> {
    // expected-error@+1 {{using value defined outside the region}}
    %1 = autopar.add %x, %x : tensor<2xf32>
    autopar.yield %1 : tensor<2xf32>
  }
  return
}

// -----

func.func @task_with_too_few_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{a task with 1 operands has 0 operand types}}
  autopar.task(%a = %x) "t" : () -> () {
    autopar.yield
  }
  return
}

// -----

func.func @task_negative_tile_count() {
  // expected-error@+1 {{attribute 'tile_count' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  autopar.task() "t" {tile_count = -1 : i64} : () -> () {
    autopar.yield
  }
  return
}

// -----

func.func @yield_outside_of_a_task() {
  // expected-error@+1 {{'autopar.yield' op expects parent op}}
  autopar.yield
}

// -----

func.func @transfer_c1_to_the_same_device(%a: tensor<8xf32>) {
  // expected-error@+2 {{(C1) copies from 'gpu0' to 'gpu0'}}
  // expected-note@+1 {{name two different devices}}
  %0 = autopar.transfer %a from "gpu0" to "gpu0" at 0 to 900 : tensor<8xf32>
  return
}

// -----

func.func @transfer_c2_finishes_before_it_starts(%a: tensor<8xf32>) {
  // expected-error@+2 {{(C2) starts at 10 and finishes at 9}}
  // expected-note@+1 {{cannot finish before it starts}}
  %0 = autopar.transfer %a from "cpu0" to "gpu0" at 10 to 9 : tensor<8xf32>
  return
}

// -----

// expected-error@+1 {{a placement's stream must not be negative, got -1}}
#p = #autopar.placement<"gpu0" stream -1 at 0 to 1>

// -----

// expected-error@+1 {{a placement must start at 0 or later and not finish before it starts, got 5 to 4}}
#p = #autopar.placement<"gpu0" stream 0 at 5 to 4>

// -----

// expected-error@+1 {{a buffer's index, offset and size must not be negative}}
#b = #autopar.buffer<arena 0 on "gpu0"[-64 for 32]>

// -----

// expected-error@+1 {{autopar.device must be the name of a device, as a string}}
func.func @empty_pin(%a: tensor<4xf32> {autopar.device = ""}) {
  return
}

// -----

func.func @pin_that_is_no_string(%a: tensor<4xf32>) {
  // expected-error@+1 {{autopar.device must be the name of a device, as a string}}
  %0 = autopar.neg %a {autopar.device = 0} : tensor<4xf32>
  return
}

// -----

func.func @misspelt_pin(%a: tensor<4xf32>) {
  // expected-error@+1 {{unknown attribute 'autopar.devcie'}}
  %0 = autopar.neg %a {autopar.devcie = "gpu0"} : tensor<4xf32>
  return
}

// -----

func.func @synthetic_task_C5_no_i1() {
  // expected-error@+2 {{(C5) has a result of i1}}
  // expected-note@+1 {{use i8}}
  %0 = autopar.synthetic_task() {label = "t", cost_ns = {cpu = 1.0}} : () -> tensor<4xi1>
  return
}
