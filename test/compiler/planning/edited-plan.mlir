// A printed plan is reported on as it stands, unless it was edited into one that cannot be.
//
// RUN: autopar-opt %s --machine=%S/Inputs/cpu-and-gpu.json --report=%t.json
// RUN: autopar-opt %s --machine=%S/Inputs/cpu-and-gpu.json --stop-after=planning -o %t.mlir
// RUN: autopar-opt %t.mlir --report=%t.resumed.json
// RUN: cmp %t.json %t.resumed.json
//
// RUN: sed 's/lower_bound_ns = 150/lower_bound_ns = 151/' %t.mlir | not autopar-opt --report=- 2>&1 | FileCheck %s --check-prefix=BOUND
// BOUND: error: the plan of 'data' does not hold: its lower bound is 151 ns, but its last task or copy ends at 150 ns
// BOUND: note: placements or autopar.plan were edited after planning
//
// RUN: sed 's/at 140 to 150/at 14 to 24/' %t.mlir | not autopar-opt --report=- 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: 'autopar.synthetic_task' op starts at 14 ns, before its operand 0 is finished at 115 ns
//
// RUN: sed 's/at 105 to 115/at 105 to 110/' %t.mlir | not autopar-opt --report=- 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: error: the plan of 'data' does not hold: {{.*}}'make'
//
// RUN: sed 's/ 0, 105, 1, 1, 0, 115, 140/ 0, 105, 1, 1, 0, 115, 120/' %t.mlir | not autopar-opt --report=- 2>&1 | FileCheck %s --check-prefix=COPY
// COPY: error: the plan of 'data' does not hold: {{.*}}transfer of value 1 takes another time than its link says
//
// RUN: not autopar-opt %s --report=- --stop-after=tasks 2>&1 | FileCheck %s --check-prefix=STOP
// STOP: error: a report is on a plan, but --stop-after stops before the stage planning: drop one of the two
// RUN: not autopar-opt %s --report=- --max-streams=0 2>&1 | FileCheck %s --check-prefix=STREAMS
// STREAMS: error: --max-streams takes 1 or more
func.func @data(%x: tensor<100xi8>) {
  %0 = autopar.synthetic_task(%x) {label = "make", cost_ns = {virtual = 10.0}} : (tensor<100xi8>) -> tensor<20xi8>
  autopar.synthetic_task(%0) {label = "use", cost_ns = {cpu = 10.0}} : (tensor<20xi8>) -> ()
  return
}
