// The chapter's figure: a two-layer perceptron, data-parallel on a CPU and two devices. The host cuts the batch in two, each
// device computes the gradients of its half, the host adds them up and updates the weights. No synchronisation is written.
func.func @main(%x: tensor<46x29xf32>,
                %y: tensor<46x10xf32>,
                %w1: tensor<29x33xf32>,
                %w2: tensor<33x10xf32>)
    -> (tensor<29x33xf32>,
                tensor<33x10xf32>) {
  %0 = autopar.slice %x offsets = [0, 0] strides = [1, 1] {autopar.device = "cpu0"} : tensor<46x29xf32> -> tensor<23x29xf32>
  %1 = autopar.slice %y offsets = [0, 0] strides = [1, 1] {autopar.device = "cpu0"} : tensor<46x10xf32> -> tensor<23x10xf32>
  %2 = autopar.matmul %0, %w1 {autopar.device = "gpu0"} : tensor<23x29xf32>, tensor<29x33xf32> -> tensor<23x33xf32>
  %3 = autopar.relu %2 {autopar.device = "gpu0"} : tensor<23x33xf32>
  %4 = autopar.matmul %3, %w2 {autopar.device = "gpu0"} : tensor<23x33xf32>, tensor<33x10xf32> -> tensor<23x10xf32>
  %5 = autopar.softmax %4 axis = 1 {autopar.device = "gpu0"} : tensor<23x10xf32>
  %6 = autopar.sub %5, %1 {autopar.device = "gpu0"} : tensor<23x10xf32>
  %7 = autopar.constant dense<2.173913043e-02> : tensor<23x10xf32>
  %8 = autopar.mul %6, %7 {autopar.device = "gpu0"} : tensor<23x10xf32>
  %9 = autopar.matmul %3, %8 transpose_a {autopar.device = "gpu0"} : tensor<23x33xf32>, tensor<23x10xf32> -> tensor<33x10xf32>
  %10 = autopar.constant dense<0.000000000e+00> : tensor<23x33xf32>
  %11 = autopar.compare gt %2, %10 {autopar.device = "gpu0"} : tensor<23x33xf32> -> tensor<23x33xi1>
  %12 = autopar.matmul %8, %w2 transpose_b {autopar.device = "gpu0"} : tensor<23x10xf32>, tensor<33x10xf32> -> tensor<23x33xf32>
  %13 = autopar.constant dense<0.000000000e+00> : tensor<23x33xf32>
  %14 = autopar.select %11, %12, %13 {autopar.device = "gpu0"} : tensor<23x33xi1>, tensor<23x33xf32>
  %15 = autopar.matmul %0, %14 transpose_a {autopar.device = "gpu0"} : tensor<23x29xf32>, tensor<23x33xf32> -> tensor<29x33xf32>
  %16 = autopar.slice %x offsets = [23, 0] strides = [1, 1] {autopar.device = "cpu0"} : tensor<46x29xf32> -> tensor<23x29xf32>
  %17 = autopar.slice %y offsets = [23, 0] strides = [1, 1] {autopar.device = "cpu0"} : tensor<46x10xf32> -> tensor<23x10xf32>
  %18 = autopar.matmul %16, %w1 {autopar.device = "gpu1"} : tensor<23x29xf32>, tensor<29x33xf32> -> tensor<23x33xf32>
  %19 = autopar.relu %18 {autopar.device = "gpu1"} : tensor<23x33xf32>
  %20 = autopar.matmul %19, %w2 {autopar.device = "gpu1"} : tensor<23x33xf32>, tensor<33x10xf32> -> tensor<23x10xf32>
  %21 = autopar.softmax %20 axis = 1 {autopar.device = "gpu1"} : tensor<23x10xf32>
  %22 = autopar.sub %21, %17 {autopar.device = "gpu1"} : tensor<23x10xf32>
  %23 = autopar.constant dense<2.173913043e-02> : tensor<23x10xf32>
  %24 = autopar.mul %22, %23 {autopar.device = "gpu1"} : tensor<23x10xf32>
  %25 = autopar.matmul %19, %24 transpose_a {autopar.device = "gpu1"} : tensor<23x33xf32>, tensor<23x10xf32> -> tensor<33x10xf32>
  %26 = autopar.constant dense<0.000000000e+00> : tensor<23x33xf32>
  %27 = autopar.compare gt %18, %26 {autopar.device = "gpu1"} : tensor<23x33xf32> -> tensor<23x33xi1>
  %28 = autopar.matmul %24, %w2 transpose_b {autopar.device = "gpu1"} : tensor<23x10xf32>, tensor<33x10xf32> -> tensor<23x33xf32>
  %29 = autopar.constant dense<0.000000000e+00> : tensor<23x33xf32>
  %30 = autopar.select %27, %28, %29 {autopar.device = "gpu1"} : tensor<23x33xi1>, tensor<23x33xf32>
  %31 = autopar.matmul %16, %30 transpose_a {autopar.device = "gpu1"} : tensor<23x29xf32>, tensor<23x33xf32> -> tensor<29x33xf32>
  %32 = autopar.add %15, %31 {autopar.device = "cpu0"} : tensor<29x33xf32>
  %33 = autopar.constant dense<1.000000000e-01> : tensor<29x33xf32>
  %34 = autopar.mul %32, %33 {autopar.device = "cpu0"} : tensor<29x33xf32>
  %35 = autopar.sub %w1, %34 {autopar.device = "cpu0"} : tensor<29x33xf32>
  %36 = autopar.add %9, %25 {autopar.device = "cpu0"} : tensor<33x10xf32>
  %37 = autopar.constant dense<1.000000000e-01> : tensor<33x10xf32>
  %38 = autopar.mul %36, %37 {autopar.device = "cpu0"} : tensor<33x10xf32>
  %39 = autopar.sub %w2, %38 {autopar.device = "cpu0"} : tensor<33x10xf32>
  return %35, %39 : tensor<29x33xf32>, tensor<33x10xf32>
}
