// Loops with constant bounds become straight-line code.
// RUN: autopar-opt %s --pass-pipeline='builtin.module(func.func(autopar-unroll-loops,canonicalize))' | FileCheck %s

// CHECK-LABEL: @carried_value
// CHECK-NEXT:    %[[A:.*]] = autopar.add %arg0, %arg0
// CHECK-NEXT:    %[[B:.*]] = autopar.add %[[A]], %arg0
// CHECK-NEXT:    %[[C:.*]] = autopar.add %[[B]], %arg0
// CHECK-NEXT:    return %[[C]]
func.func @carried_value(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %1 = autopar.add %a, %x : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// Both carried values change places in every iteration: after three, they have.
// CHECK-LABEL: @carried_values_swap
// CHECK-NEXT:    return %arg1, %arg0
func.func @carried_values_swap(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// 0, 3, 6 and 9: the last step leaves the range.
// CHECK-LABEL: @step_does_not_divide_the_range
// CHECK-COUNT-4: autopar.neg {{.*}} {autopar.device = "gpu0"}
// CHECK-NOT:     autopar.neg
// CHECK:         return
func.func @step_does_not_divide_the_range(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c10 = arith.constant 10 : index
  %0 = scf.for %i = %c0 to %c10 step %c3 iter_args(%a = %x) -> tensor<4xf32> {
    %1 = autopar.neg %a {autopar.device = "gpu0"} : tensor<4xf32>
    %2 = autopar.exp %1 : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @no_iterations
// CHECK-NEXT:    return %arg0
func.func @no_iterations(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c3 to %c3 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %1 = autopar.exp %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  %2 = scf.for %i = %c3 to %c1 step %c1 iter_args(%a = %0) -> tensor<4xf32> {
    %3 = autopar.exp %a : tensor<4xf32>
    scf.yield %3 : tensor<4xf32>
  }
  return %2 : tensor<4xf32>
}

// A triangle: the inner loop runs from the outer induction variable, 3 + 2 + 1 times.
// CHECK-LABEL: @inner_bounds_depend_on_the_outer_loop
// CHECK-COUNT-6: autopar.exp
// CHECK-NOT:     autopar.exp
// CHECK:         return
func.func @inner_bounds_depend_on_the_outer_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    // From 2i + 1 to 7 in steps of 2 is from i to 3 in steps of 1.
    %twice = arith.muli %i, %c2 : index
    %from = arith.addi %twice, %c1 : index
    %c7 = arith.constant 7 : index
    %1 = scf.for %j = %from to %c7 step %c2 iter_args(%b = %a) -> tensor<4xf32> {
      %2 = autopar.exp %b : tensor<4xf32>
      scf.yield %2 : tensor<4xf32>
    }
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// Branches on the induction variable are taken or not, once for all.
// CHECK-LABEL: @condition_on_the_induction_variable
// CHECK-NEXT:    autopar.exp
// CHECK-NEXT:    autopar.tanh
// CHECK-NEXT:    autopar.tanh
// CHECK-NEXT:    return
func.func @condition_on_the_induction_variable(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %first = arith.cmpi eq, %i, %c0 : index
    %1 = scf.if %first -> tensor<4xf32> {
      %2 = autopar.exp %a : tensor<4xf32>
      scf.yield %2 : tensor<4xf32>
    } else {
      %3 = autopar.tanh %a : tensor<4xf32>
      scf.yield %3 : tensor<4xf32>
    }
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @induction_variable_of_i32
// CHECK-COUNT-2: autopar.exp
// CHECK-NEXT:    return
func.func @induction_variable_of_i32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %from = arith.constant -1 : i32
  %step = arith.constant 1 : i32
  %to = arith.constant 1 : i32
  %0 = scf.for %i = %from to %to step %step iter_args(%a = %x) -> tensor<4xf32> : i32 {
    %1 = autopar.exp %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// The largest bounds do not overflow.
// CHECK-LABEL: @bounds_at_the_end_of_the_range
// CHECK-COUNT-2: autopar.exp
// CHECK-NEXT:    return
func.func @bounds_at_the_end_of_the_range(%x: tensor<4xf32>) -> tensor<4xf32> {
  %from = arith.constant 9223372036854775805 : index
  %step = arith.constant 1 : index
  %to = arith.constant 9223372036854775807 : index
  %0 = scf.for %i = %from to %to step %step iter_args(%a = %x) -> tensor<4xf32> {
    %1 = autopar.exp %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @pinned_loop
// CHECK-NEXT:    autopar.exp %arg0 {autopar.device = "gpu1"}
// CHECK-NEXT:    autopar.neg %{{.*}} {autopar.device = "gpu0"}
// CHECK-NEXT:    return
func.func @pinned_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %1 = autopar.exp %a : tensor<4xf32>
    %2 = autopar.neg %1 {autopar.device = "gpu0"} : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  } {autopar.device = "gpu1"}
  return %0 : tensor<4xf32>
}

// C3: the carried value of one iteration does not leak into the next.
// CHECK-LABEL: @zero_stays_zero
// CHECK:         %[[ZERO:.*]] = autopar.constant dense<0.0
// CHECK:         %[[DIFFERENCE:.*]] = autopar.sub %[[ZERO]], %arg0
// CHECK:         %[[DIFFERENCE2:.*]] = autopar.sub %[[ZERO]], %arg0
// CHECK:         return %[[DIFFERENCE2]]
func.func @zero_stays_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = autopar.constant dense<0.0> : tensor<4xf32>
  %0 = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %zero) -> tensor<4xf32> {
    %1 = autopar.sub %zero, %x : tensor<4xf32>
    %2 = autopar.synthetic_task(%1) {label = "keeps the op", cost_ns = {cpu = 1.0}} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
