#include "runtime/io/tensor_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"
#include "runtime/io/float16.h"
#include "runtime/io/npy.h"

namespace autopar {
namespace {

// A piece of the user's text for a message of one line.
std::string Shown(std::string_view text) {
  std::string result;
  for (char c : text.substr(0, 40)) result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  if (text.size() > 40) result += "...";
  return result;
}

absl::Status NotAType(std::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("'", Shown(text),
                                                 "' is not a tensor type; write it like 4x4xf32, "
                                                 "with f32, f64, f16, bf16, i1, i8, i32 or i64"));
}

absl::Status NotAValue(std::string_view token, ElementType type, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("'", Shown(token), "' ", std::string(why), " ",
                                                 std::string(ElementTypeName(type))));
}

// ---- one element
// ----------------------------------------------------------------------------------------------------

template <class T>
absl::StatusOr<T> ParseFloat(std::string_view token, ElementType type) {
  std::string_view rest = token;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '+' || rest[0] == '-')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  auto format = std::chars_format::general;
  if (rest.size() > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X')) {
    rest.remove_prefix(2);
    format = std::chars_format::hex;
  }
  T value = 0;
  if (rest.empty() || rest[0] == '-') return NotAValue(token, type, "is not a value of type");
  const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), value, format);
  if (result.ec == std::errc::invalid_argument || result.ptr != rest.data() + rest.size()) {
    return NotAValue(token, type, "is not a value of type");
  }
  // Some libraries give infinity or zero for what is out of range, others an error.
  const bool is_word = rest[0] == 'i' || rest[0] == 'I' || rest[0] == 'n' || rest[0] == 'N';
  if (!is_word && (result.ec == std::errc::result_out_of_range || std::isinf(value))) {
    // Too large or too small: a wider type tells which. Too small is zero.
    long double wide = 0;
    const auto again = std::from_chars(rest.data(), rest.data() + rest.size(), wide, format);
    if (again.ec != std::errc() || std::fabs(wide) > 1)
      return NotAValue(token, type, "is out of range of");
    value = static_cast<T>(wide);
  }
  return negative ? -value : value;
}

absl::StatusOr<int64_t> ParseInt(std::string_view token, ElementType type) {
  if (type == ElementType::kI1 && (token == "true" || token == "false")) return token == "true";
  std::string_view rest = token;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '+' || rest[0] == '-')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  int base = 10;
  if (rest.size() > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X')) {
    rest.remove_prefix(2);
    base = 16;
  }
  uint64_t magnitude = 0;
  const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), magnitude, base);
  if (result.ec == std::errc::invalid_argument || result.ptr != rest.data() + rest.size()) {
    return NotAValue(token, type, "is not a value of type");
  }
  const uint64_t bits = type == ElementType::kI1 ? 1 : 8 * ElementBytes(type);
  const uint64_t max =
      bits == 64 ? std::numeric_limits<uint64_t>::max() : (uint64_t{1} << bits) - 1;
  const uint64_t min = type == ElementType::kI1 ? 0 : uint64_t{1} << (bits - 1);
  if (result.ec != std::errc() || magnitude > (negative ? min : max))
    return NotAValue(token, type, "is out of range of");
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}

template <class T>
void Store(T value, uint8_t* target) {
  std::memcpy(target, &value, sizeof(value));
}

absl::Status ParseElement(std::string_view token, ElementType type, uint8_t* target) {
  switch (type) {
    case ElementType::kF64: {
      AUTOPAR_ASSIGN_OR_RETURN(const double value, ParseFloat<double>(token, type));
      Store(value, target);
      return absl::OkStatus();
    }
    case ElementType::kF32:
    case ElementType::kF16:
    case ElementType::kBf16: {
      AUTOPAR_ASSIGN_OR_RETURN(const float value, ParseFloat<float>(token, type));
      if (type == ElementType::kF32) {
        Store(value, target);
        return absl::OkStatus();
      }
      const uint16_t half =
          type == ElementType::kF16 ? FloatToFloat16(value) : FloatToBfloat16(value);
      const float rounded =
          type == ElementType::kF16 ? Float16ToFloat(half) : Bfloat16ToFloat(half);
      if (std::isinf(rounded) && !std::isinf(value))
        return NotAValue(token, type, "is out of range of");
      Store(half, target);
      return absl::OkStatus();
    }
    default: {
      AUTOPAR_ASSIGN_OR_RETURN(const int64_t value, ParseInt(token, type));
      std::memcpy(target, &value, ElementBytes(type));  // little-endian: the low bytes come first
      return absl::OkStatus();
    }
  }
}

// ---- the elements of a tensor
// ---------------------------------------------------------------------------------------

