#include "runtime/io/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace autopar {
namespace {

const std::string kCases = std::string(AUTOPAR_SOURCE_DIR) + "/test/runtime/io/npy_cases/";

std::string FileText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

absl::StatusOr<Tensor> Parse(const std::string &text,
                             std::optional<ElementType> wanted = std::nullopt) {
  return ParseNpy(absl::MakeConstSpan(reinterpret_cast<const uint8_t *>(text.data()), text.size()),
                  "x.npy", wanted);
}

// A version 1 file with this header text and payload.
std::string Npy(const std::string &header, const std::string &payload) {
  std::string text("\x93NUMPY\1\0", 8);
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  return text + header + payload;
}

double ValueOf(const nlohmann::json &value) {
  if (!value.is_string()) return value.get<double>();
  if (value == "nan") return std::nan("");
  return value == "-inf" ? -INFINITY : INFINITY;
}

// What the manifest leaves open (ok: null) and how autopar decides.
const std::map<std::string, bool> kDecided = {{"native_endian_equals.npy", true},
                                              {"long_suffix_shape.npy", true},
                                              {"two_arrays.npy", false},  // bytes follow the array
                                              {"complex64.npy", false},
                                              {"bf16_V2.npy", false}};  // without a bf16 argument

TEST(Npy, EveryCaseOfTheManifestIsReadOrRefusedAsItSays) {
  const nlohmann::json manifest = nlohmann::json::parse(FileText(kCases + "manifest.json"));
  ASSERT_EQ(manifest.size(), 38u);
  for (const auto &[name, entry] : manifest.items()) {
    SCOPED_TRACE(name);
    const bool ok = entry["ok"].is_null() ? kDecided.at(name) : entry["ok"].get<bool>();
    const absl::StatusOr<Tensor> tensor = ReadNpy(kCases + name);
    ASSERT_EQ(tensor.ok(), ok) << tensor.status();
    const std::string text = FileText(kCases + name);
    const absl::StatusOr<Tensor> from_memory = Parse(text);
    ASSERT_EQ(from_memory.ok(), ok);
    if (!ok) {
      const std::string message(tensor.status().message());
      EXPECT_EQ(message.rfind("'" + kCases + name + "': ", 0), 0u) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos);
      continue;
    }
    EXPECT_EQ(tensor->bytes(), from_memory->bytes());
    EXPECT_EQ(tensor->type().shape, entry["shape"].get<std::vector<int64_t>>());
    const std::string dtype = entry["dtype"];
    EXPECT_EQ(ElementTypeName(tensor->type().element), dtype == "ui8" ? "i8" : dtype);
    const nlohmann::json &values = entry["values_c_order"];
    ASSERT_EQ(static_cast<size_t>(tensor->type().elements()), values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const auto index = static_cast<int64_t>(i);
      double expected = ValueOf(values[i]);
      if (dtype == "ui8" && expected > 127) expected -= 256;  // bit pattern
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(tensor->FloatAt(index)));
      } else {
        EXPECT_EQ(tensor->FloatAt(index), expected);
        EXPECT_EQ(std::signbit(tensor->FloatAt(index)), std::signbit(expected));
      }
    }
  }
}

TEST(Npy, RefusalsSayWhatIsWrong) {
  const std::pair<const char *, const char *> expected[] = {
      {"bad_magic.npy", "not a .npy file: it does not begin with \\x93NUMPY"},
      {"bad_version.npy", "format version 9.0 is unknown; 1.0, 2.0 and 3.0 are read"},
      {"empty_file.npy", "the file is empty, not a .npy file"},
      {"truncated_payload.npy", "the file is cut short: 2x3xf32 needs 24 bytes, and 19 are there"},
      {"header_len_huge.npy",
       "the header should have 4294967280 bytes, but the file ends after 2 of them"},
      {"shape_overflow.npy", "an array of type 4294967296x4294967296xf32 is too large to exist"},
      {"shape_negative.npy", "the shape has the negative dimension -1"},
      {"missing_key.npy", "the header is damaged: the key 'fortran_order' is missing"},
      {"object_pickle.npy",
       "element type '|O' means pickled Python objects, which are never read; "
       "save it as float16, float32, float64, "
       "bool, int8, int32 or int64"},
      {"structured.npy", "a structured element type is not supported; save each field as an array"},
      {"string.npy",
       "element type '<U2' means strings; save it as float16, float32, float64, "
       "bool, int8, int32 or int64"},
      {"complex64.npy",
       "element type '<c8' means complex numbers; save it as float16, float32, "
       "float64, bool, int8, int32 or int64"},
      {"two_arrays.npy", "152 bytes follow the array 2x3xf32; a file holds one array"},
      {"bf16_V2.npy",
       "element type '<V2' is two bytes without a meaning and is read as bf16 only "
       "for a bf16 tensor; save it as "
       "float16, float32, float64, bool, int8, int32 or int64"},
  };
  for (const auto &[name, message] : expected) {
    EXPECT_EQ(std::string(ReadNpy(kCases + name).status().message()),
              "'" + kCases + name + "': " + message);
  }
}

