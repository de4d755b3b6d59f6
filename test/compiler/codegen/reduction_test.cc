// Reductions, argmax and softmax: values, and bits that depend on nothing but the shape.
#include "test/compiler/codegen/kernel_harness.h"

#include <gtest/gtest.h>

#include <bit>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace autopar::codegen_test {
namespace {

std::string List(const std::vector<int64_t>& values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

std::vector<int64_t> Without(const std::vector<int64_t>& shape, const std::vector<int64_t>& axes) {
  std::vector<int64_t> rest;
  for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
    if (std::find(axes.begin(), axes.end(), dim) == axes.end()) rest.push_back(shape[dim]);
  return rest;
}

std::string ReduceBody(const std::string& kind, const Tensor& in, const Tensor& out, const std::vector<int64_t>& axes) {
  return "%r = autopar.reduce " + kind + " %0 axes = " + List(axes) + " : " + in.type() + " -> " + out.type() +
         "\n autopar.yield %r : " + out.type();
}

// Calls visit(result element, operand element) for each operand element, row-major.
void ForEach(const std::vector<int64_t>& shape, const std::vector<int64_t>& axes,
             const std::function<void(int64_t, int64_t)>& visit) {
  int64_t size = 1;
  for (int64_t dim : shape) size *= dim;
  for (int64_t at = 0; at < size; ++at) {
    int64_t rest = at, result = 0, stride = 1;
    std::vector<int64_t> index(shape.size());
    for (size_t dim = shape.size(); dim-- > 0;) {
      index[dim] = rest % shape[dim];
      rest /= shape[dim];
    }
    for (size_t dim = shape.size(); dim-- > 0;)
      if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(dim)) == axes.end()) {
        result += index[dim] * stride;
        stride *= shape[dim];
      }
    visit(result, at);
  }
}

struct Shaped {
  std::vector<int64_t> shape, axes;
};

const Shaped kShapes[] = {
    {{1}, {0}},          {{2}, {0}},         {{7}, {0}},          {{63}, {0}},         {{64}, {0}},
    {{65}, {0}},         {{1000}, {0}},      {{5, 1000}, {1}},    {{1000, 5}, {0}},    {{3, 65}, {1}},
    {{65, 3}, {0}},      {{4, 7, 9}, {1}},   {{4, 7, 9}, {0, 2}}, {{4, 7, 9}, {0, 1}}, {{4, 7, 9}, {1, 2}},
    {{4, 7, 9}, {0, 1, 2}}, {{2, 3, 4, 70}, {1, 3}}, {{2, 3, 4, 70}, {0, 2}}, {{6, 1, 5}, {1}}, {{1, 1}, {0}},
    {{1, 1}, {0, 1}},    {{5, 4}, {}},       {{}, {}},            {{300, 700}, {0}},   {{40000, 3}, {1}},
    {{3, 40000}, {0}}};

TEST(ReductionKernel, FloatSumsAreCloseToExact) {
  for (const Shaped& c : kShapes) {
    Tensor in("f32", c.shape), out("f32", Without(c.shape, c.axes));
    in = Tensor::f32(c.shape, floatsIn(in.size(), -1, 2, 5));
    std::vector<double> exact(out.size(), 0.0);
    ForEach(c.shape, c.axes, [&](int64_t to, int64_t from) { exact[to] += in.floats()[from]; });
    Tensor r = evaluateOne({in}, out, ReduceBody("sum", in, out, c.axes));
    double count = double(in.size()) / double(out.size());
    for (int64_t i = 0; i < out.size(); ++i)
      ASSERT_NEAR(r.floats()[i], exact[i], 1e-7 * (2 + std::sqrt(count)) * std::max(1.0, count))
          << List(c.shape) << " " << List(c.axes);
  }
}

TEST(ReductionKernel, IntegersAreExactAndWrap) {
  for (const Shaped& c : kShapes)
    for (const std::string kind : {"sum", "prod", "max", "min"}) {
      Tensor in("i32", c.shape), out("i32", Without(c.shape, c.axes));
      in = Tensor::i32(c.shape, anyInts(in.size(), 5));
      int32_t start = kind == "sum" ? 0 : kind == "prod" ? 1 : kind == "max" ? std::numeric_limits<int32_t>::min()
                                                                             : std::numeric_limits<int32_t>::max();
      std::vector<int32_t> expected(out.size(), start);
      ForEach(c.shape, c.axes, [&](int64_t to, int64_t from) {
        int32_t& e = expected[to];
        int32_t v = in.ints()[from];
        e = kind == "sum"    ? int32_t(uint32_t(e) + uint32_t(v))
            : kind == "prod" ? int32_t(uint32_t(e) * uint32_t(v))
            : kind == "max"  ? std::max(e, v)
                             : std::min(e, v);
      });
      Tensor r = evaluateOne({in}, out, ReduceBody(kind, in, out, c.axes));
      for (int64_t i = 0; i < out.size(); ++i) ASSERT_EQ(r.ints()[i], expected[i]) << kind << List(c.shape);
    }
}

