#include "runtime/base/element_type.h"

#include <gtest/gtest.h>

namespace autopar {
namespace {

TEST(ElementType, NamesAndBytesRoundTrip) {
  const std::pair<const char *, uint64_t> expected[] = {{"f32", 4},  {"f64", 8}, {"f16", 2},
                                                        {"bf16", 2}, {"i1", 1},  {"i8", 1},
                                                        {"i32", 4},  {"i64", 8}};
  uint8_t value = 0;
  for (const auto &[name, bytes] : expected) {
    const std::optional<ElementType> type = ParseElementType(name);
    ASSERT_TRUE(type.has_value()) << name;
    EXPECT_EQ(static_cast<uint8_t>(*type), value++) << "the values are part of the file format";
    EXPECT_EQ(ElementTypeName(*type), name);
    EXPECT_EQ(ElementBytes(*type), bytes);
  }
  EXPECT_FALSE(ParseElementType("f31").has_value());
  EXPECT_FALSE(ParseElementType("").has_value());
}

TEST(ElementType, UnknownValueIsHarmless) {
  EXPECT_EQ(ElementBytes(static_cast<ElementType>(200)), 0u);
  EXPECT_EQ(ElementTypeName(static_cast<ElementType>(200)), "unknown");
}

TEST(TensorType, RankZeroIsOneElementAndZeroDimensionIsEmpty) {
  const TensorType scalar{ElementType::kF32, {}};
  EXPECT_EQ(scalar.elements(), 1);
  EXPECT_EQ(scalar.bytes(), 4u);
  EXPECT_EQ(scalar.ToString(), "f32");
  const TensorType empty{ElementType::kI64, {2, 0, 3}};
  EXPECT_EQ(empty.elements(), 0);
  EXPECT_EQ(empty.ToString(), "2x0x3xi64");
  EXPECT_EQ((TensorType{ElementType::kBf16, {4, 5}}.bytes()), 40u);
}

TEST(TensorType, CheckedBytesRefusesWhatOverflows) {
  EXPECT_EQ(CheckedBytes({ElementType::kF32, {2, 3}}), 24u);
  EXPECT_EQ(CheckedBytes({ElementType::kF32, {}}), 4u);
  EXPECT_EQ(CheckedBytes({ElementType::kF32, {0, 7}}), 0u);
  EXPECT_FALSE(CheckedBytes({ElementType::kF32, {-1}}).has_value());
  EXPECT_FALSE(CheckedBytes({ElementType::kF32, {int64_t{1} << 32, int64_t{1} << 32}}).has_value());
  EXPECT_FALSE(
      CheckedBytes({ElementType::kF32, {int64_t{1} << 62, int64_t{1} << 62, 0}}).has_value());
  EXPECT_FALSE(CheckedBytes({ElementType::kF32, {0, -3}}).has_value());
}

}  // namespace
}  // namespace autopar
