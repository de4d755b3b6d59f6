// RUN: autopar-opt %s --autopar-attach-machine=machine=virtual:2 | FileCheck %s
// RUN: autopar-opt %s --autopar-attach-machine=machine=virtual:2 | autopar-opt --autopar-attach-machine | FileCheck %s
// RUN: autopar-opt %s --autopar-attach-machine="machine=virtual:1 ignore-pins" | FileCheck %s --check-prefix=FREE

// The machine is written into the module; a module that names one keeps it unless another is asked for.
// CHECK: module attributes {autopar.machine = "{{.*}}gpu0{{.*}}gpu1{{.*}}"}
// FREE: module attributes {autopar.machine = "{{.*}}gpu0{{.*}}"}
// FREE-NOT: device = "gpu1"

// CHECK: %arg0: tensor<4xf32> {autopar.device = "gpu1"}
// CHECK-SAME: -> (tensor<4xf32> {autopar.device = "gpu1"})
// FREE: %arg0: tensor<4xf32>
func.func @pinned(%a: tensor<4xf32> {autopar.device = "gpu1"}) -> (tensor<4xf32> {autopar.device = "gpu1"}) {
  // CHECK: autopar.exp %{{.*}} {autopar.device = "gpu1"}
  %0 = autopar.exp %a {autopar.device = "gpu1"} : tensor<4xf32>
  // CHECK: device = "gpu1", label = "s"
  %1 = autopar.synthetic_task(%0) {label = "s", cost_ns = {virtual = 5.0}, device = "gpu1"} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "t" {device = "gpu1"}
  %2 = autopar.task(%x = %1) "t" {device = "gpu1"} : (tensor<4xf32>) -> tensor<4xf32> {
    autopar.yield %x : tensor<4xf32>
  }
  return %2 : tensor<4xf32>
}
