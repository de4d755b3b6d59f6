// The worked examples of two papers, as programs. One byte takes one nanosecond.
// RUN: autopar-opt %s --machine=%S/Inputs/three-processors.json --planner=heft --report=- | FileCheck %s --check-prefix=HEFT
// RUN: autopar-opt %s --machine=%S/Inputs/three-processors.json --planner=cpop --report=- | FileCheck %s --check-prefix=CPOP
// RUN: autopar-opt %s --machine=%S/Inputs/three-processors.json --planner=peft --report=- | FileCheck %s --check-prefix=PEFT
// RUN: autopar-opt %s --machine=%S/Inputs/three-processors.json --planner=lookahead --report=- | FileCheck %s --check-prefix=LOOKAHEAD
// RUN: autopar-opt %s --machine=%S/Inputs/three-processors.json --effort=2 --report=- | FileCheck %s --check-prefix=SEARCH
// RUN: autopar-opt %s --machine=%S/Inputs/three-processors.json --effort=3 --report=- | FileCheck %s --check-prefix=EXACT

// Figure 2 of Topcuoglu, Hariri and Wu, IEEE TPDS 13(3), 2002: HEFT plans 80, CPOP 86.
// HEFT: {"function":"topcuoglu2002","predicted_makespan_ns":80,{{.*}}"planner":"heft"
// CPOP: {"function":"topcuoglu2002","predicted_makespan_ns":86,{{.*}}"planner":"cpop"
// PEFT: {"function":"topcuoglu2002","predicted_makespan_ns":85,{{.*}}"planner":"peft"
// LOOKAHEAD: {"function":"topcuoglu2002","predicted_makespan_ns":{{.*}}"planner":"lookahead"
// SEARCH: {"function":"topcuoglu2002","predicted_makespan_ns":73,
// EXACT: {"function":"topcuoglu2002","predicted_makespan_ns":73,"lower_bound_ns":73,"binding_bound":"exact search","gap":0,"optimal":true,
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

// Figure 1 of Arabnejad and Barbosa, IEEE TPDS 25(3), 2014: HEFT plans 133, PEFT 122, lookahead 127.
// HEFT: {"function":"arabnejad2014","predicted_makespan_ns":133,{{.*}}"planner":"heft"
// CPOP: {"function":"arabnejad2014","predicted_makespan_ns":167,{{.*}}"planner":"cpop"
// PEFT: {"function":"arabnejad2014","predicted_makespan_ns":122,{{.*}}"planner":"peft"
// LOOKAHEAD: {"function":"arabnejad2014","predicted_makespan_ns":127,{{.*}}"planner":"lookahead"
// SEARCH: {"function":"arabnejad2014","predicted_makespan_ns":113,
// EXACT: {"function":"arabnejad2014","predicted_makespan_ns":113,"lower_bound_ns":113,"binding_bound":"exact search","gap":0,"optimal":true,
func.func @arabnejad2014() {
  %0:5 = autopar.synthetic_task() {label = "t1", cost_ns = {p0 = 22.0, p1 = 21.0, p2 = 36.0}}
    : () -> (tensor<17xi8>, tensor<31xi8>, tensor<29xi8>, tensor<13xi8>, tensor<7xi8>)
  %1:2 = autopar.synthetic_task(%0#0) {label = "t2", cost_ns = {p0 = 22.0, p1 = 18.0, p2 = 18.0}}
    : (tensor<17xi8>) -> (tensor<3xi8>, tensor<30xi8>)
  %2 = autopar.synthetic_task(%0#1) {label = "t3", cost_ns = {p0 = 32.0, p1 = 27.0, p2 = 43.0}}
    : (tensor<31xi8>) -> tensor<16xi8>
  %3:2 = autopar.synthetic_task(%0#2) {label = "t4", cost_ns = {p0 = 7.0, p1 = 10.0, p2 = 4.0}}
    : (tensor<29xi8>) -> (tensor<11xi8>, tensor<7xi8>)
  %4 = autopar.synthetic_task(%0#3) {label = "t5", cost_ns = {p0 = 29.0, p1 = 27.0, p2 = 35.0}}
    : (tensor<13xi8>) -> tensor<57xi8>
  %5 = autopar.synthetic_task(%0#4) {label = "t6", cost_ns = {p0 = 26.0, p1 = 17.0, p2 = 24.0}}
    : (tensor<7xi8>) -> tensor<5xi8>
  %6 = autopar.synthetic_task(%2) {label = "t7", cost_ns = {p0 = 14.0, p1 = 25.0, p2 = 30.0}}
    : (tensor<16xi8>) -> tensor<9xi8>
  %7 = autopar.synthetic_task(%1#0, %3#0, %5) {label = "t8", cost_ns = {p0 = 29.0, p1 = 23.0, p2 = 36.0}}
    : (tensor<3xi8>, tensor<11xi8>, tensor<5xi8>) -> tensor<42xi8>
  %8 = autopar.synthetic_task(%1#1, %3#1, %4) {label = "t9", cost_ns = {p0 = 15.0, p1 = 21.0, p2 = 8.0}}
    : (tensor<30xi8>, tensor<7xi8>, tensor<57xi8>) -> tensor<7xi8>
  autopar.synthetic_task(%6, %7, %8) {label = "t10", cost_ns = {p0 = 13.0, p1 = 16.0, p2 = 33.0}}
    : (tensor<9xi8>, tensor<42xi8>, tensor<7xi8>) -> ()
  return
}
