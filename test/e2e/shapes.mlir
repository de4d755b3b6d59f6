// Shapes at the edge, from source to result: nothing to compute, nothing to add up, no dimension at all.
// RUN: autopar-opt %s -o %t.sched
// RUN: autopar-run %t.sched --function=empty --input=0x3xf32 --input=3x0xf32 | FileCheck %s --check-prefix=EMPTY
// RUN: autopar-run %t.sched --function=rank_0 --input=f32=3 --input=f32=4 | FileCheck %s --check-prefix=RANK0
// RUN: autopar-run %t.sched --function=passed_on --input=2xf32=1,2 --input=i32=7 | FileCheck %s --check-prefix=PASSED
// RUN: autopar-run %t.sched --function=nothing | count 0
// RUN: autopar-opt %s --machine=virtual:2 -o %t.virtual.sched
// RUN: autopar-run %t.virtual.sched --function=empty --input=0x3xf32 --input=3x0xf32 | FileCheck %s --check-prefix=EMPTY
// RUN: autopar-run %t.virtual.sched --function=passed_on --input=2xf32=1,2 --input=i32=7 | FileCheck %s --check-prefix=PASSED

// A product over nothing is zero; a sum of nothing is zero, a maximum of nothing is -inf; dependents of empty values run.
// EMPTY: result[0]: 3x3xf32=[0 0 0][0 0 0][0 0 0]
// EMPTY: result[1]: 0x0xf32=
// EMPTY: result[2]: 3xf32=0 0 0
// EMPTY: result[3]: 3xf32=-inf -inf -inf
// EMPTY: result[4]: 0x3xf32=
func.func @empty(%a: tensor<0x3xf32>, %b: tensor<3x0xf32>)
    -> (tensor<3x3xf32>, tensor<0x0xf32>, tensor<3xf32>, tensor<3xf32>, tensor<0x3xf32>) {
  %0 = autopar.matmul %b, %a : tensor<3x0xf32>, tensor<0x3xf32> -> tensor<3x3xf32>
  %1 = autopar.matmul %a, %b : tensor<0x3xf32>, tensor<3x0xf32> -> tensor<0x0xf32>
  %2 = autopar.reduce sum %a axes = [0] : tensor<0x3xf32> -> tensor<3xf32>
  %3 = autopar.reduce max %b axes = [1] : tensor<3x0xf32> -> tensor<3xf32>
  %4 = autopar.softmax %a axis = 1 : tensor<0x3xf32>
  %5 = autopar.exp %4 : tensor<0x3xf32>
  return %0, %1, %2, %3, %5 : tensor<3x3xf32>, tensor<0x0xf32>, tensor<3xf32>, tensor<3xf32>, tensor<0x3xf32>
}

// RANK0: result[0]: f32=7
// RANK0: result[1]: 2x2xf32=[7 7][7 7]
// RANK0: result[2]: f32=7
func.func @rank_0(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<2x2xf32>, tensor<f32>) {
  %0 = autopar.add %a, %b : tensor<f32>
  %1 = autopar.broadcast %0 dims = [] : tensor<f32> -> tensor<2x2xf32>
  %2 = autopar.reduce max %1 axes = [0, 1] : tensor<2x2xf32> -> tensor<f32>
  return %0, %1, %2 : tensor<f32>, tensor<2x2xf32>, tensor<f32>
}

// An argument, a constant and one value twice, returned as they are; %unused must still be given.
// PASSED: result[0]: 2xf32=1 2
// PASSED: result[1]: 2xf32=5 6
// PASSED: result[2]: 2xf32=-1 -2
// PASSED: result[3]: 2xf32=-1 -2
func.func @passed_on(%a: tensor<2xf32>, %unused: tensor<i32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = autopar.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %1 = autopar.neg %a : tensor<2xf32>
  return %a, %0, %1, %1 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

func.func @nothing() {
  return
}
