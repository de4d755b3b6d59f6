// Math functions, against double precision, within the bounds that MathRoutines.h states.
#include "test/compiler/codegen/kernel_harness.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

namespace autopar::codegen_test {
namespace {

struct MathCase {
  const char* op;
  double bound;  // ulp
  std::function<double(double)> exact;
};

const MathCase kCases[] = {
    {"exp", 1.0, [](double x) { return std::exp(x); }},
    {"log", 1.0, [](double x) { return std::log(x); }},
    {"rsqrt", 1.5, [](double x) { return 1 / std::sqrt(x); }},
    {"tanh", 5.0, [](double x) { return std::tanh(x); }},
    {"erf", 5.0, [](double x) { return std::erf(x); }},
    {"sin", 1.5, [](double x) { return std::sin(x); }},
    {"cos", 1.5, [](double x) { return std::cos(x); }},
    {"sigmoid", 3.0, [](double x) { return 1 / (1 + std::exp(-x)); }},
};

std::string Unary(const std::string& op, const std::string& type) {
  return "%r = autopar." + op + " %0 : " + type + "\n autopar.yield %r : " + type;
}

// Bit patterns of all of f32, and dense where functions change.
std::vector<float> Arguments(int64_t count) {
  std::vector<float> values = anyFloats(count, 7);
  for (int64_t i = 0; i < count; ++i)
    if (i % 4 == 3) values[i] = floatsIn(1, -12, 12, i)[0];
  return values;
}

TEST(MathKernel, StaysWithinItsBound) {
  constexpr int64_t kCount = 1 << 18;
  Tensor x = Tensor::f32({kCount}, Arguments(kCount));
  for (const MathCase& math : kCases) {
    Tensor r = evaluateOne({x}, x, Unary(math.op, x.type()));
    double worst = 0;
    float where = 0;
    for (int64_t i = 0; i < kCount; ++i) {
      // Where sigmoid's sum is infinite the result is 0 instead of a denormal: 1 / (1 + exp(-x)) is what the op says.
      double exact = math.exact(x.floats()[i]);
      if (std::string(math.op) == "sigmoid" && std::abs(exact) < 0x1p-126) continue;
      double ulps = ulpsFrom(r.floats()[i], exact);
      if (ulps > worst) {
        worst = ulps;
        where = x.floats()[i];
      }
    }
    EXPECT_LE(worst, math.bound) << math.op << " at " << where;
    RecordProperty(std::string(math.op) + "_ulp", std::to_string(worst));
  }
}

TEST(MathKernel, SpecialValues) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const std::vector<float> x = {0.0f, -0.0f, inf, -inf, nan, -1.0f, 1e-45f, 3.4e38f};
  const std::pair<const char*, std::vector<float>> expected[] = {
      {"exp", {1, 1, inf, 0, nan, std::exp(-1.0f), 1, inf}},
      {"log", {-inf, -inf, inf, nan, nan, nan, -103.2789f, std::log(3.4e38f)}},
      {"rsqrt", {inf, -inf, 0, nan, nan, nan, 2.6713738e22f, 1 / std::sqrt(3.4e38f)}},
      {"tanh", {0, -0.0f, 1, -1, nan, std::tanh(-1.0f), 1e-45f, 1}},
      {"erf", {0, -0.0f, 1, -1, nan, std::erf(-1.0f), 1e-45f, 1}},
      {"sin", {0, -0.0f, nan, nan, nan, std::sin(-1.0f), 1e-45f, std::sin(3.4e38f)}},
      {"cos", {1, 1, nan, nan, nan, std::cos(-1.0f), 1, std::cos(3.4e38f)}},
      {"sigmoid", {0.5, 0.5, 1, 0, nan, 0.26894142f, 0.5, 1}},
  };
  Tensor in = Tensor::f32({8}, x);
  for (const auto& [op, values] : expected) {
    Tensor r = evaluateOne({in}, in, Unary(op, in.type()));
    for (int i = 0; i < 8; ++i) {
      if (std::isnan(values[i]) || std::isinf(values[i]) || values[i] == 0)
        EXPECT_TRUE(sameFloat(r.floats()[i], values[i])) << op << "(" << x[i] << ") gave " << r.floats()[i];
      else
        EXPECT_NEAR(r.floats()[i], values[i], std::abs(values[i]) * 1e-5) << op << "(" << x[i] << ")";
    }
  }
}

// The same value at every place of arrays of every length: a vector's body and its rest run the same operations.
TEST(MathKernel, BodyAndRestAgree) {
  for (const MathCase& math : kCases) {
    std::vector<uint32_t> bits;
    for (int64_t size : {1, 5, 8, 19, 37, 67}) {
      Tensor x("f32", {size});
      CompiledTask task({x}, {x}, Unary(math.op, x.type()));
      ASSERT_TRUE(task.ok()) << task.error();
      const std::vector<float> values = {0.1f, 0.7f, 2.3f, 5.9f, 11.3f, 60.1f, 1e-39f, 3e5f};
      for (size_t v = 0; v < values.size(); ++v) {
        std::fill(x.floats(), x.floats() + size, values[v]);
        Tensor r = task.run({x})[0];
        if (bits.size() <= v) bits.push_back(std::bit_cast<uint32_t>(r.floats()[0]));
        for (int64_t i = 0; i < size; ++i)
          ASSERT_EQ(std::bit_cast<uint32_t>(r.floats()[i]), bits[v])
              << math.op << "(" << values[v] << ") at " << i << " of " << size;
      }
    }
  }
}

TEST(MathKernel, OldAndNewProcessorsGiveTheSameBits) {
  Tensor x = Tensor::f32({4099}, Arguments(4099));
  for (const MathCase& math : kCases) {
    Tensor native = evaluateOne({x}, x, Unary(math.op, x.type()));
    Tensor v3 = evaluateOne({x}, x, Unary(math.op, x.type()), "x86-64-v3");
    for (int64_t i = 0; i < 4099; ++i)
      ASSERT_TRUE(sameFloat(native.floats()[i], v3.floats()[i])) << math.op << "(" << x.floats()[i] << ")";
  }
}

TEST(MathKernel, PowAsInC) {
  std::vector<float> special = anyFloats(40, 3);
  for (float extra : {2.0f, 3.0f, 4.0f, -3.0f, -2.0f, 0.5f, 1.5f, 16777216.0f, 16777215.0f}) special.push_back(extra);
  const int64_t edge = special.size(), count = edge * edge + 100000;
  Tensor x("f32", {count}), y("f32", {count});
  std::vector<float> bases = floatsIn(count, 0, 20, 1), exponents = floatsIn(count, -30, 30, 2);
  for (int64_t i = 0; i < count; ++i) {
    x.floats()[i] = i < edge * edge ? special[i / edge] : bases[i];
    y.floats()[i] = i < edge * edge ? special[i % edge] : exponents[i];
  }
  Tensor r = evaluateOne({x, y}, x, "%r = autopar.pow %0, %1 : " + x.type() + "\n autopar.yield %r : " + x.type());
  for (int64_t i = 0; i < count; ++i) {
    double exact = std::pow(double(x.floats()[i]), double(y.floats()[i]));
    ASSERT_LE(ulpsFrom(r.floats()[i], exact), 1.0)
        << "pow(" << x.floats()[i] << ", " << y.floats()[i] << ") gave " << r.floats()[i] << ", not " << exact;
    if (exact == 0) {
      ASSERT_EQ(std::signbit(r.floats()[i]), std::signbit(exact)) << x.floats()[i] << " " << y.floats()[i];
    }
  }
}

// Philox4x32-10 from its definition, word by word.
float PhiloxUniform(uint64_t seed, uint64_t index) {
  uint64_t block = index / 4;
  uint32_t c[4] = {uint32_t(block), uint32_t(block >> 32), 0, 0}, k[2] = {uint32_t(seed), uint32_t(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = 0xD2511F53ull * c[0], p1 = 0xCD9E8D57ull * c[2];
    uint32_t n[4] = {uint32_t(p1 >> 32) ^ c[1] ^ k[0], uint32_t(p1), uint32_t(p0 >> 32) ^ c[3] ^ k[1], uint32_t(p0)};
    std::copy(n, n + 4, c);
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return static_cast<float>(c[index % 4] >> 8) * 0x1p-24f;
}

TEST(MathKernel, PhiloxKnownAnswer) {
  // The generator's published test vector for a zero counter and a zero key: 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
  EXPECT_EQ(PhiloxUniform(0, 0), (0x6627e8d5u >> 8) * 0x1p-24f);
  EXPECT_EQ(PhiloxUniform(0, 3), (0x9b00dbd8u >> 8) * 0x1p-24f);
  for (uint64_t seed : {uint64_t{0}, uint64_t{0xdeadbeefcafe1234}})
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, {1}, {7}, {1000}, {17, 33}}) {
      Tensor t("f32", shape);
      Tensor r = evaluateOne({}, t, "%r = autopar.random_uniform seed = " + std::to_string(int64_t(seed)) + " : " +
                                        t.type() + "\n autopar.yield %r : " + t.type());
      for (int64_t i = 0; i < t.size(); ++i) ASSERT_EQ(r.floats()[i], PhiloxUniform(seed, i)) << i;
    }
}

}  // namespace
}  // namespace autopar::codegen_test
