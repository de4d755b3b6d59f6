// Elementwise ops, against plain C++ that rounds as IEEE 754 does.
#include "test/compiler/codegen/kernel_harness.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

namespace autopar::codegen_test {
namespace {

constexpr int64_t kSizes[] = {1, 2, 7, 63, 64, 65, 1000};
constexpr int32_t kMin = std::numeric_limits<int32_t>::min(), kMax = std::numeric_limits<int32_t>::max();

std::string Unary(const std::string& op, const std::string& type) {
  return "%r = autopar." + op + " %0 : " + type + "\n autopar.yield %r : " + type;
}
std::string Binary(const std::string& op, const std::string& type) {
  return "%r = autopar." + op + " %0, %1 : " + type + "\n autopar.yield %r : " + type;
}
std::string Cast(const std::string& op, const Tensor& from, const Tensor& to) {
  return "%r = autopar." + op + " : " + from.type() + " -> " + to.type() + "\n autopar.yield %r : " + to.type();
}

float Maximum(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::nanf("");
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
float Minimum(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::nanf("");
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

// Pairs that meet every special value with every other.
void CheckFloatBinary(const std::string& op, const std::function<float(float, float)>& expected) {
  for (int64_t size : kSizes) {
    Tensor a = Tensor::f32({size}, anyFloats(size, 1)), b = Tensor::f32({size}, anyFloats(size, 2));
    for (int64_t i = 0; i < size; ++i)
      if (size == 1000 && i < 900) {
        std::vector<float> special = anyFloats(30, 3);
        a.floats()[i] = special[i / 30];
        b.floats()[i] = special[i % 30];
      }
    Tensor r = evaluateOne({a, b}, a, Binary(op, a.type()));
    for (int64_t i = 0; i < size; ++i)
      ASSERT_TRUE(sameFloat(r.floats()[i], expected(a.floats()[i], b.floats()[i])))
          << op << "(" << a.floats()[i] << ", " << b.floats()[i] << ") gave " << r.floats()[i] << ", not "
          << expected(a.floats()[i], b.floats()[i]);
  }
}

void CheckFloatUnary(const std::string& op, const std::function<float(float)>& expected) {
  for (int64_t size : kSizes) {
    Tensor a = Tensor::f32({size}, anyFloats(size, 1));
    Tensor r = evaluateOne({a}, a, Unary(op, a.type()));
    for (int64_t i = 0; i < size; ++i)
      ASSERT_TRUE(sameFloat(r.floats()[i], expected(a.floats()[i])))
          << op << "(" << a.floats()[i] << ") gave " << r.floats()[i] << ", not " << expected(a.floats()[i]);
  }
}

void CheckIntBinary(const std::string& op, const std::function<int32_t(int64_t, int64_t)>& expected) {
  for (int64_t size : kSizes) {
    Tensor a = Tensor::i32({size}, anyInts(size, 1)), b = Tensor::i32({size}, anyInts(size, 2));
    for (int64_t i = 0; i < size && size == 1000; ++i)
      if (i < 100) {
        a.ints()[i] = anyInts(10, 3)[i / 10];
        b.ints()[i] = anyInts(10, 3)[i % 10];
      }
    Tensor r = evaluateOne({a, b}, a, Binary(op, a.type()));
    for (int64_t i = 0; i < size; ++i)
      ASSERT_EQ(r.ints()[i], expected(a.ints()[i], b.ints()[i]))
          << op << "(" << a.ints()[i] << ", " << b.ints()[i] << ")";
  }
}

void CheckIntUnary(const std::string& op, const std::function<int32_t(int64_t)>& expected) {
  for (int64_t size : kSizes) {
    Tensor a = Tensor::i32({size}, anyInts(size, 1));
    Tensor r = evaluateOne({a}, a, Unary(op, a.type()));
    for (int64_t i = 0; i < size; ++i) ASSERT_EQ(r.ints()[i], expected(a.ints()[i])) << op << "(" << a.ints()[i] << ")";
  }
}

int32_t Wrap(int64_t value) { return static_cast<int32_t>(static_cast<uint64_t>(value)); }

TEST(ElementwiseKernel, FloatArithmeticRoundsOnce) {
  CheckFloatBinary("add", [](float a, float b) { return a + b; });
  CheckFloatBinary("sub", [](float a, float b) { return a - b; });
  CheckFloatBinary("mul", [](float a, float b) { return a * b; });
  CheckFloatBinary("div", [](float a, float b) { return a / b; });
  CheckFloatBinary("rem", [](float a, float b) { return std::fmod(a, b); });
}

TEST(ElementwiseKernel, MaxAndMinKeepNanAndOrderZeros) {
  CheckFloatBinary("max", Maximum);
  CheckFloatBinary("min", Minimum);
}

TEST(ElementwiseKernel, FloatUnaryOps) {
  CheckFloatUnary("neg", [](float a) { return -a; });
  CheckFloatUnary("abs", [](float a) { return std::fabs(a); });
  CheckFloatUnary("sqrt", [](float a) { return std::sqrt(a); });
  CheckFloatUnary("floor", [](float a) { return std::floor(a); });
  CheckFloatUnary("ceil", [](float a) { return std::ceil(a); });
  CheckFloatUnary("relu", [](float a) { return std::isnan(a) ? a : (a > 0 ? a : 0.0f); });
  CheckFloatUnary("sign", [](float a) { return std::isnan(a) ? a : (a > 0 ? 1.0f : (a < 0 ? -1.0f : 0.0f)); });
}

TEST(ElementwiseKernel, IntegerArithmeticWrapsAndNeverTraps) {
  CheckIntBinary("add", [](int64_t a, int64_t b) { return Wrap(a + b); });
  CheckIntBinary("sub", [](int64_t a, int64_t b) { return Wrap(a - b); });
  CheckIntBinary("mul", [](int64_t a, int64_t b) { return Wrap(a * b); });
  CheckIntBinary("div", [](int64_t a, int64_t b) { return b == 0 ? -1 : Wrap(a / b); });
  CheckIntBinary("rem", [](int64_t a, int64_t b) { return b == 0 ? Wrap(a) : Wrap(a % b); });
  CheckIntBinary("max", [](int64_t a, int64_t b) { return Wrap(std::max(a, b)); });
  CheckIntBinary("min", [](int64_t a, int64_t b) { return Wrap(std::min(a, b)); });
  CheckIntBinary("and", [](int64_t a, int64_t b) { return Wrap(a & b); });
  CheckIntBinary("or", [](int64_t a, int64_t b) { return Wrap(a | b); });
  CheckIntBinary("xor", [](int64_t a, int64_t b) { return Wrap(a ^ b); });
  CheckIntUnary("neg", [](int64_t a) { return Wrap(-a); });
  CheckIntUnary("abs", [](int64_t a) { return Wrap(std::abs(a)); });
  CheckIntUnary("not", [](int64_t a) { return Wrap(~a); });
  CheckIntUnary("sign", [](int64_t a) { return (a > 0) - (a < 0); });
  CheckIntUnary("relu", [](int64_t a) { return Wrap(std::max<int64_t>(a, 0)); });
}

TEST(ElementwiseKernel, ComparisonsWithNanAreFalseButNe) {
  const std::pair<const char*, std::function<bool(float, float)>> predicates[] = {
      {"eq", [](float a, float b) { return a == b; }}, {"ne", [](float a, float b) { return a != b; }},
      {"lt", [](float a, float b) { return a < b; }},  {"le", [](float a, float b) { return a <= b; }},
      {"gt", [](float a, float b) { return a > b; }},  {"ge", [](float a, float b) { return a >= b; }}};
  for (const auto& [name, holds] : predicates)
    for (int64_t size : {7, 1000}) {
      Tensor a = Tensor::f32({size}, anyFloats(size, 1)), b = Tensor::f32({size}, anyFloats(size, 1));
      for (int64_t i = 0; i < size; i += 3) b.floats()[i] = anyFloats(30, 1)[i % 30];
      Tensor mask("i1", {size});
      Tensor r = evaluateOne({a, b}, mask, Cast(std::string("compare ") + name + " %0, %1", a, mask));
      for (int64_t i = 0; i < size; ++i)
        ASSERT_EQ(r.bytes[i], holds(a.floats()[i], b.floats()[i])) << name << a.floats()[i] << " " << b.floats()[i];
      // Integers compare signed.
      Tensor c = Tensor::i32({size}, anyInts(size, 4)), d = Tensor::i32({size}, anyInts(size, 5));
      r = evaluateOne({c, d}, mask, Cast(std::string("compare ") + name + " %0, %1", c, mask));
      for (int64_t i = 0; i < size; ++i)
        ASSERT_EQ(r.bytes[i], (std::string("eq") == name   ? c.ints()[i] == d.ints()[i]
                               : std::string("ne") == name ? c.ints()[i] != d.ints()[i]
                               : std::string("lt") == name ? c.ints()[i] < d.ints()[i]
                               : std::string("le") == name ? c.ints()[i] <= d.ints()[i]
                               : std::string("gt") == name ? c.ints()[i] > d.ints()[i]
                                                           : c.ints()[i] >= d.ints()[i]));
    }
}

TEST(ElementwiseKernel, BooleansAreBytesOfZeroAndOne) {
  for (int64_t size : kSizes) {
    std::vector<uint8_t> p(size), q(size);
    for (int64_t i = 0; i < size; ++i) {
      p[i] = i / 2 % 2;
      q[i] = i % 2;
    }
    Tensor a = Tensor::i1({size}, p), b = Tensor::i1({size}, q);
    Tensor both = evaluateOne({a, b}, a, Binary("and", a.type())), any = evaluateOne({a, b}, a, Binary("or", a.type()));
    Tensor one = evaluateOne({a, b}, a, Binary("xor", a.type())), none = evaluateOne({a}, a, Unary("not", a.type()));
    Tensor less = evaluateOne({a, b}, a, Cast("compare lt %0, %1", a, a));
    for (int64_t i = 0; i < size; ++i) {
      ASSERT_EQ(both.bytes[i], p[i] & q[i]);
      ASSERT_EQ(any.bytes[i], p[i] | q[i]);
      ASSERT_EQ(one.bytes[i], p[i] ^ q[i]);
      ASSERT_EQ(none.bytes[i], 1 - p[i]);
      ASSERT_EQ(less.bytes[i], p[i] < q[i]);
    }
  }
}

TEST(ElementwiseKernel, SelectTakesNothingFromTheOtherSide) {
  for (int64_t size : kSizes) {
    Tensor a = Tensor::f32({size}, anyFloats(size, 1)), b = Tensor::f32({size}, anyFloats(size, 2));
    std::vector<uint8_t> p(size);
    for (int64_t i = 0; i < size; ++i) p[i] = i % 3 == 0;
    Tensor mask = Tensor::i1({size}, p);
    Tensor r = evaluateOne({mask, a, b}, a,
                           "%r = autopar.select %0, %1, %2 : " + mask.type() + ", " + a.type() +
                               "\n autopar.yield %r : " + a.type());
    for (int64_t i = 0; i < size; ++i)
      ASSERT_EQ(std::bit_cast<uint32_t>(r.floats()[i]), std::bit_cast<uint32_t>((p[i] ? a : b).floats()[i]));
  }
}

TEST(ElementwiseKernel, ConvertSaturates) {
  for (int64_t size : kSizes) {
    Tensor f = Tensor::f32({size}, anyFloats(size, 1)), n = Tensor::i32({size}, anyInts(size, 1));
    Tensor mask("i1", {size}), real("f32", {size}), whole("i32", {size});
    Tensor toInt = evaluateOne({f}, whole, Cast("convert %0", f, whole));
    Tensor toFloat = evaluateOne({n}, real, Cast("convert %0", n, real));
    Tensor floatToBool = evaluateOne({f}, mask, Cast("convert %0", f, mask));
    Tensor intToBool = evaluateOne({n}, mask, Cast("convert %0", n, mask));
    Tensor boolToFloat = evaluateOne({intToBool}, real, Cast("convert %0", mask, real));
    Tensor boolToInt = evaluateOne({intToBool}, whole, Cast("convert %0", mask, whole));
    for (int64_t i = 0; i < size; ++i) {
      float x = f.floats()[i];
      int32_t expected = std::isnan(x) ? 0 : x >= 2147483648.0f ? kMax : x < -2147483648.0f ? kMin : int32_t(x);
      ASSERT_EQ(toInt.ints()[i], expected) << x;
      ASSERT_EQ(toFloat.floats()[i], static_cast<float>(n.ints()[i]));
      ASSERT_EQ(floatToBool.bytes[i], x != 0) << x;
      ASSERT_EQ(intToBool.bytes[i], n.ints()[i] != 0);
      ASSERT_EQ(boolToFloat.floats()[i], n.ints()[i] != 0 ? 1.0f : 0.0f);
      ASSERT_EQ(boolToInt.ints()[i], n.ints()[i] != 0);
    }
  }
}

TEST(ElementwiseKernel, RankZeroAndUnitDimensions) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, {1}, {1, 1, 1}}) {
    Tensor a = Tensor::f32(shape, {2.5f}), b = Tensor::f32(shape, {4.0f});
    EXPECT_EQ(evaluateOne({a, b}, a, Binary("mul", a.type())).floats()[0], 10.0f);
  }
}

TEST(ElementwiseKernel, EmptyTensorsHaveNoTilesAndNoCode) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{0}, {3, 0, 5}}) {
    Tensor a("f32", shape);
    CompiledTask task({a, a}, {a}, Binary("add", a.type()));
    ASSERT_TRUE(task.ok()) << task.error();
    EXPECT_EQ(task.tileCount(), 0);
    EXPECT_EQ(task.symbol(), nullptr);
    EXPECT_TRUE(task.run({a, a})[0].bytes.empty());
  }
}

