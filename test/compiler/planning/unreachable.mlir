// RUN: autopar-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(autopar-attach-machine{machine=%S/Inputs/one-way.json},func.func(autopar-plan-schedule))'
// Nothing leads away from gpu1.

// expected-error@+1 {{no plan was found: the result of 'a' (on gpu1) cannot reach 'b' (on cpu0): no link and no way over the host device leads there; add links to the machine or remove pins}}
func.func @result_of_a_task() {
  %0 = autopar.synthetic_task() {label = "a", device = "gpu1", cost_ns = {virtual = 1.0}} : () -> tensor<8xi8>
  autopar.synthetic_task(%0) {label = "b", cost_ns = {cpu = 1.0}} : (tensor<8xi8>) -> ()
  return
}

// -----

// expected-error@+1 {{no plan was found: program input #1 (on gpu1) cannot reach 'b' (on cpu0 or gpu0): no link}}
func.func @argument(%x: tensor<8xi8>, %y: tensor<8xi8> {autopar.device = "gpu1"}) {
  autopar.synthetic_task(%x, %y) {label = "b", cost_ns = {cpu = 1.0, gpu0 = 1.0}} : (tensor<8xi8>, tensor<8xi8>) -> ()
  return
}

// -----

// The first could run on cpu0, but its own operand would not get there: so both are on gpu1.
// expected-error@+1 {{no plan was found: the result of 'c' (on gpu1) cannot reach 'd' (on gpu0)}}
func.func @only_where_its_operands_get() {
  %0 = autopar.synthetic_task() {label = "a", device = "gpu1", cost_ns = {virtual = 1.0}} : () -> tensor<8xi8>
  %1 = autopar.synthetic_task(%0) {label = "c", cost_ns = {cpu = 1.0, virtual = 1.0}} : (tensor<8xi8>) -> tensor<8xi8>
  autopar.synthetic_task(%1) {label = "d", cost_ns = {gpu0 = 1.0}} : (tensor<8xi8>) -> ()
  return
}