TEST(Npy, TwoByteVoidIsBf16OnlyWhereBf16IsWanted) {
  const absl::StatusOr<Tensor> tensor = ReadNpy(kCases + "bf16_V2.npy", ElementType::kBf16);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->type(), (TensorType{ElementType::kBf16, {2}}));
  EXPECT_EQ(tensor->FloatAt(0), 1.0);
  EXPECT_EQ(tensor->FloatAt(1), -2.0);
  EXPECT_FALSE(ReadNpy(kCases + "bf16_V2.npy", ElementType::kF16).ok());
}

TEST(Npy, MissingFileAndFolderAreSentences) {
  EXPECT_EQ(ReadNpy("no/such.npy").status().message(),
            "cannot open 'no/such.npy': no such file or folder");
  EXPECT_EQ(ReadNpy("/").status().message(), "cannot read '/': it is a folder, not a file");
}

TEST(Npy, HeadersOutOfTheOrdinary) {
  struct Case {
    const char *header;
    const char *error;  // nullptr: read as 2xf32
  };
  const Case cases[] = {
      {"{'descr':'<f4','fortran_order':False,'shape':(2,)}", nullptr},
      {"  { 'shape' : ( 2L , ) , 'descr' : \"f4\" , 'fortran_order' : True }  \n", nullptr},
      {"{'descr':'<f4','fortran_order':False,'shape':(2)}", "the shape is a number, not a tuple"},
      {"{'descr':'<f4','fortran_order':False,'shape':(2,),'x':1}", "a key other than"},
      {"{'descr':'<f4','fortran_order':False,'shape':(2,),'shape':(2,)}", "stands twice"},
      {"{'descr':'<f4','fortran_order':False,'shape':(2,)", "a comma is missing"},
      {"{'descr':'<f4','fortran_order':False,'shape':(2,),", "a key is not a string"},
      {"{'descr':'<f4' 'fortran_order':False,'shape':(2,)}", "a comma is missing"},
      {"{'descr':'<f4','fortran_order':0,'shape':(2,)}", "neither True nor False"},
      {"{'descr':'<f4','fortran_order':False,'shape':[2]}", "not a tuple"},
      {"{'descr':'<f4','fortran_order':False,'shape':(2.0,)}", "not a tuple of whole numbers"},
      {"{'descr':'<f4','fortran_order':False,'shape':(99999999999999999999,)}",
       "not a tuple of whole numbers"},
      {"{'descr':'<f4','fortran_order':False,'shape':(2,)} x", "text follows"},
      {"{'descr':'<f4','fortran_order':False,'shape':(", "not a tuple of whole numbers"},
      {"{'descr':4,'fortran_order':False,'shape':(2,)}", "'descr' is not a string"},
      {"{'descr':'','fortran_order':False,'shape':(2,)}", "element type '' is not supported"},
      {"{'descr':'|f4','fortran_order':False,'shape':(2,)}", "does not say its byte order"},
      {"{'descr':'<i2','fortran_order':False,'shape':(4,)}", "element type '<i2' is not supported"},
      {"{'descr':'<M8[ns]','fortran_order':False,'shape':(1,)}", "is not supported"},
      {"{'descr':'<f4','fortran_order':False,'shape':(0,9223372036854775807,2)}",
       "too large to exist"},
      {"{'descr", "a key is not a string"},
      {"{", "a key is not a string"},
      {"", "does not begin with {"},
      {"(1,2)", "does not begin with {"},
  };
  for (const Case &test : cases) {
    const absl::StatusOr<Tensor> tensor =
        Parse(Npy(test.header, std::string("\0\0\x80\x3f\0\0\0\x40", 8)));
    ASSERT_EQ(tensor.ok(), test.error == nullptr) << test.header << "  " << tensor.status();
    if (tensor.ok()) {
      EXPECT_EQ(tensor->type().ToString(), "2xf32");
      EXPECT_EQ(tensor->FloatAt(0), 1.0);
      EXPECT_EQ(tensor->FloatAt(1), 2.0);
    } else {
      EXPECT_NE(std::string(tensor.status().message()).find(test.error), std::string::npos)
          << tensor.status();
    }
  }
  std::string rank;
  for (int i = 0; i < 65; ++i) rank += "1,";
  EXPECT_FALSE(
      Parse(Npy("{'descr':'<f4','fortran_order':False,'shape':(" + rank + ")}", "0123")).ok());
}

