// Figure 2 of Topcuoglu, Hariri and Wu, IEEE TPDS 13(3), 2002: HEFT plans 80.
// RUN: autopar-opt %s --machine=%S/Inputs/three-processors.json --planner=heft --report=- | FileCheck %s
// CHECK: "predicted_makespan_ns":80,
// CHECK: "planner":"heft"
func.func @topcuoglu2002() {
  %0:5 = autopar.synthetic_task() {label = "t1", cost_ns = {p0 = 14.0, p1 = 16.0, p2 = 9.0}}
    : () -> (tensor<18xi8>, tensor<12xi8>, tensor<9xi8>, tensor<11xi8>, tensor<14xi8>)
  %1:2 = autopar.synthetic_task(%0#0) {label = "t2", cost_ns = {p0 = 13.0, p1 = 19.0, p2 = 18.0}}
    : (tensor<18xi8>) -> (tensor<19xi8>, tensor<16xi8>)
  %2 = autopar.synthetic_task(%0#1) {label = "t3", cost_ns = {p0 = 11.0, p1 = 13.0, p2 = 19.0}}
    : (tensor<12xi8>) -> tensor<23xi8>
  %3:2 = autopar.synthetic_task(%0#2) {label = "t4", cost_ns = {p0 = 13.0, p1 = 8.0, p2 = 17.0}}
    : (tensor<9xi8>) -> (tensor<27xi8>, tensor<23xi8>)
  %4 = autopar.synthetic_task(%0#3) {label = "t5", cost_ns = {p0 = 12.0, p1 = 13.0, p2 = 10.0}}
    : (tensor<11xi8>) -> tensor<13xi8>
  %5 = autopar.synthetic_task(%0#4) {label = "t6", cost_ns = {p0 = 13.0, p1 = 16.0, p2 = 9.0}}
    : (tensor<14xi8>) -> tensor<15xi8>
  %6 = autopar.synthetic_task(%2) {label = "t7", cost_ns = {p0 = 7.0, p1 = 15.0, p2 = 11.0}}
    : (tensor<23xi8>) -> tensor<17xi8>
  %7 = autopar.synthetic_task(%1#0, %3#0, %5) {label = "t8", cost_ns = {p0 = 5.0, p1 = 11.0, p2 = 14.0}}
    : (tensor<19xi8>, tensor<27xi8>, tensor<15xi8>) -> tensor<11xi8>
  %8 = autopar.synthetic_task(%1#1, %3#1, %4) {label = "t9", cost_ns = {p0 = 18.0, p1 = 12.0, p2 = 20.0}}
    : (tensor<16xi8>, tensor<23xi8>, tensor<13xi8>) -> tensor<13xi8>
  autopar.synthetic_task(%6, %7, %8) {label = "t10", cost_ns = {p0 = 21.0, p1 = 7.0, p2 = 16.0}}
    : (tensor<17xi8>, tensor<11xi8>, tensor<13xi8>) -> ()
  return
}
