// Transfers of a link without engines never queue: those that overlap in time go on different copy streams.
// RUN: autopar-opt %s --autopar-attach-machine=machine=%S/Inputs/free-links.json --autopar-insert-transfers | FileCheck %s
// RUN: autopar-opt %s --autopar-attach-machine=machine=%S/Inputs/free-links.json --autopar-insert-transfers --autopar-plan-memory --autopar-insert-waits | FileCheck %s --check-prefix=WAITS
// Printed and read back, they stay on their streams.
// RUN: autopar-opt %s --autopar-attach-machine=machine=%S/Inputs/free-links.json --autopar-insert-transfers --autopar-plan-memory --autopar-insert-waits | autopar-opt --autopar-insert-waits --autopar-lower-to-schedule | autopar-opt | FileCheck %s --check-prefix=SCHEDULE

// CHECK: autopar.transfer {{.*}} from "p0" to "p1" at 10 to 60 : tensor<50xi8>
// CHECK: autopar.transfer {{.*}} from "p0" to "p1" at 10 to 110 {stream = 1 : i64} : tensor<100xi8>

// The short one comes first, on the first stream.
// WAITS: autopar.wait 0 on @p0[to @p1] because data
// WAITS-NEXT: autopar.transfer {{.*}} at 10 to 60
// WAITS-NEXT: autopar.record 1 on @p0[to @p1]
// WAITS-NEXT: autopar.wait 0 on @p0[to @p1 1] because data
// WAITS-NEXT: autopar.transfer {{.*}} at 10 to 110

// SCHEDULE: autopar.copy on @p0[to @p1] "source to p1" at 10 to 60
// SCHEDULE: autopar.copy on @p0[to @p1 1] "source to p1" at 10 to 110
// SCHEDULE: autopar.wait 1 on @p1[0] because data
// SCHEDULE: autopar.launch {{.*}} "early" at 60 to 70
// SCHEDULE: autopar.wait 2 on @p1[0] because data
// SCHEDULE: autopar.launch {{.*}} "late" at 110 to 120
func.func @side_by_side() -> (tensor<0xi8> {autopar.device = "p1"}, tensor<0xi8> {autopar.device = "p1"}) {
  %0:2 = autopar.synthetic_task() {label = "source", cost_ns = {p0 = 10.0}, placement = #autopar.placement<"p0" stream 0 at 0 to 10>} : () -> (tensor<100xi8>, tensor<50xi8>)
  %1 = autopar.synthetic_task(%0#1) {label = "early", cost_ns = {p1 = 10.0}, placement = #autopar.placement<"p1" stream 0 at 60 to 70>} : (tensor<50xi8>) -> tensor<0xi8>
  %2 = autopar.synthetic_task(%0#0) {label = "late", cost_ns = {p1 = 10.0}, placement = #autopar.placement<"p1" stream 0 at 110 to 120>} : (tensor<100xi8>) -> tensor<0xi8>
  return %1, %2 : tensor<0xi8>, tensor<0xi8>
}
