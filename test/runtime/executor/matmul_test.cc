// Matrix products against a plain triple loop, and the bits that must not change.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "test/runtime/executor/schedule_builder.h"

namespace autopar {
namespace {

constexpr DeviceId kCpu{0};

TensorType Floats(int64_t count) { return {ElementType::kF32, {count}}; }

struct Case {
  MatmulParams params;
  std::string epilogue;
  uint32_t cores = 2;
};

std::vector<float> Reference(const MatmulParams& p, const std::vector<float>& a,
                             const std::vector<float>& b) {
  std::vector<float> c(static_cast<size_t>(p.batch * p.m * p.n));
  for (int64_t batch = 0; batch < p.batch; ++batch) {
    const float* a_item = a.data() + (p.a_batch == 1 ? 0 : batch) * p.m * p.k;
    const float* b_item = b.data() + (p.b_batch == 1 ? 0 : batch) * p.k * p.n;
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < p.k; ++l) {
          sum += double{a_item[p.transpose_a ? l * p.m + i : i * p.k + l]} *
                 b_item[p.transpose_b ? j * p.k + l : l * p.n + j];
        }
        c[static_cast<size_t>((batch * p.m + i) * p.n + j)] = static_cast<float>(sum);
      }
    }
  }
  return c;
}

// Runs the product twice in one session; both calls must agree in every bit. Gaps are verified.
std::vector<float> RunProduct(const Case& test, const std::vector<float>& a,
                              const std::vector<float>& b, const std::vector<float>& bias = {}) {
  const MatmulParams& p = test.params;
  ScheduleBuilder builder(TestMachine(0, test.cores));
  builder.AddModule(AUTOPAR_TEST_KERNELS);
  uint64_t c_bytes = static_cast<uint64_t>(p.batch * p.m * p.n) * 4;
  SpaceId a_space = builder.Argument(Floats(static_cast<int64_t>(a.size())));
  SpaceId b_space = builder.Argument(Floats(static_cast<int64_t>(b.size())));
  SpaceId bias_space = builder.Argument(Floats(static_cast<int64_t>(bias.size())));
  SpaceId result = builder.Result(Floats(p.batch * p.m * p.n));
  // Not at the start of the arena, with gaps around it.
  SpaceId arena = builder.Arena(kCpu, 256 + c_bytes + 64);
  StreamId stream = builder.Compute(kCpu);
  Region c = builder.Piece(arena, 256, c_bytes);
  std::vector<Region> reads = {builder.Whole(a_space), builder.Whole(b_space)};
  std::vector<uint64_t> more_reads;
  if (!test.epilogue.empty()) {
    reads.push_back(builder.Whole(bias_space));
    more_reads.push_back(bias.size() * 4);
  }
  builder.Launch(stream, builder.Matmul("product", p, test.epilogue, more_reads), reads, {c});
  builder.Copy(stream, c, builder.Whole(result));
  auto program = builder.Build();
  EXPECT_TRUE(program.ok()) << program.status();
  if (!program.ok()) return {};
  auto session = Session::Create(*program, {.poison = true});
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok()) return {};
  std::vector<std::vector<uint8_t>> inputs = {BytesOf(a), BytesOf(b), BytesOf(bias)};
  auto first = CallMain(**program, **session, inputs);
  auto second = CallMain(**program, **session, inputs);
  EXPECT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(second.ok()) << second.status();
  if (!first.ok() || !second.ok()) return {};
  EXPECT_EQ((*first)[0], (*second)[0]);
  return FloatsOf((*first)[0]);
}

void ExpectProduct(const MatmulParams& p) {
  std::vector<float> a = TestFloats(static_cast<size_t>(p.a_batch * p.m * p.k), 1);
  std::vector<float> b = TestFloats(static_cast<size_t>(p.b_batch * p.k * p.n), 2);
  std::vector<float> expected = Reference(p, a, b);
  std::vector<float> found = RunProduct({.params = p, .epilogue = ""}, a, b);
  ASSERT_EQ(found.size(), expected.size());
  // Each of k products of values within [-1, 1] and each partial sum (at most k) is rounded once.
  float bound = static_cast<float>(p.k) * static_cast<float>(p.k) * 6.0e-8f;
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], bound) << "element " << i;
  }
}

TEST(Matmul, AllTransposesAndOddSizes) {
  for (bool transpose_a : {false, true}) {
    for (bool transpose_b : {false, true}) {
      for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1}, {1, 37, 5}, {5, 1, 33}, {7, 13, 1},
                             {129, 257, 65}, {37, 300, 17}, {300, 31, 129}}) {
        SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << transpose_a << transpose_b);
        ExpectProduct({.m = m, .n = n, .k = k, .transpose_a = transpose_a,
                       .transpose_b = transpose_b, .tile_m = 64, .tile_n = 128});
      }
    }
  }
}