// Brackets may enclose the innermost dimensions: with a nesting of d, those at level 1 hold the
// last d dimensions.
class BracketChecker {
 public:
  BracketChecker(const TensorType& type, std::string_view text) : type_(type) {
    size_t depth = 0;
    for (char c : text) {
      if (c == '[') deepest_ = std::max(deepest_, ++depth);
      if (c == ']' && depth > 0) --depth;
    }
  }
  absl::Status Check() const {
    if (deepest_ <= type_.shape.size()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("the brackets nest ", deepest_, " deep, but ",
                                                   type_.ToString(), " has ", type_.shape.size(),
                                                   " dimensions"));
  }
  absl::Status Open(int64_t count) {
    begins_.push_back(count);
    const int64_t elements = Elements(begins_.size());
    return elements == 0 || count % elements == 0 ? absl::OkStatus() : Misplaced();
  }
  absl::Status Close(int64_t count) {
    if (begins_.empty()) return absl::InvalidArgumentError("a closing bracket has no opening one");
    const int64_t held = count - begins_.back(), expected = Elements(begins_.size());
    begins_.pop_back();
    return held == expected ? absl::OkStatus() : Misplaced();
  }
  absl::Status End() const {
    return begins_.empty() ? absl::OkStatus()
                           : absl::InvalidArgumentError("a closing bracket is missing");
  }

 private:
  // Elements that a bracket at this level (1 is the outermost) holds.
  int64_t Elements(size_t level) const {
    int64_t elements = 1;
    for (size_t axis = type_.shape.size() - deepest_ + level - 1; axis < type_.shape.size();
         ++axis) {
      elements *= type_.shape[axis];
    }
    return elements;
  }
  absl::Status Misplaced() const {
    return absl::InvalidArgumentError(
        absl::StrCat("the brackets do not fit the shape of ", type_.ToString()));
  }
  const TensorType& type_;
  size_t deepest_ = 0;
  std::vector<int64_t> begins_;
};

absl::Status WrongCount(const TensorType& type, int64_t count, bool or_more) {
  return absl::InvalidArgumentError(absl::StrCat(
      type.ToString(), " needs ", type.elements(), type.elements() == 1 ? " value" : " values",
      " (or one for all), not ", count, or_more ? " or more" : ""));
}

void Fill(uint64_t element_bytes, absl::Span<uint8_t> bytes) {
  for (size_t done = element_bytes; done < bytes.size();) {
    const size_t count = std::min(done, bytes.size() - done);
    std::memcpy(bytes.data() + done, bytes.data(), count);
    done += count;
  }
}

absl::Status ParseElements(std::string_view text, Tensor* tensor) {
  const TensorType& type = tensor->type();
  const uint64_t element_bytes = ElementBytes(type.element);
  const int64_t elements = type.elements();
  BracketChecker brackets(type, text);
  AUTOPAR_RETURN_IF_ERROR(brackets.Check());
  const bool has_brackets =
      text.find('[') != std::string_view::npos || text.find(']') != std::string_view::npos;
  const auto is_separator = [](char c) {
    return c == ' ' || c == ',' || c == '\n' || c == '\t' || c == '\r' || c == '[' || c == ']';
  };
  int64_t count = 0;
  for (size_t at = 0; at < text.size();) {
    if (is_separator(text[at])) {
      if (text[at] == '[') AUTOPAR_RETURN_IF_ERROR(brackets.Open(count));
      if (text[at] == ']') AUTOPAR_RETURN_IF_ERROR(brackets.Close(count));
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && !is_separator(text[end])) ++end;
    if (count >= elements) return WrongCount(type, count + 1, true);
    AUTOPAR_RETURN_IF_ERROR(
        ParseElement(text.substr(at, end - at), type.element,
                     tensor->bytes().data() + static_cast<uint64_t>(count) * element_bytes));
    ++count;
    at = end;
  }
  AUTOPAR_RETURN_IF_ERROR(brackets.End());
  if (count == elements) return absl::OkStatus();
  if (count != 1 || has_brackets) return WrongCount(type, count, false);
  Fill(element_bytes, tensor->bytes());
  return absl::OkStatus();
}

absl::StatusOr<Tensor> ReadRaw(const std::string& path, const TensorType& type) {
  const std::optional<uint64_t> bytes = CheckedBytes(type);
  AUTOPAR_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, *bytes));
  if (text.size() != *bytes) {
    return absl::InvalidArgumentError(absl::StrCat("'", path, "' has ", text.size(), " bytes, but ",
                                                   type.ToString(), " needs ", *bytes));
  }
  AUTOPAR_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(type));
  if (!text.empty()) std::memcpy(tensor.bytes().data(), text.data(), text.size());
  if (type.element == ElementType::kI1) {
    for (uint8_t& byte : tensor.bytes()) byte = byte != 0;
  }
  return tensor;
}