TEST(ElementwiseKernel, ManyTilesMeetWithoutGapOrOverlap) {
  for (int64_t size : {32768 * 3 + 17, 65536, 65537}) {
    Tensor a = Tensor::f32({size}, anyFloats(size, 1)), b = Tensor::f32({size}, anyFloats(size, 2));
    CompiledTask task({a, b}, {a}, Binary("add", a.type()));
    ASSERT_TRUE(task.ok()) << task.error();
    EXPECT_EQ(task.tileCount() > 1, size > 65536);
    std::vector<Tensor> whole = task.run({a, b}), tiles = task.run({a, b}, Split::Backwards);
    EXPECT_EQ(whole[0].bytes, tiles[0].bytes);
    for (int64_t i = 0; i < size; ++i) ASSERT_TRUE(sameFloat(whole[0].floats()[i], a.floats()[i] + b.floats()[i]));
  }
}

TEST(ElementwiseKernel, AProductAndASumAreNotContracted) {
  Tensor a = Tensor::f32({1000}, floatsIn(1000, -2, 2, 1)), b = Tensor::f32({1000}, floatsIn(1000, -2, 2, 2)),
         c = Tensor::f32({1000}, floatsIn(1000, -2, 2, 3));
  Tensor r = evaluateOne({a, b, c}, a,
                         "%p = autopar.mul %0, %1 : " + a.type() + "\n%s = autopar.add %p, %2 : " + a.type() +
                             "\nautopar.yield %s : " + a.type());
  int differs = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    volatile float product = a.floats()[i] * b.floats()[i];
    ASSERT_EQ(r.floats()[i], product + c.floats()[i]);
    differs += std::fma(a.floats()[i], b.floats()[i], c.floats()[i]) != r.floats()[i];
  }
  EXPECT_GT(differs, 100);  // the test would see a fused operation
}

TEST(ElementwiseKernel, AnUnknownProcessorIsRefused) {
  Tensor a("f32", {4});
  CompiledTask unknown({a}, {a}, Unary("neg", a.type()), "x86-65");
  EXPECT_NE(unknown.error().find("no processor is called 'x86-65'"), std::string::npos) << unknown.error();
  CompiledTask old({a}, {a}, Unary("neg", a.type()), "x86-64-v2");
  EXPECT_NE(old.error().find("lacks avx2 or fma"), std::string::npos) << old.error();
}

}  // namespace
}  // namespace autopar::codegen_test
