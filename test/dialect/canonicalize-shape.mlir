// Moves that move nothing disappear, chains of one kind become one, and contractions over nothing are constants.
// RUN: autopar-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @moves_that_move_nothing
func.func @moves_that_move_nothing(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: return %arg0
  %0 = autopar.reshape %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %1 = autopar.transpose %0 permutation = [0, 1] : tensor<2x3xf32> -> tensor<2x3xf32>
  %2 = autopar.broadcast %1 dims = [0, 1] : tensor<2x3xf32> -> tensor<2x3xf32>
  %3 = autopar.slice %2 offsets = [0, 0] strides = [1, 1] : tensor<2x3xf32> -> tensor<2x3xf32>
  %4 = autopar.concat %3 axis = 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = autopar.reduce sum %4 axes = [] : tensor<2x3xf32> -> tensor<2x3xf32>
  return %5 : tensor<2x3xf32>
}

// Swapping two unit dimensions keeps the type, but only the identity is dropped without a look at the sizes.
// CHECK-LABEL: @transpose_of_a_square_stays
func.func @transpose_of_a_square_stays(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  // CHECK: autopar.transpose
  %0 = autopar.transpose %x permutation = [1, 0] : tensor<3x3xf32> -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// CHECK-LABEL: @two_reshapes_are_one
func.func @two_reshapes_are_one(%x: tensor<2x3x4xf32>) -> (tensor<6x4xf32>, tensor<2x3x4xf32>) {
  // CHECK-NEXT: %[[ONE:.*]] = autopar.reshape %arg0 : tensor<2x3x4xf32> -> tensor<6x4xf32>
  // CHECK-NEXT: return %[[ONE]], %arg0
  %0 = autopar.reshape %x : tensor<2x3x4xf32> -> tensor<24xf32>
  %1 = autopar.reshape %0 : tensor<24xf32> -> tensor<6x4xf32>
  %2 = autopar.reshape %1 : tensor<6x4xf32> -> tensor<2x3x4xf32>
  return %1, %2 : tensor<6x4xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: @two_transposes_are_one
func.func @two_transposes_are_one(%x: tensor<2x3x4xf32>) -> (tensor<4x3x2xf32>, tensor<2x3x4xf32>) {
  // CHECK-NEXT: %[[ONE:.*]] = autopar.transpose %arg0 permutation = [2, 1, 0] : tensor<2x3x4xf32> -> tensor<4x3x2xf32>
  // CHECK-NEXT: return %[[ONE]], %arg0
  %0 = autopar.transpose %x permutation = [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %1 = autopar.transpose %0 permutation = [1, 0, 2] : tensor<3x4x2xf32> -> tensor<4x3x2xf32>
  %2 = autopar.transpose %0 permutation = [2, 0, 1] : tensor<3x4x2xf32> -> tensor<2x3x4xf32>
  return %1, %2 : tensor<4x3x2xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: @two_broadcasts_are_one
func.func @two_broadcasts_are_one(%x: tensor<1x3xf32>) -> tensor<5x2x4x3xf32> {
  // CHECK-NEXT: autopar.broadcast %arg0 dims = [1, 3] : tensor<1x3xf32> -> tensor<5x2x4x3xf32>
  %0 = autopar.broadcast %x dims = [0, 2] : tensor<1x3xf32> -> tensor<2x4x3xf32>
  %1 = autopar.broadcast %0 dims = [1, 2, 3] : tensor<2x4x3xf32> -> tensor<5x2x4x3xf32>
  return %1 : tensor<5x2x4x3xf32>
}

// CHECK-LABEL: @two_slices_are_one
func.func @two_slices_are_one(%x: tensor<20x8xf32>) -> tensor<3x2xf32> {
  // Rows 1, 3, ... 19, and of these the 2nd, 5th and 8th: 3, 9 and 15.
  // CHECK-NEXT: autopar.slice %arg0 offsets = [3, 4] strides = [6, 2] : tensor<20x8xf32> -> tensor<3x2xf32>
  %0 = autopar.slice %x offsets = [1, 2] strides = [2, 2] : tensor<20x8xf32> -> tensor<10x3xf32>
  %1 = autopar.slice %0 offsets = [1, 1] strides = [3, 1] : tensor<10x3xf32> -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// CHECK-LABEL: @stride_over_one_element_is_one
func.func @stride_over_one_element_is_one(%x: tensor<20xf32>) -> (tensor<1xf32>, tensor<0xf32>) {
  // CHECK: autopar.slice %arg0 offsets = [7] strides = [1] : tensor<20xf32> -> tensor<1xf32>
  // CHECK: autopar.slice %arg0 offsets = [0] strides = [1] : tensor<20xf32> -> tensor<0xf32>
  %0 = autopar.slice %x offsets = [7] strides = [9223372036854775807] : tensor<20xf32> -> tensor<1xf32>
  %1 = autopar.slice %x offsets = [20] strides = [9] : tensor<20xf32> -> tensor<0xf32>
  return %0, %1 : tensor<1xf32>, tensor<0xf32>
}

// CHECK-LABEL: @empty_operands_of_concat_are_dropped
func.func @empty_operands_of_concat_are_dropped(%x: tensor<2x3xf32>, %e: tensor<0x3xf32>) -> (tensor<4x3xf32>, tensor<0x3xf32>) {
  // CHECK: %[[BOTH:.*]] = autopar.concat %arg0, %arg0 axis = 0
  // CHECK: return %[[BOTH]], %arg1
  %0 = autopar.concat %x, %e, %x axis = 0 : (tensor<2x3xf32>, tensor<0x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %1 = autopar.concat %e, %e axis = 0 : (tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<0x3xf32>
  return %0, %1 : tensor<4x3xf32>, tensor<0x3xf32>
}

// CHECK-LABEL: @moves_of_splats_are_splats
func.func @moves_of_splats_are_splats() -> tensor<6x100000xf32> {
  // CHECK-NEXT: autopar.constant dense<2.000000e+00> : tensor<6x100000xf32>
  // CHECK-NEXT: return
  %0 = autopar.constant dense<2.0> : tensor<3xf32>
  %1 = autopar.broadcast %0 dims = [1] : tensor<3xf32> -> tensor<100000x3xf32>
  %2 = autopar.transpose %1 permutation = [1, 0] : tensor<100000x3xf32> -> tensor<3x100000xf32>
  %3 = autopar.concat %2, %2 axis = 0 : (tensor<3x100000xf32>, tensor<3x100000xf32>) -> tensor<6x100000xf32>
  return %3 : tensor<6x100000xf32>
}

// CHECK-LABEL: @moves_of_small_constants
func.func @moves_of_small_constants() -> (tensor<3x2xi32>, tensor<2xi32>, tensor<2x2xi32>, tensor<6xi32>) {
  // CHECK-DAG: %[[T:.*]] = autopar.constant dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
  // CHECK-DAG: %[[S:.*]] = autopar.constant dense<[4, 6]> : tensor<2xi32>
  // CHECK-DAG: %[[B:.*]] = autopar.constant dense<{{\[\[}}4, 4], [6, 6]]> : tensor<2x2xi32>
  // CHECK-DAG: %[[R:.*]] = autopar.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  // CHECK: return %[[T]], %[[S]], %[[B]], %[[R]]
  %0 = autopar.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %1 = autopar.transpose %0 permutation = [1, 0] : tensor<2x3xi32> -> tensor<3x2xi32>
  %2 = autopar.slice %0 offsets = [1, 0] strides = [1, 2] : tensor<2x3xi32> -> tensor<1x2xi32>
  %3 = autopar.reshape %2 : tensor<1x2xi32> -> tensor<2xi32>
  %4 = autopar.broadcast %3 dims = [0] : tensor<2xi32> -> tensor<2x2xi32>
  %5 = autopar.reshape %0 : tensor<2x3xi32> -> tensor<6xi32>
  return %1, %3, %4, %5 : tensor<3x2xi32>, tensor<2xi32>, tensor<2x2xi32>, tensor<6xi32>
}

// C7: a product over nothing is zero, not what happens to be there.
// CHECK-LABEL: @product_over_nothing_is_zero
func.func @product_over_nothing_is_zero(%a: tensor<2x0xf32>, %b: tensor<0x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: autopar.constant dense<0.000000e+00> : tensor<2x3xf32>
  %0 = autopar.matmul %a, %b : tensor<2x0xf32>, tensor<0x3xf32> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: @reductions_over_nothing_are_neutral
func.func @reductions_over_nothing_are_neutral(%f: tensor<2x0xf32>, %i: tensor<0xi32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<i32>, tensor<i32>) {
  // CHECK-DAG: %[[ONE:.*]] = autopar.constant dense<1.000000e+00> : tensor<2xf32>
  // CHECK-DAG: %[[NEGATIVE:.*]] = autopar.constant dense<0xFF800000> : tensor<2xf32>
  // CHECK-DAG: %[[POSITIVE:.*]] = autopar.constant dense<0x7F800000> : tensor<2xf32>
  // CHECK-DAG: %[[MIN:.*]] = autopar.constant dense<-2147483648> : tensor<i32>
  // CHECK-DAG: %[[MAX:.*]] = autopar.constant dense<2147483647> : tensor<i32>
  // CHECK: return %[[ONE]], %[[NEGATIVE]], %[[POSITIVE]], %[[MIN]], %[[MAX]]
  %0 = autopar.reduce prod %f axes = [1] : tensor<2x0xf32> -> tensor<2xf32>
  %1 = autopar.reduce max %f axes = [1] : tensor<2x0xf32> -> tensor<2xf32>
  %2 = autopar.reduce min %f axes = [1] : tensor<2x0xf32> -> tensor<2xf32>
  %3 = autopar.reduce max %i axes = [0] : tensor<0xi32> -> tensor<i32>
  %4 = autopar.reduce min %i axes = [0] : tensor<0xi32> -> tensor<i32>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<i32>, tensor<i32>
}

// A sum of constants is the kernel's: its order of additions is not that of a loop here.
// CHECK-LABEL: @sums_are_not_folded
func.func @sums_are_not_folded() -> tensor<f32> {
  // CHECK: autopar.reduce sum
  %0 = autopar.constant dense<0.1> : tensor<100xf32>
  %1 = autopar.reduce sum %0 axes = [0] : tensor<100xf32> -> tensor<f32>
  return %1 : tensor<f32>
}
