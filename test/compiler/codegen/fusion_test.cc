// Several ops in one kernel: the same bits as one kernel per op.
#include "test/compiler/codegen/kernel_harness.h"

#include <gtest/gtest.h>

#include <cmath>

namespace autopar::codegen_test {
namespace {

TEST(FusedKernel, RowAndColumnVectorsAreReadInPlace) {
  Tensor x = Tensor::f32({65, 70}, floatsIn(65 * 70, -2, 2, 1)), row = Tensor::f32({70}, floatsIn(70, -2, 2, 2)),
         column = Tensor::f32({65}, floatsIn(65, -2, 2, 3)), scalar = Tensor::f32({}, {0.25f});
  Tensor r = evaluateOne({x, row, column, scalar}, x, R"(
    %b = autopar.broadcast %1 dims = [1] : tensor<70xf32> -> tensor<65x70xf32>
    %c = autopar.broadcast %2 dims = [0] : tensor<65xf32> -> tensor<65x70xf32>
    %d = autopar.broadcast %3 dims = [] : tensor<f32> -> tensor<65x70xf32>
    %s = autopar.add %0, %b : tensor<65x70xf32>
    %t = autopar.mul %s, %c : tensor<65x70xf32>
    %u = autopar.sub %t, %d : tensor<65x70xf32>
    %v = autopar.relu %u : tensor<65x70xf32>
    autopar.yield %v : tensor<65x70xf32>)");
  for (int i = 0; i < 65; ++i)
    for (int j = 0; j < 70; ++j) {
      volatile float s = x.floats()[i * 70 + j] + row.floats()[j];
      volatile float t = s * column.floats()[i];
      ASSERT_EQ(r.floats()[i * 70 + j], std::max(t - 0.25f, 0.0f));
    }
}

TEST(FusedKernel, TransposedAndSlicedOperandsOfASmallKernel) {
  Tensor x = Tensor::f32({7, 9}, floatsIn(63, -2, 2, 1)), y = Tensor::f32({9, 7}, floatsIn(63, -2, 2, 2)),
         z = Tensor::f32({20, 20}, floatsIn(400, -2, 2, 3));
  Tensor r = evaluateOne({x, y, z}, x, R"(
    %t = autopar.transpose %1 permutation = [1, 0] : tensor<9x7xf32> -> tensor<7x9xf32>
    %s = autopar.slice %2 offsets = [1, 2] strides = [2, 2] : tensor<20x20xf32> -> tensor<7x9xf32>
    %a = autopar.add %0, %t : tensor<7x9xf32>
    %m = autopar.mul %a, %s : tensor<7x9xf32>
    autopar.yield %m : tensor<7x9xf32>)");
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 9; ++j) {
      volatile float a = x.floats()[i * 9 + j] + y.floats()[j * 7 + i];
      ASSERT_EQ(r.floats()[i * 9 + j], a * z.floats()[(1 + 2 * i) * 20 + 2 + 2 * j]);
    }
}

TEST(FusedKernel, AReshapeInsideAChain) {
  Tensor x = Tensor::f32({6, 20}, floatsIn(120, -2, 2, 1)), y = Tensor::f32({120}, floatsIn(120, -2, 2, 2));
  std::vector<Tensor> r = evaluate({x, y}, {y, x}, R"(
    %n = autopar.neg %0 : tensor<6x20xf32>
    %f = autopar.reshape %n : tensor<6x20xf32> -> tensor<120xf32>
    %a = autopar.add %f, %1 : tensor<120xf32>
    autopar.yield %a, %n : tensor<120xf32>, tensor<6x20xf32>)");
  for (int i = 0; i < 120; ++i) {
    ASSERT_EQ(r[0].floats()[i], y.floats()[i] - x.floats()[i]);
    ASSERT_EQ(r[1].floats()[i], -x.floats()[i]);
  }
}

TEST(FusedKernel, ALongChainOfSharedValues) {
  Tensor x = Tensor::f32({333}, floatsIn(333, -1, 1, 1));
  std::string body = "%v0 = autopar.neg %0 : tensor<333xf32>\n";
  std::vector<float> expected(x.floats(), x.floats() + 333);
  for (float& v : expected) v = -v;
  for (int op = 1; op <= 60; ++op) {
    std::string last = "%v" + std::to_string(op - 1);
    bool doubles = op % 2;  // a value that is used twice
    body += "%v" + std::to_string(op) + " = autopar." + (doubles ? "add " + last + ", " + last : "sub " + last + ", %0") +
            " : tensor<333xf32>\n";
    for (int i = 0; i < 333; ++i) expected[i] = doubles ? expected[i] + expected[i] : expected[i] - x.floats()[i];
  }
  Tensor r = evaluateOne({x}, x, body + "autopar.yield %v60 : tensor<333xf32>");
  for (int i = 0; i < 333; ++i) ASSERT_EQ(r.floats()[i], expected[i]);
}

TEST(FusedKernel, AnExpensiveOpUnderABroadcastIsRefused) {
  Tensor row("f32", {70}), out("f32", {65, 70});
  CompiledTask task({row}, {out}, R"(
    %e = autopar.exp %0 : tensor<70xf32>
    %b = autopar.broadcast %e dims = [1] : tensor<70xf32> -> tensor<65x70xf32>
    autopar.yield %b : tensor<65x70xf32>)");
  EXPECT_NE(task.error().find("'autopar.exp' would be repeated"), std::string::npos) << task.error();
}

std::vector<float> Product(const Tensor& a, const Tensor& b, int m, int n, int k) {
  std::vector<float> c(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += double(a.floats()[i * k + l]) * b.floats()[l * n + j];
      c[i * n + j] = static_cast<float>(sum);
    }
  return c;
}

TEST(MatmulKernel, EpilogueRewritesItsTile) {
  constexpr int m = 17, n = 23, k = 5;
  Tensor a = Tensor::f32({m, k}, floatsIn(m * k, -1, 1, 1)), b = Tensor::f32({k, n}, floatsIn(k * n, -1, 1, 2)),
         bias = Tensor::f32({n}, floatsIn(n, -1, 1, 3)), full = Tensor::f32({m, n}, floatsIn(m * n, -1, 1, 4));
  // The bias comes first: the kernel reads the factors first all the same.
  std::vector<Tensor> r = evaluate({bias, a, b, full}, {full}, R"(
    %p = autopar.matmul %1, %2 : tensor<17x5xf32>, tensor<5x23xf32> -> tensor<17x23xf32>
    %b = autopar.broadcast %0 dims = [1] : tensor<23xf32> -> tensor<17x23xf32>
    %s = autopar.add %p, %b : tensor<17x23xf32>
    %t = autopar.mul %s, %3 : tensor<17x23xf32>
    %r = autopar.relu %t : tensor<17x23xf32>
    autopar.yield %r : tensor<17x23xf32>)");
  std::vector<float> c = Product(a, b, m, n, k);
  for (int i = 0; i < m * n; ++i) {
    volatile float s = c[i] + bias.floats()[i % n];
    ASSERT_EQ(r[0].floats()[i], std::max(s * full.floats()[i], 0.0f));
  }
}

TEST(MatmulKernel, BatchedEpilogueToIntegers) {
  Tensor a = Tensor::f32({3, 4, 2}, floatsIn(24, -9, 9, 1)), b = Tensor::f32({1, 2, 6}, floatsIn(12, -9, 9, 2)),
         out("i32", {3, 4, 6}), perBatch = Tensor::i32({3}, {10, 20, 30});
  Tensor r = evaluateOne({a, b, perBatch}, out, R"(
    %p = autopar.matmul %0, %1 : tensor<3x4x2xf32>, tensor<1x2x6xf32> -> tensor<3x4x6xf32>
    %i = autopar.convert %p : tensor<3x4x6xf32> -> tensor<3x4x6xi32>
    %o = autopar.broadcast %2 dims = [0] : tensor<3xi32> -> tensor<3x4x6xi32>
    %s = autopar.add %i, %o : tensor<3x4x6xi32>
    autopar.yield %s : tensor<3x4x6xi32>)");
  std::vector<float> c = Product(Tensor::f32({12, 2}, std::vector<float>(a.floats(), a.floats() + 24)), b, 12, 6, 2);
  for (int i = 0; i < 72; ++i) ASSERT_EQ(r.ints()[i], static_cast<int32_t>(c[i]) + 10 * (1 + i / 24));
}

TEST(MatmulKernel, WithoutEpilogueThereIsNoCode) {
  Tensor a("f32", {4, 4});
  CompiledTask task({a}, {a}, "%p = autopar.matmul %0, %0 : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>\n"
                              "autopar.yield %p : tensor<4x4xf32>");
  ASSERT_TRUE(task.ok()) << task.error();
  EXPECT_EQ(task.symbol(), nullptr);
  EXPECT_EQ(task.tileCount(), 1);
}

TEST(MatmulKernel, MixedBatchesAndSplatFactorsAreGenerated) {
  Tensor a = Tensor::f32({2, 1, 3, 4}, floatsIn(24, -1, 1, 1)), b = Tensor::f32({1, 5, 6, 4}, floatsIn(120, -1, 1, 2)),
         out("f32", {2, 5, 3, 6});
  Tensor r = evaluateOne({a, b}, out, R"(
    %p = autopar.matmul %0, %1 transpose_b : tensor<2x1x3x4xf32>, tensor<1x5x6x4xf32> -> tensor<2x5x3x6xf32>
    autopar.yield %p : tensor<2x5x3x6xf32>)");
  for (int x = 0; x < 2; ++x)
    for (int y = 0; y < 5; ++y)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 6; ++j) {
          double sum = 0;
          for (int k = 0; k < 4; ++k) sum += double(a.floats()[(x * 3 + i) * 4 + k]) * b.floats()[(y * 6 + j) * 4 + k];
          ASSERT_NEAR(r.floats()[((x * 5 + y) * 3 + i) * 6 + j], sum, 1e-6);
        }
  Tensor square = Tensor::f32({4, 3}, floatsIn(12, -1, 1, 3)), rows("f32", {3, 2});
  Tensor s = evaluateOne({square}, rows, R"(
    %c = autopar.constant dense<2.0> : tensor<4x2xf32>
    %p = autopar.matmul %0, %c transpose_a : tensor<4x3xf32>, tensor<4x2xf32> -> tensor<3x2xf32>
    autopar.yield %p : tensor<3x2xf32>)");
  for (int i = 0; i < 6; ++i) {
    double sum = 0;
    for (int k = 0; k < 4; ++k) sum += 2.0 * square.floats()[k * 3 + i / 2];
    ASSERT_NEAR(s.floats()[i], sum, 1e-6);
  }
}

}  // namespace
}  // namespace autopar::codegen_test
