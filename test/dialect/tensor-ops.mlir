// Every tensor op in its pretty form is printed as it was read, and read again from what is printed, pretty or generic.
// RUN: autopar-opt %s | FileCheck %s
// RUN: autopar-opt %s | autopar-opt | FileCheck %s
// RUN: autopar-opt %s --mlir-print-op-generic | autopar-opt | FileCheck %s

// CHECK-LABEL: @binary_ops
func.func @binary_ops(%f: tensor<4x3xf32>, %i: tensor<5xi32>, %b: tensor<7xi1>) {
  // CHECK: autopar.add %{{.*}}, %{{.*}} : tensor<4x3xf32>
  %0 = autopar.add %f, %f : tensor<4x3xf32>
  // CHECK: autopar.add %{{.*}}, %{{.*}} : tensor<5xi32>
  %1 = autopar.add %i, %i : tensor<5xi32>
  // CHECK: autopar.sub %{{.*}}, %{{.*}} : tensor<4x3xf32>
  %2 = autopar.sub %f, %f : tensor<4x3xf32>
  // CHECK: autopar.mul %{{.*}}, %{{.*}} : tensor<4x3xf32>
  %3 = autopar.mul %f, %f : tensor<4x3xf32>
  // CHECK: autopar.div %{{.*}}, %{{.*}} : tensor<5xi32>
  %4 = autopar.div %i, %i : tensor<5xi32>
  // CHECK: autopar.rem %{{.*}}, %{{.*}} : tensor<5xi32>
  %5 = autopar.rem %i, %i : tensor<5xi32>
  // CHECK: autopar.max %{{.*}}, %{{.*}} : tensor<4x3xf32>
  %6 = autopar.max %f, %f : tensor<4x3xf32>
  // CHECK: autopar.min %{{.*}}, %{{.*}} : tensor<4x3xf32>
  %7 = autopar.min %f, %f : tensor<4x3xf32>
  // CHECK: autopar.pow %{{.*}}, %{{.*}} : tensor<4x3xf32>
  %8 = autopar.pow %f, %f : tensor<4x3xf32>
  // CHECK: autopar.and %{{.*}}, %{{.*}} : tensor<7xi1>
  %9 = autopar.and %b, %b : tensor<7xi1>
  // CHECK: autopar.or %{{.*}}, %{{.*}} : tensor<5xi32>
  %10 = autopar.or %i, %i : tensor<5xi32>
  // CHECK: autopar.xor %{{.*}}, %{{.*}} : tensor<7xi1>
  %11 = autopar.xor %b, %b : tensor<7xi1>
  return
}

// CHECK-LABEL: @unary_ops
func.func @unary_ops(%f: tensor<4xf32>, %i: tensor<5xi32>, %b: tensor<7xi1>) {
  // CHECK: autopar.neg %{{.*}} : tensor<5xi32>
  %0 = autopar.neg %i : tensor<5xi32>
  // CHECK: autopar.abs %{{.*}} : tensor<4xf32>
  %1 = autopar.abs %f : tensor<4xf32>
  // CHECK: autopar.sign %{{.*}} : tensor<4xf32>
  %2 = autopar.sign %f : tensor<4xf32>
  // CHECK: autopar.not %{{.*}} : tensor<7xi1>
  %3 = autopar.not %b : tensor<7xi1>
  // CHECK: autopar.exp %{{.*}} : tensor<4xf32>
  %4 = autopar.exp %f : tensor<4xf32>
  // CHECK: autopar.log %{{.*}} : tensor<4xf32>
  %5 = autopar.log %f : tensor<4xf32>
  // CHECK: autopar.sqrt %{{.*}} : tensor<4xf32>
  %6 = autopar.sqrt %f : tensor<4xf32>
  // CHECK: autopar.rsqrt %{{.*}} : tensor<4xf32>
  %7 = autopar.rsqrt %f : tensor<4xf32>
  // CHECK: autopar.tanh %{{.*}} : tensor<4xf32>
  %8 = autopar.tanh %f : tensor<4xf32>
  // CHECK: autopar.erf %{{.*}} : tensor<4xf32>
  %9 = autopar.erf %f : tensor<4xf32>
  // CHECK: autopar.sin %{{.*}} : tensor<4xf32>
  %10 = autopar.sin %f : tensor<4xf32>
  // CHECK: autopar.cos %{{.*}} : tensor<4xf32>
  %11 = autopar.cos %f : tensor<4xf32>
  // CHECK: autopar.floor %{{.*}} : tensor<4xf32>
  %12 = autopar.floor %f : tensor<4xf32>
  // CHECK: autopar.ceil %{{.*}} : tensor<4xf32>
  %13 = autopar.ceil %f : tensor<4xf32>
  // CHECK: autopar.relu %{{.*}} : tensor<5xi32>
  %14 = autopar.relu %i : tensor<5xi32>
  // CHECK: autopar.sigmoid %{{.*}} : tensor<4xf32>
  %15 = autopar.sigmoid %f : tensor<4xf32>
  return
}

