// The whole stage: a tower of two layers in a loop, written with a function, becomes a list of tensor ops.
// RUN: autopar-opt %s --stop-after=import | FileCheck %s

// CHECK:      module attributes {autopar.stage = "import"}
// CHECK:      func.func @main(%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK-NEXT:   %[[ROWS:.*]] = autopar.broadcast %[[B]] dims = [1]
// CHECK-NEXT:   %[[P0:.*]] = autopar.matmul %[[X]], %[[W]]
// CHECK-NEXT:   %[[S0:.*]] = autopar.add %[[P0]], %[[ROWS]]
// CHECK-NEXT:   %[[R0:.*]] = autopar.relu %[[S0]]
// CHECK-NEXT:   %[[P1:.*]] = autopar.matmul %[[R0]], %[[W]]
// CHECK-NEXT:   %[[S1:.*]] = autopar.add %[[P1]], %[[ROWS]]
// CHECK-NEXT:   %[[R1:.*]] = autopar.relu %[[S1]]
// CHECK-NEXT:   return %[[R1]]
// CHECK-NOT:  func.func
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> tensor<4x8xf32> {
    %1 = func.call @layer(%a, %w, %b) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    scf.yield %1 : tensor<4x8xf32>
  }
  return %0 : tensor<4x8xf32>
}
func.func private @layer(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %rows = autopar.broadcast %b dims = [1] : tensor<8xf32> -> tensor<4x8xf32>
  %0 = autopar.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %1 = autopar.add %0, %rows : tensor<4x8xf32>
  %2 = autopar.relu %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
