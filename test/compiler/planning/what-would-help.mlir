// RUN: split-file %s %t
// RUN: autopar-opt %t/products.mlir --machine=%S/Inputs/one-cpu.json --report-text | FileCheck %t/products.mlir
// RUN: autopar-opt %t/one.mlir --machine=%S/Inputs/three-cpus.json --report-text | FileCheck %t/one.mlir
// RUN: autopar-opt %t/inputs.mlir --machine=%S/Inputs/cpu-and-gpu.json --report-text | FileCheck %t/inputs.mlir
// RUN: autopar-opt %t/several.mlir --machine=%S/Inputs/cpu-and-gpu.json --report-text | FileCheck %t/several.mlir
// RUN: autopar-opt %t/singular.mlir --machine=%S/Inputs/three-cpus.json --report-text | FileCheck %t/singular.mlir

// A host alone is tried with a second CPU, at the speed of its memory.
//--- products.mlir
// CHECK: 'b' waits for 'a': device full
// CHECK: what would help (each planned again):
// CHECK-NEXT: another device like cpu0 (cpu): 100.0 us, 2.00 times as fast
func.func @two_products() {
  autopar.synthetic_task() {label = "a", cost_ns = {cpu = 100000.0}} : () -> ()
  autopar.synthetic_task() {label = "b", cost_ns = {cpu = 100000.0}} : () -> ()
  return
}

// One task has one device; the others would be exactly as fast.
//--- one.mlir
// CHECK:      idle for a twentieth
// CHECK-NEXT: p1 for 1000 ns from 0 ns, 'a': no faster there
// CHECK-NEXT: p2 for 1000 ns from 0 ns, 'a': no faster there
// CHECK-NEXT: no other machine that was tried would help by 1 %:
// CHECK-NEXT: another device like p0 (cpu); all links twice as fast
func.func @one_task() {
  autopar.synthetic_task() {label = "a", cost_ns = {cpu = 1000.0}} : () -> ()
  return
}

// Which of two arguments is waited for.
//--- inputs.mlir
// CHECK: 'use' waits for 'program input #1': data dependency
func.func @two_inputs(%x: tensor<10xi8>, %y: tensor<1000xi8>) {
  autopar.synthetic_task(%x, %y) {label = "use", cost_ns = {virtual = 10.0}} : (tensor<10xi8>, tensor<1000xi8>) -> ()
  return
}

// What is pinned makes a plan around one device one of several.
//--- several.mlir
// CHECK: (planner one-device: all that may choose on one device); best single device
func.func @a_pin() {
  %0 = autopar.synthetic_task() {label = "a", device = "cpu0", cost_ns = {cpu = 1.0, virtual = 1.0}} : () -> tensor<8xi8>
  autopar.synthetic_task(%0) {label = "b", device = "gpu0", cost_ns = {cpu = 1.0, virtual = 1.0}} : (tensor<8xi8>) -> ()
  return
}

// One more than is shown.
//--- singular.mlir
// CHECK: and 1 step before these
// CHECK: idle for a twentieth
// CHECK: and 1 shorter one{{$}}
func.func @one_more() {
  %0 = autopar.synthetic_task() {label = "t0", device = "p0", cost_ns = {cpu = 100.0}} : () -> tensor<1xi8>
  %1 = autopar.synthetic_task(%0) {label = "t1", device = "p1", cost_ns = {cpu = 100.0}} : (tensor<1xi8>) -> tensor<1xi8>
  %2 = autopar.synthetic_task(%1) {label = "t2", device = "p0", cost_ns = {cpu = 100.0}} : (tensor<1xi8>) -> tensor<1xi8>
  %3 = autopar.synthetic_task(%2) {label = "t3", device = "p2", cost_ns = {cpu = 100.0}} : (tensor<1xi8>) -> tensor<1xi8>
  %4 = autopar.synthetic_task(%3) {label = "t4", device = "p2", cost_ns = {cpu = 100.0}} : (tensor<1xi8>) -> tensor<1xi8>
  %5 = autopar.synthetic_task(%4) {label = "t5", device = "p2", cost_ns = {cpu = 100.0}} : (tensor<1xi8>) -> tensor<1xi8>
  %6 = autopar.synthetic_task(%5) {label = "t6", device = "p2", cost_ns = {cpu = 100.0}} : (tensor<1xi8>) -> tensor<1xi8>
  %7 = autopar.synthetic_task(%6) {label = "t7", device = "p2", cost_ns = {cpu = 100.0}} : (tensor<1xi8>) -> tensor<1xi8>
  %8 = autopar.synthetic_task(%7) {label = "t8", device = "p2", cost_ns = {cpu = 100.0}} : (tensor<1xi8>) -> tensor<1xi8>
  autopar.synthetic_task(%8) {label = "t9", device = "p2", cost_ns = {cpu = 100.0}} : (tensor<1xi8>) -> ()
  return
}
