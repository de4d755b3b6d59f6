// RUN: autopar-opt %s --machine=%S/Inputs/cpu-and-gpu.json --report=%t.json
// RUN: %python -c "import json; [json.loads(line) for line in open('%t.json')]"
// RUN: FileCheck %s < %t.json
// RUN: autopar-opt %s --machine=%S/Inputs/cpu-and-gpu.json --report-text | FileCheck %s --check-prefix=TEXT
// RUN: autopar-opt %s --machine=%S/Inputs/cpu-and-gpu.json --stop-after=planning --remarks-filter=autopar-plan --remark-format=emitRemark \
// RUN:   -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not autopar-opt %s --machine=%S/Inputs/cpu-and-gpu.json --stop-after=planning --remarks-filter=autopar-plan --remark-format=yaml \
// RUN:   --remarks-output-file=%t.no-such-folder/r.yaml 2>&1 | FileCheck %s --check-prefix=NOREMARKS
// NOREMARKS: error: the remarks cannot be written to '{{.*}}no-such-folder/r.yaml': {{[Nn]}}o such file or directory; name another file
// RUN: not autopar-opt %s --machine=%S/Inputs/cpu-and-gpu.json --report=%t.no-such-folder/r.json 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NOFILE

// One object a function, each on a line.
// CHECK:      {"function":"two_halves","predicted_makespan_ns":100,"lower_bound_ns":100,
// CHECK-SAME: "binding_bound":"critical path","gap":0,"optimal":true,"serial_ns":200,
// CHECK-SAME: "tasks":2,"transfers":0,"transfer_bytes":0,"waits":0,"streams":2,
// CHECK-SAME: "devices":[{"name":"cpu0","busy_ns":100,"streams":1,"peak_bytes":{{[0-9]+}},"peak_lower_bound_bytes":{{[0-9]+}}},
// CHECK-SAME: {"name":"gpu0","busy_ns":100,
// CHECK-SAME: "why_not_parallel":[],"idle":[]}
func.func @two_halves() {
  autopar.synthetic_task() {label = "a", cost_ns = {cpu = 100.0, virtual = 100.0}} : () -> ()
  autopar.synthetic_task() {label = "b", cost_ns = {cpu = 100.0, virtual = 100.0}} : () -> ()
  return
}

// CHECK-NEXT: {"function":"pinned","predicted_makespan_ns":200,
// CHECK-SAME: "why_not_parallel":[{"task":"b","waits_for":"a","reason":"pinned by the user"}],
// CHECK-SAME: "idle":[{"device":"gpu0","start_ns":0,"finish_ns":200,"task":"a","waits_for":"","reason":"pinned by the user"}]}
// TEXT:      function pinned: 2 tasks, 0 transfers of 0 B
// TEXT-NEXT:   predicted 200 ns (planner one-device); best single device, one stream 200 ns, 1.00 times as long
// TEXT-NEXT:   bound     200 ns (area of device 'cpu0'): the plan is optimal
// TEXT-NEXT:   cpu0: busy 100.0 %, 1 stream
// TEXT-NEXT:   gpu0: busy 0.0 %, 0 streams
// TEXT-NEXT:   why not parallel
// TEXT-NEXT:     'b' waits for 'a': pinned by the user
// TEXT-NEXT:   idle for a twentieth of the time and more:
// TEXT-NEXT:     gpu0 for 200 ns from 0 ns, 'a': pinned by the user
// TEXT-NEXT:   no other machine that was tried
func.func @pinned() {
  autopar.synthetic_task() {label = "a", device = "cpu0", cost_ns = {cpu = 100.0, virtual = 100.0}} : () -> ()
  autopar.synthetic_task() {label = "b", device = "cpu0", cost_ns = {cpu = 100.0, virtual = 100.0}} : () -> ()
  return
}

// CHECK-NEXT: {"function":"data",
// CHECK-SAME: "tasks":2,"transfers":2,"transfer_bytes":120,
// CHECK-SAME: "why_not_parallel":[{"task":"use","waits_for":"make","reason":"data dependency"},
// CHECK-SAME: {"task":"make","waits_for":"program input","reason":"data dependency"}],
// CHECK-SAME: "idle":[
func.func @data(%x: tensor<100xi8>) {
  %0 = autopar.synthetic_task(%x) {label = "make", cost_ns = {virtual = 10.0}} : (tensor<100xi8>) -> tensor<20xi8>
  autopar.synthetic_task(%0) {label = "use", cost_ns = {cpu = 10.0}} : (tensor<20xi8>) -> ()
  return
}

// The two halves of a step in a data-parallel training: the gradients of the second would be longer on their way than in
// the making, so one device does both.
// CHECK-NEXT: {"function":"data_parallel_step","predicted_makespan_ns":211,
// CHECK-SAME: "why_not_parallel":[{"task":"update","waits_for":"half1","reason":"data dependency"},
// CHECK-SAME: {"task":"half1","waits_for":"half0","reason":"transfer costs more than it gains"}
// REMARK: remark: [Missed] Waits | Category:autopar-plan | Function=data_parallel_step | reason="transfer costs more than it gains", task=half1, waits_for=half0
func.func @data_parallel_step(%x: tensor<1xi8> {autopar.device = "gpu0"}) {
  %0 = autopar.synthetic_task(%x) {label = "half0", cost_ns = {cpu = 100.0, virtual = 100.0}} : (tensor<1xi8>) -> tensor<400xi8>
  %1 = autopar.synthetic_task(%x) {label = "half1", cost_ns = {cpu = 100.0, virtual = 100.0}} : (tensor<1xi8>) -> tensor<400xi8>
  autopar.synthetic_task(%0, %1) {label = "update", cost_ns = {cpu = 500.0, virtual = 11.0}} : (tensor<400xi8>, tensor<400xi8>) -> ()
  return
}

// NOFILE: error: the report cannot be written: {{.*}}no-such-folder
