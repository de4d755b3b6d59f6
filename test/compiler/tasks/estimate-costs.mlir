// RUN: autopar-opt %s --autopar-attach-machine=machine=%S/Inputs/two-kinds.json --autopar-estimate-costs | FileCheck %s
// RUN: autopar-opt %s --autopar-attach-machine=machine=%S/Inputs/two-kinds.json \
// RUN:   --autopar-estimate-costs=profile=%S/Inputs/profile.json | FileCheck %s --check-prefix=MEASURED

// 2 * 256 * 256 * 256 = 33.5 MFlop in two tiles: at most two of the four cores work. 33.5 M / (2 * 1e11/s) = 168 us. The
// devices of kind cuda agree and share a key, those of kind virtual have one each. A GPU: 16 of the 132 tiles of 64 x 64 that fill
// it, so 33.5 M / (16 / 132 * 1e13/s) = 27.7 us.
// CHECK-LABEL: func.func @product
// CHECK: "matmul_0"
// CHECK-SAME: cost_ns = {cpu = 1.67{{[0-9]+}}e+05 : f64, cuda = 2.76{{[0-9]+}}e+04 : f64, gpu0 = 3.3{{[0-9]+}}e+05 : f64, gpu1 = 1.67{{[0-9]+}}e+05 : f64}
// CHECK-SAME: occupancy = {cpu = 5.000000e-01 : f64, cuda = {{.*}}, virtual = 1.000000e+00 : f64}
// CHECK-SAME: tile_count = 2 : i64

// What is measured replaces what is estimated, for those devices alone.
// MEASURED: "matmul_0"
// MEASURED-SAME: cost_ns = {cpu = 1.234500e+03 : f64, cuda = 2.76{{[0-9]+}}e+04 : f64, {{.*}}gpu3 = 7.700000e+01 : f64}
func.func @product(%a: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = autopar.task(%x = %a) "matmul_0" : (tensor<256x256xf32>) -> tensor<256x256xf32> {
    %1 = autopar.matmul %x, %x : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
    autopar.yield %1 : tensor<256x256xf32>
  }
  return %0 : tensor<256x256xf32>
}

// Bound by memory: 128 MiB read and written at 40 GB/s = 3.36 ms on the CPU, all cores busy, so there is no occupancy < 1
// there.
// CHECK-LABEL: func.func @traffic
// CHECK: "neg_0"
// CHECK-SAME: cost_ns = {cpu = 3.3{{[0-9]+}}e+06 : f64
// CHECK-NOT: occupancy
// CHECK-SAME: tile_count = 512 : i64
func.func @traffic(%a: tensor<16777216xf32>) -> tensor<16777216xf32> {
  %0 = autopar.task(%x = %a) "neg_0" : (tensor<16777216xf32>) -> tensor<16777216xf32> {
    %1 = autopar.neg %x : tensor<16777216xf32>
    autopar.yield %1 : tensor<16777216xf32>
  }
  return %0 : tensor<16777216xf32>
}

// 1 MiB read and written: from the caches of four cores (400 GB/s: 5.2 us) in a function that has no more, from memory (40 GB/s: 52 us)
// where each call has 1 GiB of arguments.
// CHECK-LABEL: func.func @few_bytes_a_call
// CHECK: cost_ns = {cpu = 5.24{{[0-9]+}}e+03 : f64
func.func @few_bytes_a_call(%a: tensor<262144xf32>) -> tensor<262144xf32> {
  %0 = autopar.task(%x = %a) "neg_0" : (tensor<262144xf32>) -> tensor<262144xf32> {
    %1 = autopar.neg %x : tensor<262144xf32>
    autopar.yield %1 : tensor<262144xf32>
  }
  return %0 : tensor<262144xf32>
}
// CHECK-LABEL: func.func @many_bytes_a_call
// CHECK: cost_ns = {cpu = 5.24{{[0-9]+}}e+04 : f64
func.func @many_bytes_a_call(%a: tensor<262144xf32>, %b: tensor<1024x262144xf32>) -> tensor<262144xf32> {
  %0 = autopar.task(%x = %a) "neg_0" : (tensor<262144xf32>) -> tensor<262144xf32> {
    %1 = autopar.neg %x : tensor<262144xf32>
    autopar.yield %1 : tensor<262144xf32>
  }
  return %0 : tensor<262144xf32>
}

// Nothing to do costs nothing beside the launch, which the planner adds.
// CHECK-LABEL: func.func @no_elements
// CHECK: cost_ns = {cpu = 0.000000e+00 : f64, cuda = 0.000000e+00 : f64, virtual = 0.000000e+00 : f64}
// CHECK-SAME: tile_count = 0 : i64
func.func @no_elements(%a: tensor<0xf32>) -> tensor<0xf32> {
  %0 = autopar.task(%x = %a) "neg_0" : (tensor<0xf32>) -> tensor<0xf32> {
    %1 = autopar.neg %x : tensor<0xf32>
    autopar.yield %1 : tensor<0xf32>
  }
  return %0 : tensor<0xf32>
}

// CHECK-LABEL: func.func @given_cost_stays
// CHECK: "t" {cost_ns = {cpu = 7.000000e+00 : f64}}
// CHECK: {cost_ns = {p0 = 9.000000e+00 : f64}, label = "s"}
func.func @given_cost_stays(%a: tensor<f32>) -> tensor<f32> {
  %0 = autopar.task(%x = %a) "t" {cost_ns = {cpu = 7.0}} : (tensor<f32>) -> tensor<f32> {
    autopar.yield %x : tensor<f32>
  }
  %1 = autopar.synthetic_task(%0) {label = "s", cost_ns = {p0 = 9.0}} : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