TEST(ReductionKernel, MaxAndMinFindNanWhereverItStands) {
  for (const Shaped& c : kShapes)
    for (bool largest : {true, false}) {
      Tensor in("f32", c.shape), out("f32", Without(c.shape, c.axes));
      in = Tensor::f32(c.shape, floatsIn(in.size(), -9, 9, 6));
      for (int64_t i = 0; i < in.size(); i += 1 + in.size() / 7) in.floats()[i] = i % 2 ? INFINITY : -INFINITY;
      CompiledTask task({in}, {out}, ReduceBody(largest ? "max" : "min", in, out, c.axes));
      ASSERT_TRUE(task.ok()) << task.error();
      for (int nans = 0; nans < 2; ++nans) {
        if (nans) in.floats()[in.size() * 2 / 3] = NAN;
        std::vector<float> expected(out.size(), largest ? -INFINITY : INFINITY);
        ForEach(c.shape, c.axes, [&](int64_t to, int64_t from) {
          float v = in.floats()[from];
          if (std::isnan(v) || std::isnan(expected[to]))
            expected[to] = NAN;
          else
            expected[to] = largest ? std::max(expected[to], v) : std::min(expected[to], v);
        });
        Tensor r = task.run({in})[0];
        ASSERT_EQ(r.bytes, task.run({in}, Split::Backwards)[0].bytes);
        for (int64_t i = 0; i < out.size(); ++i)
          ASSERT_TRUE(sameFloat(r.floats()[i], expected[i])) << List(c.shape) << List(c.axes) << r.floats()[i];
      }
    }
}

TEST(ReductionKernel, FloatProducts) {
  for (const Shaped& c : {Shaped{{70}, {0}}, Shaped{{3, 50}, {1}}, Shaped{{50, 3}, {0}}}) {
    Tensor in("f32", c.shape), out("f32", Without(c.shape, c.axes));
    in = Tensor::f32(c.shape, floatsIn(in.size(), 0.8f, 1.2f, 5));
    std::vector<double> exact(out.size(), 1.0);
    ForEach(c.shape, c.axes, [&](int64_t to, int64_t from) { exact[to] *= in.floats()[from]; });
    Tensor r = evaluateOne({in}, out, ReduceBody("prod", in, out, c.axes));
    for (int64_t i = 0; i < out.size(); ++i) ASSERT_NEAR(r.floats()[i], exact[i], 1e-5 * std::abs(exact[i]));
  }
}

TEST(ReductionKernel, OverNoElementsGivesTheNeutralElement) {
  for (const Shaped& c : {Shaped{{0}, {0}}, Shaped{{3, 0}, {1}}, Shaped{{0, 3}, {0}}, Shaped{{2, 0, 3}, {1}}}) {
    const std::pair<const char*, float> neutral[] = {{"sum", 0.0f}, {"prod", 1.0f}, {"max", -INFINITY}, {"min", INFINITY}};
    for (const auto& [kind, value] : neutral) {
      Tensor in("f32", c.shape), out("f32", Without(c.shape, c.axes));
      Tensor r = evaluateOne({in}, out, ReduceBody(kind, in, out, c.axes));
      for (int64_t i = 0; i < out.size(); ++i) EXPECT_TRUE(sameFloat(r.floats()[i], value)) << kind << r.floats()[i];
    }
  }
}

