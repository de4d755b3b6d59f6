// RUN: autopar-opt %s --autopar-outline-kernels --autopar-compile-kernels='target-cpu=x86-64-v3 gpu-arch=sm_75' | sed -e 's/\\0A/\n/g' -e 's/\\09/ /g' | FileCheck %s

// Beyond 2^31 elements indices have 64 bits, and a grid of limited size goes round.
// CHECK: launches = {add_0 = array<i64: 2112, 256>}
// CHECK-LABEL: .visible .entry add_0(
// CHECK: mul.hi.u64
// CHECK: ld.global.nc.v4.b32
// CHECK: st.global.v4.b32
// CHECK: setp.lt.u64 %[[MORE:p[0-9]+]]
// CHECK: @%[[MORE]] bra
// CHECK: ret;
func.func @main(%x: tensor<65536xf32>, %y: tensor<32772xf32>) -> tensor<65536x32772xf32> {
  %0 = autopar.task(%a = %x, %b = %y) "outer" : (tensor<65536xf32>, tensor<32772xf32>) -> (tensor<65536x32772xf32>) {
    %rows = autopar.broadcast %a dims = [0] : tensor<65536xf32> -> tensor<65536x32772xf32>
    %columns = autopar.broadcast %b dims = [1] : tensor<32772xf32> -> tensor<65536x32772xf32>
    %sum = autopar.add %rows, %columns : tensor<65536x32772xf32>
    autopar.yield %sum : tensor<65536x32772xf32>
  }
  return %0 : tensor<65536x32772xf32>
}
