// The chapter's second experiment: products on a device, whose results the host wants. Each copy may run while the next
// product is computed.
func.func @main(%x0: tensor<64x64xf32> {autopar.device = "gpu0"},
                %x1: tensor<64x64xf32> {autopar.device = "gpu0"},
                %x2: tensor<64x64xf32> {autopar.device = "gpu0"},
                %x3: tensor<64x64xf32> {autopar.device = "gpu0"},
                %x4: tensor<64x64xf32> {autopar.device = "gpu0"},
                %x5: tensor<64x64xf32> {autopar.device = "gpu0"})
    -> (tensor<64x64xf32>,
                tensor<64x64xf32>,
                tensor<64x64xf32>,
                tensor<64x64xf32>,
                tensor<64x64xf32>,
                tensor<64x64xf32>) {
  %0 = autopar.matmul %x0, %x0 {autopar.device = "gpu0"} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %1 = autopar.matmul %x1, %x1 {autopar.device = "gpu0"} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %2 = autopar.matmul %x2, %x2 {autopar.device = "gpu0"} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %3 = autopar.matmul %x3, %x3 {autopar.device = "gpu0"} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %4 = autopar.matmul %x4, %x4 {autopar.device = "gpu0"} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %5 = autopar.matmul %x5, %x5 {autopar.device = "gpu0"} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
