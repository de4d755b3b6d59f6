// Identities that hold for every input, and arithmetic whose bits are certain.
// RUN: autopar-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @adding_minus_zero_is_nothing
func.func @adding_minus_zero_is_nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %arg0
  %zero = autopar.constant dense<-0.0> : tensor<4xf32>
  %0 = autopar.add %zero, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -0 + +0 is +0: not the operand.
// CHECK-LABEL: @adding_plus_zero_stays
func.func @adding_plus_zero_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: autopar.add
  %zero = autopar.constant dense<0.0> : tensor<4xf32>
  %0 = autopar.add %x, %zero : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @subtracting_plus_zero_is_nothing
func.func @subtracting_plus_zero_is_nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %arg0
  %zero = autopar.constant dense<0.0> : tensor<4xf32>
  %0 = autopar.sub %x, %zero : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @subtracting_minus_zero_stays
func.func @subtracting_minus_zero_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: autopar.sub
  %zero = autopar.constant dense<-0.0> : tensor<4xf32>
  %0 = autopar.sub %x, %zero : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// NaN - NaN is NaN, and inf - inf.
// CHECK-LABEL: @float_minus_itself_stays
func.func @float_minus_itself_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: autopar.sub
  %0 = autopar.sub %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// NaN * 0 is NaN.
// CHECK-LABEL: @float_times_zero_stays
func.func @float_times_zero_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: autopar.mul
  %zero = autopar.constant dense<0.0> : tensor<4xf32>
  %0 = autopar.mul %x, %zero : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @times_and_by_one_are_nothing
func.func @times_and_by_one_are_nothing(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK-NEXT: return %arg0, %arg1
  %one = autopar.constant dense<1.0> : tensor<4xf32>
  %i1 = autopar.constant dense<1> : tensor<4xi32>
  %0 = autopar.mul %one, %x : tensor<4xf32>
  %1 = autopar.div %0, %one : tensor<4xf32>
  %2 = autopar.mul %i, %i1 : tensor<4xi32>
  %3 = autopar.div %2, %i1 : tensor<4xi32>
  return %1, %3 : tensor<4xf32>, tensor<4xi32>
}

// CHECK-LABEL: @integer_identities
func.func @integer_identities(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[ZERO:.*]] = autopar.constant dense<0> : tensor<4xi32>
  // CHECK-NEXT: return %arg0, %[[ZERO]], %[[ZERO]], %[[ZERO]]
  %zero = autopar.constant dense<0> : tensor<4xi32>
  %one = autopar.constant dense<1> : tensor<4xi32>
  %0 = autopar.add %x, %zero : tensor<4xi32>
  %1 = autopar.sub %x, %x : tensor<4xi32>
  %2 = autopar.mul %x, %zero : tensor<4xi32>
  %3 = autopar.rem %x, %one : tensor<4xi32>
  return %0, %1, %2, %3 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// CHECK-LABEL: @bitwise_identities
func.func @bitwise_identities(%x: tensor<4xi32>, %b: tensor<4xi1>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  // CHECK-DAG: %[[ZERO:.*]] = autopar.constant dense<0> : tensor<4xi32>
  // CHECK-DAG: %[[TRUE:.*]] = autopar.constant dense<true> : tensor<4xi1>
  // CHECK: return %arg0, %[[ZERO]], %arg1, %[[TRUE]], %arg1
  %ones = autopar.constant dense<-1> : tensor<4xi32>
  %true = autopar.constant dense<true> : tensor<4xi1>
  %0 = autopar.and %x, %ones : tensor<4xi32>
  %1 = autopar.xor %x, %x : tensor<4xi32>
  %2 = autopar.and %b, %true : tensor<4xi1>
  %3 = autopar.or %b, %true : tensor<4xi1>
  %4 = autopar.not %b : tensor<4xi1>
  %5 = autopar.not %4 : tensor<4xi1>
  return %0, %1, %2, %3, %5 : tensor<4xi32>, tensor<4xi32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// CHECK-LABEL: @idempotent_ops
func.func @idempotent_ops(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[RELU:.*]] = autopar.relu %arg0
  // CHECK-NEXT: %[[FLOOR:.*]] = autopar.floor %arg0
  // CHECK-NEXT: return %[[RELU]], %[[FLOOR]], %arg0, %arg0
  %0 = autopar.relu %x : tensor<4xf32>
  %1 = autopar.relu %0 : tensor<4xf32>
  %2 = autopar.floor %x : tensor<4xf32>
  %3 = autopar.ceil %2 : tensor<4xf32>
  %4 = autopar.neg %x : tensor<4xf32>
  %5 = autopar.neg %4 : tensor<4xf32>
  %6 = autopar.max %x, %x : tensor<4xf32>
  return %1, %3, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// C24, C25: division truncates toward zero; what a processor traps on is defined, and does not trap the compiler.
// CHECK-LABEL: @integer_division
func.func @integer_division() -> (tensor<6xi32>, tensor<6xi32>) {
  // CHECK-DAG: %[[QUOTIENT:.*]] = autopar.constant dense<[-18, 18, -1, -1, -2147483648, -1]> : tensor<6xi32>
  // CHECK-DAG: %[[REMAINDER:.*]] = autopar.constant dense<[-2, -2, 5, 0, 0, -2147483648]> : tensor<6xi32>
  // CHECK: return %[[QUOTIENT]], %[[REMAINDER]]
  %x = autopar.constant dense<[-128, -128, 5, 0, -2147483648, -2147483648]> : tensor<6xi32>
  %y = autopar.constant dense<[7, -7, 0, 0, -1, 0]> : tensor<6xi32>
  %0 = autopar.div %x, %y : tensor<6xi32>
  %1 = autopar.rem %x, %y : tensor<6xi32>
  return %0, %1 : tensor<6xi32>, tensor<6xi32>
}

// CHECK-LABEL: @integers_wrap
func.func @integers_wrap() -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) {
  // CHECK-DAG: %[[MIN:.*]] = autopar.constant dense<-2147483648> : tensor<i32>
  // CHECK-DAG: %[[PRODUCT:.*]] = autopar.constant dense<0> : tensor<i32>
  // CHECK: return %[[MIN]], %[[MIN]], %[[MIN]], %[[PRODUCT]]
  %max = autopar.constant dense<2147483647> : tensor<i32>
  %min = autopar.constant dense<-2147483648> : tensor<i32>
  %one = autopar.constant dense<1> : tensor<i32>
  %two = autopar.constant dense<2> : tensor<i32>
  %0 = autopar.add %max, %one : tensor<i32>
  %1 = autopar.neg %min : tensor<i32>
  %2 = autopar.abs %min : tensor<i32>
  %3 = autopar.mul %min, %two : tensor<i32>
  return %0, %1, %2, %3 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
}

