// One program on machines that one does not own. NVLink carries a value from GPU to GPU; two RTX 4090 meet at the host.
// The products are 2^34 operations each, at 67 (82.6) TFLOP/s; a launch is 2.5 us, a
// copy of 16 MiB 8 us and 37.283 us at 450 GB/s (524.288 at 32 GB/s), hearing of it 1.5 us.
// RUN: autopar-opt %s --machine=h100-sxm:2 --report=- | FileCheck %s --check-prefix=H100
// RUN: autopar-opt %s --machine=rtx4090:2 --report=- | FileCheck %s --check-prefix=RTX
// H100: "predicted_makespan_ns":564615,
// H100: "transfers":1,"transfer_bytes":16777216,
// RTX: "predicted_makespan_ns":1487054,
// RTX: "transfers":2,"transfer_bytes":33554432,
// Its schedule file is replayed where there is no such GPU; to run it, its devices are mapped onto others.
// RUN: autopar-opt %s --machine=h100-sxm:2 -o %t.sched
// RUN: autopar-run %t.sched --simulate | FileCheck %s --check-prefix=REPLAY
// REPLAY: {{^}}simulated_makespan_ns=564615 predicted_makespan_ns=564615{{$}}
// RUN: not autopar-run %t.sched --input=2048x2048xf32 2>&1 | FileCheck %s --check-prefix=NO-GPU
// NO-GPU: gpu0 is a CUDA device
// RUN: not autopar-opt %s --machine=mi300x:8 --report=- 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: cannot open 'mi300x:8': no such file or folder; give host, virtual:N, cuda:N (N from 1 to 64), a100-sxm:N, h100-sxm:N, h200-sxm:N, b200:N, l40s:N, rtx4090:N (N from 1 to 8) or the path of a machine file (JSON)
func.func @main(%x: tensor<2048x2048xf32> {autopar.device = "gpu0"}) -> (tensor<2048x2048xf32> {autopar.device = "gpu1"}) {
  %0 = autopar.matmul %x, %x {autopar.device = "gpu0"} : tensor<2048x2048xf32>, tensor<2048x2048xf32> -> tensor<2048x2048xf32>
  %1 = autopar.matmul %0, %0 {autopar.device = "gpu1"} : tensor<2048x2048xf32>, tensor<2048x2048xf32> -> tensor<2048x2048xf32>
  return %1 : tensor<2048x2048xf32>
}
