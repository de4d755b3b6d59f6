// Everything else is refused with a sentence at its place.
// RUN: autopar-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect --autopar-check-program

// expected-error@+2 {{argument 0 of 'dynamic_argument' has type tensor<?xf32>}}
// expected-note@+1 {{its shape is dynamic: give every dimension as a number}}
func.func @dynamic_argument(%x: tensor<?xf32>) {
  return
}

// -----

// expected-error@+2 {{argument 1 of 'unranked_argument' has type tensor<*xf32>}}
// expected-note@+1 {{its rank is unknown}}
func.func @unranked_argument(%x: tensor<4xf32>, %y: tensor<*xf32>) {
  return
}

// -----

// expected-error@+2 {{argument 0 of 'scalar_argument' has type f32}}
// expected-note@+1 {{a single number is tensor<f32>}}
func.func @scalar_argument(%x: f32) {
  return
}

// -----

// expected-error@+2 {{argument 0 of 'buffer_argument' has type memref<4xf32>}}
// expected-note@+1 {{use a tensor}}
func.func @buffer_argument(%x: memref<4xf32>) {
  return
}

// -----

// expected-error@+2 {{argument 0 of 'unsupported_element_type' has type tensor<4xi16>}}
// expected-note@+1 {{its element type is not supported: use f32, i32 or i1}}
func.func @unsupported_element_type(%x: tensor<4xi16>) {
  return
}

// -----

// expected-error@+2 {{argument 0 of 'unsigned_element_type' has type tensor<4xui32>}}
// expected-note@+1 {{its element type is not supported}}
func.func @unsigned_element_type(%x: tensor<4xui32>) {
  return
}

// -----

// expected-error@+2 {{argument 0 of 'encoding' has type tensor<4xf32, "sparse">}}
// expected-note@+1 {{encodings are not supported: leave it out}}
func.func @encoding(%x: tensor<4xf32, "sparse">) {
  return
}

// -----

// expected-error@+2 {{argument 0 of 'too_large' has type tensor<4294967296x4294967296xi8>}}
// expected-note@+1 {{it has more than 2^62 bytes}}
func.func @too_large(%x: tensor<4294967296x4294967296xi8>) {
  return
}

// -----

// expected-error@+2 {{result 0 of 'token_result' has type !autopar.token}}
// expected-note@+1 {{a token orders the tasks of one function}}
func.func @token_result() -> !autopar.token {
  %0 = autopar.synthetic_task() {label = "a", cost_ns = {cpu = 1.0}} : () -> !autopar.token
  return %0 : !autopar.token
}

// -----

// expected-error@+2 {{'several_blocks' has several blocks}}
// expected-note@+1 {{choose with autopar.select, repeat with scf.for}}
func.func @several_blocks() {
  "test.branch"()[^bb1] : () -> ()
^bb1:
  return
}

// -----

func.func @unknown_op(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+2 {{'tosa.add' is not supported}}
  // expected-note@+1 {{a function consists of ops of the autopar dialect, func.call and scf.for}}
  %0 = "tosa.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @arith_on_tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+2 {{'arith.addf' is not supported}}
  // expected-note@+1 {{a function consists of ops of the autopar dialect}}
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @arith_constant_of_a_tensor() -> tensor<4xf32> {
  // expected-error@+2 {{'arith.constant' of a tensor is not supported}}
  // expected-note@+1 {{write autopar.constant dense<...> : tensor<4xf32>}}
  %0 = arith.constant dense<1.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @induction_variable_in_an_op() {
  %c0 = arith.constant 0 : index
  // expected-error@+2 {{'test.use' on a scalar is not supported}}
  // expected-note@+1 {{scalars, such as an induction variable, may only be bounds of loops}}
  "test.use"(%c0) : (index) -> ()
  return
}

// -----

func.func @scalar_arithmetic() {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  // expected-error@+2 {{'arith.divsi' on a scalar is not supported}}
  // expected-note@+1 {{compute on tensors}}
  %0 = arith.divsi %c1, %c0 : index
  return
}

// -----

func.func @while_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+2 {{'scf.while' is not supported}}
  // expected-note@+1 {{repeat with scf.for and constant bounds}}
  %0 = scf.while (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %true = arith.constant true
    scf.condition(%true) %a : tensor<4xf32>
  } do {
  ^bb0(%b: tensor<4xf32>):
    scf.yield %b : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+2 {{autopar.device on 'func.func' has no meaning}}
// expected-note@+1 {{pin ops of the autopar dialect, or a function's arguments and results}}
func.func @pinned_function() attributes {autopar.device = "gpu0"} {
  return
}

// -----

// expected-error@+2 {{'declaration' has no body}}
// expected-note@+1 {{define the function in this module, or remove it}}
func.func private @declaration()
func.func @main() {
  return
}

// -----

func.func @main() {
  return
}
// expected-error@+2 {{a module inside the module is not supported}}
// expected-note@+1 {{move its functions to the top level}}
module {
}

// -----

func.func @main() {
  return
}
// expected-error@+2 {{'test.global' at the top level is not supported}}
// expected-note@+1 {{a program consists of func.func}}
"test.global"() : () -> ()

// -----

// expected-error@+2 {{the module has no public function}}
// expected-note@+1 {{a program is at least one func.func that is not private}}
module {
}

// -----

func.func @pin_without_its_dialect(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+2 {{'autopar.neg' has no attribute 'device'}}
  // expected-note@+1 {{autopar.device}}
  %0 = autopar.neg %a {device = "gpu0"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
