#include "runtime/io/float16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace autopar {
namespace {

TEST(Float16, EveryPatternSurvivesTheWayToFloatAndBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float f16 = Float16ToFloat(half), bf16 = Bfloat16ToFloat(half);
    if (std::isnan(f16)) {
      EXPECT_TRUE(std::isnan(Float16ToFloat(FloatToFloat16(f16)))) << bits;
    } else {
      EXPECT_EQ(FloatToFloat16(f16), half) << bits;
    }
    if (std::isnan(bf16)) {
      EXPECT_TRUE(std::isnan(Bfloat16ToFloat(FloatToBfloat16(bf16)))) << bits;
    } else {
      EXPECT_EQ(FloatToBfloat16(bf16), half) << bits;
    }
  }
}

// Between two neighbours the midpoint goes to the even one, anything beside it to the nearer one.
TEST(Float16, MidpointsRoundToEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = Float16ToFloat(static_cast<uint16_t>(bits)),
                high = Float16ToFloat(static_cast<uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;
    const uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(FloatToFloat16(middle), even) << bits;
    ASSERT_EQ(FloatToFloat16(std::nextafter(middle, 0.0f)), bits);
    ASSERT_EQ(FloatToFloat16(std::nextafter(middle, 1e9f)), bits + 1);
    ASSERT_EQ(FloatToFloat16(-middle), even | 0x8000);
  }
  EXPECT_EQ(FloatToFloat16(65519.996f), 0x7bff);
  EXPECT_EQ(FloatToFloat16(65520.0f), 0x7c00) << "the midpoint above the largest is infinity";
  EXPECT_EQ(FloatToFloat16(1e30f), 0x7c00);
}

TEST(Bfloat16, NarrowingRoundsToNearestEven) {
  EXPECT_EQ(Bfloat16ToFloat(FloatToBfloat16(0.26914088f)), 0.26953125f);
  EXPECT_EQ(Bfloat16ToFloat(FloatToBfloat16(1.00390625f)), 1.0f);
  EXPECT_EQ(Bfloat16ToFloat(FloatToBfloat16(1.01171875f)), 1.015625f);
  EXPECT_TRUE(std::isinf(Bfloat16ToFloat(FloatToBfloat16(std::numeric_limits<float>::max()))));
  EXPECT_TRUE(std::isnan(Bfloat16ToFloat(FloatToBfloat16(std::bit_cast<float>(0x7f800001u)))));
}

}  // namespace
}  // namespace autopar
