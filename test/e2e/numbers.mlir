// What a number means, from source to result: NaN, infinities, division, conversion. The values are arguments, so that
// nothing is folded; the second run has them as constants, so that what can be folded is.
// RUN: autopar-opt %s -o %t.sched
// RUN: autopar-run %t.sched --function=floats "--input=4xf32=nan 1 2 -0" "--input=4xf32=1 nan 3 0" | FileCheck %s --check-prefix=FLOATS
// RUN: autopar-run %t.sched --function=reduce "--input=2x2xf32=nan 1 2 nan" | FileCheck %s --check-prefix=REDUCE
// RUN: autopar-run %t.sched --function=ties "--input=3x4xf32=1 3 3 2 nan 5 nan 1 -inf -inf -inf -inf" | FileCheck %s --check-prefix=TIES
// RUN: autopar-run %t.sched --function=integers "--input=6xi32=7 -7 5 -2147483648 -128 0" "--input=6xi32=2 2 0 -1 7 0" | FileCheck %s --check-prefix=INTEGERS
// RUN: autopar-run %t.sched --function=converted "--input=6xf32=1.9 -1.9 nan inf -inf 3e9" | FileCheck %s --check-prefix=CONVERTED
// RUN: autopar-run %t.sched --function=constants | FileCheck %s --check-prefix=INTEGERS

// FLOATS: result[0]: 4xf32=nan nan 3 {{-?}}0
// FLOATS: result[1]: 4xf32=nan nan 2 {{-?}}0
// FLOATS: result[2]: 4xf32=nan 1 2 {{-?}}0
// FLOATS: result[3]: 4xi1=0 0 1 0
// FLOATS: result[4]: 4xi1=1 1 1 0
func.func @floats(%a: tensor<4xf32>, %b: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>) {
  %0 = autopar.max %a, %b : tensor<4xf32>
  %1 = autopar.min %a, %b : tensor<4xf32>
  %2 = autopar.relu %a : tensor<4xf32>
  %3 = autopar.compare lt %a, %b : tensor<4xf32> -> tensor<4xi1>
  %4 = autopar.compare ne %a, %b : tensor<4xf32> -> tensor<4xi1>
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>
}

// A NaN anywhere in what is reduced gives NaN, along either dimension.
// REDUCE: result[0]: 2xf32=nan nan
// REDUCE: result[1]: 2xf32=nan nan
// REDUCE: result[2]: f32=nan
func.func @reduce(%a: tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<f32>) {
  %0 = autopar.reduce max %a axes = [0] : tensor<2x2xf32> -> tensor<2xf32>
  %1 = autopar.reduce min %a axes = [1] : tensor<2x2xf32> -> tensor<2xf32>
  %2 = autopar.reduce max %a axes = [0, 1] : tensor<2x2xf32> -> tensor<f32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<f32>
}

// The first of equals; the first NaN beats every number.
// TIES: result[0]: 3xi32=1 0 0
// TIES: result[1]: 4xi32=1 1 1 0
func.func @ties(%a: tensor<3x4xf32>) -> (tensor<3xi32>, tensor<4xi32>) {
  %0 = autopar.argmax %a axis = 1 : tensor<3x4xf32> -> tensor<3xi32>
  %1 = autopar.argmax %a axis = 0 : tensor<3x4xf32> -> tensor<4xi32>
  return %0, %1 : tensor<3xi32>, tensor<4xi32>
}

// Toward zero; a zero divisor gives -1 and leaves the dividend; the one overflow wraps. Nothing traps.
// INTEGERS: result[0]: 6xi32=3 -3 -1 -2147483648 -18 -1
// INTEGERS: result[1]: 6xi32=1 -1 5 0 -2 0
func.func @integers(%a: tensor<6xi32>, %b: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>) {
  %0 = autopar.div %a, %b : tensor<6xi32>
  %1 = autopar.rem %a, %b : tensor<6xi32>
  return %0, %1 : tensor<6xi32>, tensor<6xi32>
}

func.func @constants() -> (tensor<6xi32>, tensor<6xi32>) {
  %a = autopar.constant dense<[7, -7, 5, -2147483648, -128, 0]> : tensor<6xi32>
  %b = autopar.constant dense<[2, 2, 0, -1, 7, 0]> : tensor<6xi32>
  %0 = autopar.div %a, %b : tensor<6xi32>
  %1 = autopar.rem %a, %b : tensor<6xi32>
  return %0, %1 : tensor<6xi32>, tensor<6xi32>
}

// Truncated, saturated, NaN as zero.
// CONVERTED: result[0]: 6xi32=1 -1 0 2147483647 -2147483648 2147483647
// CONVERTED: result[1]: 6xi1=1 1 1 1 1 1
func.func @converted(%a: tensor<6xf32>) -> (tensor<6xi32>, tensor<6xi1>) {
  %0 = autopar.convert %a : tensor<6xf32> -> tensor<6xi32>
  %1 = autopar.convert %a : tensor<6xf32> -> tensor<6xi1>
  return %0, %1 : tensor<6xi32>, tensor<6xi1>
}
