// Many small operations on one device: two long dependent chains and their sum, where starting a task costs as much as
// running it.
func.func @main(%a: tensor<17x17xf32> {autopar.device = "gpu0"},
                %b: tensor<17x17xf32> {autopar.device = "gpu0"})
    -> (tensor<17x17xf32>) {
  %0 = autopar.constant dense<1.176470588e-01> : tensor<17x17xf32>
  %1 = autopar.matmul %a, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %2 = autopar.mul %1, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %3 = autopar.add %b, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %4 = autopar.tanh %3 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %5 = autopar.matmul %2, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %6 = autopar.mul %5, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %7 = autopar.add %4, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %8 = autopar.tanh %7 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %9 = autopar.matmul %6, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %10 = autopar.mul %9, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %11 = autopar.add %8, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %12 = autopar.tanh %11 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %13 = autopar.matmul %10, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %14 = autopar.mul %13, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %15 = autopar.add %12, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %16 = autopar.tanh %15 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %17 = autopar.matmul %14, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %18 = autopar.mul %17, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %19 = autopar.add %16, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %20 = autopar.tanh %19 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %21 = autopar.matmul %18, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %22 = autopar.mul %21, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %23 = autopar.add %20, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %24 = autopar.tanh %23 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %25 = autopar.matmul %22, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %26 = autopar.mul %25, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %27 = autopar.add %24, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %28 = autopar.tanh %27 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %29 = autopar.matmul %26, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %30 = autopar.mul %29, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %31 = autopar.add %28, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %32 = autopar.tanh %31 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %33 = autopar.matmul %30, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %34 = autopar.mul %33, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %35 = autopar.add %32, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %36 = autopar.tanh %35 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %37 = autopar.matmul %34, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %38 = autopar.mul %37, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %39 = autopar.add %36, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %40 = autopar.tanh %39 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %41 = autopar.matmul %38, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %42 = autopar.mul %41, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %43 = autopar.add %40, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %44 = autopar.tanh %43 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %45 = autopar.matmul %42, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %46 = autopar.mul %45, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %47 = autopar.add %44, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %48 = autopar.tanh %47 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %49 = autopar.matmul %46, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %50 = autopar.mul %49, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %51 = autopar.add %48, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %52 = autopar.tanh %51 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %53 = autopar.matmul %50, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %54 = autopar.mul %53, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %55 = autopar.add %52, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %56 = autopar.tanh %55 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %57 = autopar.matmul %54, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %58 = autopar.mul %57, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %59 = autopar.add %56, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %60 = autopar.tanh %59 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %61 = autopar.matmul %58, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %62 = autopar.mul %61, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %63 = autopar.add %60, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %64 = autopar.tanh %63 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %65 = autopar.matmul %62, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %66 = autopar.mul %65, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %67 = autopar.add %64, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %68 = autopar.tanh %67 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %69 = autopar.matmul %66, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %70 = autopar.mul %69, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %71 = autopar.add %68, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %72 = autopar.tanh %71 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %73 = autopar.matmul %70, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %74 = autopar.mul %73, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %75 = autopar.add %72, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %76 = autopar.tanh %75 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %77 = autopar.matmul %74, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %78 = autopar.mul %77, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %79 = autopar.add %76, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %80 = autopar.tanh %79 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %81 = autopar.matmul %78, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %82 = autopar.mul %81, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %83 = autopar.add %80, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %84 = autopar.tanh %83 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %85 = autopar.matmul %82, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %86 = autopar.mul %85, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %87 = autopar.add %84, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %88 = autopar.tanh %87 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %89 = autopar.matmul %86, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %90 = autopar.mul %89, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %91 = autopar.add %88, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %92 = autopar.tanh %91 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %93 = autopar.matmul %90, %b {autopar.device = "gpu0"} : tensor<17x17xf32>, tensor<17x17xf32> -> tensor<17x17xf32>
  %94 = autopar.mul %93, %0 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %95 = autopar.add %92, %a {autopar.device = "gpu0"} : tensor<17x17xf32>
  %96 = autopar.tanh %95 {autopar.device = "gpu0"} : tensor<17x17xf32>
  %97 = autopar.add %94, %96 {autopar.device = "gpu0"} : tensor<17x17xf32>
  return %97 : tensor<17x17xf32>
}
