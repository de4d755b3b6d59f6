// RUN: autopar-opt %s --autopar-form-tasks | FileCheck %s

// A group is what flows into one root. What fuses:

// A chain of elementwise ops is one task.
// CHECK-LABEL: func.func @chain_is_one_task
// CHECK: %[[T:.*]] = autopar.task(%{{.*}} = %arg0, %{{.*}} = %arg1) "add_relu_exp_0"
// CHECK-NEXT: autopar.add
// CHECK-NEXT: autopar.relu
// CHECK-NEXT: autopar.exp
// CHECK-NEXT: autopar.yield
// CHECK-NOT: autopar.task
// CHECK: return %[[T]]
func.func @chain_is_one_task(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = autopar.add %a, %b : tensor<64x64xf32>
  %1 = autopar.relu %0 : tensor<64x64xf32>
  %2 = autopar.exp %1 : tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}

// A value with two uses fuses when both end in one root.
// CHECK-LABEL: func.func @diamond_is_one_task
// CHECK: autopar.task
// CHECK-NEXT: autopar.exp
// CHECK-NEXT: autopar.neg
// CHECK-NEXT: autopar.relu
// CHECK-NEXT: autopar.mul
// CHECK-NOT: autopar.task
func.func @diamond_is_one_task(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = autopar.exp %a : tensor<8xf32>
  %1 = autopar.neg %0 : tensor<8xf32>
  %2 = autopar.relu %0 : tensor<8xf32>
  %3 = autopar.mul %1, %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// A broadcast is an index, not a copy; generators and splat constants have no operands.
// CHECK-LABEL: func.func @broadcasts_and_generators_fuse
// CHECK: autopar.task(%[[V:.*]] = %arg1, %{{.*}} = %arg0) "add_mul_add_0"
// CHECK-DAG: autopar.broadcast %[[V]]
// CHECK-DAG: autopar.constant dense<2.000000e+00>
// CHECK-DAG: autopar.random_uniform
// CHECK-DAG: autopar.iota
// CHECK: autopar.yield
// CHECK-NOT: autopar.{{task|constant}}
// CHECK: return
func.func @broadcasts_and_generators_fuse(%a: tensor<8x16xf32>, %v: tensor<16xf32>) -> tensor<8x16xf32> {
  %c = autopar.constant dense<2.0> : tensor<8x16xf32>
  %i = autopar.iota axis = 0 : tensor<8x16xf32>
  %r = autopar.random_uniform seed = 7 : tensor<8x16xf32>
  %b = autopar.broadcast %v dims = [1] : tensor<16xf32> -> tensor<8x16xf32>
  %0 = autopar.add %a, %b : tensor<8x16xf32>
  %1 = autopar.mul %0, %c : tensor<8x16xf32>
  %2 = autopar.add %1, %i : tensor<8x16xf32>
  %3 = autopar.add %2, %r : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}

// What a reduction reads is computed in its loop.
// CHECK-LABEL: func.func @producers_fuse_into_a_reduction
// CHECK: "mul_reduce_0"
// CHECK-NOT: autopar.task
func.func @producers_fuse_into_a_reduction(%a: tensor<32x64xf32>) -> tensor<32xf32> {
  %0 = autopar.mul %a, %a : tensor<32x64xf32>
  %1 = autopar.reduce sum %0 axes = [1] : tensor<32x64xf32> -> tensor<32xf32>
  return %1 : tensor<32xf32>
}

// CHECK-LABEL: func.func @epilogue_fuses_into_a_product
// CHECK: "matmul_add_relu_0"
// CHECK-NOT: autopar.task
func.func @epilogue_fuses_into_a_product(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>,
                                         %v: tensor<64xf32>) -> tensor<64x64xf32> {
  %0 = autopar.matmul %a, %b : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %1 = autopar.broadcast %v dims = [1] : tensor<64xf32> -> tensor<64x64xf32>
  %2 = autopar.add %0, %1 : tensor<64x64xf32>
  %3 = autopar.relu %2 : tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}

// A reshape is a view, on the way in and on the way out.
// CHECK-LABEL: func.func @reshapes_fuse
// CHECK: autopar.task
// CHECK-NEXT: autopar.reshape
// CHECK-NEXT: autopar.exp
// CHECK-NEXT: autopar.reshape
// CHECK-NOT: autopar.task
func.func @reshapes_fuse(%a: tensor<4x6xf32>) -> tensor<2x12xf32> {
  %0 = autopar.reshape %a : tensor<4x6xf32> -> tensor<24xf32>
  %1 = autopar.exp %0 : tensor<24xf32>
  %2 = autopar.reshape %1 : tensor<24xf32> -> tensor<2x12xf32>
  return %2 : tensor<2x12xf32>
}

// A view, a generator and a splat of two users are repeated: each task has its own.
// CHECK-LABEL: func.func @cheap_ops_are_repeated
// CHECK: "exp_0"
// CHECK: autopar.exp
// CHECK: "add_1"
// CHECK-DAG: autopar.broadcast
// CHECK-DAG: autopar.iota
// CHECK: "mul_2"
// CHECK-DAG: autopar.broadcast
// CHECK-DAG: autopar.iota
// CHECK-NOT: autopar.task
func.func @cheap_ops_are_repeated(%a: tensor<8x16xf32>, %v: tensor<16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %x = autopar.exp %a : tensor<8x16xf32>
  %b = autopar.broadcast %v dims = [1] : tensor<16xf32> -> tensor<8x16xf32>
  %i = autopar.iota axis = 1 : tensor<8x16xf32>
  %0 = autopar.add %x, %b : tensor<8x16xf32>
  %1 = autopar.add %0, %i : tensor<8x16xf32>
  %2 = autopar.mul %x, %b : tensor<8x16xf32>
  %3 = autopar.mul %2, %i : tensor<8x16xf32>
  return %1, %3 : tensor<8x16xf32>, tensor<8x16xf32>
}
