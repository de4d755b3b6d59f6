// What ptx_runs.py runs: every kind of kernel in each form that it takes on a GPU, on whole, ragged and odd shapes.
func.func @add_relu_1003_(%x: tensor<1003xf32>, %y: tensor<1003xf32>) -> (tensor<1003xf32>) {
  %0 = autopar.add %x, %y : tensor<1003xf32>
  %1 = autopar.relu %0 : tensor<1003xf32>
  return %1 : tensor<1003xf32>
}
func.func @add_relu_37_64_(%x: tensor<37x64xf32>, %y: tensor<37x64xf32>) -> (tensor<37x64xf32>) {
  %0 = autopar.add %x, %y : tensor<37x64xf32>
  %1 = autopar.relu %0 : tensor<37x64xf32>
  return %1 : tensor<37x64xf32>
}
func.func @add_relu_13_67_(%x: tensor<13x67xf32>, %y: tensor<13x67xf32>) -> (tensor<13x67xf32>) {
  %0 = autopar.add %x, %y : tensor<13x67xf32>
  %1 = autopar.relu %0 : tensor<13x67xf32>
  return %1 : tensor<13x67xf32>
}
func.func @add_relu_2_3_50_(%x: tensor<2x3x50xf32>, %y: tensor<2x3x50xf32>) -> (tensor<2x3x50xf32>) {
  %0 = autopar.add %x, %y : tensor<2x3x50xf32>
  %1 = autopar.relu %0 : tensor<2x3x50xf32>
  return %1 : tensor<2x3x50xf32>
}
func.func @add_relu_scalar_(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>) {
  %0 = autopar.add %x, %y : tensor<f32>
  %1 = autopar.relu %0 : tensor<f32>
  return %1 : tensor<f32>
}
func.func @more_than_one_round(%x: tensor<2200001xf32>, %y: tensor<2200001xf32>) -> (tensor<2200001xf32>) {
  %0 = autopar.mul %x, %y : tensor<2200001xf32>
  %1 = autopar.add %0, %y : tensor<2200001xf32>
  return %1 : tensor<2200001xf32>
}
func.func @f32_neg(%x: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.neg %x : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_abs(%x: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.abs %x : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_sign(%x: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.sign %x : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_exp(%x: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.exp %x : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_log(%x: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.log %x : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_sqrt(%x: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.sqrt %x : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_rsqrt(%x: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.rsqrt %x : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_tanh(%x: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.tanh %x : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_erf(%x: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.erf %x : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_sin(%x: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.sin %x : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_cos(%x: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.cos %x : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_floor(%x: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.floor %x : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_ceil(%x: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.ceil %x : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_relu(%x: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.relu %x : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_sigmoid(%x: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.sigmoid %x : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_add(%x: tensor<129x12xf32>, %y: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.add %x, %y : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_sub(%x: tensor<129x12xf32>, %y: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.sub %x, %y : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_mul(%x: tensor<129x12xf32>, %y: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.mul %x, %y : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_div(%x: tensor<129x12xf32>, %y: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.div %x, %y : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_rem(%x: tensor<129x12xf32>, %y: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.rem %x, %y : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_max(%x: tensor<129x12xf32>, %y: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.max %x, %y : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_min(%x: tensor<129x12xf32>, %y: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.min %x, %y : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @f32_pow(%x: tensor<129x12xf32>, %y: tensor<129x12xf32>) -> (tensor<129x12xf32>) {
  %0 = autopar.pow %x, %y : tensor<129x12xf32>
  return %0 : tensor<129x12xf32>
}
func.func @i32_neg(%x: tensor<129x12xi32>) -> (tensor<129x12xi32>) {
  %0 = autopar.neg %x : tensor<129x12xi32>
  return %0 : tensor<129x12xi32>
}
func.func @i32_abs(%x: tensor<129x12xi32>) -> (tensor<129x12xi32>) {
  %0 = autopar.abs %x : tensor<129x12xi32>
  return %0 : tensor<129x12xi32>
}
func.func @i32_sign(%x: tensor<129x12xi32>) -> (tensor<129x12xi32>) {
  %0 = autopar.sign %x : tensor<129x12xi32>
  return %0 : tensor<129x12xi32>
}
func.func @i32_not(%x: tensor<129x12xi32>) -> (tensor<129x12xi32>) {
  %0 = autopar.not %x : tensor<129x12xi32>
  return %0 : tensor<129x12xi32>
}
func.func @i32_relu(%x: tensor<129x12xi32>) -> (tensor<129x12xi32>) {
  %0 = autopar.relu %x : tensor<129x12xi32>
  return %0 : tensor<129x12xi32>
}
func.func @i32_add(%x: tensor<129x12xi32>, %y: tensor<129x12xi32>) -> (tensor<129x12xi32>) {
  %0 = autopar.add %x, %y : tensor<129x12xi32>
  return %0 : tensor<129x12xi32>
}
func.func @i32_sub(%x: tensor<129x12xi32>, %y: tensor<129x12xi32>) -> (tensor<129x12xi32>) {
  %0 = autopar.sub %x, %y : tensor<129x12xi32>
  return %0 : tensor<129x12xi32>
}
func.func @i32_mul(%x: tensor<129x12xi32>, %y: tensor<129x12xi32>) -> (tensor<129x12xi32>) {
  %0 = autopar.mul %x, %y : tensor<129x12xi32>
  return %0 : tensor<129x12xi32>
}
func.func @i32_div(%x: tensor<129x12xi32>, %y: tensor<129x12xi32>) -> (tensor<129x12xi32>) {
  %0 = autopar.div %x, %y : tensor<129x12xi32>
  return %0 : tensor<129x12xi32>
}
func.func @i32_rem(%x: tensor<129x12xi32>, %y: tensor<129x12xi32>) -> (tensor<129x12xi32>) {
  %0 = autopar.rem %x, %y : tensor<129x12xi32>
  return %0 : tensor<129x12xi32>
}
func.func @i32_max(%x: tensor<129x12xi32>, %y: tensor<129x12xi32>) -> (tensor<129x12xi32>) {
  %0 = autopar.max %x, %y : tensor<129x12xi32>
  return %0 : tensor<129x12xi32>
}
func.func @i32_min(%x: tensor<129x12xi32>, %y: tensor<129x12xi32>) -> (tensor<129x12xi32>) {
  %0 = autopar.min %x, %y : tensor<129x12xi32>
  return %0 : tensor<129x12xi32>
}
func.func @i32_and(%x: tensor<129x12xi32>, %y: tensor<129x12xi32>) -> (tensor<129x12xi32>) {
  %0 = autopar.and %x, %y : tensor<129x12xi32>
  return %0 : tensor<129x12xi32>
}
func.func @i32_or(%x: tensor<129x12xi32>, %y: tensor<129x12xi32>) -> (tensor<129x12xi32>) {
  %0 = autopar.or %x, %y : tensor<129x12xi32>
  return %0 : tensor<129x12xi32>
}
func.func @i32_xor(%x: tensor<129x12xi32>, %y: tensor<129x12xi32>) -> (tensor<129x12xi32>) {
  %0 = autopar.xor %x, %y : tensor<129x12xi32>
  return %0 : tensor<129x12xi32>
}
func.func @predicates(%x: tensor<4099xf32>, %y: tensor<4099xf32>, %p: tensor<4099xi1>) -> (tensor<4099xi1>, tensor<4099xf32>) {
  %0 = autopar.compare lt %x, %y : tensor<4099xf32> -> tensor<4099xi1>
  %1 = autopar.xor %0, %p : tensor<4099xi1>
  %2 = autopar.select %1, %x, %y : tensor<4099xi1>, tensor<4099xf32>
  return %1, %2 : tensor<4099xi1>, tensor<4099xf32>
}
func.func @bytes_alone(%x: tensor<35x32xi1>, %y: tensor<35x32xi1>) -> (tensor<35x32xi1>) {
  %0 = autopar.and %x, %y : tensor<35x32xi1>
  %1 = autopar.not %0 : tensor<35x32xi1>
  return %1 : tensor<35x32xi1>
}
func.func @converts(%x: tensor<515xf32>, %y: tensor<515xi32>) -> (tensor<515xi32>, tensor<515xf32>, tensor<515xi1>) {
  %0 = autopar.convert %x : tensor<515xf32> -> tensor<515xi32>
  %1 = autopar.convert %y : tensor<515xi32> -> tensor<515xf32>
  %2 = autopar.convert %y : tensor<515xi32> -> tensor<515xi1>
  return %0, %1, %2 : tensor<515xi32>, tensor<515xf32>, tensor<515xi1>
}
func.func @row_and_column(%x: tensor<37x64xf32>, %r: tensor<64xf32>, %c: tensor<37xf32>) -> (tensor<37x64xf32>) {
  %0 = autopar.broadcast %r dims = [1] : tensor<64xf32> -> tensor<37x64xf32>
  %1 = autopar.broadcast %c dims = [0] : tensor<37xf32> -> tensor<37x64xf32>
  %2 = autopar.add %x, %0 : tensor<37x64xf32>
  %3 = autopar.mul %2, %1 : tensor<37x64xf32>
  return %3 : tensor<37x64xf32>
}
func.func @slices(%x: tensor<40x67xf32>) -> (tensor<19x32xf32>) {
  %0 = autopar.slice %x offsets = [1, 2] strides = [2, 2] : tensor<40x67xf32> -> tensor<19x32xf32>
  %1 = autopar.neg %0 : tensor<19x32xf32>
  return %1 : tensor<19x32xf32>
}
func.func @aligned_slice(%x: tensor<40x64xf32>) -> (tensor<20x32xf32>) {
  %0 = autopar.slice %x offsets = [3, 8] strides = [1, 1] : tensor<40x64xf32> -> tensor<20x32xf32>
  %1 = autopar.neg %0 : tensor<20x32xf32>
  return %1 : tensor<20x32xf32>
}
func.func @random_1d() -> (tensor<1003xf32>) {
  %0 = autopar.random_uniform seed = 7 : tensor<1003xf32>
  return %0 : tensor<1003xf32>
}
func.func @random_2d(%x: tensor<13x67xf32>) -> (tensor<13x67xf32>) {
  %0 = autopar.random_uniform seed = 81985529216486895 : tensor<13x67xf32>
  %1 = autopar.add %0, %x : tensor<13x67xf32>
  return %1 : tensor<13x67xf32>
}
func.func @numbers() -> (tensor<9x20xi32>, tensor<9x20xf32>) {
  %0 = autopar.iota axis = 1 : tensor<9x20xi32>
  %1 = autopar.iota axis = 0 : tensor<9x20xf32>
  return %0, %1 : tensor<9x20xi32>, tensor<9x20xf32>
}
func.func @row_sum(%x: tensor<40x1000xf32>) -> (tensor<40xf32>) {
  %0 = autopar.reduce sum %x axes = [1] : tensor<40x1000xf32> -> tensor<40xf32>
  return %0 : tensor<40xf32>
}
func.func @row_sum_odd(%x: tensor<7x67xf32>) -> (tensor<7xf32>) {
  %0 = autopar.reduce sum %x axes = [1] : tensor<7x67xf32> -> tensor<7xf32>
  return %0 : tensor<7xf32>
}
func.func @row_sum_i32(%x: tensor<9x130xi32>) -> (tensor<9xi32>) {
  %0 = autopar.reduce sum %x axes = [1] : tensor<9x130xi32> -> tensor<9xi32>
  return %0 : tensor<9xi32>
}
func.func @all_sum(%x: tensor<5003xf32>) -> (tensor<f32>) {
  %0 = autopar.reduce sum %x axes = [0] : tensor<5003xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @long_sum(%x: tensor<3x4100xf32>) -> (tensor<3xf32>) {
  %0 = autopar.reduce sum %x axes = [1] : tensor<3x4100xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @long_sum_i32(%x: tensor<3x4100xi32>) -> (tensor<3xi32>) {
  %0 = autopar.reduce sum %x axes = [1] : tensor<3x4100xi32> -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
func.func @column_sum(%x: tensor<64x100xf32>) -> (tensor<100xf32>) {
  %0 = autopar.reduce sum %x axes = [0] : tensor<64x100xf32> -> tensor<100xf32>
  return %0 : tensor<100xf32>
}
func.func @shared_sum(%x: tensor<300x70xf32>) -> (tensor<70xf32>) {
  %0 = autopar.reduce sum %x axes = [0] : tensor<300x70xf32> -> tensor<70xf32>
  return %0 : tensor<70xf32>
}
func.func @middle_sum(%x: tensor<4x200x33xf32>) -> (tensor<4x33xf32>) {
  %0 = autopar.reduce sum %x axes = [1] : tensor<4x200x33xf32> -> tensor<4x33xf32>
  return %0 : tensor<4x33xf32>
}
func.func @middle_sum_i32(%x: tensor<4x200x33xi32>) -> (tensor<4x33xi32>) {
  %0 = autopar.reduce sum %x axes = [1] : tensor<4x200x33xi32> -> tensor<4x33xi32>
  return %0 : tensor<4x33xi32>
}
func.func @row_prod(%x: tensor<40x1000xf32>) -> (tensor<40xf32>) {
  %0 = autopar.reduce prod %x axes = [1] : tensor<40x1000xf32> -> tensor<40xf32>
  return %0 : tensor<40xf32>
}
func.func @row_prod_odd(%x: tensor<7x67xf32>) -> (tensor<7xf32>) {
  %0 = autopar.reduce prod %x axes = [1] : tensor<7x67xf32> -> tensor<7xf32>
  return %0 : tensor<7xf32>
}
func.func @row_prod_i32(%x: tensor<9x130xi32>) -> (tensor<9xi32>) {
  %0 = autopar.reduce prod %x axes = [1] : tensor<9x130xi32> -> tensor<9xi32>
  return %0 : tensor<9xi32>
}
func.func @all_prod(%x: tensor<5003xf32>) -> (tensor<f32>) {
  %0 = autopar.reduce prod %x axes = [0] : tensor<5003xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @long_prod(%x: tensor<3x4100xf32>) -> (tensor<3xf32>) {
  %0 = autopar.reduce prod %x axes = [1] : tensor<3x4100xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @long_prod_i32(%x: tensor<3x4100xi32>) -> (tensor<3xi32>) {
  %0 = autopar.reduce prod %x axes = [1] : tensor<3x4100xi32> -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
func.func @column_prod(%x: tensor<64x100xf32>) -> (tensor<100xf32>) {
  %0 = autopar.reduce prod %x axes = [0] : tensor<64x100xf32> -> tensor<100xf32>
  return %0 : tensor<100xf32>
}
func.func @shared_prod(%x: tensor<300x70xf32>) -> (tensor<70xf32>) {
  %0 = autopar.reduce prod %x axes = [0] : tensor<300x70xf32> -> tensor<70xf32>
  return %0 : tensor<70xf32>
}
func.func @middle_prod(%x: tensor<4x200x33xf32>) -> (tensor<4x33xf32>) {
  %0 = autopar.reduce prod %x axes = [1] : tensor<4x200x33xf32> -> tensor<4x33xf32>
  return %0 : tensor<4x33xf32>
}
func.func @middle_prod_i32(%x: tensor<4x200x33xi32>) -> (tensor<4x33xi32>) {
  %0 = autopar.reduce prod %x axes = [1] : tensor<4x200x33xi32> -> tensor<4x33xi32>
  return %0 : tensor<4x33xi32>
}
func.func @row_max(%x: tensor<40x1000xf32>) -> (tensor<40xf32>) {
  %0 = autopar.reduce max %x axes = [1] : tensor<40x1000xf32> -> tensor<40xf32>
  return %0 : tensor<40xf32>
}
func.func @row_max_odd(%x: tensor<7x67xf32>) -> (tensor<7xf32>) {
  %0 = autopar.reduce max %x axes = [1] : tensor<7x67xf32> -> tensor<7xf32>
  return %0 : tensor<7xf32>
}
func.func @row_max_i32(%x: tensor<9x130xi32>) -> (tensor<9xi32>) {
  %0 = autopar.reduce max %x axes = [1] : tensor<9x130xi32> -> tensor<9xi32>
  return %0 : tensor<9xi32>
}
func.func @all_max(%x: tensor<5003xf32>) -> (tensor<f32>) {
  %0 = autopar.reduce max %x axes = [0] : tensor<5003xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @long_max(%x: tensor<3x4100xf32>) -> (tensor<3xf32>) {
  %0 = autopar.reduce max %x axes = [1] : tensor<3x4100xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @long_max_i32(%x: tensor<3x4100xi32>) -> (tensor<3xi32>) {
  %0 = autopar.reduce max %x axes = [1] : tensor<3x4100xi32> -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
func.func @column_max(%x: tensor<64x100xf32>) -> (tensor<100xf32>) {
  %0 = autopar.reduce max %x axes = [0] : tensor<64x100xf32> -> tensor<100xf32>
  return %0 : tensor<100xf32>
}
func.func @shared_max(%x: tensor<300x70xf32>) -> (tensor<70xf32>) {
  %0 = autopar.reduce max %x axes = [0] : tensor<300x70xf32> -> tensor<70xf32>
  return %0 : tensor<70xf32>
}
func.func @middle_max(%x: tensor<4x200x33xf32>) -> (tensor<4x33xf32>) {
  %0 = autopar.reduce max %x axes = [1] : tensor<4x200x33xf32> -> tensor<4x33xf32>
  return %0 : tensor<4x33xf32>
}
func.func @middle_max_i32(%x: tensor<4x200x33xi32>) -> (tensor<4x33xi32>) {
  %0 = autopar.reduce max %x axes = [1] : tensor<4x200x33xi32> -> tensor<4x33xi32>
  return %0 : tensor<4x33xi32>
}
func.func @row_min(%x: tensor<40x1000xf32>) -> (tensor<40xf32>) {
  %0 = autopar.reduce min %x axes = [1] : tensor<40x1000xf32> -> tensor<40xf32>
  return %0 : tensor<40xf32>
}
func.func @row_min_odd(%x: tensor<7x67xf32>) -> (tensor<7xf32>) {
  %0 = autopar.reduce min %x axes = [1] : tensor<7x67xf32> -> tensor<7xf32>
  return %0 : tensor<7xf32>
}
func.func @row_min_i32(%x: tensor<9x130xi32>) -> (tensor<9xi32>) {
  %0 = autopar.reduce min %x axes = [1] : tensor<9x130xi32> -> tensor<9xi32>
  return %0 : tensor<9xi32>
}
func.func @all_min(%x: tensor<5003xf32>) -> (tensor<f32>) {
  %0 = autopar.reduce min %x axes = [0] : tensor<5003xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @long_min(%x: tensor<3x4100xf32>) -> (tensor<3xf32>) {
  %0 = autopar.reduce min %x axes = [1] : tensor<3x4100xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @long_min_i32(%x: tensor<3x4100xi32>) -> (tensor<3xi32>) {
  %0 = autopar.reduce min %x axes = [1] : tensor<3x4100xi32> -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
func.func @column_min(%x: tensor<64x100xf32>) -> (tensor<100xf32>) {
  %0 = autopar.reduce min %x axes = [0] : tensor<64x100xf32> -> tensor<100xf32>
  return %0 : tensor<100xf32>
}
func.func @shared_min(%x: tensor<300x70xf32>) -> (tensor<70xf32>) {
  %0 = autopar.reduce min %x axes = [0] : tensor<300x70xf32> -> tensor<70xf32>
  return %0 : tensor<70xf32>
}
func.func @middle_min(%x: tensor<4x200x33xf32>) -> (tensor<4x33xf32>) {
  %0 = autopar.reduce min %x axes = [1] : tensor<4x200x33xf32> -> tensor<4x33xf32>
  return %0 : tensor<4x33xf32>
}
func.func @middle_min_i32(%x: tensor<4x200x33xi32>) -> (tensor<4x33xi32>) {
  %0 = autopar.reduce min %x axes = [1] : tensor<4x200x33xi32> -> tensor<4x33xi32>
  return %0 : tensor<4x33xi32>
}
func.func @row_short(%x: tensor<5x3xf32>) -> (tensor<5xf32>) {
  %0 = autopar.reduce sum %x axes = [1] : tensor<5x3xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
func.func @row_many(%x: tensor<34001x4xf32>) -> (tensor<34001xf32>) {
  %0 = autopar.reduce sum %x axes = [1] : tensor<34001x4xf32> -> tensor<34001xf32>
  return %0 : tensor<34001xf32>
}
func.func @row_fused(%x: tensor<21x260xf32>) -> (tensor<21xf32>) {
  %p = autopar.exp %x : tensor<21x260xf32>
  %0 = autopar.reduce sum %p axes = [1] : tensor<21x260xf32> -> tensor<21xf32>
  return %0 : tensor<21xf32>
}
func.func @rows_of_two_parts(%x: tensor<5x6x64xf32>) -> (tensor<6xf32>) {
  %0 = autopar.reduce sum %x axes = [0, 2] : tensor<5x6x64xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
func.func @rows_of_two_parts_odd(%x: tensor<5x6x67xf32>) -> (tensor<6xf32>) {
  %0 = autopar.reduce max %x axes = [0, 2] : tensor<5x6x67xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
func.func @column_of_two_parts(%x: tensor<5x6x7x20xf32>) -> (tensor<6x20xf32>) {
  %0 = autopar.reduce sum %x axes = [0, 2] : tensor<5x6x7x20xf32> -> tensor<6x20xf32>
  return %0 : tensor<6x20xf32>
}
func.func @argmax_row_f32(%x: tensor<40x1000xf32>) -> (tensor<40xi32>) {
  %0 = autopar.argmax %x axis = 1 : tensor<40x1000xf32> -> tensor<40xi32>
  return %0 : tensor<40xi32>
}
func.func @argmax_row_i32(%x: tensor<40x1000xi32>) -> (tensor<40xi32>) {
  %0 = autopar.argmax %x axis = 1 : tensor<40x1000xi32> -> tensor<40xi32>
  return %0 : tensor<40xi32>
}
func.func @argmax_row_odd_f32(%x: tensor<7x67xf32>) -> (tensor<7xi32>) {
  %0 = autopar.argmax %x axis = 1 : tensor<7x67xf32> -> tensor<7xi32>
  return %0 : tensor<7xi32>
}
func.func @argmax_row_odd_i32(%x: tensor<7x67xi32>) -> (tensor<7xi32>) {
  %0 = autopar.argmax %x axis = 1 : tensor<7x67xi32> -> tensor<7xi32>
  return %0 : tensor<7xi32>
}
func.func @argmax_row_one_f32(%x: tensor<7x1xf32>) -> (tensor<7xi32>) {
  %0 = autopar.argmax %x axis = 1 : tensor<7x1xf32> -> tensor<7xi32>
  return %0 : tensor<7xi32>
}
func.func @argmax_row_one_i32(%x: tensor<7x1xi32>) -> (tensor<7xi32>) {
  %0 = autopar.argmax %x axis = 1 : tensor<7x1xi32> -> tensor<7xi32>
  return %0 : tensor<7xi32>
}
func.func @argmax_long_f32(%x: tensor<3x4101xf32>) -> (tensor<3xi32>) {
  %0 = autopar.argmax %x axis = 1 : tensor<3x4101xf32> -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
func.func @argmax_long_i32(%x: tensor<3x4101xi32>) -> (tensor<3xi32>) {
  %0 = autopar.argmax %x axis = 1 : tensor<3x4101xi32> -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
func.func @argmax_column_f32(%x: tensor<64x100xf32>) -> (tensor<100xi32>) {
  %0 = autopar.argmax %x axis = 0 : tensor<64x100xf32> -> tensor<100xi32>
  return %0 : tensor<100xi32>
}
func.func @argmax_column_i32(%x: tensor<64x100xi32>) -> (tensor<100xi32>) {
  %0 = autopar.argmax %x axis = 0 : tensor<64x100xi32> -> tensor<100xi32>
  return %0 : tensor<100xi32>
}
func.func @argmax_shared_f32(%x: tensor<300x70xf32>) -> (tensor<70xi32>) {
  %0 = autopar.argmax %x axis = 0 : tensor<300x70xf32> -> tensor<70xi32>
  return %0 : tensor<70xi32>
}
func.func @argmax_shared_i32(%x: tensor<300x70xi32>) -> (tensor<70xi32>) {
  %0 = autopar.argmax %x axis = 0 : tensor<300x70xi32> -> tensor<70xi32>
  return %0 : tensor<70xi32>
}
func.func @softmax_row(%x: tensor<33x100xf32>) -> (tensor<33x100xf32>) {
  %0 = autopar.softmax %x axis = 1 : tensor<33x100xf32>
  return %0 : tensor<33x100xf32>
}
func.func @softmax_row_odd(%x: tensor<5x67xf32>) -> (tensor<5x67xf32>) {
  %0 = autopar.softmax %x axis = 1 : tensor<5x67xf32>
  return %0 : tensor<5x67xf32>
}
func.func @softmax_row_full(%x: tensor<6x256xf32>) -> (tensor<6x256xf32>) {
  %0 = autopar.softmax %x axis = 1 : tensor<6x256xf32>
  return %0 : tensor<6x256xf32>
}
func.func @softmax_long(%x: tensor<3x4100xf32>) -> (tensor<3x4100xf32>) {
  %0 = autopar.softmax %x axis = 1 : tensor<3x4100xf32>
  return %0 : tensor<3x4100xf32>
}
func.func @softmax_long_odd(%x: tensor<2x2051xf32>) -> (tensor<2x2051xf32>) {
  %0 = autopar.softmax %x axis = 1 : tensor<2x2051xf32>
  return %0 : tensor<2x2051xf32>
}
func.func @softmax_column(%x: tensor<64x100xf32>) -> (tensor<64x100xf32>) {
  %0 = autopar.softmax %x axis = 0 : tensor<64x100xf32>
  return %0 : tensor<64x100xf32>
}
func.func @softmax_shared(%x: tensor<300x70xf32>) -> (tensor<300x70xf32>) {
  %0 = autopar.softmax %x axis = 0 : tensor<300x70xf32>
  return %0 : tensor<300x70xf32>
}
func.func @softmax_middle(%x: tensor<3x10x44xf32>) -> (tensor<3x10x44xf32>) {
  %0 = autopar.softmax %x axis = 1 : tensor<3x10x44xf32>
  return %0 : tensor<3x10x44xf32>
}
func.func @softmax_fused(%x: tensor<33x100xf32>, %y: tensor<33x100xf32>) -> (tensor<33x100xf32>) {
  %0 = autopar.mul %x, %y : tensor<33x100xf32>
  %1 = autopar.softmax %0 axis = 1 : tensor<33x100xf32>
  return %1 : tensor<33x100xf32>
}
func.func @sum_and_operand(%x: tensor<33x100xf32>) -> (tensor<33x100xf32>, tensor<33xf32>) {
  %0 = autopar.exp %x : tensor<33x100xf32>
  %1 = autopar.reduce sum %0 axes = [1] : tensor<33x100xf32> -> tensor<33xf32>
  return %0, %1 : tensor<33x100xf32>, tensor<33xf32>
}
func.func @transpose_f32(%x: tensor<100x70xf32>) -> (tensor<70x100xf32>) {
  %0 = autopar.transpose %x permutation = [1, 0] : tensor<100x70xf32> -> tensor<70x100xf32>
  return %0 : tensor<70x100xf32>
}
func.func @transpose_i32(%x: tensor<100x70xi32>) -> (tensor<70x100xi32>) {
  %0 = autopar.transpose %x permutation = [1, 0] : tensor<100x70xi32> -> tensor<70x100xi32>
  return %0 : tensor<70x100xi32>
}
func.func @transpose_i1(%x: tensor<100x70xi1>) -> (tensor<70x100xi1>) {
  %0 = autopar.transpose %x permutation = [1, 0] : tensor<100x70xi1> -> tensor<70x100xi1>
  return %0 : tensor<70x100xi1>
}
func.func @transpose_outer(%x: tensor<3x40x50xf32>) -> (tensor<50x3x40xf32>) {
  %0 = autopar.transpose %x permutation = [2, 0, 1] : tensor<3x40x50xf32> -> tensor<50x3x40xf32>
  return %0 : tensor<50x3x40xf32>
}
func.func @transpose_batched(%x: tensor<3x40x50xf32>) -> (tensor<3x50x40xf32>) {
  %0 = autopar.transpose %x permutation = [0, 2, 1] : tensor<3x40x50xf32> -> tensor<3x50x40xf32>
  return %0 : tensor<3x50x40xf32>
}
func.func @concat_rows(%x: tensor<13x67xf32>, %y: tensor<5x67xf32>) -> (tensor<18x67xf32>) {
  %0 = autopar.concat %x, %y axis = 0 : (tensor<13x67xf32>, tensor<5x67xf32>) -> tensor<18x67xf32>
  return %0 : tensor<18x67xf32>
}
func.func @concat_columns(%x: tensor<13x64xf32>, %y: tensor<13x32xf32>) -> (tensor<13x96xf32>) {
  %0 = autopar.concat %x, %y axis = 1 : (tensor<13x64xf32>, tensor<13x32xf32>) -> tensor<13x96xf32>
  return %0 : tensor<13x96xf32>
}
func.func @concat_odd(%x: tensor<13x3xi1>, %y: tensor<13x7xi1>, %z: tensor<13x0xi1>) -> (tensor<13x10xi1>) {
  %0 = autopar.concat %x, %y, %z axis = 1 : (tensor<13x3xi1>, tensor<13x7xi1>, tensor<13x0xi1>) -> tensor<13x10xi1>
  return %0 : tensor<13x10xi1>
}
func.func @mixed_batches(%x: tensor<2x1x5x7xf32>, %y: tensor<1x3x7x6xf32>) -> (tensor<2x3x5x6xf32>) {
  %0 = autopar.matmul %x, %y : tensor<2x1x5x7xf32>, tensor<1x3x7x6xf32> -> tensor<2x3x5x6xf32>
  return %0 : tensor<2x3x5x6xf32>
}
func.func @epilogue(%x: tensor<33x20xf32>, %y: tensor<20x64xf32>, %b: tensor<64xf32>) -> (tensor<33x64xf32>) {
  %0 = autopar.matmul %x, %y : tensor<33x20xf32>, tensor<20x64xf32> -> tensor<33x64xf32>
  %1 = autopar.broadcast %b dims = [1] : tensor<64xf32> -> tensor<33x64xf32>
  %2 = autopar.add %0, %1 : tensor<33x64xf32>
  %3 = autopar.relu %2 : tensor<33x64xf32>
  return %3 : tensor<33x64xf32>
}
func.func @epilogue_i32(%x: tensor<3x9x20xf32>, %y: tensor<20x67xf32>) -> (tensor<3x9x67xi32>) {
  %0 = autopar.reshape %x : tensor<3x9x20xf32> -> tensor<27x20xf32>
  %1 = autopar.matmul %0, %y : tensor<27x20xf32>, tensor<20x67xf32> -> tensor<27x67xf32>
  %2 = autopar.convert %1 : tensor<27x67xf32> -> tensor<27x67xi32>
  %3 = autopar.reshape %2 : tensor<27x67xi32> -> tensor<3x9x67xi32>
  return %3 : tensor<3x9x67xi32>
}
