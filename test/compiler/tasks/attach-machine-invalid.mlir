// RUN: autopar-opt %s --autopar-attach-machine=machine=virtual:1 --split-input-file --verify-diagnostics
// RUN: not autopar-opt %s --autopar-attach-machine=machine=virtual:999 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not autopar-opt %s --autopar-attach-machine=machine=%t.none.json 2>&1 | FileCheck %s --check-prefix=FILE
// NUMBER: 'virtual:999' is not a machine
// FILE: cannot open '{{.*}}none.json'

func.func @op(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{autopar.exp is pinned to 'gpu7', but the machine has cpu0, gpu0; pin to one of these or give --ignore-pins}}
  %0 = autopar.exp %a {autopar.device = "gpu7"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{argument 1 is pinned to 'gpu1', but the machine has cpu0, gpu0}}
func.func @argument(%a: tensor<4xf32>, %b: tensor<4xf32> {autopar.device = "gpu1"}) {
  return
}

// -----

// expected-error @below {{result 0 is pinned to 'gpu1', but the machine has cpu0, gpu0}}
func.func @result(%a: tensor<4xf32>) -> (tensor<4xf32> {autopar.device = "gpu1"}) {
  return %a : tensor<4xf32>
}

// -----

func.func @tasks(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{autopar.synthetic_task is pinned to 'p9'}}
  %0 = autopar.synthetic_task(%a) {label = "s", cost_ns = {cpu = 5.0}, device = "p9"} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{autopar.task is pinned to 'p8'}}
  %1 = autopar.task(%x = %0) "t" {device = "p8"} : (tensor<4xf32>) -> tensor<4xf32> {
    autopar.yield %x : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}
