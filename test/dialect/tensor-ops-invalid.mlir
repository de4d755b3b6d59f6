// One case a constraint: the functions bear the numbers that stand in TensorOps.td.
// RUN: autopar-opt %s --split-input-file --verify-diagnostics

func.func @element_type_is_not_supported(%a: tensor<4xf64>) {
  // expected-error@+1 {{'autopar.add' op operand #0 must be static tensor of less than 2^62 bytes and without an encoding, of 32-bit float or 32-bit signless integer values, but got 'tensor<4xf64>'}}
  %0 = autopar.add %a, %a : tensor<4xf64>
  return
}

// -----

func.func @dynamic_shape(%a: tensor<?xf32>) {
  // expected-error@+1 {{operand #0 must be static tensor}}
  %0 = autopar.add %a, %a : tensor<?xf32>
  return
}

// -----

func.func @unranked(%a: tensor<*xf32>) {
  // expected-error@+1 {{'tensor<*xf32>'}}
  %0 = autopar.reshape %a : tensor<*xf32> -> tensor<4xf32>
  return
}

// -----

func.func @more_than_2_to_the_62_bytes(%a: tensor<1152921504606846976xf32>) {
  // expected-error@+1 {{operand #0 must be static tensor of less than 2^62 bytes}}
  %0 = autopar.neg %a : tensor<1152921504606846976xf32>
  return
}

// -----

// Dimensions whose product overflows 64 bits are not hidden by a zero.
func.func @dimensions_that_overflow(%a: tensor<0x4294967296x4294967296xf32>) {
  // expected-error@+1 {{operand #0 must be static tensor of less than 2^62 bytes}}
  %0 = autopar.neg %a : tensor<0x4294967296x4294967296xf32>
  return
}

// -----

func.func @pow_takes_no_integers(%a: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be static tensor of less than 2^62 bytes and without an encoding, of 32-bit float values}}
  %0 = autopar.pow %a, %a : tensor<4xi32>
  return
}

// -----

func.func @and_takes_no_floats(%a: tensor<4xf32>) {
  // expected-error@+1 {{of 32-bit signless integer or 1-bit signless integer values}}
  %0 = autopar.and %a, %a : tensor<4xf32>
  return
}

// -----

// C18: shapes must be equal; there is no implicit broadcast.
func.func @operands_of_different_shapes(%a: tensor<1x12xf32>, %b: tensor<3x12xf32>) {
  // expected-error@+1 {{all non-scalar operands/results must have the same shape and base type}}
  %0 = "autopar.add"(%a, %b) : (tensor<1x12xf32>, tensor<3x12xf32>) -> tensor<3x12xf32>
  return
}

// -----

func.func @compare_gives_another_shape(%a: tensor<4xf32>) {
  // expected-error@+1 {{all non-scalar operands/results must have the same shape and base type}}
  %0 = autopar.compare lt %a, %a : tensor<4xf32> -> tensor<5xi1>
  return
}

// -----

func.func @compare_with_an_unknown_predicate(%a: tensor<4xf32>) {
  // expected-error@+2 {{expected ::mlir::autopar::Predicate to be one of: eq, ne, lt, le, gt, ge}}
  // expected-error@+1 {{failed to parse Autopar_PredicateAttr parameter}}
  %0 = autopar.compare less %a, %a : tensor<4xf32> -> tensor<4xi1>
  return
}

// -----

func.func @select_with_a_number_as_condition(%c: tensor<4xi32>, %a: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 must be static tensor of less than 2^62 bytes and without an encoding, of 1-bit signless integer values}}
  %0 = autopar.select %c, %a, %a : tensor<4xi32>, tensor<4xf32>
  return
}

// -----

func.func @broadcast_c1_too_few_dims(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{(C1) has 1 dims for an operand of rank 2}}
  // expected-note@+1 {{dims names, for each operand dimension}}
  %0 = autopar.broadcast %a dims = [0] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_c2_dims_do_not_increase(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{(C2) dims [1, 0] for a result of rank 2}}
  // expected-note@+1 {{permute with autopar.transpose}}
  %0 = autopar.broadcast %a dims = [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  return
}

