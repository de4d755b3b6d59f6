// Three products of a task cross one bus: the plan counts the queue, and the replay of the schedule agrees with it.
// RUN: rm -rf %t && mkdir -p %t
// RUN: autopar-opt %s --machine=%S/Inputs/bus.json -o %t/bus.sched
// RUN: autopar-run %t/bus.sched --simulate | FileCheck %s
// CHECK: {{^}}simulated_makespan_ns=6120 predicted_makespan_ns=6120{{$}}
// The same schedule, were the bus twice as fast, or were there none.
// RUN: autopar-run %t/bus.sched --simulate=%S/Inputs/bus-twice-as-fast.json | FileCheck %s --check-prefix=FAST
// FAST: {{^}}simulated_makespan_ns=3120 predicted_makespan_ns=6120{{$}}
// RUN: autopar-run %t/bus.sched --simulate=%S/Inputs/no-bus.json | FileCheck %s --check-prefix=FREE
// FREE: {{^}}simulated_makespan_ns=2120 predicted_makespan_ns=6120{{$}}
// A program is compiled first.
// RUN: autopar-run %s --machine=%S/Inputs/bus.json --simulate | FileCheck %s
func.func @main() {
  %0:3 = autopar.synthetic_task() {label = "source", cost_ns = {cpu0 = 100.0}} : () -> (tensor<2000xi8>, tensor<2000xi8>, tensor<2000xi8>)
  autopar.synthetic_task(%0#0) {label = "a", cost_ns = {gpu0 = 20.0}} : (tensor<2000xi8>) -> ()
  autopar.synthetic_task(%0#1) {label = "b", cost_ns = {gpu1 = 20.0}} : (tensor<2000xi8>) -> ()
  autopar.synthetic_task(%0#2) {label = "c", cost_ns = {gpu2 = 20.0}} : (tensor<2000xi8>) -> ()
  return
}
