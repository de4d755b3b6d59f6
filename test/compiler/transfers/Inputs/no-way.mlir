func.func @no_way(%x: tensor<16xf32> {autopar.device = "gpu0"}) -> tensor<16xf32> {
  // expected-note @below {{the value is made here; give the machine a direct link, or links over its first CPU}}
  %0 = autopar.synthetic_task(%x) {label = "a", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu0" stream 0 at 0 to 10>} : (tensor<16xf32>) -> tensor<16xf32>
  // expected-error @below {{needs a value from 'gpu0' on 'gpu1', but no link leads there}}
  %1 = autopar.synthetic_task(%0) {label = "b", cost_ns = {virtual = 10}, placement = #autopar.placement<"gpu1" stream 0 at 10 to 20>} : (tensor<16xf32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}
