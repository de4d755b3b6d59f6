// Each op of the language, on odd shapes, unpinned. f32 results come from well-conditioned arguments.
func.func @main(%x: tensor<13x67xf32>,
                %i: tensor<13x67xi32>)
    -> (tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xi32>,
                tensor<13x67xi32>,
                tensor<13x67xi32>,
                tensor<13x67xi32>,
                tensor<13x67xi32>,
                tensor<13x67xi32>,
                tensor<13x67xi32>,
                tensor<13x67xi32>,
                tensor<13x67xi32>,
                tensor<13x67xi32>,
                tensor<13x67xi32>,
                tensor<13x67xi32>,
                tensor<13x67xi32>,
                tensor<13x67xi32>,
                tensor<13x67xi32>,
                tensor<13x67xi1>,
                tensor<13x67xf32>,
                tensor<13x67xi1>,
                tensor<13x67xf32>,
                tensor<13x67xi32>,
                tensor<13xf32>,
                tensor<67xf32>,
                tensor<i32>,
                tensor<13xf32>,
                tensor<13x67xf32>,
                tensor<67x13xf32>,
                tensor<67x13xf32>,
                tensor<11x32xf32>,
                tensor<26x67xf32>,
                tensor<13xi32>,
                tensor<67xi32>,
                tensor<13x67xf32>,
                tensor<13x67xf32>,
                tensor<13x67xi32>,
                tensor<2x13x13xf32>,
                tensor<2x67x67xf32>) {
  %0 = autopar.random_uniform seed = 902 : tensor<13x67xf32>
  %1 = autopar.constant dense<2.500000000e-01> : tensor<13x67xf32>
  %2 = autopar.add %0, %1 : tensor<13x67xf32>
  %3 = autopar.add %x, %2 : tensor<13x67xf32>
  %4 = autopar.sub %x, %2 : tensor<13x67xf32>
  %5 = autopar.mul %x, %2 : tensor<13x67xf32>
  %6 = autopar.div %x, %2 : tensor<13x67xf32>
  %7 = autopar.rem %x, %2 : tensor<13x67xf32>
  %8 = autopar.max %x, %2 : tensor<13x67xf32>
  %9 = autopar.min %x, %2 : tensor<13x67xf32>
  %10 = autopar.pow %x, %2 : tensor<13x67xf32>
  %11 = autopar.constant dense<5.000000000e-01> : tensor<13x67xf32>
  %12 = autopar.sub %x, %11 : tensor<13x67xf32>
  %13 = autopar.neg %12 : tensor<13x67xf32>
  %14 = autopar.constant dense<5.000000000e-01> : tensor<13x67xf32>
  %15 = autopar.sub %x, %14 : tensor<13x67xf32>
  %16 = autopar.abs %15 : tensor<13x67xf32>
  %17 = autopar.constant dense<5.000000000e-01> : tensor<13x67xf32>
  %18 = autopar.sub %x, %17 : tensor<13x67xf32>
  %19 = autopar.sign %18 : tensor<13x67xf32>
  %20 = autopar.constant dense<5.000000000e-01> : tensor<13x67xf32>
  %21 = autopar.sub %x, %20 : tensor<13x67xf32>
  %22 = autopar.exp %21 : tensor<13x67xf32>
  %23 = autopar.sqrt %x : tensor<13x67xf32>
  %24 = autopar.constant dense<5.000000000e-01> : tensor<13x67xf32>
  %25 = autopar.sub %x, %24 : tensor<13x67xf32>
  %26 = autopar.tanh %25 : tensor<13x67xf32>
  %27 = autopar.constant dense<5.000000000e-01> : tensor<13x67xf32>
  %28 = autopar.sub %x, %27 : tensor<13x67xf32>
  %29 = autopar.erf %28 : tensor<13x67xf32>
  %30 = autopar.constant dense<5.000000000e-01> : tensor<13x67xf32>
  %31 = autopar.sub %x, %30 : tensor<13x67xf32>
  %32 = autopar.sin %31 : tensor<13x67xf32>
  %33 = autopar.constant dense<5.000000000e-01> : tensor<13x67xf32>
  %34 = autopar.sub %x, %33 : tensor<13x67xf32>
  %35 = autopar.cos %34 : tensor<13x67xf32>
  %36 = autopar.constant dense<5.000000000e-01> : tensor<13x67xf32>
  %37 = autopar.sub %x, %36 : tensor<13x67xf32>
  %38 = autopar.floor %37 : tensor<13x67xf32>
  %39 = autopar.constant dense<5.000000000e-01> : tensor<13x67xf32>
  %40 = autopar.sub %x, %39 : tensor<13x67xf32>
  %41 = autopar.ceil %40 : tensor<13x67xf32>
  %42 = autopar.constant dense<5.000000000e-01> : tensor<13x67xf32>
  %43 = autopar.sub %x, %42 : tensor<13x67xf32>
  %44 = autopar.relu %43 : tensor<13x67xf32>
  %45 = autopar.constant dense<5.000000000e-01> : tensor<13x67xf32>
  %46 = autopar.sub %x, %45 : tensor<13x67xf32>
  %47 = autopar.sigmoid %46 : tensor<13x67xf32>
  %48 = autopar.log %2 : tensor<13x67xf32>
  %49 = autopar.rsqrt %2 : tensor<13x67xf32>
  %50 = autopar.constant dense<7> : tensor<13x67xi32>
  %51 = autopar.add %i, %50 : tensor<13x67xi32>
  %52 = autopar.sub %i, %50 : tensor<13x67xi32>
  %53 = autopar.mul %i, %50 : tensor<13x67xi32>
  %54 = autopar.div %i, %50 : tensor<13x67xi32>
  %55 = autopar.rem %i, %50 : tensor<13x67xi32>
  %56 = autopar.max %i, %50 : tensor<13x67xi32>
  %57 = autopar.min %i, %50 : tensor<13x67xi32>
  %58 = autopar.and %i, %50 : tensor<13x67xi32>
  %59 = autopar.or %i, %50 : tensor<13x67xi32>
  %60 = autopar.xor %i, %50 : tensor<13x67xi32>
  %61 = autopar.neg %i : tensor<13x67xi32>
  %62 = autopar.abs %i : tensor<13x67xi32>
  %63 = autopar.sign %i : tensor<13x67xi32>
  %64 = autopar.not %i : tensor<13x67xi32>
  %65 = autopar.relu %i : tensor<13x67xi32>
  %66 = autopar.compare lt %x, %2 : tensor<13x67xf32> -> tensor<13x67xi1>
  %67 = autopar.select %66, %x, %2 : tensor<13x67xi1>, tensor<13x67xf32>
  %68 = autopar.compare ge %i, %50 : tensor<13x67xi32> -> tensor<13x67xi1>
  %69 = autopar.xor %66, %68 : tensor<13x67xi1>
  %70 = autopar.convert %i : tensor<13x67xi32> -> tensor<13x67xf32>
  %71 = autopar.constant dense<5.000000000e+01> : tensor<13x67xf32>
  %72 = autopar.mul %x, %71 : tensor<13x67xf32>
  %73 = autopar.convert %72 : tensor<13x67xf32> -> tensor<13x67xi32>
  %74 = autopar.reduce sum %x axes = [1] : tensor<13x67xf32> -> tensor<13xf32>
  %75 = autopar.reduce max %x axes = [0] : tensor<13x67xf32> -> tensor<67xf32>
  %76 = autopar.reduce min %i axes = [0, 1] : tensor<13x67xi32> -> tensor<i32>
  %77 = autopar.random_uniform seed = 903 : tensor<13x67xf32>
  %78 = autopar.constant dense<5.000000000e-01> : tensor<13x67xf32>
  %79 = autopar.add %77, %78 : tensor<13x67xf32>
  %80 = autopar.reduce prod %79 axes = [1] : tensor<13x67xf32> -> tensor<13xf32>
  %81 = autopar.broadcast %74 dims = [0] : tensor<13xf32> -> tensor<13x67xf32>
  %82 = autopar.transpose %x permutation = [1, 0] : tensor<13x67xf32> -> tensor<67x13xf32>
  %83 = autopar.reshape %x : tensor<13x67xf32> -> tensor<67x13xf32>
  %84 = autopar.slice %x offsets = [1, 2] strides = [1, 2] : tensor<13x67xf32> -> tensor<11x32xf32>
  %85 = autopar.concat %x, %2 axis = 0 : (tensor<13x67xf32>, tensor<13x67xf32>) -> tensor<26x67xf32>
  %86 = autopar.argmax %x axis = 1 : tensor<13x67xf32> -> tensor<13xi32>
  %87 = autopar.argmax %i axis = 0 : tensor<13x67xi32> -> tensor<67xi32>
  %88 = autopar.softmax %x axis = 1 : tensor<13x67xf32>
  %89 = autopar.softmax %x axis = 0 : tensor<13x67xf32>
  %90 = autopar.iota axis = 1 : tensor<13x67xi32>
  %91 = autopar.concat %x, %2 axis = 0 : (tensor<13x67xf32>, tensor<13x67xf32>) -> tensor<26x67xf32>
  %92 = autopar.reshape %91 : tensor<26x67xf32> -> tensor<2x13x67xf32>
  %93 = autopar.matmul %92, %92 transpose_b : tensor<2x13x67xf32>, tensor<2x13x67xf32> -> tensor<2x13x13xf32>
  %94 = autopar.matmul %92, %92 transpose_a : tensor<2x13x67xf32>, tensor<2x13x67xf32> -> tensor<2x67x67xf32>
  return %3, %4, %5, %6, %7, %8, %9, %10, %13, %16, %19, %22, %23, %26, %29, %32, %35, %38, %41, %44, %47, %48, %49, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %69, %70, %73, %74, %75, %76, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %93, %94 : tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xi32>, tensor<13x67xi32>, tensor<13x67xi32>, tensor<13x67xi32>, tensor<13x67xi32>, tensor<13x67xi32>, tensor<13x67xi32>, tensor<13x67xi32>, tensor<13x67xi32>, tensor<13x67xi32>, tensor<13x67xi32>, tensor<13x67xi32>, tensor<13x67xi32>, tensor<13x67xi32>, tensor<13x67xi32>, tensor<13x67xi1>, tensor<13x67xf32>, tensor<13x67xi1>, tensor<13x67xf32>, tensor<13x67xi32>, tensor<13xf32>, tensor<67xf32>, tensor<i32>, tensor<13xf32>, tensor<13x67xf32>, tensor<67x13xf32>, tensor<67x13xf32>, tensor<11x32xf32>, tensor<26x67xf32>, tensor<13xi32>, tensor<67xi32>, tensor<13x67xf32>, tensor<13x67xf32>, tensor<13x67xi32>, tensor<2x13x13xf32>, tensor<2x67x67xf32>
}