// CHECK-LABEL: @splats_fold_in_float
func.func @splats_fold_in_float() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-DAG: %[[SUM:.*]] = autopar.constant dense<3.000000e-01> : tensor<4xf32>
  // CHECK-DAG: %[[INF:.*]] = autopar.constant dense<0x7F800000> : tensor<4xf32>
  // CHECK-DAG: %[[ROOT:.*]] = autopar.constant dense<0.316227764> : tensor<4xf32>
  // CHECK-DAG: %[[MAX:.*]] = autopar.constant dense<0.000000e+00> : tensor<4xf32>
  // CHECK: return %[[SUM]], %[[INF]], %[[ROOT]], %[[MAX]]
  %a = autopar.constant dense<0.1> : tensor<4xf32>
  %b = autopar.constant dense<0.2> : tensor<4xf32>
  %zero = autopar.constant dense<0.0> : tensor<4xf32>
  %minus = autopar.constant dense<-0.0> : tensor<4xf32>
  %0 = autopar.add %a, %b : tensor<4xf32>
  %1 = autopar.div %a, %zero : tensor<4xf32>
  %2 = autopar.sqrt %a : tensor<4xf32>
  %3 = autopar.max %minus, %zero : tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Which NaN it is, is the kernel's affair.
// CHECK-LABEL: @nan_is_not_folded
func.func @nan_is_not_folded() -> (tensor<f32>, tensor<f32>) {
  // CHECK: autopar.div
  // CHECK: autopar.sqrt
  %zero = autopar.constant dense<0.0> : tensor<f32>
  %minus = autopar.constant dense<-1.0> : tensor<f32>
  %0 = autopar.div %zero, %zero : tensor<f32>
  %1 = autopar.sqrt %minus : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// The last bits of these are the kernel's.
// CHECK-LABEL: @math_is_not_folded
func.func @math_is_not_folded() -> (tensor<f32>, tensor<f32>) {
  // CHECK: autopar.exp
  // CHECK: autopar.pow
  %one = autopar.constant dense<1.0> : tensor<f32>
  %0 = autopar.exp %one : tensor<f32>
  %1 = autopar.pow %one, %one : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @conversions
func.func @conversions() -> (tensor<6xi32>, tensor<3xi1>, tensor<2xf32>, tensor<2xi32>) {
  // CHECK-DAG: %[[INT:.*]] = autopar.constant dense<[1, -1, 2147483647, -2147483648, 0, 2147483520]> : tensor<6xi32>
  // CHECK-DAG: %[[BOOL:.*]] = autopar.constant dense<[true, false, true]> : tensor<3xi1>
  // CHECK-DAG: %[[FLOAT:.*]] = autopar.constant dense<[0x4B800000, 1.000000e+00]> : tensor<2xf32>
  // CHECK-DAG: %[[BIT:.*]] = autopar.constant dense<[1, 0]> : tensor<2xi32>
  // CHECK: return %[[INT]], %[[BOOL]], %[[FLOAT]], %[[BIT]]
  %f = autopar.constant dense<[1.9, -1.9, 1.0e10, 0xFF800000, 0x7FC00000, 2147483520.0]> : tensor<6xf32>
  %0 = autopar.convert %f : tensor<6xf32> -> tensor<6xi32>
  %g = autopar.constant dense<[0x7FC00000, -0.0, 0.5]> : tensor<3xf32>
  %1 = autopar.convert %g : tensor<3xf32> -> tensor<3xi1>
  %i = autopar.constant dense<[16777217, 1]> : tensor<2xi32>
  %2 = autopar.convert %i : tensor<2xi32> -> tensor<2xf32>
  %b = autopar.constant dense<[true, false]> : tensor<2xi1>
  %3 = autopar.convert %b : tensor<2xi1> -> tensor<2xi32>
  return %0, %1, %2, %3 : tensor<6xi32>, tensor<3xi1>, tensor<2xf32>, tensor<2xi32>
}

// CHECK-LABEL: @conversion_to_the_same_type_is_nothing
func.func @conversion_to_the_same_type_is_nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %arg0
  %0 = autopar.convert %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @integer_equals_itself
func.func @integer_equals_itself(%x: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-DAG: %[[TRUE:.*]] = autopar.constant dense<true>
  // CHECK-DAG: %[[FALSE:.*]] = autopar.constant dense<false>
  // CHECK: return %[[TRUE]], %[[FALSE]]
  %0 = autopar.compare ge %x, %x : tensor<4xi32> -> tensor<4xi1>
  %1 = autopar.compare ne %x, %x : tensor<4xi32> -> tensor<4xi1>
  return %0, %1 : tensor<4xi1>, tensor<4xi1>
}

// CHECK-LABEL: @float_may_differ_from_itself
func.func @float_may_differ_from_itself(%x: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK: autopar.compare ne
  %0 = autopar.compare ne %x, %x : tensor<4xf32> -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: @comparisons_with_nan
func.func @comparisons_with_nan() -> (tensor<3xi1>, tensor<3xi1>, tensor<2xi1>) {
  // CHECK-DAG: %[[LE:.*]] = autopar.constant dense<[false, false, true]> : tensor<3xi1>
  // CHECK-DAG: %[[NE:.*]] = autopar.constant dense<[true, true, false]> : tensor<3xi1>
  // CHECK-DAG: %[[LT:.*]] = autopar.constant dense<[true, false]> : tensor<2xi1>
  // CHECK: return %[[LE]], %[[NE]], %[[LT]]
  %x = autopar.constant dense<[0x7FC00000, 0x7FC00000, 0.0]> : tensor<3xf32>
  %y = autopar.constant dense<[1.0, 0x7FC00000, -0.0]> : tensor<3xf32>
  %0 = autopar.compare le %x, %y : tensor<3xf32> -> tensor<3xi1>
  %1 = autopar.compare ne %x, %y : tensor<3xf32> -> tensor<3xi1>
  // false is smaller than true
  %b = autopar.constant dense<[false, true]> : tensor<2xi1>
  %c = autopar.constant dense<[true, false]> : tensor<2xi1>
  %2 = autopar.compare lt %b, %c : tensor<2xi1> -> tensor<2xi1>
  return %0, %1, %2 : tensor<3xi1>, tensor<3xi1>, tensor<2xi1>
}

// CHECK-LABEL: @constants_stand_on_the_right
func.func @constants_stand_on_the_right(%x: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK: autopar.compare gt %arg0, %{{.*}} {autopar.device = "gpu0"}
  %one = autopar.constant dense<1.0> : tensor<4xf32>
  %0 = autopar.compare lt %one, %x {autopar.device = "gpu0"} : tensor<4xf32> -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: @selections
func.func @selections(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) {
  // CHECK-NEXT: return %arg1, %arg1, %arg2, %arg0
  %true = autopar.constant dense<true> : tensor<4xi1>
  %false = autopar.constant dense<false> : tensor<4xi1>
  %0 = autopar.select %c, %x, %x : tensor<4xi1>, tensor<4xf32>
  %1 = autopar.select %true, %x, %y : tensor<4xi1>, tensor<4xf32>
  %2 = autopar.select %false, %x, %y : tensor<4xi1>, tensor<4xf32>
  %3 = autopar.select %c, %true, %false : tensor<4xi1>, tensor<4xi1>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>
}

// A large constant that is no splat is left to run time.
// CHECK-LABEL: @large_constants_stay
func.func @large_constants_stay() -> tensor<2048xi32> {
  // CHECK: autopar.broadcast
  // CHECK: autopar.neg
  %0 = autopar.constant dense<[1, 2]> : tensor<2xi32>
  %1 = autopar.broadcast %0 dims = [1] : tensor<2xi32> -> tensor<1024x2xi32>
  %2 = autopar.reshape %1 : tensor<1024x2xi32> -> tensor<2048xi32>
  %3 = autopar.neg %2 : tensor<2048xi32>
  return %3 : tensor<2048xi32>
}
