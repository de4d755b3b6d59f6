// RUN: autopar-opt %s --machine=cuda:1 --target-cpu=x86-64-v3 --stop-after=codegen | FileCheck %s
// RUN: autopar-opt %s --machine=cuda:1 --target-cpu=x86-64-v3 -o %t.sched
// RUN: autopar-run --dump %t.sched | FileCheck %s --check-prefix=FILE

// Only what runs on a GPU has code there; everything has code for the CPU.
// CHECK: autopar.binary @code target = "x86-64-v3"
// CHECK: autopar.binary @gpu_code target = "sm_75"
// CHECK-SAME: launches = {add_0 = array<i64: 1, 256>, matmul_relu_0 = array<i64: 16, 256>} image
// CHECK-NOT: autopar.binary

// FILE: module #0 elf x86-64-v3
// FILE: module #1 ptx sm_75 features(ptx75)
// FILE-DAG: kernel @add_0 {{.*}} code #0 @add_0 code #1 @add_0 grid = 1 block = 256
// FILE-DAG: kernel @matmul_relu_0 matmul {{.*}} code #0 @matmul_relu_0 code #1 @matmul_relu_0 grid = 16 block = 256
// FILE-DAG: kernel @sub_0 {{.*}} code #0 @sub_0{{$}}
func.func @main(%x: tensor<512xf32> {autopar.device = "gpu0"}, %y: tensor<512xf32>, %z: tensor<128x128xf32> {autopar.device = "gpu0"})
    -> (tensor<512xf32>, tensor<128x128xf32>, tensor<512xf32>) {
  %0 = autopar.add %x, %x {autopar.device = "gpu0"} : tensor<512xf32>
  %1 = autopar.matmul %z, %z {autopar.device = "gpu0"} : tensor<128x128xf32>, tensor<128x128xf32> -> tensor<128x128xf32>
  %2 = autopar.relu %1 {autopar.device = "gpu0"} : tensor<128x128xf32>
  %3 = autopar.sub %y, %y {autopar.device = "cpu0"} : tensor<512xf32>
  return %0, %2, %3 : tensor<512xf32>, tensor<128x128xf32>, tensor<512xf32>
}
