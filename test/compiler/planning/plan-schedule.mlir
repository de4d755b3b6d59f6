// RUN: autopar-opt %s --split-input-file --autopar-attach-machine=machine=%S/Inputs/cpu-and-gpu.json \
// RUN:   --autopar-plan-schedule | FileCheck %s
// RUN: autopar-opt %s --split-input-file --autopar-attach-machine=machine=%S/Inputs/cpu-and-gpu.json \
// RUN:   --autopar-plan-schedule=max-streams=1 | FileCheck %s --check-prefix=ONE

// The slower task goes where it costs nothing to bring its input.
// CHECK-LABEL: func.func @task_stays_where_its_input_is
// CHECK-SAME:    autopar.plan = {{{.*}}makespan_ns = 120
// CHECK-SAME:    transfers = array<i64>
// CHECK:       "t"
// CHECK-SAME:    #autopar.placement<"cpu0" stream 0 at 0 to 120>
func.func @task_stays_where_its_input_is(%x: tensor<1000xi8>) {
  autopar.synthetic_task(%x) {label = "t", cost_ns = {cpu = 120.0, virtual = 40.0}} : (tensor<1000xi8>) -> ()
  return
}

// -----

// Argument 1 is on the GPU, so its task needs no transfer, and the result stays there.
// CHECK-LABEL: func.func @pinned_values_are_used_where_they_are
// CHECK-SAME:    makespan_ns = 60
// CHECK-SAME:    transfers = array<i64>
// CHECK:         #autopar.placement<"gpu0" stream 0 at 0 to 60>
func.func @pinned_values_are_used_where_they_are(%x: tensor<1000xi8> {autopar.device = "gpu0"})
    -> (tensor<1000xi8> {autopar.device = "gpu0"}) {
  %0 = autopar.synthetic_task(%x) {label = "t", cost_ns = {cpu = 60.0, virtual = 60.0}} : (tensor<1000xi8>) -> tensor<1000xi8>
  return %0 : tensor<1000xi8>
}

// -----

// Value 0 goes from device 0 to device 1 in 5 + 20 ns, the result (value 1) back in 5 + 30 ns.
// CHECK-LABEL: func.func @pinned_task_gets_its_input_and_returns_its_result
// CHECK-SAME:    lower_bound_ns = 100
// CHECK-SAME:    makespan_ns = 100
// CHECK-SAME:    transfers = array<i64: 0, 0, 1, 0, 25, 1, 1, 0, 65, 100>
// CHECK:         #autopar.placement<"gpu0" stream 0 at 25 to 65>
func.func @pinned_task_gets_its_input_and_returns_its_result(%x: tensor<20xi8>) -> tensor<30xi8> {
  %0 = autopar.synthetic_task(%x) {label = "t", device = "gpu0", cost_ns = {cpu = 1.0, virtual = 40.0}} : (tensor<20xi8>) -> tensor<30xi8>
  return %0 : tensor<30xi8>
}

// -----

// Half a device each: side by side on two streams, unless one stream is all there is.
// CHECK-LABEL: func.func @small_tasks_share_a_device
// CHECK:         "a"
// CHECK-SAME:    #autopar.placement<"cpu0" stream 0 at 0 to 10>
// CHECK:         "b"
// CHECK-SAME:    #autopar.placement<"cpu0" stream 1 at 0 to 10>
// ONE-LABEL: func.func @small_tasks_share_a_device
// ONE:         #autopar.placement<"cpu0" stream 0 at 0 to 10>
// ONE:         #autopar.placement<"cpu0" stream 0 at 10 to 20>
func.func @small_tasks_share_a_device() {
  autopar.synthetic_task() {label = "a", cost_ns = {cpu0 = 10.0}, occupancy = {cpu = 0.5}} : () -> ()
  autopar.synthetic_task() {label = "b", cost_ns = {cpu0 = 10.0}, occupancy = {cpu = 0.5}} : () -> ()
  return
}

// -----

// The name of a device beats its kind.
// CHECK-LABEL: func.func @name_beats_kind
// CHECK:         #autopar.placement<"gpu0" stream 0 at 0 to 7>
func.func @name_beats_kind() {
  autopar.synthetic_task() {label = "t", cost_ns = {cpu = 10.0, virtual = 99.0, gpu0 = 7.0}} : () -> ()
  return
}

// -----

// CHECK-LABEL: func.func @token_orders_without_a_transfer
// CHECK-SAME:    transfers = array<i64>
// CHECK:         #autopar.placement<"cpu0" stream 0 at 0 to 10>
// CHECK:         #autopar.placement<"gpu0" stream 0 at 10 to 20>
func.func @token_orders_without_a_transfer() {
  %0 = autopar.synthetic_task() {label = "a", cost_ns = {cpu = 10.0}} : () -> !autopar.token
  autopar.synthetic_task(%0) {label = "b", cost_ns = {virtual = 10.0}} : (!autopar.token) -> ()
  return
}

// -----

// Without the group they would run side by side on the two devices.
// CHECK-LABEL: func.func @group_stays_on_one_device
// CHECK:         #autopar.placement<"cpu0" stream 0 at 0 to 10>
// CHECK:         #autopar.placement<"cpu0" stream 0 at 10 to 20>
func.func @group_stays_on_one_device() {
  autopar.synthetic_task() {label = "a", cost_ns = {cpu = 10.0, virtual = 10.0}, colocate = "g"} : () -> ()
  autopar.synthetic_task() {label = "b", cost_ns = {cpu = 10.0, virtual = 10.0}, colocate = "g"} : () -> ()
  return
}

// -----

// CHECK-LABEL: func.func @nothing_to_do
// CHECK-SAME:    makespan_ns = 0
func.func @nothing_to_do(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func private @declaration_is_left_alone()
// CHECK-NOT:     autopar.plan
func.func private @declaration_is_left_alone()
