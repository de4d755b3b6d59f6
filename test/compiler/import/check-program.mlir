// What the later stages can take is let through unchanged.
// RUN: autopar-opt %s --autopar-check-program | FileCheck %s

// C13, C20, C21, C23: unused arguments, the same value twice, arguments and constants as results, no operands at all.
// CHECK-LABEL: @arguments_and_results
func.func @arguments_and_results(%x: tensor<4xf32>, %unused: tensor<2xi1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>) {
  %0 = autopar.constant dense<1.0> : tensor<f32>
  return %x, %x, %0 : tensor<4xf32>, tensor<4xf32>, tensor<f32>
}

// CHECK-LABEL: @nothing
func.func @nothing() {
  return
}

// C15: rank 0.
// CHECK-LABEL: @rank_zero
func.func @rank_zero(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = autopar.add %x, %y : tensor<f32>
  return %0 : tensor<f32>
}

// The bounds of unrolled loops may be left over.
// CHECK-LABEL: @unused_scalars
func.func @unused_scalars() {
  %c0 = arith.constant 0 : index
  return
}

// Tasks may be written by hand, with bytes of any element type between them.
// CHECK-LABEL: @tasks
func.func @tasks(%x: tensor<18xi8>, %y: tensor<4xf64>) -> tensor<9xbf16> {
  %0, %done = autopar.synthetic_task(%x) {label = "a", cost_ns = {cpu = 1.0}} : (tensor<18xi8>) -> (tensor<9xbf16>, !autopar.token)
  autopar.synthetic_task(%done) {label = "b", cost_ns = {cpu = 1.0}} : (!autopar.token) -> ()
  return %0 : tensor<9xbf16>
}
