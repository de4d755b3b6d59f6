// Measured times override the model's wherever they apply, and what applies nowhere is said.
//
// RUN: split-file %s %t
// The time of a kind is that of each of its devices, whether the model thinks that they are alike or not.
// RUN: autopar-opt %t/two.mlir --machine=%S/Inputs/two-kinds.json --profile=%t/kind.json --stop-after=tasks 2>&1 \
// RUN:   | FileCheck %s --check-prefix=KIND --implicit-check-not=warning
// KIND-LABEL: func.func @small
// KIND: "relu_0" {cost_ns = {cpu = 1.200000e+01 : f64, cuda = {{[^,]*}}, virtual = 7.000000e+00 : f64}
// KIND-LABEL: func.func @large
// KIND: "relu_0" {cost_ns = {cpu = {{.*}}e+06 : f64
//
// A name beats its kind.
// RUN: autopar-opt %t/two.mlir --machine=%S/Inputs/two-kinds.json --profile=%t/name.json --stop-after=tasks 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NAME --implicit-check-not=warning
// NAME-LABEL: func.func @small
// NAME: "relu_0" {cost_ns = {cpu = {{[^,]*}}, cuda = {{[^,]*}}, gpu1 = 9.000000e+00 : f64, virtual = 7.000000e+00 : f64}
//
// RUN: autopar-opt %t/two.mlir --machine=%S/Inputs/two-kinds.json --profile=%t/other.json --stop-after=tasks 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OTHER
// OTHER: two.mlir:1:1: warning: profile '{{.*}}other.json': 2 of its 3 entries name no task of 'small', or no device of the machine; the first is 'matmul_1'
// OTHER: note: measure the program as it is compiled now
// RUN: autopar-opt %t/two.mlir --machine=%S/Inputs/two-kinds.json --profile=%t/elsewhere.json --stop-after=tasks 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ELSEWHERE
// ELSEWHERE: warning: profile '{{.*}}elsewhere.json' is of 'medium', which this program does not have: it is not used
// RUN: not autopar-opt %t/two.mlir --machine=%S/Inputs/two-kinds.json --profile=%t/bad.json --stop-after=tasks 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD
// BAD: error: profile '{{.*}}bad.json': function: must be a name

//--- kind.json
{"function": "small", "tasks": {"relu_0": {"cpu": 12, "virtual": 7}}}
//--- name.json
{"function": "small", "tasks": {"relu_0": {"virtual": 7, "gpu1": 9}}}
//--- other.json
{"function": "small", "tasks": {"relu_0": {"cpu": 12}, "matmul_1": {"cpu": 5}, "relu_2": {"cpu": 5}}}
//--- elsewhere.json
{"function": "medium", "tasks": {"relu_0": {"cpu": 12}}}
//--- bad.json
{"function": 7, "tasks": {}}
//--- two.mlir
func.func @small(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = autopar.relu %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @large(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = autopar.relu %x : tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}
