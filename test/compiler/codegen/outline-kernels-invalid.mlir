// RUN: autopar-opt %s --split-input-file --verify-diagnostics --autopar-outline-kernels

func.func @two_reductions(%x: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // expected-error @below {{'autopar.task' op cannot be compiled as one kernel: it holds both 'autopar.reduce' and 'autopar.argmax'; split it into several tasks}}
  %0:2 = autopar.task(%a = %x) "t" : (tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xi32>) {
    %r = autopar.reduce sum %a axes = [1] : tensor<8x8xf32> -> tensor<8xf32>
    %m = autopar.argmax %a axis = 1 : tensor<8x8xf32> -> tensor<8xi32>
    autopar.yield %r, %m : tensor<8xf32>, tensor<8xi32>
  }
  %1 = autopar.task(%a = %0#1) "c" : (tensor<8xi32>) -> (tensor<8xf32>) {
    %f = autopar.convert %a : tensor<8xi32> -> tensor<8xf32>
    autopar.yield %f : tensor<8xf32>
  }
  return %0#0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

func.func @shapes_differ(%x: tensor<8xf32>, %y: tensor<9xf32>) -> (tensor<8xf32>, tensor<9xf32>) {
  // expected-error @below {{cannot be compiled as one kernel: its values do not share one shape}}
  %0:2 = autopar.task(%a = %x, %b = %y) "t" : (tensor<8xf32>, tensor<9xf32>) -> (tensor<8xf32>, tensor<9xf32>) {
    %r = autopar.neg %a : tensor<8xf32>
    %s = autopar.neg %b : tensor<9xf32>
    autopar.yield %r, %s : tensor<8xf32>, tensor<9xf32>
  }
  return %0#0, %0#1 : tensor<8xf32>, tensor<9xf32>
}