// CHECK-LABEL: @compare_select_convert
func.func @compare_select_convert(%f: tensor<4xf32>, %b: tensor<4xi1>) {
  // CHECK: autopar.compare lt %{{.*}}, %{{.*}} : tensor<4xf32> -> tensor<4xi1>
  %0 = autopar.compare lt %f, %f : tensor<4xf32> -> tensor<4xi1>
  // CHECK: autopar.compare eq %{{.*}}, %{{.*}} : tensor<4xi1> -> tensor<4xi1>
  %1 = autopar.compare eq %b, %b : tensor<4xi1> -> tensor<4xi1>
  // CHECK: autopar.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xf32>
  %2 = autopar.select %b, %f, %f : tensor<4xi1>, tensor<4xf32>
  // CHECK: autopar.convert %{{.*}} : tensor<4xf32> -> tensor<4xi32>
  %3 = autopar.convert %f : tensor<4xf32> -> tensor<4xi32>
  return
}

// CHECK-LABEL: @shape_ops
func.func @shape_ops(%f: tensor<4x1xf32>, %s: tensor<f32>) {
  // CHECK: autopar.broadcast %{{.*}} dims = [0, 2] : tensor<4x1xf32> -> tensor<4x2x3xf32>
  %0 = autopar.broadcast %f dims = [0, 2] : tensor<4x1xf32> -> tensor<4x2x3xf32>
  // CHECK: autopar.broadcast %{{.*}} dims = [] : tensor<f32> -> tensor<3xf32>
  %1 = autopar.broadcast %s dims = [] : tensor<f32> -> tensor<3xf32>
  // CHECK: autopar.reshape %{{.*}} : tensor<4x2x3xf32> -> tensor<24xf32>
  %2 = autopar.reshape %0 : tensor<4x2x3xf32> -> tensor<24xf32>
  // CHECK: autopar.transpose %{{.*}} permutation = [2, 0, 1] : tensor<4x2x3xf32> -> tensor<3x4x2xf32>
  %3 = autopar.transpose %0 permutation = [2, 0, 1] : tensor<4x2x3xf32> -> tensor<3x4x2xf32>
  // CHECK: autopar.transpose %{{.*}} permutation = [] : tensor<f32> -> tensor<f32>
  %4 = autopar.transpose %s permutation = [] : tensor<f32> -> tensor<f32>
  // CHECK: autopar.slice %{{.*}} offsets = [1, 0, 2] strides = [2, 1, 1] : tensor<4x2x3xf32> -> tensor<2x2x1xf32>
  %5 = autopar.slice %0 offsets = [1, 0, 2] strides = [2, 1, 1] : tensor<4x2x3xf32> -> tensor<2x2x1xf32>
  // CHECK: autopar.concat %{{.*}}, %{{.*}} axis = 1 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
  %6 = autopar.concat %f, %f axis = 1 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
  // CHECK: autopar.concat %{{.*}} axis = 0 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %7 = autopar.concat %f axis = 0 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  return
}

