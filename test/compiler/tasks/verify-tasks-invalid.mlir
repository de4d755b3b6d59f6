// RUN: autopar-opt %s --autopar-attach-machine --autopar-estimate-costs --split-input-file --verify-diagnostics

func.func @op_outside_a_task(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{is not in a task; run --autopar-form-tasks}}
  %0 = autopar.neg %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @returned_argument(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{result 0 is not the result of a task; run --autopar-form-tasks}}
  return %a : tensor<4xf32>
}

// -----

func.func @returned_twice(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = autopar.synthetic_task(%a) {label = "s", cost_ns = {cpu = 5.0}} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{result 1 is returned twice; run --autopar-form-tasks}}
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @same_label(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @below {{the other task}}
  %0 = autopar.synthetic_task(%a) {label = "s", cost_ns = {cpu = 5.0}} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{has the label 's' of another task; give it one of its own}}
  %1 = autopar.synthetic_task(%0) {label = "s", cost_ns = {cpu = 5.0}} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
