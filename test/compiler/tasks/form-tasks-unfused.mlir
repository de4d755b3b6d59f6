// RUN: autopar-opt %s --autopar-form-tasks=fuse=false | FileCheck %s

// Without fusion every op is a task, the reference for all others; only splat constants have no memory of their own.
// CHECK-LABEL: func.func @main
// CHECK: "matmul_0"
// CHECK: "broadcast_1"
// CHECK: "add_2"
// CHECK: "relu_3"
// CHECK: "mul_4"
// CHECK-NEXT: autopar.constant dense<2.0
// CHECK-NEXT: autopar.mul
// CHECK: "sub_5"
// CHECK-NEXT: autopar.constant dense<2.0
// CHECK-NOT: autopar.task
func.func @main(%a: tensor<8x8xf32>, %v: tensor<8xf32>) -> tensor<8x8xf32> {
  %c = autopar.constant dense<2.0> : tensor<8x8xf32>
  %0 = autopar.matmul %a, %a : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %1 = autopar.broadcast %v dims = [1] : tensor<8xf32> -> tensor<8x8xf32>
  %2 = autopar.add %0, %1 : tensor<8x8xf32>
  %3 = autopar.relu %2 : tensor<8x8xf32>
  %4 = autopar.mul %3, %c : tensor<8x8xf32>
  %5 = autopar.sub %c, %4 : tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}