TEST(Npy, EveryTruncationAndByteChangeIsReadOrRefused) {
  for (const char *name :
       {"c_order_v1.npy", "fortran_3d.npy", "big_endian_i8.npy", "c_order_v3.npy"}) {
    const std::string text = FileText(kCases + name);
    for (size_t length = 0; length < text.size(); ++length) {
      EXPECT_FALSE(Parse(text.substr(0, length)).ok()) << name << " " << length;
    }
    for (size_t at = 0; at < text.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string changed = text;
        changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
        const absl::StatusOr<Tensor> tensor = Parse(changed, ElementType::kBf16);
        if (!tensor.ok()) continue;
        EXPECT_EQ(tensor->bytes().size(), tensor->type().bytes());
      }
    }
  }
}

TEST(Npy, FortranOrderLargerThanOneBlockIsTransposed) {
  constexpr int64_t kRows = 700, kColumns = 900;  // 2.5 MB
  std::string payload(kRows * kColumns * 4, '\0');
  for (int64_t column = 0; column < kColumns; ++column) {
    for (int64_t row = 0; row < kRows; ++row) {
      const int32_t value = static_cast<int32_t>(row * kColumns + column);
      std::memcpy(payload.data() + (column * kRows + row) * 4, &value, 4);
    }
  }
  const absl::StatusOr<Tensor> tensor =
      Parse(Npy("{'descr':'<i4','fortran_order':True,'shape':(700,900)}", payload));
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  for (int64_t i = 0; i < kRows * kColumns; ++i) ASSERT_EQ(tensor->IntAt(i), i);
}

class NpyWriter : public testing::TestWithParam<TensorType> {};

TEST_P(NpyWriter, WhatIsWrittenIsReadBack) {
  const TensorType type = GetParam();
  std::vector<uint8_t> bytes(type.bytes());
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(type.element == ElementType::kI1 ? i % 2 : i * 7 + 1);
  const std::string path = testing::TempDir() + "/npy_writer." + std::to_string(getpid()) + ".npy";
  ASSERT_TRUE(WriteNpy(path, type, bytes).ok());
  const std::string text = FileText(path);
  EXPECT_EQ((text.size() - bytes.size()) % 64, 0u) << "the payload is aligned";
  const absl::StatusOr<Tensor> tensor = ReadNpy(path, type.element);
  std::filesystem::remove(path);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->type(), type);
  EXPECT_EQ(tensor->bytes(), absl::MakeConstSpan(bytes));
}

INSTANTIATE_TEST_SUITE_P(
    Types, NpyWriter,
    testing::Values(TensorType{ElementType::kF32, {2, 3}}, TensorType{ElementType::kF32, {}},
                    TensorType{ElementType::kF64, {184}}, TensorType{ElementType::kF16, {3, 1, 2}},
                    TensorType{ElementType::kBf16, {5}}, TensorType{ElementType::kI1, {9}},
                    TensorType{ElementType::kI8, {2, 0, 3}}, TensorType{ElementType::kI32, {0}},
                    TensorType{ElementType::kI64, std::vector<int64_t>(64, 1)}));

TEST(NpyWriterHeader, ShapeTuplesAreThoseOfPython) {
  const std::string path = testing::TempDir() + "/npy_header." + std::to_string(getpid()) + ".npy";
  const uint8_t zeros[184 * 4] = {};
  ASSERT_TRUE(WriteNpy(path, {ElementType::kF32, {184}}, zeros).ok());
  EXPECT_NE(FileText(path).find("{'descr': '<f4', 'fortran_order': False, 'shape': (184,), }"),
            std::string::npos);
  ASSERT_TRUE(WriteNpy(path, {ElementType::kF32, {}}, absl::MakeConstSpan(zeros, 4)).ok());
  EXPECT_NE(FileText(path).find("'shape': (), }"), std::string::npos);
  ASSERT_TRUE(WriteNpy(path, {ElementType::kBf16, {2, 3}}, absl::MakeConstSpan(zeros, 12)).ok());
  EXPECT_NE(FileText(path).find("{'descr': '<V2', 'fortran_order': False, 'shape': (2, 3), }"),
            std::string::npos);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace autopar
