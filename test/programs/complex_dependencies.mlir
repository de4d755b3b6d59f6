// A graph with forks, joins, a diamond and long edges: four branches of unequal length that meet pairwise.
func.func @main(%a: tensor<48x48xf32>,
                %b: tensor<48x48xf32>)
    -> (tensor<48x48xf32>,
                tensor<96xf32>,
                tensor<48xi32>,
                tensor<f32>) {
  %0 = autopar.constant dense<2.083333333e-02> : tensor<48x48xf32>
  %1 = autopar.matmul %a, %b : tensor<48x48xf32>, tensor<48x48xf32> -> tensor<48x48xf32>
  %2 = autopar.mul %1, %0 : tensor<48x48xf32>
  %3 = autopar.matmul %b, %a : tensor<48x48xf32>, tensor<48x48xf32> -> tensor<48x48xf32>
  %4 = autopar.mul %3, %0 : tensor<48x48xf32>
  %5 = autopar.sub %2, %4 : tensor<48x48xf32>
  %6 = autopar.relu %5 : tensor<48x48xf32>
  %7 = autopar.matmul %2, %4 : tensor<48x48xf32>, tensor<48x48xf32> -> tensor<48x48xf32>
  %8 = autopar.mul %7, %0 : tensor<48x48xf32>
  %9 = autopar.matmul %8, %8 : tensor<48x48xf32>, tensor<48x48xf32> -> tensor<48x48xf32>
  %10 = autopar.mul %9, %0 : tensor<48x48xf32>
  %11 = autopar.matmul %10, %8 : tensor<48x48xf32>, tensor<48x48xf32> -> tensor<48x48xf32>
  %12 = autopar.mul %11, %0 : tensor<48x48xf32>
  %13 = autopar.matmul %12, %8 : tensor<48x48xf32>, tensor<48x48xf32> -> tensor<48x48xf32>
  %14 = autopar.mul %13, %0 : tensor<48x48xf32>
  %15 = autopar.concat %6, %14 axis = 1 : (tensor<48x48xf32>, tensor<48x48xf32>) -> tensor<48x96xf32>
  %16 = autopar.reduce sum %15 axes = [0] : tensor<48x96xf32> -> tensor<96xf32>
  %17 = autopar.transpose %15 permutation = [1, 0] : tensor<48x96xf32> -> tensor<96x48xf32>
  %18 = autopar.matmul %17, %6 : tensor<96x48xf32>, tensor<48x48xf32> -> tensor<96x48xf32>
  %19 = autopar.argmax %18 axis = 0 : tensor<96x48xf32> -> tensor<48xi32>
  %20 = autopar.add %14, %6 : tensor<48x48xf32>
  %21 = autopar.softmax %20 axis = 1 : tensor<48x48xf32>
  %22 = autopar.add %2, %a : tensor<48x48xf32>
  %23 = autopar.reduce max %22 axes = [0, 1] : tensor<48x48xf32> -> tensor<f32>
  return %21, %16, %19, %23 : tensor<48x48xf32>, tensor<96xf32>, tensor<48xi32>, tensor<f32>
}
