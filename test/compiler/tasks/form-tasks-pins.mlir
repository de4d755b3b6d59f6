// RUN: autopar-opt %s --autopar-form-tasks | FileCheck %s

// The pin of an op becomes the device of its task.
// CHECK-LABEL: func.func @pin_becomes_the_device
// CHECK: autopar.task(%{{.*}} = %arg0) "exp_0" {device = "gpu0"}
// CHECK-NEXT: autopar.exp %{{[a-z0-9]+}} :
func.func @pin_becomes_the_device(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = autopar.exp %a {autopar.device = "gpu0"} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @different_pins_never_fuse
// CHECK: "exp_0" {device = "gpu0"}
// CHECK: "neg_1" {device = "gpu1"}
func.func @different_pins_never_fuse(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = autopar.exp %a {autopar.device = "gpu0"} : tensor<8xf32>
  %1 = autopar.neg %0 {autopar.device = "gpu1"} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func.func @equal_pins_fuse
// CHECK: "exp_neg_0" {device = "gpu0"}
// CHECK-NOT: autopar.task
func.func @equal_pins_fuse(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = autopar.exp %a {autopar.device = "gpu0"} : tensor<8xf32>
  %1 = autopar.neg %0 {autopar.device = "gpu0"} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Light work goes along with a pinned product.
// CHECK-LABEL: func.func @free_epilogue_joins_a_pinned_product
// CHECK: "matmul_relu_0" {device = "gpu1"}
// CHECK-NOT: autopar.task
func.func @free_epilogue_joins_a_pinned_product(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = autopar.matmul %a, %a {autopar.device = "gpu1"} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %1 = autopar.relu %0 : tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// A product that is free does not give up its choice of devices for a pinned epilogue.
// CHECK-LABEL: func.func @free_product_keeps_its_choice
// CHECK: "matmul_0" :
// CHECK: "relu_1" {device = "gpu1"}
func.func @free_product_keeps_its_choice(%a: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = autopar.matmul %a, %a : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
  %1 = autopar.relu %0 {autopar.device = "gpu1"} : tensor<512x512xf32>
  return %1 : tensor<512x512xf32>
}
