// A 64-128-10 perceptron classifies 449 hand-written digits that it was not trained on. The weights are made by
// digits/train.py. Results: the share classified correctly, the classes, the logits and the hidden layer.
func.func @main(%images: tensor<449x64xf32>, %labels: tensor<449xi32>,
                %w1: tensor<64x128xf32>, %b1: tensor<128xf32>, %w2: tensor<128x10xf32>, %b2: tensor<10xf32>)
    -> (tensor<f32>, tensor<449xi32>, tensor<449x10xf32>, tensor<449x128xf32>) {
  %zero = autopar.constant dense<0.0> : tensor<449x128xf32>
  %count = autopar.constant dense<449.0> : tensor<f32>
  %0 = autopar.matmul %images, %w1 : tensor<449x64xf32>, tensor<64x128xf32> -> tensor<449x128xf32>
  %1 = autopar.broadcast %b1 dims = [1] : tensor<128xf32> -> tensor<449x128xf32>
  %2 = autopar.add %0, %1 : tensor<449x128xf32>
  %hidden = autopar.max %2, %zero : tensor<449x128xf32>
  %3 = autopar.matmul %hidden, %w2 : tensor<449x128xf32>, tensor<128x10xf32> -> tensor<449x10xf32>
  %4 = autopar.broadcast %b2 dims = [1] : tensor<10xf32> -> tensor<449x10xf32>
  %logits = autopar.add %3, %4 : tensor<449x10xf32>
  %classes = autopar.argmax %logits axis = 1 : tensor<449x10xf32> -> tensor<449xi32>
  %5 = autopar.compare eq %classes, %labels : tensor<449xi32> -> tensor<449xi1>
  %6 = autopar.convert %5 : tensor<449xi1> -> tensor<449xf32>
  %7 = autopar.reduce sum %6 axes = [0] : tensor<449xf32> -> tensor<f32>
  %accuracy = autopar.div %7, %count : tensor<f32>
  return %accuracy, %classes, %logits, %hidden
    : tensor<f32>, tensor<449xi32>, tensor<449x10xf32>, tensor<449x128xf32>
}