// -----

func.func @broadcast_c2_dim_out_of_range(%a: tensor<3xf32>) {
  // expected-error@+2 {{(C2) dims [2] for a result of rank 2}}
  // expected-note@+1 {{dims must increase strictly}}
  %0 = autopar.broadcast %a dims = [2] : tensor<3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_c3_dimension_differs(%a: tensor<2xf32>) {
  // expected-error@+2 {{(C3) operand dimension 0 is 2 but result dimension 1 is 3}}
  // expected-note@+1 {{must be 1 or that of the result}}
  %0 = autopar.broadcast %a dims = [1] : tensor<2xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_c4_element_type_differs(%a: tensor<3xf32>) {
  // expected-error@+2 {{(C4) changes the element type from f32 to i32}}
  // expected-note@+1 {{change element types with autopar.convert}}
  %0 = autopar.broadcast %a dims = [1] : tensor<3xf32> -> tensor<2x3xi32>
  return
}

// -----

func.func @reshape_c1_loses_elements(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{(C1) reshapes 6 elements to 5}}
  // expected-note@+1 {{a reshape keeps the number of elements}}
  %0 = autopar.reshape %a : tensor<2x3xf32> -> tensor<5xf32>
  return
}

// -----

func.func @reshape_c2_element_type_differs(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{(C2) changes the element type from f32 to i1}}
  // expected-note@+1 {{autopar.convert}}
  %0 = autopar.reshape %a : tensor<2x3xf32> -> tensor<6xi1>
  return
}

// -----

func.func @transpose_c1_not_a_permutation(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{(C1) permutation [1, 1] of rank 2}}
  // expected-note@+1 {{holds each dimension of the operand once}}
  %0 = autopar.transpose %a permutation = [1, 1] : tensor<2x3xf32> -> tensor<3x3xf32>
  return
}

// -----

func.func @transpose_c1_too_short(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{(C1) permutation [0] of rank 2}}
  // expected-note@+1 {{holds each dimension of the operand once}}
  %0 = autopar.transpose %a permutation = [0] : tensor<2x3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @transpose_c2_result_shape_differs(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{(C2) gives [2, 3] where the permutation gives [3, 2]}}
  // expected-note@+1 {{result dimension i is operand dimension permutation[i]}}
  %0 = autopar.transpose %a permutation = [1, 0] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_c1_too_few_strides(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{(C1) has 2 offsets, 1 strides and a result of rank 2 for an operand of rank 2}}
  // expected-note@+1 {{one entry for each operand dimension}}
  %0 = autopar.slice %a offsets = [0, 0] strides = [1] : tensor<2x3xf32> -> tensor<1x1xf32>
  return
}

// -----

