// RUN: autopar-opt %s --autopar-attach-machine=machine=%S/../transfers/Inputs/two-gpus.json --autopar-insert-transfers --autopar-plan-memory --autopar-insert-waits | FileCheck %s
// Printed and read back, the program keeps its waits.
// RUN: autopar-opt %s --autopar-attach-machine=machine=%S/../transfers/Inputs/two-gpus.json --autopar-insert-transfers --autopar-plan-memory --autopar-insert-waits | autopar-opt --autopar-insert-waits | FileCheck %s

// One stream needs no waits.
// CHECK-LABEL: @one_stream
// CHECK-NOT: autopar.wait
// CHECK: return
func.func @one_stream(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32>
  %1 = autopar.synthetic_task(%0) {label = "b", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 10 to 20>} : (tensor<16xf32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}

// A task waits for the copy of its operand, the copy back for the task.
// CHECK-LABEL: @copies_and_tasks_wait_for_each_other
// CHECK: autopar.transfer %arg0
// CHECK-NEXT: autopar.record 0 on @gpu0[in]
// CHECK-NEXT: autopar.wait 0 on @gpu0[0] because data
// CHECK-NEXT: {{.*}} = autopar.synthetic_task
// CHECK-NEXT: autopar.record 1 on @gpu0[0]
// CHECK-NEXT: autopar.wait 1 on @gpu0[out] because data
// CHECK-NEXT: {{.*}} = autopar.transfer
// CHECK-NEXT: return
func.func @copies_and_tasks_wait_for_each_other(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu0" stream 0 at 64 to 74>} : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// Two readers on two streams: one event, and no order between the readers.
// CHECK-LABEL: @readers_are_not_ordered
// CHECK: autopar.record 0 on @cpu0[0]
// CHECK: label = "b"
// CHECK-NEXT: autopar.wait 0 on @cpu0[1] because data
// CHECK-NEXT: {{.*}} = autopar.synthetic_task{{.*}}label = "c"
// CHECK-NEXT: autopar.record 1 on @cpu0[1]
// CHECK-NEXT: autopar.wait 1 on @cpu0[0] because data
// CHECK-NEXT: {{.*}} = autopar.synthetic_task{{.*}}label = "d"
func.func @readers_are_not_ordered(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {cpu = 10}, occupancy = {cpu = 0.5}, placement = #autopar.placement<"cpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32>
  %1 = autopar.synthetic_task(%0) {label = "b", cost_ns = {cpu = 10}, occupancy = {cpu = 0.5}, placement = #autopar.placement<"cpu0" stream 0 at 10 to 20>} : (tensor<16xf32>) -> tensor<16xf32>
  %2 = autopar.synthetic_task(%0) {label = "c", cost_ns = {cpu = 10}, occupancy = {cpu = 0.5}, placement = #autopar.placement<"cpu0" stream 1 at 10 to 20>} : (tensor<16xf32>) -> tensor<16xf32>
  %3 = autopar.synthetic_task(%1, %2) {label = "d", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 20 to 30>} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %3 : tensor<16xf32>
}

// CHECK-LABEL: @token_orders
// CHECK: label = "a"
// CHECK-NEXT: autopar.record 0 on @cpu0[0]
// CHECK-NEXT: autopar.wait 0 on @cpu0[1] because token
// CHECK-NEXT: {{.*}} = autopar.synthetic_task{{.*}}label = "b"
func.func @token_orders(%x: tensor<16xf32>) -> tensor<16xf32> {
  %t = autopar.synthetic_task(%x) {label = "a", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> !autopar.token
  %1 = autopar.synthetic_task(%x, %t) {label = "b", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 1 at 10 to 20>} : (tensor<16xf32>, !autopar.token) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}

// Two tasks that fill the device run after each other, as planned, even if the first one is late.
// CHECK-LABEL: @full_device_orders
// CHECK: label = "a"
// CHECK-NEXT: autopar.record 0 on @cpu0[0]
// CHECK-NEXT: autopar.wait 0 on @cpu0[1] because capacity
// CHECK-NEXT: {{.*}} = autopar.synthetic_task{{.*}}label = "b"
func.func @full_device_orders(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32>
  %1 = autopar.synthetic_task(%x) {label = "b", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 1 at 10 to 20>} : (tensor<16xf32>) -> tensor<16xf32>
  return %0, %1 : tensor<16xf32>, tensor<16xf32>
}

// Ops come in the order of their planned start, whatever the order in which they were written.
// CHECK-LABEL: @issue_order_is_by_start
// CHECK: label = "late"
// CHECK-NOT: label = "later"
// CHECK: label = "later"
func.func @issue_order_is_by_start(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %0 = autopar.synthetic_task(%x) {label = "later", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 10 to 20>} : (tensor<16xf32>) -> tensor<16xf32>
  %1 = autopar.synthetic_task(%x) {label = "late", cost_ns = {cpu = 10}, placement = #autopar.placement<"cpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32>
  return %0, %1 : tensor<16xf32>, tensor<16xf32>
}
