// The host and two devices work at the same time; the host then combines what all three computed.
func.func @main(%x0: tensor<71x71xf32> {autopar.device = "cpu0"},
                %y0: tensor<71x71xf32> {autopar.device = "cpu0"},
                %x1: tensor<71x71xf32> {autopar.device = "gpu0"},
                %y1: tensor<71x71xf32> {autopar.device = "gpu0"},
                %x2: tensor<71x71xf32> {autopar.device = "gpu1"},
                %y2: tensor<71x71xf32> {autopar.device = "gpu1"})
    -> (tensor<71xf32>,
                tensor<f32>,
                tensor<f32>,
                tensor<f32>) {
  %0 = autopar.matmul %x0, %y0 {autopar.device = "cpu0"} : tensor<71x71xf32>, tensor<71x71xf32> -> tensor<71x71xf32>
  %1 = autopar.reduce sum %0 axes = [1] {autopar.device = "cpu0"} : tensor<71x71xf32> -> tensor<71xf32>
  %2 = autopar.matmul %x1, %y1 {autopar.device = "gpu0"} : tensor<71x71xf32>, tensor<71x71xf32> -> tensor<71x71xf32>
  %3 = autopar.reduce sum %2 axes = [1] {autopar.device = "gpu0"} : tensor<71x71xf32> -> tensor<71xf32>
  %4 = autopar.matmul %x2, %y2 {autopar.device = "gpu1"} : tensor<71x71xf32>, tensor<71x71xf32> -> tensor<71x71xf32>
  %5 = autopar.reduce sum %4 axes = [1] {autopar.device = "gpu1"} : tensor<71x71xf32> -> tensor<71xf32>
  %6 = autopar.add %1, %3 {autopar.device = "cpu0"} : tensor<71xf32>
  %7 = autopar.add %6, %5 {autopar.device = "cpu0"} : tensor<71xf32>
  %8 = autopar.reduce max %1 axes = [0] : tensor<71xf32> -> tensor<f32>
  %9 = autopar.reduce max %3 axes = [0] : tensor<71xf32> -> tensor<f32>
  %10 = autopar.reduce max %5 axes = [0] : tensor<71xf32> -> tensor<f32>
  return %7, %8, %9, %10 : tensor<71xf32>, tensor<f32>, tensor<f32>, tensor<f32>
}
