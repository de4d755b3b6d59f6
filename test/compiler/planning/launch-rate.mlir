// One thread issues the launches of a GPU: kernels shorter than their launches gain nothing from more streams, however little
// of the device they fill. Longer ones do.
// RUN: autopar-opt %s --machine=%S/Inputs/gpu-with-launches.json --stop-after=planning --report=- | FileCheck %s

// CHECK:      {"function":"tiny","predicted_makespan_ns":10400,
// CHECK-SAME: "optimal":true
// CHECK-SAME: "streams":1,
// CHECK-SAME: "why_not_parallel":[{"task":"d","waits_for":"c","reason":"launch rate"}
func.func @tiny() {
  autopar.synthetic_task() {label = "a", cost_ns = {cuda = 100.0}, occupancy = {cuda = 0.1}} : () -> ()
  autopar.synthetic_task() {label = "b", cost_ns = {cuda = 100.0}, occupancy = {cuda = 0.1}} : () -> ()
  autopar.synthetic_task() {label = "c", cost_ns = {cuda = 100.0}, occupancy = {cuda = 0.1}} : () -> ()
  autopar.synthetic_task() {label = "d", cost_ns = {cuda = 100.0}, occupancy = {cuda = 0.1}} : () -> ()
  return
}

// CHECK:      {"function":"longer","predicted_makespan_ns":102500,
// CHECK-SAME: "streams":4,
func.func @longer() {
  autopar.synthetic_task() {label = "a", cost_ns = {cuda = 100000.0}, occupancy = {cuda = 0.1}} : () -> ()
  autopar.synthetic_task() {label = "b", cost_ns = {cuda = 100000.0}, occupancy = {cuda = 0.1}} : () -> ()
  autopar.synthetic_task() {label = "c", cost_ns = {cuda = 100000.0}, occupancy = {cuda = 0.1}} : () -> ()
  autopar.synthetic_task() {label = "d", cost_ns = {cuda = 100000.0}, occupancy = {cuda = 0.1}} : () -> ()
  return
}
