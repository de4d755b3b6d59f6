// RUN: autopar-opt %s --autopar-form-tasks --split-input-file --verify-diagnostics

func.func @foreign_op(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{cannot be part of a task; run --autopar-check-program for what can}}
  %0 = func.call @other(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @other(tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @planned(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{is planned already; tasks are formed before planning}}
  %0 = autopar.transfer %a from "cpu0" to "gpu0" at 0 to 5 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
