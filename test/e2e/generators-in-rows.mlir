// Rows shorter than the lanes, or no multiple of them: what a generator makes beyond the row must not take part.
// RUN: autopar-opt %s -o %t.sched && autopar-run %t.sched | FileCheck %s
// RUN: autopar-opt %s --fuse=off -o %t.unfused.sched && autopar-run %t.unfused.sched | FileCheck %s

// CHECK: result[0]: 3xi32=4 4 4
// CHECK: result[1]: 2xf32=66 66
// CHECK: result[2]: 2xi32=66 66
// CHECK: result[3]: 3xf32=0 0 0
func.func @main() -> (tensor<3xi32>, tensor<2xf32>, tensor<2xi32>, tensor<3xf32>) {
  %0 = autopar.iota axis = 1 : tensor<3x5xi32>
  %1 = autopar.reduce max %0 axes = [1] : tensor<3x5xi32> -> tensor<3xi32>
  %2 = autopar.iota axis = 1 : tensor<2x67xf32>
  %3 = autopar.reduce max %2 axes = [1] : tensor<2x67xf32> -> tensor<2xf32>
  %4 = autopar.argmax %2 axis = 1 : tensor<2x67xf32> -> tensor<2xi32>
  %5 = autopar.iota axis = 1 : tensor<3x5xf32>
  %6 = autopar.neg %5 : tensor<3x5xf32>
  %7 = autopar.abs %6 : tensor<3x5xf32>
  %8 = autopar.reduce min %7 axes = [1] : tensor<3x5xf32> -> tensor<3xf32>
  return %1, %3, %4, %8 : tensor<3xi32>, tensor<2xf32>, tensor<2xi32>, tensor<3xf32>
}
