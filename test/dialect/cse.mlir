// Equal work is done once; work that nobody reads is not done. Pins make ops different.
// RUN: autopar-opt %s --canonicalize --cse | FileCheck %s

// CHECK-LABEL: @equal_products_are_one
func.func @equal_products_are_one(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: %[[ONE:.*]] = autopar.matmul
  // CHECK-NEXT: return %[[ONE]], %[[ONE]]
  %0 = autopar.matmul %x, %x : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %1 = autopar.matmul %x, %x : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: @equal_seeds_are_equal_numbers
func.func @equal_seeds_are_equal_numbers() -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK-COUNT-2: autopar.random_uniform
  // CHECK-NOT: autopar.random_uniform
  %0 = autopar.random_uniform seed = 1 : tensor<8xf32>
  %1 = autopar.random_uniform seed = 1 : tensor<8xf32>
  %2 = autopar.random_uniform seed = 2 : tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: @pins_make_a_difference
func.func @pins_make_a_difference(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-COUNT-2: autopar.exp
  %0 = autopar.exp %x {autopar.device = "gpu0"} : tensor<8xf32>
  %1 = autopar.exp %x {autopar.device = "gpu1"} : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: @unused_work_is_not_done
func.func @unused_work_is_not_done(%x: tensor<8xf32>) {
  // CHECK-NEXT: return
  %0 = autopar.exp %x : tensor<8xf32>
  %1 = autopar.div %0, %x : tensor<8xf32>
  return
}