func.func @slice_c2_stride_zero(%a: tensor<4xf32>) {
  // expected-error@+2 {{(C2) offset 0 and stride 0 in dimension 0}}
  // expected-note@+1 {{an offset is at least 0 and a stride at least 1}}
  %0 = autopar.slice %a offsets = [0] strides = [0] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @slice_c2_negative_offset(%a: tensor<4xf32>) {
  // expected-error@+2 {{(C2) offset -1 and stride 1 in dimension 0}}
  // expected-note@+1 {{an offset is at least 0}}
  %0 = autopar.slice %a offsets = [-1] strides = [1] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @slice_c3_out_of_bounds(%a: tensor<4xf32>) {
  // expected-error@+2 {{(C3) takes 2 elements from 1 on in steps of 3 out of dimension 0, which is 4}}
  // expected-note@+1 {{offset + (size - 1) * stride must be below the dimension}}
  %0 = autopar.slice %a offsets = [1] strides = [3] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @slice_c3_overflowing_stride(%a: tensor<4xf32>) {
  // expected-error@+2 {{(C3) takes 3 elements from 3 on in steps of 9223372036854775807}}
  // expected-note@+1 {{must be below the dimension}}
  %0 = autopar.slice %a offsets = [3] strides = [9223372036854775807] : tensor<4xf32> -> tensor<3xf32>
  return
}

// -----

func.func @slice_c3_empty_beyond_the_end(%a: tensor<4xf32>) {
  // expected-error@+2 {{(C3) takes 0 elements from 5 on}}
  // expected-note@+1 {{must be below the dimension}}
  %0 = autopar.slice %a offsets = [5] strides = [1] : tensor<4xf32> -> tensor<0xf32>
  return
}

// -----

func.func @slice_c4_element_type_differs(%a: tensor<4xf32>) {
  // expected-error@+2 {{(C4) changes the element type from f32 to i32}}
  // expected-note@+1 {{autopar.convert}}
  %0 = autopar.slice %a offsets = [0] strides = [1] : tensor<4xf32> -> tensor<2xi32>
  return
}

// -----

func.func @concat_c1_no_operands() {
  // expected-error@+2 {{(C1) has no operands}}
  // expected-note@+1 {{give at least one operand}}
  %0 = "autopar.concat"() {axis = 0 : i64} : () -> tensor<0xf32>
  return
}

// -----

func.func @concat_c2_rank_zero(%a: tensor<f32>) {
  // expected-error@+2 {{(C2) axis 0 for a result of rank 0}}
  // expected-note@+1 {{reshaped to rank 1 first}}
  %0 = autopar.concat %a axis = 0 : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @concat_c3_other_dimension_differs(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error@+2 {{(C3) operand 1 is tensor<2x4xf32> but the result is tensor<4x3xf32>}}
  // expected-note@+1 {{all dimensions but the axis, 0, must be the same}}
  %0 = autopar.concat %a, %b axis = 0 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @concat_c4_sum_differs(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{(C4) the operands add up to 4 along axis 0 but the result has 5}}
  // expected-note@+1 {{the sum of the operands'}}
  %0 = autopar.concat %a, %a axis = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @reduce_c1_axis_out_of_range(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{(C1) axes [0, 2] of an operand of rank 2}}
  // expected-note@+1 {{axes must increase strictly and be dimensions of the operand}}
  %0 = autopar.reduce sum %a axes = [0, 2] : tensor<2x3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @reduce_c1_axis_twice(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{(C1) axes [1, 1] of an operand of rank 2}}
  // expected-note@+1 {{axes must increase strictly}}
  %0 = autopar.reduce sum %a axes = [1, 1] : tensor<2x3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c2_keeps_the_axis(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{(C2) gives [2, 1] where the axes leave [2]}}
  // expected-note@+1 {{the reduced dimensions disappear; bring them back with autopar.reshape}}
  %0 = autopar.reduce sum %a axes = [1] : tensor<2x3xf32> -> tensor<2x1xf32>
  return
}

// -----

func.func @reduce_takes_no_truth_values(%a: tensor<2x3xi1>) {
  // expected-error@+1 {{of 32-bit float or 32-bit signless integer values}}
  %0 = autopar.reduce max %a axes = [1] : tensor<2x3xi1> -> tensor<2xi1>
  return
}

// -----

func.func @argmax_c1_axis_out_of_range(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{(C1) axis 2 of a tensor of rank 2}}
  // expected-note@+1 {{give an axis from 0 to 1}}
  %0 = autopar.argmax %a axis = 2 : tensor<2x3xf32> -> tensor<2xi32>
  return
}

// -----

func.func @argmax_c1_rank_zero(%a: tensor<f32>) {
  // expected-error@+2 {{(C1) axis 0 of a tensor of rank 0}}
  // expected-note@+1 {{a tensor of rank 0 has no axis}}
  %0 = autopar.argmax %a axis = 0 : tensor<f32> -> tensor<i32>
  return
}

// -----

func.func @argmax_c2_empty_axis(%a: tensor<2x0xf32>) {
  // expected-error@+2 {{(C2) dimension 1 has 0 elements}}
  // expected-note@+1 {{argmax needs at least one element}}
  %0 = autopar.argmax %a axis = 1 : tensor<2x0xf32> -> tensor<2xi32>
  return
}

// -----

func.func @argmax_c2_index_does_not_fit(%a: tensor<2147483648xf32>) {
  // expected-error@+2 {{(C2) dimension 0 has 2147483648 elements}}
  // expected-note@+1 {{at most 2147483647}}
  %0 = autopar.argmax %a axis = 0 : tensor<2147483648xf32> -> tensor<i32>
  return
}

// -----

func.func @argmax_c3_result_shape_differs(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{(C3) gives [3] where the axis leaves [2]}}
  // expected-note@+1 {{the axis disappears}}
  %0 = autopar.argmax %a axis = 1 : tensor<2x3xf32> -> tensor<3xi32>
  return
}

// -----

func.func @matmul_c1_rank_one(%a: tensor<3xf32>, %b: tensor<3x4xf32>) {
  // expected-error@+2 {{(C1) multiplies ranks 1 and 2 to rank 1}}
  // expected-note@+1 {{all three have one rank, at least 2}}
  %0 = autopar.matmul %a, %b : tensor<3xf32>, tensor<3x4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @matmul_c2_inner_dimensions_differ(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error@+2 {{(C2) k is 3 in the left operand, tensor<2x3xf32>, but 4 in the right one, tensor<4x5xf32>}}
  // expected-note@+1 {{the inner dimensions must agree}}
  %0 = autopar.matmul %a, %b : tensor<2x3xf32>, tensor<4x5xf32> -> tensor<2x5xf32>
  return
}

// -----

func.func @matmul_c2_transposed_by_mistake(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+2 {{(C2) k is 3 in the left operand, tensor<2x3xf32>, but 5 in the right one, tensor<3x5xf32>}}
  // expected-note@+1 {{transpose_a and transpose_b swap the last two dimensions}}
  %0 = autopar.matmul %a, %b transpose_b : tensor<2x3xf32>, tensor<3x5xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @matmul_c3_batches_differ(%a: tensor<2x4x3xf32>, %b: tensor<3x3x5xf32>) {
  // expected-error@+2 {{(C3) batch dimension 0 is 2 and 3}}
  // expected-note@+1 {{batch dimensions must be the same or 1}}
  %0 = autopar.matmul %a, %b : tensor<2x4x3xf32>, tensor<3x3x5xf32> -> tensor<2x4x5xf32>
  return
}

// -----

func.func @matmul_c4_result_shape_differs(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+2 {{(C4) gives [5, 2] where the operands give [2, 5]}}
  // expected-note@+1 {{the result is [batch..., m, n]}}
  %0 = autopar.matmul %a, %b : tensor<2x3xf32>, tensor<3x5xf32> -> tensor<5x2xf32>
  return
}

// -----

func.func @softmax_c1_axis_out_of_range(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{(C1) axis -1 of a tensor of rank 2}}
  // expected-note@+1 {{give an axis from 0 to 1}}
  %0 = autopar.softmax %a axis = -1 : tensor<2x3xf32>
  return
}

// -----

func.func @constant_c1_resource() {
  // expected-error@+2 {{(C1) the value is not written out}}
  // expected-note@+1 {{write it as dense<...>}}
  %0 = autopar.constant dense_resource<weights> : tensor<2xf32>
  return
}

// -----

func.func @constant_of_an_unsupported_type() {
  // expected-error@+1 {{of f32, i32 or i1 values}}
  %0 = autopar.constant dense<1> : tensor<2xi64>
  return
}

// -----

func.func @iota_c1_rank_zero() {
  // expected-error@+2 {{(C1) axis 0 of a tensor of rank 0}}
  // expected-note@+1 {{a tensor of rank 0 has no axis}}
  %0 = autopar.iota axis = 0 : tensor<i32>
  return
}

// -----

func.func @iota_c2_index_does_not_fit() {
  // expected-error@+2 {{(C2) dimension 0 has 2147483649 elements}}
  // expected-note@+1 {{an index above 2147483647 does not fit in i32}}
  %0 = autopar.iota axis = 0 : tensor<2147483649xi32>
  return
}