// CHECK-LABEL: @contractions
func.func @contractions(%a: tensor<2x4x3xf32>, %b: tensor<1x3x5xf32>, %bt: tensor<2x5x3xf32>) {
  // CHECK: autopar.reduce sum %{{.*}} axes = [0, 2] : tensor<2x4x3xf32> -> tensor<4xf32>
  %0 = autopar.reduce sum %a axes = [0, 2] : tensor<2x4x3xf32> -> tensor<4xf32>
  // CHECK: autopar.reduce max %{{.*}} axes = [0, 1, 2] : tensor<2x4x3xf32> -> tensor<f32>
  %1 = autopar.reduce max %a axes = [0, 1, 2] : tensor<2x4x3xf32> -> tensor<f32>
  // CHECK: autopar.argmax %{{.*}} axis = 1 : tensor<2x4x3xf32> -> tensor<2x3xi32>
  %2 = autopar.argmax %a axis = 1 : tensor<2x4x3xf32> -> tensor<2x3xi32>
  // CHECK: autopar.matmul %{{.*}}, %{{.*}} : tensor<2x4x3xf32>, tensor<1x3x5xf32> -> tensor<2x4x5xf32>
  %3 = autopar.matmul %a, %b : tensor<2x4x3xf32>, tensor<1x3x5xf32> -> tensor<2x4x5xf32>
  // CHECK: autopar.matmul %{{.*}}, %{{.*}} transpose_b : tensor<2x4x3xf32>, tensor<2x5x3xf32> -> tensor<2x4x5xf32>
  %4 = autopar.matmul %a, %bt transpose_b : tensor<2x4x3xf32>, tensor<2x5x3xf32> -> tensor<2x4x5xf32>
  // CHECK: autopar.matmul %{{.*}}, %{{.*}} transpose_a transpose_b : tensor<1x3x5xf32>, tensor<2x4x3xf32> -> tensor<2x5x4xf32>
  %5 = autopar.matmul %b, %a transpose_a transpose_b : tensor<1x3x5xf32>, tensor<2x4x3xf32> -> tensor<2x5x4xf32>
  // CHECK: autopar.softmax %{{.*}} axis = 2 : tensor<2x4x3xf32>
  %6 = autopar.softmax %a axis = 2 : tensor<2x4x3xf32>
  return
}

// CHECK-LABEL: @sources
func.func @sources() {
  // CHECK: autopar.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %0 = autopar.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: autopar.constant dense<true> : tensor<i1>
  %1 = autopar.constant dense<true> : tensor<i1>
  // CHECK: autopar.iota axis = 1 : tensor<2x3xi32>
  %2 = autopar.iota axis = 1 : tensor<2x3xi32>
  // CHECK: autopar.random_uniform seed = -1 : tensor<8xf32>
  %3 = autopar.random_uniform seed = -1 : tensor<8xf32>
  return
}

// C7, C9: tensors without elements are tensors.
// CHECK-LABEL: @empty_tensors
func.func @empty_tensors(%a: tensor<2x0xf32>, %b: tensor<0x3xf32>) {
  // CHECK: autopar.matmul {{.*}} : tensor<2x0xf32>, tensor<0x3xf32> -> tensor<2x3xf32>
  %0 = autopar.matmul %a, %b : tensor<2x0xf32>, tensor<0x3xf32> -> tensor<2x3xf32>
  // CHECK: autopar.softmax {{.*}} : tensor<2x0xf32>
  %1 = autopar.softmax %a axis = 1 : tensor<2x0xf32>
  // CHECK: autopar.reduce max {{.*}} : tensor<2x0xf32> -> tensor<2xf32>
  %2 = autopar.reduce max %a axes = [1] : tensor<2x0xf32> -> tensor<2xf32>
  // CHECK: autopar.slice {{.*}} : tensor<2x0xf32> -> tensor<0x0xf32>
  %3 = autopar.slice %a offsets = [2, 0] strides = [1, 1] : tensor<2x0xf32> -> tensor<0x0xf32>
  // CHECK: autopar.argmax {{.*}} : tensor<0x3xf32> -> tensor<0xi32>
  %4 = autopar.argmax %b axis = 1 : tensor<0x3xf32> -> tensor<0xi32>
  // CHECK: autopar.constant dense<> : tensor<0xf32>
  %5 = autopar.constant dense<> : tensor<0xf32>
  return
}

// The pin of an argument, a result and an op is kept, and so is the design's example.
// CHECK-LABEL: @pins
// CHECK-SAME: {autopar.device = "gpu0"}
// CHECK-SAME: -> (tensor<8x8xf32> {autopar.device = "gpu1"})
func.func @pins(%x: tensor<8x8xf32> {autopar.device = "gpu0"}) -> (tensor<8x8xf32> {autopar.device = "gpu1"}) {
  // CHECK: autopar.matmul %{{.*}}, %{{.*}} {autopar.device = "gpu1"} : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %0 = autopar.matmul %x, %x {autopar.device = "gpu1"} : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// C32: sizes are 64-bit.
// CHECK-LABEL: @more_than_2_to_the_31_elements
func.func @more_than_2_to_the_31_elements(%a: tensor<65536x1xf32>, %b: tensor<576460752303423488xi1>) {
  // CHECK: tensor<65536x1xf32> -> tensor<65536x32769xf32>
  %0 = autopar.broadcast %a dims = [0, 1] : tensor<65536x1xf32> -> tensor<65536x32769xf32>
  // CHECK: autopar.not {{.*}} : tensor<576460752303423488xi1>
  %1 = autopar.not %b : tensor<576460752303423488xi1>
  return
}
