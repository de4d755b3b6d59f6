// Ops that move elements: broadcast, reshape, transpose, slice, concat, iota, and copies.
#include "test/compiler/codegen/kernel_harness.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <numeric>

namespace autopar::codegen_test {
namespace {

std::string List(const std::vector<int64_t>& values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

// 0, 1, 2, ... so that a misplaced element shows where it came from.
Tensor Counting(const std::string& element, const std::vector<int64_t>& shape) {
  Tensor t(element, shape);
  for (int64_t i = 0; i < t.size(); ++i) {
    if (element == "f32") t.floats()[i] = static_cast<float>(i);
    if (element == "i32") t.ints()[i] = static_cast<int32_t>(i);
    if (element == "i1") t.bytes[i] = i * 7 % 3 == 0;
  }
  return t;
}

int64_t Width(const Tensor& t) { return t.element == "i1" ? 1 : 4; }
bool SameElement(const Tensor& a, int64_t i, const Tensor& b, int64_t j) {
  return std::memcmp(&a.bytes[i * Width(a)], &b.bytes[j * Width(b)], Width(a)) == 0;
}

std::vector<int64_t> IndexOf(int64_t at, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    index[dim] = at % shape[dim];
    at /= shape[dim];
  }
  return index;
}
int64_t AddressOf(const std::vector<int64_t>& index, const std::vector<int64_t>& shape) {
  int64_t at = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim) at = at * shape[dim] + index[dim];
  return at;
}

TEST(MovementKernel, Transposes) {
  const std::pair<std::vector<int64_t>, std::vector<int64_t>> cases[] = {
      {{1, 1}, {1, 0}},          {{2, 7}, {1, 0}},           {{16, 16}, {1, 0}},         {{63, 65}, {1, 0}},
      {{100, 100}, {1, 0}},      {{1000, 3}, {1, 0}},        {{3, 1000}, {1, 0}},        {{300, 200}, {1, 0}},
      {{5, 17, 33}, {0, 2, 1}},  {{5, 17, 33}, {2, 1, 0}},   {{5, 17, 33}, {1, 0, 2}},   {{5, 17, 33}, {2, 0, 1}},
      {{3, 4, 18, 20}, {0, 2, 3, 1}}, {{3, 4, 18, 20}, {3, 1, 0, 2}}, {{2, 1, 40}, {2, 1, 0}}, {{4, 5, 6}, {0, 1, 2}}};
  for (const std::string element : {"f32", "i32", "i1"})
    for (const auto& [shape, permutation] : cases) {
      Tensor in = Counting(element, shape);
      std::vector<int64_t> to;
      for (int64_t dim : permutation) to.push_back(shape[dim]);
      Tensor out(element, to);
      Tensor r = evaluateOne({in}, out, "%r = autopar.transpose %0 permutation = " + List(permutation) + " : " +
                                            in.type() + " -> " + out.type() + "\nautopar.yield %r : " + out.type());
      for (int64_t i = 0; i < out.size(); ++i) {
        std::vector<int64_t> index = IndexOf(i, to), source(shape.size());
        for (size_t dim = 0; dim < to.size(); ++dim) source[permutation[dim]] = index[dim];
        ASSERT_TRUE(SameElement(r, i, in, AddressOf(source, shape))) << in.type() << List(permutation) << " at " << i;
      }
    }
}

TEST(MovementKernel, Slices) {
  struct Case {
    std::vector<int64_t> shape, offsets, sizes, strides;
  };
  for (const Case& c : {Case{{10}, {3}, {4}, {2}}, Case{{8, 8}, {2, 0}, {4, 4}, {1, 2}}, Case{{9, 70}, {1, 3}, {8, 66}, {1, 1}},
                        Case{{5, 6, 7}, {0, 2, 1}, {5, 2, 2}, {1, 3, 4}}, Case{{40, 1000}, {39, 999}, {1, 1}, {1, 1}}})
    for (const std::string element : {"f32", "i1"}) {
      Tensor in = Counting(element, c.shape), out(element, c.sizes);
      Tensor r = evaluateOne({in}, out, "%r = autopar.slice %0 offsets = " + List(c.offsets) + " strides = " +
                                            List(c.strides) + " : " + in.type() + " -> " + out.type() +
                                            "\nautopar.yield %r : " + out.type());
      for (int64_t i = 0; i < out.size(); ++i) {
        std::vector<int64_t> index = IndexOf(i, c.sizes);
        for (size_t dim = 0; dim < index.size(); ++dim) index[dim] = c.offsets[dim] + index[dim] * c.strides[dim];
        ASSERT_TRUE(SameElement(r, i, in, AddressOf(index, c.shape)));
      }
    }
}

TEST(MovementKernel, Broadcasts) {
  struct Case {
    std::vector<int64_t> from, dims, to;
  };
  for (const Case& c : {Case{{}, {}, {5, 7}}, Case{{7}, {1}, {5, 7}}, Case{{5}, {0}, {5, 7}}, Case{{1, 7}, {0, 1}, {5, 7}},
                        Case{{5, 1}, {0, 1}, {5, 65}}, Case{{3, 1, 5}, {0, 1, 2}, {3, 70, 5}}, Case{{4}, {2}, {2, 3, 4, 6}}}) {
    Tensor in = Counting("i32", c.from), out("i32", c.to);
    Tensor r = evaluateOne({in}, out, "%r = autopar.broadcast %0 dims = " + List(c.dims) + " : " + in.type() + " -> " +
                                          out.type() + "\nautopar.yield %r : " + out.type());
    for (int64_t i = 0; i < out.size(); ++i) {
      std::vector<int64_t> index = IndexOf(i, c.to), source;
      for (size_t dim = 0; dim < c.dims.size(); ++dim) source.push_back(c.from[dim] == 1 ? 0 : index[c.dims[dim]]);
      ASSERT_EQ(r.ints()[i], in.ints()[AddressOf(source, c.from)]);
    }
  }
}

TEST(MovementKernel, ReshapesAndCopiesKeepTheOrder) {
  for (const std::string element : {"f32", "i32", "i1"}) {
    Tensor in = Counting(element, {6, 35}), out(element, {2, 105});
    EXPECT_EQ(evaluateOne({in}, out, "%r = autopar.reshape %0 : " + in.type() + " -> " + out.type() +
                                         "\nautopar.yield %r : " + out.type()).bytes, in.bytes);
    EXPECT_EQ(evaluateOne({in}, in, "autopar.yield %0 : " + in.type()).bytes, in.bytes);
  }
}

TEST(MovementKernel, Concats) {
  struct Case {
    std::vector<std::vector<int64_t>> parts;
    int64_t axis;
  };
  for (const Case& c : {Case{{{2, 4}, {3, 4}}, 0}, Case{{{3, 2}, {3, 65}, {3, 1}}, 1}, Case{{{5}}, 0}, Case{{{0, 3}, {2, 3}}, 0},
                        Case{{{4, 2, 7}, {4, 3, 7}, {4, 0, 7}, {4, 1, 7}}, 1}, Case{{{40000}, {40001}}, 0}, Case{{{1, 50000}, {1, 30000}}, 1}}) {
    std::vector<Tensor> inputs;
    std::vector<int64_t> to = c.parts[0];
    to[c.axis] = 0;
    std::string names, types;
    int64_t serial = 0;
    for (size_t number = 0; number < c.parts.size(); ++number) {
      inputs.push_back(Tensor("i32", c.parts[number]));
      for (int64_t i = 0; i < inputs.back().size(); ++i) inputs.back().ints()[i] = static_cast<int32_t>(serial++);
      to[c.axis] += c.parts[number][c.axis];
      names += (number ? ", %" : "%") + std::to_string(number);
      types += (number ? ", " : "") + inputs.back().type();
    }
    Tensor out("i32", to);
    Tensor r = evaluateOne(inputs, out, "%r = autopar.concat " + names + " axis = " + std::to_string(c.axis) + " : (" + types +
                                            ") -> " + out.type() + "\nautopar.yield %r : " + out.type());
    for (int64_t i = 0; i < out.size(); ++i) {
      std::vector<int64_t> index = IndexOf(i, to);
      size_t part = 0;
      while (index[c.axis] >= c.parts[part][c.axis]) index[c.axis] -= c.parts[part++][c.axis];
      ASSERT_EQ(r.ints()[i], inputs[part].ints()[AddressOf(index, c.parts[part])]);
    }
  }
}

TEST(MovementKernel, ConcatOfASplat) {
  Tensor in = Counting("f32", {2, 3}), out("f32", {2, 5});
  Tensor r = evaluateOne({in}, out, "%c = autopar.constant dense<9.0> : tensor<2x2xf32>\n"
                                    "%r = autopar.concat %c, %0 axis = 1 : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x5xf32>\n"
                                    "autopar.yield %r : tensor<2x5xf32>");
  EXPECT_EQ(std::vector<float>(r.floats(), r.floats() + 10), (std::vector<float>{9, 9, 0, 1, 2, 9, 9, 3, 4, 5}));
}

TEST(MovementKernel, FillsAndIotas) {
  Tensor out("f32", {3, 70});
  Tensor fill = evaluateOne({}, out, "%c = autopar.constant dense<2.5> : " + out.type() + "\nautopar.yield %c : " + out.type());
  for (int64_t i = 0; i < out.size(); ++i) ASSERT_EQ(fill.floats()[i], 2.5f);
  for (int axis : {0, 1})
    for (const std::string element : {"f32", "i32"}) {
      Tensor t(element, {3, 70});
      Tensor r = evaluateOne({}, t, "%r = autopar.iota axis = " + std::to_string(axis) + " : " + t.type() +
                                        "\nautopar.yield %r : " + t.type());
      for (int64_t i = 0; i < t.size(); ++i) {
        int64_t expected = axis == 0 ? i / 70 : i % 70;
        ASSERT_EQ(element == "f32" ? static_cast<int64_t>(r.floats()[i]) : r.ints()[i], expected);
      }
    }
  // Summed, so that a vector of indices is needed.
  Tensor sums("i32", {3});
  Tensor r = evaluateOne({}, sums, "%i = autopar.iota axis = 1 : tensor<3x70xi32>\n"
                                   "%r = autopar.reduce sum %i axes = [1] : tensor<3x70xi32> -> tensor<3xi32>\n"
                                   "autopar.yield %r : tensor<3xi32>");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(r.ints()[i], 69 * 70 / 2);
}

// More than 2^31 elements: only the last tile runs, on memory that is never touched elsewhere.
TEST(MovementKernel, MoreThanTwoBillionElements) {
  const int64_t size = (int64_t{1} << 31) + 65536 + 3;
  auto map = [&] {
    return static_cast<uint8_t*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  };
  Tensor shape;
  shape.element = "i1";
  shape.shape = {size};
  std::vector<Tensor> types = {shape};
  CompiledTask task(types, types, "%r = autopar.not %0 : " + shape.type() + "\nautopar.yield %r : " + shape.type());
  ASSERT_TRUE(task.ok()) << task.error();
  uint8_t *in = map(), *out = map();
  ASSERT_NE(in, MAP_FAILED);
  ASSERT_NE(out, MAP_FAILED);
  in[size - 1] = 1;
  void* buffers[] = {in, out};
  reinterpret_cast<void (*)(void* const*, int64_t, int64_t)>(task.symbol())(buffers, task.tileCount() - 1, task.tileCount());
  EXPECT_EQ(out[size - 1], 0);
  EXPECT_EQ(out[size - 2], 1);
  EXPECT_EQ(out[0], 0);
  munmap(in, size);
  munmap(out, size);
}

}  // namespace
}  // namespace autopar::codegen_test