// ---- printing
// -------------------------------------------------------------------------------------------------------

template <class T>
T LoadAt(absl::Span<const uint8_t> bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void AppendNumber(T value, std::string* text) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  text->append(buffer, result.ptr);
}

template <class T>
void AppendFloat(T value, std::string* text) {
  if (std::isnan(value)) {
    *text += "nan";  // its sign and payload say nothing to a reader
  } else {
    AppendNumber(value, text);
  }
}

void AppendElement(ElementType type, absl::Span<const uint8_t> bytes, int64_t index,
                   std::string* text) {
  switch (type) {
    case ElementType::kF32:
      return AppendFloat(LoadAt<float>(bytes, index), text);
    case ElementType::kF64:
      return AppendFloat(LoadAt<double>(bytes, index), text);
    case ElementType::kF16:
      return AppendFloat(Float16ToFloat(LoadAt<uint16_t>(bytes, index)), text);
    case ElementType::kBf16:
      return AppendFloat(Bfloat16ToFloat(LoadAt<uint16_t>(bytes, index)), text);
    case ElementType::kI1:
    case ElementType::kI8:
      return AppendNumber(static_cast<int>(LoadAt<int8_t>(bytes, index)), text);
    case ElementType::kI32:
      return AppendNumber(LoadAt<int32_t>(bytes, index), text);
    case ElementType::kI64:
      return AppendNumber(LoadAt<int64_t>(bytes, index), text);
  }
}

}  // namespace

absl::StatusOr<TensorType> ParseTensorType(std::string_view text) {
  TensorType type;
  std::string_view rest = text;
  while (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') {
    int64_t dimension = 0;
    const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), dimension);
    if (result.ec != std::errc() || result.ptr == rest.data() + rest.size() || *result.ptr != 'x') {
      return NotAType(text);
    }
    type.shape.push_back(dimension);
    if (type.shape.size() > 64) return NotAType(text);
    rest.remove_prefix(static_cast<size_t>(result.ptr - rest.data()) + 1);
  }
  const std::optional<ElementType> element = ParseElementType(rest);
  if (!element) return NotAType(text);
  type.element = *element;
  if (!CheckedBytes(type))
    return absl::InvalidArgumentError(absl::StrCat("'", Shown(text), "' is too large to exist"));
  return type;
}

absl::StatusOr<Tensor> ParseTensor(std::string_view text, std::optional<ElementType> wanted) {
  if (!text.empty() && text[0] == '@') return ReadNpy(std::string(text.substr(1)), wanted);
  const size_t equals = text.find('=');
  AUTOPAR_ASSIGN_OR_RETURN(const TensorType type, ParseTensorType(text.substr(0, equals)));
  const std::string_view values = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  if (!values.empty() && values[0] == '@') {
    const std::string path(values.substr(1));
    if (path.size() > 4 && path.compare(path.size() - 4, 4, ".npy") == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", path, "': a .npy file carries its own type; write @", path, " without a type"));
    }
    return ReadRaw(path, type);
  }
  AUTOPAR_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(type));
  if (equals == std::string_view::npos) {
    std::memset(tensor.bytes().data(), 0, tensor.bytes().size());
    return tensor;
  }
  AUTOPAR_RETURN_IF_ERROR(ParseElements(values, &tensor));
  return tensor;
}

std::string PrintElement(const TensorType& type, absl::Span<const uint8_t> bytes, int64_t index) {
  std::string text;
  AppendElement(type.element, bytes, index, &text);
  return text;
}

std::string PrintTensor(const TensorType& type, absl::Span<const uint8_t> bytes,
                        int64_t max_elements) {
  std::string text = type.ToString() + "=";
  const int64_t elements = type.elements();
  const size_t rank = type.shape.size();
  if (elements == 0) return text;
  const int64_t printed = std::min(elements, std::max<int64_t>(max_elements, 0));
  // Every dimension but the outermost has brackets; an inner run that begins or ends at an element
  // opens or closes one.
  std::vector<int64_t> runs;
  int64_t run = 1;
  for (size_t axis = rank; axis-- > 1;) runs.push_back(run *= type.shape[axis]);
  for (int64_t i = 0; i < printed; ++i) {
    size_t opened = 0;
    for (int64_t length : runs) opened += i % length == 0;
    if (opened > 0) {
      text.append(opened, '[');
    } else if (i > 0) {
      text += ' ';
    }
    AppendElement(type.element, bytes, i, &text);
    for (int64_t length : runs) {
      if ((i + 1) % length == 0) text += ']';
    }
  }
  if (printed < elements)
    absl::StrAppend(&text, " ... (", elements - printed, " of ", elements, " elements left out)");
  return text;
}

}  // namespace autopar