TEST(Matmul, BatchesAndBroadcastOperands) {
  for (int64_t a_batch : {1, 3}) {
    for (int64_t b_batch : {1, 3}) {
      SCOPED_TRACE(testing::Message() << a_batch << " " << b_batch);
      ExpectProduct({.batch = 3, .m = 17, .n = 19, .k = 23, .a_batch = a_batch, .b_batch = b_batch,
                     .transpose_b = true, .tile_m = 8, .tile_n = 16});
    }
  }
}

TEST(Matmul, NoTermsGiveZerosThenTheEpilogue) {
  std::vector<float> found = RunProduct({.params = {.m = 5, .n = 37, .k = 0}, .epilogue = ""}, {}, {});
  EXPECT_EQ(found, std::vector<float>(5 * 37, 0.0f));
  std::vector<float> bias = TestFloats(37, 3);
  found = RunProduct({.params = {.m = 5, .n = 37, .k = 0}, .epilogue = "bias_relu"}, {}, {}, bias);
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], std::max(bias[i % 37], 0.0f));
}

TEST(Matmul, EmptyProductsDoNothing) {
  for (auto [batch, m, n] : {std::array<int64_t, 3>{0, 2, 3}, {1, 0, 3}, {1, 2, 0}}) {
    MatmulParams p{.batch = batch, .m = m, .n = n, .k = 4, .a_batch = batch, .b_batch = batch};
    std::vector<float> a(static_cast<size_t>(p.a_batch * m * 4), 1.0f);
    std::vector<float> b(static_cast<size_t>(p.b_batch * n * 4), 1.0f);
    EXPECT_TRUE(RunProduct({.params = p, .epilogue = ""}, a, b).empty());
  }
}

TEST(Matmul, EpilogueSeesEachElementOnce) {
  MatmulParams p{.batch = 2, .m = 33, .n = 37, .k = 8, .a_batch = 2, .b_batch = 1, .tile_m = 8,
                 .tile_n = 16};
  std::vector<float> a = TestFloats(2 * 33 * 8, 1), b = TestFloats(8 * 37, 2);
  std::vector<float> bias = TestFloats(37, 3);
  std::vector<float> plain = RunProduct({.params = p, .epilogue = ""}, a, b);
  std::vector<float> found = RunProduct({.params = p, .epilogue = "bias_relu"}, a, b, bias);
  ASSERT_EQ(found.size(), plain.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i], std::max(plain[i] + bias[i % 37], 0.0f)) << i;
  }
}

// The rule that lets rows be cut anywhere: the bits of an element do not depend on tile_m.
TEST(Matmul, BitsDoNotDependOnTheRowsOfATile) {
  for (bool transpose_a : {false, true}) {
    for (bool transpose_b : {false, true}) {
      for (auto [n, k] : {std::array<int64_t, 2>{1, 64}, {1, 1000}, {2, 300}, {10, 128}, {16, 33},
                          {37, 700}, {128, 64}, {250, 513}, {256, 1024}, {300, 2000}}) {
        MatmulParams p{.m = 67, .n = n, .k = k, .transpose_a = transpose_a,
                       .transpose_b = transpose_b, .tile_m = 67, .tile_n = 128};
        std::vector<float> a = TestFloats(static_cast<size_t>(p.m * p.k), 1);
        std::vector<float> b = TestFloats(static_cast<size_t>(p.k * p.n), 2);
        std::vector<float> whole = RunProduct({.params = p, .epilogue = ""}, a, b);
        for (int64_t tile_m : {1, 2, 3, 5, 16, 33, 64}) {
          p.tile_m = tile_m;
          std::vector<float> cut = RunProduct({.params = p, .epilogue = ""}, a, b);
          size_t different = 0;
          for (size_t i = 0; i < cut.size(); ++i) different += cut[i] != whole[i];
          EXPECT_EQ(different, 0u) << "n " << n << " k " << k << " tile_m " << tile_m << " "
                                   << transpose_a << transpose_b;
        }
      }
    }
  }
}

TEST(Matmul, BitsDoNotDependOnCores) {
  MatmulParams p{.m = 500, .n = 300, .k = 200, .tile_m = 32, .tile_n = 64};
  std::vector<float> a = TestFloats(500 * 200, 1), b = TestFloats(200 * 300, 2);
  std::vector<float> one = RunProduct({.params = p, .epilogue = "", .cores = 1}, a, b);
  for (int repeat = 0; repeat < 20; ++repeat) {
    EXPECT_EQ(RunProduct({.params = p, .epilogue = "", .cores = 2}, a, b), one);
  }
}

}  // namespace
}  // namespace autopar
