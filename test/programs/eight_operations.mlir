// Eight operations that do not depend on each other: nothing but the machine limits how many run at once.
func.func @main(%x0: tensor<65x65xf32>,
                %x1: tensor<65x65xf32>,
                %x2: tensor<65x65xf32>,
                %x3: tensor<65x65xf32>,
                %x4: tensor<65x65xf32>,
                %x5: tensor<65x65xf32>,
                %x6: tensor<65x65xf32>,
                %x7: tensor<65x65xf32>)
    -> (tensor<65x65xf32>,
                tensor<65x65xf32>,
                tensor<65x65xf32>,
                tensor<65x65xf32>,
                tensor<65x65xf32>,
                tensor<65x65xf32>,
                tensor<65x65xf32>,
                tensor<65x65xf32>) {
  %0 = autopar.matmul %x0, %x0 : tensor<65x65xf32>, tensor<65x65xf32> -> tensor<65x65xf32>
  %1 = autopar.constant dense<3.000000000e+00> : tensor<65x65xf32>
  %2 = autopar.mul %x1, %1 : tensor<65x65xf32>
  %3 = autopar.softmax %2 axis = 1 : tensor<65x65xf32>
  %4 = autopar.matmul %x2, %x2 : tensor<65x65xf32>, tensor<65x65xf32> -> tensor<65x65xf32>
  %5 = autopar.constant dense<3.000000000e+00> : tensor<65x65xf32>
  %6 = autopar.mul %x3, %5 : tensor<65x65xf32>
  %7 = autopar.softmax %6 axis = 1 : tensor<65x65xf32>
  %8 = autopar.matmul %x4, %x4 : tensor<65x65xf32>, tensor<65x65xf32> -> tensor<65x65xf32>
  %9 = autopar.constant dense<3.000000000e+00> : tensor<65x65xf32>
  %10 = autopar.mul %x5, %9 : tensor<65x65xf32>
  %11 = autopar.softmax %10 axis = 1 : tensor<65x65xf32>
  %12 = autopar.matmul %x6, %x6 : tensor<65x65xf32>, tensor<65x65xf32> -> tensor<65x65xf32>
  %13 = autopar.constant dense<3.000000000e+00> : tensor<65x65xf32>
  %14 = autopar.mul %x7, %13 : tensor<65x65xf32>
  %15 = autopar.softmax %14 axis = 1 : tensor<65x65xf32>
  return %0, %3, %4, %7, %8, %11, %12, %15 : tensor<65x65xf32>, tensor<65x65xf32>, tensor<65x65xf32>, tensor<65x65xf32>, tensor<65x65xf32>, tensor<65x65xf32>, tensor<65x65xf32>, tensor<65x65xf32>
}
