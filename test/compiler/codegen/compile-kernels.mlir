// RUN: autopar-opt %s --autopar-outline-kernels --autopar-compile-kernels=target-cpu=x86-64-v3 | FileCheck %s
// RUN: not autopar-opt %s --autopar-outline-kernels --autopar-compile-kernels=target-cpu=x86-64 2>&1 | FileCheck %s --check-prefix=OLD

// One image for all kernels, with what the processor must have.
// CHECK: autopar.binary @code target = "x86-64-v3" features = [{{.*}}"avx2", "fma", "f16c"] image = "\7FELF
// OLD: error: the processor 'x86-64' lacks avx2 or fma, which kernels need; use x86-64-v3 or newer
func.func @main(%x: tensor<100x10xf32>) -> (tensor<100x10xf32>, tensor<100xi32>) {
  %0 = autopar.task(%a = %x) "softmax" : (tensor<100x10xf32>) -> (tensor<100x10xf32>) {
    %r = autopar.softmax %a axis = 1 : tensor<100x10xf32>
    autopar.yield %r : tensor<100x10xf32>
  }
  %1 = autopar.task(%a = %x) "argmax" : (tensor<100x10xf32>) -> (tensor<100xi32>) {
    %r = autopar.argmax %a axis = 1 : tensor<100x10xf32> -> tensor<100xi32>
    autopar.yield %r : tensor<100xi32>
  }
  return %0, %1 : tensor<100x10xf32>, tensor<100xi32>
}
