// The chapter's first experiment: two devices, each with its own products. Operands are distinct, so that no product
// is computed once for several. Results stay on their device.
func.func @main(%gpu0_0: tensor<97x97xf32> {autopar.device = "gpu0"},
                %gpu0_1: tensor<97x97xf32> {autopar.device = "gpu0"},
                %gpu0_2: tensor<97x97xf32> {autopar.device = "gpu0"},
                %gpu1_0: tensor<97x97xf32> {autopar.device = "gpu1"},
                %gpu1_1: tensor<97x97xf32> {autopar.device = "gpu1"},
                %gpu1_2: tensor<97x97xf32> {autopar.device = "gpu1"})
    -> (tensor<97x97xf32> {autopar.device = "gpu0"},
                tensor<97x97xf32> {autopar.device = "gpu0"},
                tensor<97x97xf32> {autopar.device = "gpu0"},
                tensor<97x97xf32> {autopar.device = "gpu1"},
                tensor<97x97xf32> {autopar.device = "gpu1"},
                tensor<97x97xf32> {autopar.device = "gpu1"}) {
  %0 = autopar.matmul %gpu0_0, %gpu0_0 {autopar.device = "gpu0"} : tensor<97x97xf32>, tensor<97x97xf32> -> tensor<97x97xf32>
  %1 = autopar.matmul %gpu0_1, %gpu0_1 {autopar.device = "gpu0"} : tensor<97x97xf32>, tensor<97x97xf32> -> tensor<97x97xf32>
  %2 = autopar.matmul %gpu0_2, %gpu0_2 {autopar.device = "gpu0"} : tensor<97x97xf32>, tensor<97x97xf32> -> tensor<97x97xf32>
  %3 = autopar.matmul %gpu1_0, %gpu1_0 {autopar.device = "gpu1"} : tensor<97x97xf32>, tensor<97x97xf32> -> tensor<97x97xf32>
  %4 = autopar.matmul %gpu1_1, %gpu1_1 {autopar.device = "gpu1"} : tensor<97x97xf32>, tensor<97x97xf32> -> tensor<97x97xf32>
  %5 = autopar.matmul %gpu1_2, %gpu1_2 {autopar.device = "gpu1"} : tensor<97x97xf32>, tensor<97x97xf32> -> tensor<97x97xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<97x97xf32>, tensor<97x97xf32>, tensor<97x97xf32>, tensor<97x97xf32>, tensor<97x97xf32>, tensor<97x97xf32>
}
