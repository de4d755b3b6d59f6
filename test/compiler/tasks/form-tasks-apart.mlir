// RUN: autopar-opt %s --autopar-form-tasks | FileCheck %s

// What stays apart:

// CHECK-LABEL: func.func @independent_chains_stay_apart
// CHECK: "exp_0"
// CHECK: "tanh_1"
func.func @independent_chains_stay_apart(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = autopar.exp %a : tensor<8xf32>
  %1 = autopar.tanh %b : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// Siblings stay apart, and what they share is computed once, in a task of its own.
// CHECK-LABEL: func.func @shared_producer_is_computed_once
// CHECK: %[[X:.*]] = autopar.task(%{{.*}} = %arg0) "exp_0"
// CHECK: autopar.task(%{{.*}} = %[[X]]) "neg_1"
// CHECK: autopar.task(%{{.*}} = %[[X]]) "relu_2"
// CHECK-NOT: autopar.task
func.func @shared_producer_is_computed_once(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = autopar.exp %a : tensor<8xf32>
  %1 = autopar.neg %0 : tensor<8xf32>
  %2 = autopar.relu %0 : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// A value that is returned is a result of a task, though its user could take it in.
// CHECK-LABEL: func.func @returned_value_is_a_result
// CHECK: "exp_0"
// CHECK: "neg_1"
func.func @returned_value_is_a_result(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = autopar.exp %a : tensor<8xf32>
  %1 = autopar.neg %0 : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// The second product would have to wait for the first: their sum is a task of its own.
// CHECK-LABEL: func.func @sum_of_two_products_waits_for_both
// CHECK: "matmul_0"
// CHECK: "matmul_1"
// CHECK: "add_2"
func.func @sum_of_two_products_waits_for_both(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = autopar.matmul %a, %a : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
  %1 = autopar.matmul %b, %b : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
  %2 = autopar.add %0, %1 : tensor<512x512xf32>
  return %2 : tensor<512x512xf32>
}

// Two chains of much work meet: each is a task, cut where they meet and not somewhere within.
// CHECK-LABEL: func.func @heavy_branches_stay_apart
// CHECK: "pow_0"
// CHECK-COUNT-3: autopar.pow
// CHECK: "pow_1"
// CHECK-COUNT-3: autopar.pow
// CHECK: "add_2"
// CHECK-NOT: autopar.task
func.func @heavy_branches_stay_apart(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = autopar.pow %a, %a : tensor<512x512xf32>
  %1 = autopar.pow %0, %a : tensor<512x512xf32>
  %2 = autopar.pow %1, %a : tensor<512x512xf32>
  %3 = autopar.pow %b, %b : tensor<512x512xf32>
  %4 = autopar.pow %3, %b : tensor<512x512xf32>
  %5 = autopar.pow %4, %b : tensor<512x512xf32>
  %6 = autopar.add %2, %5 : tensor<512x512xf32>
  return %6 : tensor<512x512xf32>
}

// Light ones are one task: the traffic saved is worth more.
// CHECK-LABEL: func.func @light_branches_fuse
// CHECK: "relu_neg_add_0"
// CHECK-NOT: autopar.task
func.func @light_branches_fuse(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = autopar.relu %a : tensor<512x512xf32>
  %1 = autopar.neg %b : tensor<512x512xf32>
  %2 = autopar.add %0, %1 : tensor<512x512xf32>
  return %2 : tensor<512x512xf32>
}

// Below a broadcast the exponential would be computed once per row.
// CHECK-LABEL: func.func @work_is_not_repeated_by_a_broadcast
// CHECK: "exp_0"
// CHECK: "add_1"
// CHECK: autopar.broadcast
func.func @work_is_not_repeated_by_a_broadcast(%a: tensor<64x1024xf32>, %v: tensor<1024xf32>) -> tensor<64x1024xf32> {
  %0 = autopar.exp %v : tensor<1024xf32>
  %1 = autopar.broadcast %0 dims = [1] : tensor<1024xf32> -> tensor<64x1024xf32>
  %2 = autopar.add %a, %1 : tensor<64x1024xf32>
  return %2 : tensor<64x1024xf32>
}

// A product's factor is in memory before the product begins.
// CHECK-LABEL: func.func @factor_is_a_task_of_its_own
// CHECK: "exp_0"
// CHECK: "matmul_1"
func.func @factor_is_a_task_of_its_own(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = autopar.exp %a : tensor<8x8xf32>
  %1 = autopar.matmul %0, %a : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// One product a kernel; one reduction a kernel, at its end.
// CHECK-LABEL: func.func @one_root_a_kernel
// CHECK: "matmul_0"
// CHECK: "matmul_1"
// CHECK: "reduce_2"
// CHECK: "neg_3"
// CHECK-NOT: autopar.task
func.func @one_root_a_kernel(%a: tensor<8x8xf32>) -> tensor<8xf32> {
  %0 = autopar.matmul %a, %a : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %1 = autopar.matmul %0, %0 : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %2 = autopar.reduce max %1 axes = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %3 = autopar.neg %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// A constant whose elements differ lives on every device; it is an operand.
// CHECK-LABEL: func.func @constant_of_different_elements_is_an_operand
// CHECK: %[[C:.*]] = autopar.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK: autopar.task(%{{.*}} = %arg0, %{{.*}} = %[[C]])
func.func @constant_of_different_elements_is_an_operand(%a: tensor<2xf32>) -> tensor<2xf32> {
  %c = autopar.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = autopar.add %a, %c : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// A product with a splat factor is no library call and takes no epilogue.
// CHECK-LABEL: func.func @product_with_a_splat_factor_is_alone
// CHECK: "matmul_0"
// CHECK-NEXT: autopar.constant
// CHECK: "relu_1"
func.func @product_with_a_splat_factor_is_alone(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c = autopar.constant dense<2.0> : tensor<8x8xf32>
  %0 = autopar.matmul %a, %c : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %1 = autopar.relu %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
