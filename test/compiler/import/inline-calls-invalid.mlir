// RUN: autopar-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect --autopar-inline-calls

func.func @function_that_calls_itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+2 {{call of 'function_that_calls_itself' is recursive}}
  // expected-note@+1 {{repeat with scf.for and constant bounds}}
  %0 = call @function_that_calls_itself(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @recursion_through_another(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @even(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @even(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @odd(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @odd(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+2 {{call of 'even' is recursive}}
  // expected-note@+1 {{not even through others}}
  %0 = call @even(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>
func.func @call_of_a_declaration(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+2 {{call of 'elsewhere', which has no body}}
  // expected-note@+1 {{define the function in the same module}}
  %0 = call @elsewhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @call_of_several_blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+2 {{call of 'branches', which has several blocks}}
  // expected-note@+1 {{choose with autopar.select}}
  %0 = call @branches(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @branches(%x: tensor<4xf32>) -> tensor<4xf32> {
  "test.branch"()[^bb1] : () -> ()
^bb1:
  return %x : tensor<4xf32>
}
