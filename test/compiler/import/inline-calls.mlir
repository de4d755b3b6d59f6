// Every call is replaced by the body of what it calls. Public functions stay, each without calls; private ones are gone.
// RUN: autopar-opt %s --split-input-file --autopar-inline-calls | FileCheck %s

// CHECK-LABEL: func.func @calls_of_calls
// CHECK-NEXT:    %[[SUM:.*]] = autopar.add %arg0, %arg1
// CHECK-NEXT:    %[[RELU:.*]] = autopar.relu %[[SUM]]
// CHECK-NEXT:    %[[SUM2:.*]] = autopar.add %[[RELU]], %arg0
// CHECK-NEXT:    %[[RELU2:.*]] = autopar.relu %[[SUM2]]
// CHECK-NEXT:    return %[[RELU2]]
// CHECK-NOT:   func.func
func.func @calls_of_calls(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @add_and_relu(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = call @add_and_relu(%0, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @add_and_relu(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = autopar.add %x, %y : tensor<4xf32>
  %1 = call @relu(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @relu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = autopar.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @public_callees_stay
// CHECK-NEXT:    autopar.neg
// CHECK-NEXT:    return
// CHECK-LABEL: func.func @callee
// CHECK-NEXT:    autopar.neg
func.func @public_callees_stay(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = autopar.neg %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Arguments that are passed on, swapped, or given twice, and results that are arguments.
// CHECK-LABEL: func.func @arguments_as_results
// CHECK-NEXT:    return %arg1, %arg0, %arg0
func.func @arguments_as_results(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:2 = call @swap(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1:2 = call @swap(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1, %1#0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func private @swap(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %y, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// A call in a loop is inlined once, before the loop is unrolled.
// CHECK-LABEL: func.func @call_in_a_loop
// CHECK:         scf.for
// CHECK-NEXT:      %[[NEG:.*]] = autopar.neg
// CHECK-NEXT:      scf.yield %[[NEG]]
func.func @call_in_a_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %1 = func.call @negate(%a) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
func.func private @negate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = autopar.neg %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A pinned call pins what it calls, except what is pinned already, and constants.
// CHECK-LABEL: func.func @pinned_call
// CHECK-NEXT:    autopar.constant dense<2.0{{.*}}> : tensor<4xf32>
// CHECK-NEXT:    autopar.mul %arg0, %{{.*}} {autopar.device = "gpu1"}
// CHECK-NEXT:    autopar.exp %{{.*}} {autopar.device = "gpu0"}
// CHECK-NEXT:    autopar.constant dense<2.0{{.*}}> : tensor<4xf32>
// CHECK-NEXT:    autopar.mul %arg0, %{{.*}} : tensor<4xf32>
// CHECK-NEXT:    autopar.exp %{{.*}} {autopar.device = "gpu0"}
func.func @pinned_call(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = call @two_ops(%x) {autopar.device = "gpu1"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @two_ops(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @two_ops(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = autopar.constant dense<2.0> : tensor<4xf32>
  %0 = autopar.mul %x, %two : tensor<4xf32>
  %1 = autopar.exp %0 {autopar.device = "gpu0"} : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// What nobody calls is not looked at.
// CHECK-LABEL: func.func @main
// CHECK-NOT:   @unused
func.func @main() {
  return
}
func.func private @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @unused(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @unused_declaration()
