// The walkthrough of docs/tutorial.md, one RUN line a stage. What the tutorial shows is what is checked here.

// RUN: autopar-opt %s --machine=virtual:2 --stop-after=import | FileCheck %s --check-prefix=IMPORT
// RUN: autopar-opt %s --machine=virtual:2 --stop-after=tasks | FileCheck %s --check-prefix=TASKS
// RUN: autopar-opt %s --machine=virtual:2 --stop-after=planning | FileCheck %s --check-prefix=PLANNING
// RUN: autopar-opt %s --machine=virtual:2 --stop-after=transfers | FileCheck %s --check-prefix=TRANSFERS
// RUN: autopar-opt %s --machine=virtual:2 --stop-after=memory | FileCheck %s --check-prefix=MEMORY
// RUN: autopar-opt %s --machine=virtual:2 --stop-after=waits | FileCheck %s --check-prefix=WAITS
// RUN: autopar-opt %s --machine=virtual:2 --stop-after=codegen | FileCheck %s --check-prefix=CODEGEN
// RUN: autopar-opt %s --machine=virtual:2 --stop-after=schedule | FileCheck %s --check-prefix=SCHEDULE

// Any stage's output is a program that the next stages take up: two roads, one schedule.
// RUN: autopar-opt %s --machine=virtual:2 --stop-after=memory -o %t.memory.mlir
// RUN: autopar-opt %t.memory.mlir -o %t.resumed.sched
// RUN: autopar-opt %s --machine=virtual:2 -o %t.sched
// RUN: autopar-run %t.sched --dump > %t.txt
// RUN: autopar-run %t.resumed.sched --dump | diff - %t.txt
// RUN: FileCheck %s --check-prefix=DUMP < %t.txt

// RUN: autopar-opt %s --machine=virtual:2 --report-text | FileCheck %s --check-prefix=REPORT
// RUN: autopar-run %t.sched --input=64x64xf32=1 --input=64x64xf32=-1 | FileCheck %s --check-prefix=RESULT

func.func @main(%x: tensor<64x64xf32> {autopar.device = "gpu0"},
                %y: tensor<64x64xf32> {autopar.device = "gpu1"}) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = autopar.matmul %x, %x : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %1 = autopar.matmul %y, %y : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %2 = autopar.relu %1 : tensor<64x64xf32>
  return %0, %2 : tensor<64x64xf32>, tensor<64x64xf32>
}

// IMPORT: module attributes {autopar.stage = "import"}
// IMPORT: autopar.matmul
// IMPORT: autopar.relu

// TASKS: autopar.task({{.*}}) "matmul_0" {cost_ns = {{.*}}tile_count = 1
// TASKS: autopar.task({{.*}}) "matmul_relu_1"
// TASKS-NEXT: autopar.matmul
// TASKS-NEXT: autopar.relu

// PLANNING: "matmul_0"{{.*}}placement = #autopar.placement<"gpu0" stream 0 at 0 to
// PLANNING: "matmul_relu_1"{{.*}}placement = #autopar.placement<"gpu1" stream 0 at 0 to

// TRANSFERS: autopar.transfer {{.*}} from "gpu0" to "cpu0"
// TRANSFERS: autopar.transfer {{.*}} from "gpu1" to "cpu0"

// MEMORY: "matmul_0" {buffers = [#autopar.buffer<arena 0 on "gpu0"[0 for 16384]>]
// MEMORY: autopar.transfer {{.*}} from "gpu0" to "cpu0" {{.*}}buffers = [#autopar.buffer<result 0 on "cpu0"[0 for 16384]>]

// WAITS: autopar.record 0 on @gpu0[0]
// WAITS: autopar.record 1 on @gpu1[0]
// WAITS: autopar.wait 0 on @gpu0[out] because data
// WAITS-NEXT: autopar.transfer
// WAITS: autopar.wait 1 on @gpu1[out] because data
// WAITS-NEXT: autopar.transfer

// CODEGEN: autopar.kernel {{.*}}@matmul_0
// CODEGEN: autopar.kernel {{.*}}@matmul_relu_0 {{.*}}epilogue
// CODEGEN: autopar.binary @code

// SCHEDULE: autopar.schedule @main
// SCHEDULE: autopar.arena @gpu0 bytes = 16384
// SCHEDULE: autopar.launch @matmul_0 on @gpu0[0]
// SCHEDULE: autopar.copy on @gpu0[out]

// DUMP: launch @matmul_0 on @gpu0[0] reads(arg0[0 for 16384], arg0[0 for 16384]) writes(@gpu0[0 for 16384])
// DUMP: record #0 on @gpu0[0]
// DUMP: launch @matmul_relu_0 on @gpu1[0]
// DUMP: wait #0 on @gpu0[out] because data
// DUMP: copy on @gpu0[out] @gpu0[0 for 16384] to result0[0 for 16384]

// REPORT:      function main: 2 tasks, 2 transfers of 32.8 kB, 2 waits
// REPORT-NEXT: (planner heft-harmonic); best single device, one stream
// REPORT-NEXT: (critical path): the plan is optimal
// REPORT-NEXT: cpu0: busy 0.0 %, 0 streams, 0 B of memory
// REPORT-NEXT: gpu0: busy {{.*}} %, 1 stream, 16.4 kB of memory
// REPORT-NEXT: gpu1: busy {{.*}} %, 1 stream, 16.4 kB of memory
// REPORT-NEXT: idle for a twentieth of the time and more:
// REPORT-NEXT: cpu0 for {{.*}} from 0 ns, 'matmul_relu_1': no faster there
// REPORT-NEXT: gpu0 for {{.*}}, 'matmul_relu_1': no faster there
// REPORT-NEXT: gpu1 for {{.*}}: no task is left
// REPORT-NEXT: what would help (each planned again):
// REPORT-NEXT: all links twice as fast: {{.*}} times as fast
// REPORT-NOT:  {{.}}

// RESULT: result[0]: 64x64xf32=[64 64
// RESULT: result[1]: 64x64xf32=[64 64
