// RUN: autopar-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(autopar-unroll-loops{max-ops=100}))'

func.func @bound_is_an_argument(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+2 {{the upper bound of this loop is not constant}}
  // expected-note@+1 {{loops are unrolled: give bounds and step as arith.constant}}
  scf.for %i = %c0 to %n step %c1 {
  }
  return
}

// -----

func.func @bound_that_would_trap(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.divsi %c1, %c0 : index
  // expected-error@+2 {{the upper bound of this loop is not constant}}
  // expected-note@+1 {{loops are unrolled}}
  scf.for %i = %c0 to %n step %c1 {
  }
  return
}

// -----

func.func @step_is_zero() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+2 {{the step of this loop is 0}}
  // expected-note@+1 {{the step must be at least 1; count upwards}}
  scf.for %i = %c0 to %c1 step %c0 {
  }
  return
}

// -----

func.func @step_is_negative() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %minus = arith.constant -1 : index
  // expected-error@+2 {{the step of this loop is -1}}
  // expected-note@+1 {{the step must be at least 1}}
  scf.for %i = %c1 to %c0 step %minus {
  }
  return
}

// -----

func.func @too_many_ops(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  // expected-error@+1 {{unrolling makes more than 100 ops}}
  %0 = scf.for %i = %c0 to %c1000 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    // expected-note@+1 {{the limit is reached here; shorten the loop, or raise the limit with --autopar-unroll-loops=max-ops=N}}
    %1 = autopar.exp %a : tensor<4xf32>
    %2 = autopar.neg %1 : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// A loop without ops is not walked through for ever either.
func.func @too_many_iterations() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 9223372036854775807 : index
  // expected-error@+2 {{unrolling makes more than 100 ops}}
  // expected-note@+1 {{the limit is reached here}}
  scf.for %i = %c0 to %many step %c1 {
  }
  return
}

// -----

func.func @condition_is_an_argument(%c: i1) {
  // expected-error@+2 {{the condition of this scf.if is not constant}}
  // expected-note@+1 {{compute both sides and choose with autopar.select}}
  scf.if %c {
  }
  return
}
