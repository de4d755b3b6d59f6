// RUN: split-file %s %t
// RUN: not autopar-opt %t/two.mlir --autopar-attach-machine --autopar-estimate-costs 2>&1 | FileCheck %t/two.mlir
// RUN: not autopar-opt %t/one.mlir --autopar-estimate-costs 2>&1 | FileCheck %s --check-prefix=MACHINE
// RUN: not autopar-opt %t/one.mlir --autopar-attach-machine --autopar-estimate-costs=profile=%t/none.json 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: not autopar-opt %t/one.mlir --autopar-attach-machine --autopar-estimate-costs=profile=%t/text.json 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TEXT
// RUN: not autopar-opt %t/one.mlir --autopar-attach-machine --autopar-estimate-costs=profile=%t/list.json 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LIST
// RUN: not autopar-opt %t/one.mlir --autopar-attach-machine --autopar-estimate-costs=profile=%t/negative.json 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NEGATIVE

// MACHINE: the module names no machine
// NONE: profile '{{.*}}none.json': No such file or directory
// TEXT: profile '{{.*}}text.json': not JSON:
// LIST: profile '{{.*}}list.json': has no object 'tasks'
// NEGATIVE: tasks.neg_0.cpu: must be a time in nanoseconds, from 0 to 1e15

//--- text.json
{"tasks": {
//--- list.json
[1, 2]
//--- negative.json
{"tasks": {"neg_0": {"cpu": -1}}}
//--- one.mlir
func.func @one(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = autopar.task(%x = %a) "neg_0" : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = autopar.neg %x : tensor<4xf32>
    autopar.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
//--- two.mlir
// CHECK: two.mlir:4:8: error: 'autopar.task' op is more than one kernel: {{.*}}; split it into several tasks
func.func @two(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // Two products in one task.
  %0 = autopar.task(%x = %a) "two" : (tensor<4x4xf32>) -> tensor<4x4xf32> {
    %1 = autopar.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %2 = autopar.matmul %1, %x : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    autopar.yield %2 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}
