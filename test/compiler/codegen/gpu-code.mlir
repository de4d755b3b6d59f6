// RUN: autopar-opt %s --autopar-outline-kernels --autopar-compile-kernels='target-cpu=x86-64-v3 gpu-arch=sm_75' > %t.mlir
// RUN: FileCheck %s --check-prefix=IR < %t.mlir
// RUN: sed -e 's/\\0A/\n/g' -e 's/\\09/ /g' -e 's/\\22/"/g' %t.mlir | FileCheck %s
// RUN: autopar-opt %s --autopar-outline-kernels --autopar-compile-kernels='gpu-arch=sm_90a' | FileCheck %s --check-prefix=NEW
// RUN: autopar-opt %s --autopar-outline-kernels --autopar-compile-kernels | FileCheck %s --check-prefix=NONE
// RUN: not autopar-opt %s --autopar-outline-kernels --autopar-compile-kernels='gpu-arch=sm_70' 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not autopar-opt %s --autopar-outline-kernels --autopar-compile-kernels='gpu-arch=gfx90' 2>&1 | FileCheck %s --check-prefix=ODD

// Beside the code for the CPU stands PTX with the launch of each kernel: one thread for 16 bytes, 16 threads a row.
// IR: autopar.binary @code target = "x86-64-v3"
// IR: autopar.binary @gpu_code target = "sm_75" features = ["ptx75"]
// IR-SAME: launches = {add_relu_0 = array<i64: 4, 256>
// IR-SAME: reduce_0 = array<i64: 1, 512>
// IR-SAME: softmax_0 = array<i64: 7, 256>
// IR-SAME: transpose_0 = array<i64: 32, 256>
// IR-SAME: \00"
// The text for one architecture runs on all newer ones, so no variant for one alone is asked for.
// NEW: autopar.binary @gpu_code target = "sm_90" features = ["ptx80"]
// A machine without GPUs gets no code for them.
// NONE: autopar.binary @code
// NONE-NOT: autopar.binary
// OLD: error: the GPU architecture sm_70 is older than sm_75, the oldest that code is made for
// ODD: error: 'gfx90' is no architecture of a GPU; write sm_75, sm_80, sm_90 or the like

// CHECK: .version 7.5
// CHECK: .target sm_75

// No kernel has atomics or calls anything; sums and products stay apart.
// CHECK-NOT: {{atom\.|red\.global|call|\.extern|approx|\.ftz}}

// Elementwise: 16 bytes an access, through the cache for constants where read.
// CHECK-LABEL: .visible .entry add_relu_0(
// CHECK: .reqntid 256
// CHECK-COUNT-2: ld.global.nc.v4.b32
// CHECK-COUNT-4: add.rn.f32
// CHECK: st.global.v4.b32
// CHECK-NOT: {{ld|st}}.global
// CHECK: ret;

// A row of 100 elements: shuffles within 16 threads, no barrier.
// CHECK-LABEL: .visible .entry softmax_0(
// CHECK-NOT: bar.sync
// CHECK: ld.global.nc.v4.b32
// CHECK: shfl.sync.down.b32
// CHECK-NOT: bar.sync
// CHECK: st.global.v4.b32
// CHECK: ret;

// A long row alone: a block, which meets at barriers.
// CHECK-LABEL: .visible .entry reduce_0(
// CHECK: .reqntid 512
// CHECK-COUNT-4: ld.global.nc.v4.b32
// CHECK: shfl.sync.down.b32
// CHECK: {{bar.sync|barrier.sync}}
// CHECK: ret;

// A transpose reads and writes rows, by way of shared memory.
// CHECK-LABEL: .visible .entry transpose_0(
// CHECK: ld.global.nc.b32
// CHECK: st.shared.b32
// CHECK: {{bar.sync|barrier.sync}}
// CHECK: ld.shared.b32
// CHECK: st.global.b32
// CHECK: ret;
func.func @main(%x: tensor<4096xf32>, %y: tensor<4096xf32>, %rows: tensor<100x100xf32>, %long: tensor<65536xf32>,
                %square: tensor<100x256xf32>) -> (tensor<4096xf32>, tensor<100x100xf32>, tensor<f32>, tensor<256x100xf32>) {
  %0 = autopar.task(%a = %x, %b = %y) "sum" : (tensor<4096xf32>, tensor<4096xf32>) -> (tensor<4096xf32>) {
    %s = autopar.add %a, %b : tensor<4096xf32>
    %r = autopar.relu %s : tensor<4096xf32>
    autopar.yield %r : tensor<4096xf32>
  }
  %1 = autopar.task(%a = %rows) "softmax" : (tensor<100x100xf32>) -> (tensor<100x100xf32>) {
    %r = autopar.softmax %a axis = 1 : tensor<100x100xf32>
    autopar.yield %r : tensor<100x100xf32>
  }
  %2 = autopar.task(%a = %long) "total" : (tensor<65536xf32>) -> (tensor<f32>) {
    %r = autopar.reduce sum %a axes = [0] : tensor<65536xf32> -> tensor<f32>
    autopar.yield %r : tensor<f32>
  }
  %3 = autopar.task(%a = %square) "turn" : (tensor<100x256xf32>) -> (tensor<256x100xf32>) {
    %r = autopar.transpose %a permutation = [1, 0] : tensor<100x256xf32> -> tensor<256x100xf32>
    autopar.yield %r : tensor<256x100xf32>
  }
  return %0, %1, %2, %3 : tensor<4096xf32>, tensor<100x100xf32>, tensor<f32>, tensor<256x100xf32>
}
