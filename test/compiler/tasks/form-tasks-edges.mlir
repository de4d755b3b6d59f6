// RUN: autopar-opt %s --autopar-form-tasks | FileCheck %s
// RUN: autopar-opt %s --autopar-form-tasks=fuse=false | FileCheck %s
// RUN: autopar-opt %s --autopar-form-tasks -o %t && autopar-opt %t --autopar-form-tasks | diff %t -

// The edges of the language, alike with and without fusion. The last line: forming tasks twice changes nothing.

// CHECK-LABEL: func.func @nothing_at_all()
// CHECK-NEXT: return
func.func @nothing_at_all() {
  return
}

// CHECK-LABEL: func.func @unused_arguments_stay(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>)
// CHECK: autopar.task(%{{.*}} = %arg1) "exp_0"
func.func @unused_arguments_stay(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %0 = autopar.exp %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @same_operand_twice_is_one_operand
// CHECK: autopar.task(%[[A:.*]] = %arg0) "add_0"
// CHECK-NEXT: autopar.add %[[A]], %[[A]]
func.func @same_operand_twice_is_one_operand(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = autopar.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Every result has a writer of its own.
// CHECK-LABEL: func.func @returned_argument_is_handed_on
// CHECK: %[[I:.*]] = autopar.task(%[[A:.*]] = %arg0) "identity_0"
// CHECK-NEXT: autopar.yield %[[A]]
// CHECK: %[[J:.*]] = autopar.task(%{{.*}} = %arg0) "identity_1"
// CHECK: return %[[I]], %[[J]]
func.func @returned_argument_is_handed_on(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %a, %a : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @value_returned_twice_is_handed_on
// CHECK: %[[E:.*]] = autopar.task(%{{.*}} = %arg0) "exp_0"
// CHECK: %[[I:.*]] = autopar.task(%{{.*}} = %[[E]]) "identity_1"
// CHECK: return %[[E]], %[[I]]
func.func @value_returned_twice_is_handed_on(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = autopar.exp %a : tensor<4xf32>
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @returned_constants
// CHECK: %[[S:.*]] = autopar.task() "constant_0"
// CHECK-NEXT: autopar.constant dense<7>
// CHECK: %[[C:.*]] = autopar.constant dense<[1, 2]>
// CHECK: %[[I:.*]] = autopar.task(%{{.*}} = %[[C]]) "identity_1"
// CHECK: return %[[S]], %[[I]]
func.func @returned_constants() -> (tensor<3xi32>, tensor<2xi32>) {
  %0 = autopar.constant dense<7> : tensor<3xi32>
  %1 = autopar.constant dense<[1, 2]> : tensor<2xi32>
  return %0, %1 : tensor<3xi32>, tensor<2xi32>
}

// CHECK-LABEL: func.func @no_elements
// CHECK: autopar.task(%{{.*}} = %arg0) "exp_0"
// CHECK: tensor<0x3xf32>
func.func @no_elements(%a: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %0 = autopar.exp %a : tensor<0x3xf32>
  return %0 : tensor<0x3xf32>
}

// CHECK-LABEL: func.func @rank_0
// CHECK: autopar.task(%{{.*}} = %arg0, %{{.*}} = %arg1) "add_0" : (tensor<f32>, tensor<f32>) -> tensor<f32>
func.func @rank_0(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = autopar.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @unused_ops_are_no_tasks
// CHECK-NEXT: autopar.task(%{{.*}} = %arg0) "neg_0"
// CHECK-NOT: autopar.task
// CHECK: return
func.func @unused_ops_are_no_tasks(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = autopar.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = autopar.exp %a : tensor<4xf32>
  %1 = autopar.add %0, %c : tensor<4xf32>
  %2 = autopar.neg %a : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Tasks that are there stay as they are; new labels keep clear of theirs.
// CHECK-LABEL: func.func @given_tasks_stay
// CHECK: %[[S:.*]] = autopar.synthetic_task(%arg0) {cost_ns = {cpu = 5.000000e+00 : f64}, label = "exp_0"}
// CHECK: autopar.task(%{{.*}} = %[[S]]) "mine" {cost_ns = {cpu = 9.000000e+00 : f64}}
// CHECK: autopar.task(%{{.*}} = %{{.*}}) "exp_1"
func.func @given_tasks_stay(%a: tensor<4xf32>) -> tensor<4xf32> {
  %s = autopar.synthetic_task(%a) {label = "exp_0", cost_ns = {cpu = 5.0}} : (tensor<4xf32>) -> tensor<4xf32>
  %t = autopar.task(%x = %s) "mine" {cost_ns = {cpu = 9.0}} : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = autopar.neg %x : tensor<4xf32>
    autopar.yield %0 : tensor<4xf32>
  }
  %1 = autopar.exp %t : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A name in the location takes part in the label.
// CHECK-LABEL: func.func @named_place
// CHECK: "attention_1_matmul_0"
func.func @named_place(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = autopar.matmul %a, %a : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32> loc("attention/1")
  return %0 : tensor<4x4xf32>
}

// Copies of a task, as unrolling makes them, are told apart.
// CHECK-LABEL: func.func @repeated_labels_are_numbered
// CHECK: label = "step"
// CHECK: label = "step_2"
// CHECK: label = "step_1"
// CHECK: label = "step_3"
func.func @repeated_labels_are_numbered(%a: tensor<4xi8>) -> tensor<4xi8> {
  %0 = autopar.synthetic_task(%a) {label = "step", cost_ns = {cpu = 5.0}} : (tensor<4xi8>) -> tensor<4xi8>
  %1 = autopar.synthetic_task(%0) {label = "step", cost_ns = {cpu = 5.0}} : (tensor<4xi8>) -> tensor<4xi8>
  %2 = autopar.synthetic_task(%1) {label = "step_1", cost_ns = {cpu = 5.0}} : (tensor<4xi8>) -> tensor<4xi8>
  %3 = autopar.synthetic_task(%2) {label = "step", cost_ns = {cpu = 5.0}} : (tensor<4xi8>) -> tensor<4xi8>
  return %3 : tensor<4xi8>
}
