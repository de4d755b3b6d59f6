// Tasks, synthetic tasks and transfers are printed as they were read, pretty or generic.
// RUN: autopar-opt %s | FileCheck %s
// RUN: autopar-opt %s | autopar-opt | FileCheck %s
// RUN: autopar-opt %s --mlir-print-op-generic | autopar-opt | FileCheck %s
// RUN: autopar-opt %s --canonicalize --cse | FileCheck %s --check-prefix=KEPT

// CHECK-LABEL: @task
func.func @task(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[SUM:.*]] = autopar.task(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) "sum" {cost_ns = {cpu = 9.000000e+02 : f64}, device = "cpu0", occupancy = {cpu = 5.000000e-01 : f64}, tile_count = 4 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:   %[[ADD:.*]] = autopar.add %[[A]], %[[B]] : tensor<4xf32>
  // CHECK-NEXT:   autopar.yield %[[ADD]] : tensor<4xf32>
  // CHECK-NEXT: }
  %0 = autopar.task(%a = %x, %b = %y) "sum" {cost_ns = {cpu = 900.0}, device = "cpu0", occupancy = {cpu = 0.5}, tile_count = 4 : i64}
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    %1 = autopar.add %a, %b : tensor<4xf32>
    autopar.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @tokens_order_without_data
func.func @tokens_order_without_data() -> tensor<2xf32> {
  // CHECK: %[[DONE:.*]] = autopar.synthetic_task() {{.*}} : () -> !autopar.token
  %done = autopar.synthetic_task() {label = "first", cost_ns = {cpu = 5.0}} : () -> !autopar.token
  // CHECK: autopar.task(%{{.*}} = %[[DONE]]) "second" : (!autopar.token) -> (!autopar.token, tensor<2xf32>) {
  // CHECK: autopar.yield %{{.*}} : tensor<2xf32>
  %t, %v = autopar.task(%ignored = %done) "second" : (!autopar.token) -> (!autopar.token, tensor<2xf32>) {
    %0 = autopar.constant dense<1.0> : tensor<2xf32>
    autopar.yield %0 : tensor<2xf32>
  }
  return %v : tensor<2xf32>
}

// CHECK-LABEL: @task_without_operands_and_results
func.func @task_without_operands_and_results() {
  // CHECK: autopar.task() "nothing" : () -> () {
  autopar.task() "nothing" : () -> () {
    autopar.yield
  }
  return
}

// The form that scripts write, with whole numbers too.
// CHECK-LABEL: @generic_form_of_a_synthetic_task
func.func @generic_form_of_a_synthetic_task(%a: tensor<18xi8>) -> (tensor<12xi8>, tensor<9xi8>) {
  // CHECK: autopar.synthetic_task(%{{.*}}) {cost_ns = {cpu = 2.000000e+01 : f64, p0 = 1.400000e+01 : f64, p1 = 16 : i64}, label = "t3"} : (tensor<18xi8>) -> (tensor<12xi8>, tensor<9xi8>)
  %r:2 = "autopar.synthetic_task"(%a) {label = "t3", cost_ns = {p0 = 14.0, p1 = 16, cpu = 20.0}} : (tensor<18xi8>) -> (tensor<12xi8>, tensor<9xi8>)
  return %r#0, %r#1 : tensor<12xi8>, tensor<9xi8>
}

// Equal ones are not merged, unused ones not erased.
// KEPT-LABEL: @synthetic_tasks_are_kept
func.func @synthetic_tasks_are_kept(%a: tensor<8xf64>) {
  // KEPT-COUNT-3: autopar.synthetic_task
  // KEPT: return
  %0 = autopar.synthetic_task(%a) {label = "t", cost_ns = {cpu = 5.0}, memory_bytes = {cpu = 4096}, colocate = "group", spin} : (tensor<8xf64>) -> tensor<8xf64>
  %1 = autopar.synthetic_task(%a) {label = "t", cost_ns = {cpu = 5.0}, memory_bytes = {cpu = 4096}, colocate = "group", spin} : (tensor<8xf64>) -> tensor<8xf64>
  %2 = autopar.synthetic_task(%0) {label = "u", cost_ns = {gpu0 = 0.0}} : (tensor<8xf64>) -> tensor<8xf64>
  return
}

// CHECK-LABEL: @stages_add_attributes
func.func @stages_add_attributes(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: autopar.transfer %{{.*}} from "cpu0" to "gpu0" at 0 to 900 : tensor<8xf32>
  %0 = autopar.transfer %a from "cpu0" to "gpu0" at 0 to 900 : tensor<8xf32>
  // CHECK: buffers = [#autopar.buffer<arena 0 on "gpu0"[64 for 32]>]
  // CHECK-SAME: placement = #autopar.placement<"gpu0" stream 1 at 900 to 905>
  %1 = autopar.synthetic_task(%0) {label = "t", cost_ns = {gpu0 = 5.0}, placement = #autopar.placement<"gpu0" stream 1 at 900 to 905>, buffers = [#autopar.buffer<arena 0 on "gpu0"[64 for 32]>]} : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