// The lanes that the language documents: element i of a row in lane i mod 64, then a fixed tree.
float LaneSum(const float* row, int64_t length) {
  float lanes[64];
  std::fill(lanes, lanes + 64, -0.0f);
  for (int64_t i = 0; i < length; ++i) lanes[i % 64] += row[i];
  for (int i = 0; i < 16; ++i) lanes[i] = (lanes[i] + lanes[16 + i]) + (lanes[32 + i] + lanes[48 + i]);
  for (int half = 8; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lanes[i] += lanes[half + i];
  return lanes[0];
}

TEST(ReductionKernel, SumsHaveTheDocumentedBitsOnEveryProcessor) {
  for (int64_t length : {1, 2, 7, 15, 16, 17, 63, 64, 65, 129, 1000, 4096}) {
    Tensor in = Tensor::f32({3, length}, floatsIn(3 * length, -1, 1, 9)), out("f32", {3});
    for (const char* cpu : {"native", "x86-64-v3", "x86-64-v4"}) {
      if (std::string(cpu) == "x86-64-v4" && !__builtin_cpu_supports("avx512bw")) continue;
      Tensor r = evaluateOne({in}, out, ReduceBody("sum", in, out, {1}), cpu);
      for (int64_t i = 0; i < 3; ++i)
        ASSERT_EQ(std::bit_cast<uint32_t>(r.floats()[i]),
                  std::bit_cast<uint32_t>(LaneSum(in.floats() + i * length, length)))
            << length << " " << cpu;
    }
  }
}

TEST(ReductionKernel, FusionDoesNotChangeASum) {
  for (const Shaped& c : {Shaped{{5, 1000}, {1}}, Shaped{{1000, 5}, {0}}, Shaped{{4, 7, 9}, {1, 2}}, Shaped{{777}, {0}}}) {
    Tensor x("f32", c.shape), out("f32", Without(c.shape, c.axes));
    x = Tensor::f32(c.shape, floatsIn(x.size(), -3, 3, 1));
    Tensor y = Tensor::f32(c.shape, floatsIn(x.size(), -3, 3, 2));
    std::string producer = "%p = autopar.mul %0, %1 : " + x.type() + "\n%e = autopar.exp %p : " + x.type() + "\n";
    Tensor stored = evaluateOne({x, y}, x, producer + "autopar.yield %e : " + x.type());
    Tensor apart = evaluateOne({stored}, out, ReduceBody("sum", x, out, c.axes));
    std::string reduce = "%r = autopar.reduce sum %e axes = " + List(c.axes) + " : " + x.type() + " -> " + out.type();
    Tensor fused = evaluateOne({x, y}, out, producer + reduce + "\nautopar.yield %r : " + out.type());
    EXPECT_EQ(apart.bytes, fused.bytes) << List(c.shape);
    // And when the producer is delivered too.
    std::vector<Tensor> both = evaluate({x, y}, {out, x},
                                        producer + reduce + "\nautopar.yield %r, %e : " + out.type() + ", " + x.type());
    EXPECT_EQ(apart.bytes, both[0].bytes);
    EXPECT_EQ(stored.bytes, both[1].bytes);
  }
}

TEST(ReductionKernel, ABroadcastThatWouldChangeLanesIsNotFused) {
  Tensor row("f32", {9}), x("f32", {7, 9}), out("f32", {});
  CompiledTask task({row, x}, {out},
                    "%b = autopar.broadcast %0 dims = [1] : tensor<9xf32> -> tensor<7x9xf32>\n"
                    "%s = autopar.add %b, %1 : tensor<7x9xf32>\n"
                    "%r = autopar.reduce sum %s axes = [0, 1] : tensor<7x9xf32> -> tensor<f32>\n"
                    "autopar.yield %r : tensor<f32>");
  EXPECT_NE(task.error().find("not contiguous along the reduced dimensions"), std::string::npos) << task.error();
}

TEST(ArgmaxKernel, TakesTheFirstLargestOrTheFirstNan) {
  for (const Shaped& c : {Shaped{{1}, {0}}, Shaped{{7}, {0}}, Shaped{{64}, {0}}, Shaped{{65}, {0}}, Shaped{{10, 10}, {1}},
                          Shaped{{5, 1000}, {1}}, Shaped{{1000, 5}, {0}}, Shaped{{4, 7, 300}, {1}}, Shaped{{3, 1}, {1}}})
    for (int variant = 0; variant < 4; ++variant) {
      Tensor in("f32", c.shape), out("i32", Without(c.shape, c.axes));
      in = Tensor::f32(c.shape, floatsIn(in.size(), -9, 9, 6));
      for (int64_t i = 0; i < in.size(); ++i) {
        if (variant == 1) in.floats()[i] = -INFINITY;
        if (variant == 2) in.floats()[i] = i % 5 ? 1.0f : (i % 2 ? 0.0f : 2.0f);
        if (variant == 3 && i % 11 == 3) in.floats()[i] = NAN;
      }
      std::vector<int32_t> expected(out.size(), -1);
      std::vector<float> best(out.size());
      int64_t axis = c.axes[0], inner = 1;
      for (size_t dim = axis + 1; dim < c.shape.size(); ++dim) inner *= c.shape[dim];
      ForEach(c.shape, c.axes, [&](int64_t to, int64_t from) {
        float v = in.floats()[from];
        if (expected[to] < 0 || (!std::isnan(best[to]) && (v > best[to] || std::isnan(v)))) {
          expected[to] = static_cast<int32_t>(from / inner % c.shape[axis]);
          best[to] = v;
        }
      });
      Tensor r = evaluateOne({in}, out, "%r = autopar.argmax %0 axis = " + std::to_string(axis) + " : " + in.type() +
                                            " -> " + out.type() + "\nautopar.yield %r : " + out.type());
      for (int64_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(r.ints()[i], expected[i]) << List(c.shape) << " variant " << variant << " row " << i;
    }
  Tensor ints = Tensor::i32({200}, anyInts(200, 3)), out("i32", {});
  ints.ints()[4] = ints.ints()[100] = std::numeric_limits<int32_t>::max();
  ints.ints()[0] = 5;
  Tensor r = evaluateOne({ints}, out, "%r = autopar.argmax %0 axis = 0 : tensor<200xi32> -> tensor<i32>\n"
                                      "autopar.yield %r : tensor<i32>");
  EXPECT_EQ(r.ints()[0], 4);
}

TEST(SoftmaxKernel, MatchesTheFormula) {
  for (const Shaped& c : {Shaped{{1}, {0}}, Shaped{{10}, {0}}, Shaped{{6, 10}, {1}}, Shaped{{3, 1000}, {1}},
                          Shaped{{1000, 3}, {0}}, Shaped{{4, 7, 300}, {1}}, Shaped{{5, 1}, {1}}, Shaped{{600, 65}, {1}}}) {
    Tensor in("f32", c.shape);
    in = Tensor::f32(c.shape, floatsIn(in.size(), -30, 30, 6));
    int64_t axis = c.axes[0];
    Tensor r = evaluateOne({in}, in, "%s = autopar.neg %0 : " + in.type() + "\n%n = autopar.neg %s : " + in.type() +
                                         "\n%r = autopar.softmax %n axis = " + std::to_string(axis) + " : " +
                                         in.type() + "\nautopar.yield %r : " + in.type());
    Tensor plain = evaluateOne({in}, in, "%r = autopar.softmax %0 axis = " + std::to_string(axis) + " : " + in.type() +
                                             "\nautopar.yield %r : " + in.type());
    EXPECT_EQ(r.bytes, plain.bytes);  // a fused producer changes nothing
    std::vector<double> largest(in.size(), -INFINITY), sum(in.size(), 0.0);
    ForEach(c.shape, c.axes, [&](int64_t to, int64_t i) { largest[to] = std::max<double>(largest[to], in.floats()[i]); });
    ForEach(c.shape, c.axes, [&](int64_t to, int64_t i) { sum[to] += std::exp(in.floats()[i] - largest[to]); });
    ForEach(c.shape, c.axes, [&](int64_t to, int64_t i) {
      double exact = std::exp(in.floats()[i] - largest[to]) / sum[to];
      // x - max rounds: half a unit in the last place of up to 60 before exp.
      double bound = exact * (1e-6 + 6e-8 * (largest[to] - in.floats()[i])) + 1e-37;
      EXPECT_NEAR(plain.floats()[i], exact, bound) << List(c.shape);
    });
  }
}

TEST(SoftmaxKernel, RowsWithoutAFiniteMaximumAreNan) {
  Tensor in = Tensor::f32({4, 3}, {NAN, 1, 2, INFINITY, 1, 2, -INFINITY, -INFINITY, -INFINITY, 1, -INFINITY, 1});
  for (int axis : {1, 0}) {
    Tensor x = in;
    if (axis == 0) {
      x = Tensor("f32", {3, 4});
      for (int i = 0; i < 12; ++i) x.floats()[i] = in.floats()[i % 4 * 3 + i / 4];
    }
    Tensor r = evaluateOne({x}, x, "%r = autopar.softmax %0 axis = " + std::to_string(axis) + " : " + x.type() +
                                       "\nautopar.yield %r : " + x.type());
    for (int row = 0; row < 4; ++row)
      for (int i = 0; i < 3; ++i) {
        float value = axis ? r.floats()[row * 3 + i] : r.floats()[i * 4 + row];
        if (row < 3)
          EXPECT_TRUE(std::isnan(value)) << row;
        else
          EXPECT_EQ(value, i == 1 ? 0.0f : 0.5f);
      }
  }
}

}  // namespace
}  // namespace autopar::codegen_test
