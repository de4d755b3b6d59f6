#include "runtime/io/compare.h"

#include <gtest/gtest.h>

#include "runtime/io/tensor_text.h"

namespace autopar {
namespace {

std::string Compare(const char *actual, const char *expected, Tolerance tolerance = {}) {
  return std::string(CompareTensors("result 0", ParseTensor(actual).value(),
                                    ParseTensor(expected).value(), tolerance)
                         .message());
}

TEST(Compare, EqualTensorsPass) {
  EXPECT_EQ(Compare("2x2xf32=1 2 3 4", "2x2xf32=1 2 3 4", {0, 0}), "");
  EXPECT_EQ(Compare("3xf32=nan inf -inf", "3xf32=nan inf -inf", {0, 0}), "");
  EXPECT_EQ(Compare("1xf32=0", "1xf32=-0", {0, 0}), "");
  EXPECT_EQ(Compare("0xf32=", "0xf32="), "");
  EXPECT_EQ(Compare("f64=1", "f64=1"), "");
}

TEST(Compare, ToleranceIsRelativePlusAbsolute) {
  EXPECT_EQ(Compare("1xf32=100.5", "1xf32=100", {0.01, 0}), "");
  EXPECT_NE(Compare("1xf32=102", "1xf32=100", {0.01, 0}), "");
  EXPECT_EQ(Compare("1xf32=0.001", "1xf32=0", {0.01, 0.002}), "");
  EXPECT_NE(Compare("1xf32=0.003", "1xf32=0", {0.01, 0.002}), "");
  EXPECT_NE(Compare("1xf32=inf", "1xf32=1", {1e30, 1e30}), "");
  EXPECT_NE(Compare("1xf32=1", "1xf32=inf", {1, 1}), "")
      << "an infinite expectation does not swallow everything";
  EXPECT_NE(Compare("1xf32=1", "1xf32=nan", {1, 1}), "");
  EXPECT_NE(Compare("1xi32=1000001", "1xi32=1000000", {1, 1}), "") << "whole numbers must be equal";
}

TEST(Compare, SentenceNamesFirstAndWorst) {
  EXPECT_EQ(Compare("2x2xf32=1 2 3 4", "2x2xf32=1 2.5 3 4", {0, 0}),
            "result 0 (2x2xf32): 1 of 4 elements differs (rtol 0, atol 0); [0,1] is 2 instead of "
            "2.5 (off by 0.5)");
  EXPECT_EQ(Compare("2x2xf32=1 2 3 4", "2x2xf32=1 2.5 3 9", {1e-5, 1e-8}),
            "result 0 (2x2xf32): 2 of 4 elements differ (rtol 1e-05, atol 1e-08); first [0,1] is 2 "
            "instead of 2.5, worst "
            "[1,1] is 4 instead of 9 (off by 5)");
  EXPECT_EQ(Compare("3xi64=9223372036854775807 1 2", "3xi64=-9223372036854775808 1 3"),
            "result 0 (3xi64): 2 of 3 elements differ; first [0] is 9223372036854775807 instead of "
            "-9223372036854775808, also the worst (off by 1.84467e+19)");
  EXPECT_EQ(Compare("f32=nan", "f32=1", {0, 0}),
            "result 0 (f32): 1 of 1 element differs (rtol 0, "
            "atol 0); [] is nan instead of 1 (off by inf)");
}

TEST(Compare, TypesAndShapesMustMatch) {
  EXPECT_EQ(Compare("2x2xf32=1", "4xf32=1"), "result 0 has type 2x2xf32, but 4xf32 is expected");
  EXPECT_EQ(Compare("4xf32=1", "4xf64=1"), "result 0 has type 4xf32, but 4xf64 is expected");
}

TEST(Compare, SixteenBitFloatsAndBooleans) {
  EXPECT_EQ(Compare("2xbf16=1 2", "2xbf16=1 2", {0, 0}), "");
  EXPECT_EQ(Compare("2xf16=1 2", "2xf16=1 2.5", {0, 0}),
            "result 0 (2xf16): 1 of 2 elements differs (rtol 0, atol 0); [1] is 2 instead of 2.5 "
            "(off by 0.5)");
  EXPECT_EQ(Compare("2xi1=1 0", "2xi1=1 1"),
            "result 0 (2xi1): 1 of 2 elements differs; [1] is 0 instead of 1 (off by 1)");
}

}  // namespace
}  // namespace autopar
