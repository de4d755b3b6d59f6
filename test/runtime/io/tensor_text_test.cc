#include "runtime/io/tensor_text.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "absl/strings/str_cat.h"

namespace autopar {
namespace {

std::string Printed(const Tensor &tensor, int64_t max_elements = 1024) {
  return PrintTensor(tensor.type(), tensor.bytes(), max_elements);
}

TEST(ParseTensor, AcceptedFormsGiveTheirCanonicalPrint) {
  const std::pair<const char *, const char *> cases[] = {
      {"4xf32=1 2 3 4", "4xf32=1 2 3 4"},
      {"4xf32=1,2,3,4", "4xf32=1 2 3 4"},
      {"4xf32= 1, 2 ,3\n4 ", "4xf32=1 2 3 4"},
      {"4xf32=[1 2 3 4]", "4xf32=1 2 3 4"},
      {"2x2xi32=[[1 2][3 4]]", "2x2xi32=[1 2][3 4]"},
      {"2x2xi32=[[1, 2], [3, 4]]", "2x2xi32=[1 2][3 4]"},
      {"2x2xi32=[1 2][3 4]", "2x2xi32=[1 2][3 4]"},
      {"2x1x2xi32=[[1 2]][[3 4]]", "2x1x2xi32=[[1 2]][[3 4]]"},
      {"2x1x2xi32=1 2 3 4", "2x1x2xi32=[[1 2]][[3 4]]"},
      {"2x3xf32=2.5", "2x3xf32=[2.5 2.5 2.5][2.5 2.5 2.5]"},
      {"2x2xf64", "2x2xf64=[0 0][0 0]"},
      {"f32=3", "f32=3"},
      {"f32", "f32=0"},
      {"0xf32=", "0xf32="},
      {"2x0x3xf32", "2x0x3xf32="},
      {"3xi1=true false 1", "3xi1=1 0 1"},
      {"3xi8=-128 127 255", "3xi8=-128 127 -1"},
      {"2xi32=0x10 -0x10", "2xi32=16 -16"},
      {"2xi32=4294967295 -2147483648", "2xi32=-1 -2147483648"},
      {"2xi64=-9223372036854775808 18446744073709551615", "2xi64=-9223372036854775808 -1"},
      {"6xf32=nan inf -inf 0x1.8p3 -0 1e-3", "6xf32=nan inf -inf 12 -0 0.001"},
      {"4xf32=+1.5 .5 -0x1p-149 Infinity", "4xf32=1.5 0.5 -1e-45 inf"},
      {"2xf32=1e-60 0.1", "2xf32=0 0.1"},
      {"1xf64=0.1", "1xf64=0.1"},
      {"3xf16=65504 1e-8 0.5", "3xf16=65504 0 0.5"},
      {"2xbf16=1 -2", "2xbf16=1 -2"},
  };
  for (const auto &[text, printed] : cases) {
    const absl::StatusOr<Tensor> tensor = ParseTensor(text);
    ASSERT_TRUE(tensor.ok()) << text << ": " << tensor.status();
    EXPECT_EQ(Printed(*tensor), printed) << text;
    const absl::StatusOr<Tensor> again = ParseTensor(Printed(*tensor));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(Printed(*again), printed);
  }
}

TEST(ParseTensor, BadTextIsOneSentence) {
  const std::string not_a_type =
      "' is not a tensor type; write it like 4x4xf32, with f32, f64, f16, bf16, i1, i8, i32 or i64";
  const std::pair<std::string, std::string> cases[] = {
      {"", "'" + not_a_type},
      {"4x4=1", "'4x4" + not_a_type},
      {"4x4xf31=1", "'4x4xf31" + not_a_type},
      {"?x4xf32=1", "'?x4xf32" + not_a_type},
      {"-1xf32=1", "'-1xf32" + not_a_type},
      {"4x xf32=1", "'4x xf32" + not_a_type},
      {"4f32", "'4f32" + not_a_type},
      {"x.npy", "'x.npy" + not_a_type},
      {"9223372036854775808xf32", "'9223372036854775808xf32" + not_a_type},
      {"4294967296x4294967296xf32", "'4294967296x4294967296xf32' is too large to exist"},
      {"4xf32=1 2 3", "4xf32 needs 4 values (or one for all), not 3"},
      {"4xf32=1 2 3 4 5", "4xf32 needs 4 values (or one for all), not 5 or more"},
      {"4xf32=", "4xf32 needs 4 values (or one for all), not 0"},
      {"f32=", "f32 needs 1 value (or one for all), not 0"},
      {"0xf32=1", "0xf32 needs 0 values (or one for all), not 1 or more"},
      {"2xf32=1 x", "'x' is not a value of type f32"},
      {"2xf32=1 1.5.2", "'1.5.2' is not a value of type f32"},
      {"2xf32=1 --2", "'--2' is not a value of type f32"},
      {"2xf32=1 0x", "'0x' is not a value of type f32"},
      {"1xf32=1e39", "'1e39' is out of range of f32"},
      {"1xf32=-1e39", "'-1e39' is out of range of f32"},
      {"1xf64=1e999", "'1e999' is out of range of f64"},
      {"1xf16=65520", "'65520' is out of range of f16"},
      {"1xbf16=3.4e38", "'3.4e38' is out of range of bf16"},
      {"1xi32=1.5", "'1.5' is not a value of type i32"},
      {"1xi32=4294967296", "'4294967296' is out of range of i32"},
      {"1xi32=-2147483649", "'-2147483649' is out of range of i32"},
      {"1xi8=256", "'256' is out of range of i8"},
      {"1xi64=18446744073709551616", "'18446744073709551616' is out of range of i64"},
      {"1xi1=2", "'2' is out of range of i1"},
      {"1xi1=yes", "'yes' is not a value of type i1"},
      {"2x2xf32=[[[1 2][3 4]]]", "the brackets nest 3 deep, but 2x2xf32 has 2 dimensions"},
      {"2x2xf32=[1 2 3][4]", "the brackets do not fit the shape of 2x2xf32"},
      {"2x2xf32=1 [2 3] 4", "the brackets do not fit the shape of 2x2xf32"},
      {"2x2xf32=[[1 2][3 4]", "a closing bracket is missing"},
      {"2x2xf32=[1 2]][3 4]", "a closing bracket has no opening one"},
      {"2x2xf32=[1]", "the brackets do not fit the shape of 2x2xf32"},
      {"@no/such.npy", "cannot open 'no/such.npy': no such file or folder"},
      {"4xf32=@x.npy", "'x.npy': a .npy file carries its own type; write @x.npy without a type"},
      {"4xf32=@no.bin", "cannot open 'no.bin': no such file or folder"},
  };
  for (const auto &[text, message] : cases) {
    const absl::StatusOr<Tensor> tensor = ParseTensor(text);
    ASSERT_FALSE(tensor.ok()) << text;
    EXPECT_EQ(tensor.status().message(), message);
  }
}

TEST(ParseTensor, RawFileMustHaveTheRightLength) {
  const std::string path = testing::TempDir() + "/raw." + std::to_string(getpid()) + ".bin";
  std::ofstream(path, std::ios::binary) << std::string("\1\0\0\0\2\0\0\0", 8);
  const absl::StatusOr<Tensor> tensor = ParseTensor("2xi32=@" + path);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(Printed(*tensor), "2xi32=1 2");
  EXPECT_EQ(ParseTensor("3xi32=@" + path).status().message(),
            "'" + path + "' has 8 bytes, but 3xi32 needs 12");
  EXPECT_EQ(ParseTensor("1xi32=@" + path).status().code(), absl::StatusCode::kResourceExhausted);
  std::filesystem::remove(path);
}

TEST(PrintTensor, FloatsReadBackToTheSameBits) {
  for (uint32_t seed = 1; seed <= 20000; ++seed) {
    const uint32_t bits = seed * 2654435761u;
    const auto value = std::bit_cast<float>(bits);
    if (std::isnan(value)) continue;
    uint8_t bytes[4];
    std::memcpy(bytes, &value, 4);
    const absl::StatusOr<Tensor> again =
        ParseTensor(PrintTensor({ElementType::kF32, {}}, bytes, 1));
    ASSERT_TRUE(again.ok()) << again.status();
    ASSERT_EQ(std::memcmp(again->bytes().data(), bytes, 4), 0) << value;
  }
}

TEST(PrintTensor, WhatIsLeftOutIsCounted) {
  const Tensor tensor = ParseTensor("2x3xi32=1 2 3 4 5 6").value();
  EXPECT_EQ(Printed(tensor, 6), "2x3xi32=[1 2 3][4 5 6]");
  EXPECT_EQ(Printed(tensor, 4), "2x3xi32=[1 2 3][4 ... (2 of 6 elements left out)");
  EXPECT_EQ(Printed(tensor, 0), "2x3xi32= ... (6 of 6 elements left out)");
}

}  // namespace
}  // namespace autopar
