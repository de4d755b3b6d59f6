// RUN: autopar-opt %s --split-input-file --autopar-outline-kernels | FileCheck %s

// Equal bodies are one kernel, whatever the tasks are called and read. The kernel is named after its ops.
// CHECK-LABEL: func.func @equal_bodies_share_a_kernel
func.func @equal_bodies_share_a_kernel(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK: autopar.task{{.*}} "first" {kernel = @add_relu_0, tile_count = 1 : i64}
  %0 = autopar.task(%a = %x, %b = %y) "first" : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>) {
    %s = autopar.add %a, %b : tensor<8xf32>
    %r = autopar.relu %s : tensor<8xf32>
    autopar.yield %r : tensor<8xf32>
  }
  // CHECK: autopar.task{{.*}} "second" {kernel = @add_relu_0, tile_count = 1 : i64}
  %1 = autopar.task(%p = %0, %q = %0) "second" : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>) {
    %s = autopar.add %p, %q : tensor<8xf32>
    %r = autopar.relu %s : tensor<8xf32>
    autopar.yield %r : tensor<8xf32>
  }
  // The operands stand in another order: another kernel.
  // CHECK: autopar.task{{.*}} "third" {kernel = @sub_0,
  %2 = autopar.task(%a = %0, %b = %1) "third" : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>) {
    %s = autopar.sub %a, %b : tensor<8xf32>
    autopar.yield %s : tensor<8xf32>
  }
  // CHECK: autopar.task{{.*}} "fourth" {kernel = @sub_1,
  %3 = autopar.task(%a = %0, %b = %1) "fourth" : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>) {
    %s = autopar.sub %b, %a : tensor<8xf32>
    autopar.yield %s : tensor<8xf32>
  }
  return %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
// CHECK: autopar.kernel native @add_relu_0 tiles = 1 scratch = 0 reads = [0, 1] {
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>):
// CHECK-NEXT: autopar.add %[[A]], %[[B]]
// CHECK: autopar.kernel native @sub_0
// CHECK: autopar.kernel native @sub_1
// CHECK-NOT: autopar.kernel

// -----

// A product reads its factors first, in the library's order; the epilogue is generated.
// CHECK-LABEL: func.func @matmul_with_epilogue
func.func @matmul_with_epilogue(%bias: tensor<300xf32>, %x: tensor<200x64xf32>, %w: tensor<300x64xf32>) -> tensor<200x300xf32> {
  %0 = autopar.task(%c = %bias, %a = %x, %b = %w) "t" : (tensor<300xf32>, tensor<200x64xf32>, tensor<300x64xf32>) -> (tensor<200x300xf32>) {
    %p = autopar.matmul %a, %b transpose_b : tensor<200x64xf32>, tensor<300x64xf32> -> tensor<200x300xf32>
    %d = autopar.broadcast %c dims = [1] : tensor<300xf32> -> tensor<200x300xf32>
    %s = autopar.add %p, %d : tensor<200x300xf32>
    autopar.yield %s : tensor<200x300xf32>
  }
  return %0 : tensor<200x300xf32>
}
// CHECK: autopar.kernel matmul @matmul_add_0 tiles = 4 scratch = 0 reads = [1, 2, 0]
// CHECK-SAME: product = <batch = 1, m = 200, n = 300, k = 64, aBatch = 1, bBatch = 1, transposeA = false, transposeB = true, tileM = 128, tileN = 256> epilogue

// -----

// A square reads its operand twice.
func.func @square(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = autopar.task(%a = %x) "t" : (tensor<4x4xf32>) -> (tensor<4x4xf32>) {
    %p = autopar.matmul %a, %a : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    autopar.yield %p : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}
// CHECK: autopar.kernel matmul @matmul_0 tiles = 1 scratch = 0 reads = [0, 0] product = <{{.*}}> {

// -----

// Tokens have no bytes; no elements, no tiles; a kernel's name keeps clear of functions.
// CHECK-LABEL: func.func @neg_0
func.func @neg_0(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %t = autopar.task() "before" : () -> (!autopar.token) {
    autopar.yield
  }
  %0 = autopar.task(%u = %t, %a = %x) "after" : (!autopar.token, tensor<0x3xf32>) -> (tensor<0x3xf32>) {
    %n = autopar.neg %a : tensor<0x3xf32>
    autopar.yield %n : tensor<0x3xf32>
  }
  return %0 : tensor<0x3xf32>
}
// CHECK: autopar.kernel native @copy_0 tiles = 0 scratch = 0 reads = [] {
// CHECK: autopar.kernel native @neg_1 tiles = 0 scratch = 0 reads = [1] {
