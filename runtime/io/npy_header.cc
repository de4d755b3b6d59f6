#include "runtime/io/npy_header.h"

#include <charconv>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace autopar {
namespace {

constexpr size_t kMaxRank = 64;  // NumPy's own limit

// Reads the literal from left to right. No recursion: the only nesting that is accepted is the
// shape's tuple.
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  void SkipSpace() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }
  bool Take(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool TakeWord(std::string_view word) {
    SkipSpace();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool AtEnd() {
    SkipSpace();
    return at_ >= text_.size();
  }
  char Peek() {
    SkipSpace();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  // 'text' or "text"; escapes are not taken, no key or type needs one.
  std::optional<std::string> TakeString() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    if (result.find('\\') != std::string::npos) return std::nullopt;
    at_ = end + 1;
    return result;
  }
  std::optional<int64_t> TakeInteger() {
    SkipSpace();
    int64_t value = 0;
    const auto result = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (result.ec != std::errc()) return std::nullopt;
    at_ = static_cast<size_t>(result.ptr - text_.data());
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2's long
    return value;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

absl::Status Damaged(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the header is damaged: ", std::string(what)));
}

absl::Status Unsupported(std::string_view descr, std::string_view what) {
  std::string shown;
  for (char c : descr.substr(0, 40)) shown += c < ' ' ? '?' : c;
  return absl::InvalidArgumentError(
      absl::StrCat("element type '", shown, "' ", std::string(what),
                   "; save it as float16, float32, float64, bool, int8, int32 or int64"));
}

absl::Status ParseDescr(std::string_view descr, std::optional<ElementType> wanted,
                        NpyHeader* header) {
  std::string_view code = descr;
  char order = '=';
  if (!code.empty() && std::string_view("<>=|").find(code[0]) != std::string_view::npos) {
    order = code[0];
    code.remove_prefix(1);
  }
  if (code == "V2") {
    if (wanted != ElementType::kBf16 || order == '>') {
      return Unsupported(
          descr, "is two bytes without a meaning and is read as bf16 only for a bf16 tensor");
    }
    header->type.element = ElementType::kBf16;
    return absl::OkStatus();
  }
  struct Entry {
    std::string_view code;
    ElementType type;
  };
  static constexpr Entry kEntries[] = {{"f4", ElementType::kF32}, {"f8", ElementType::kF64},
                                       {"f2", ElementType::kF16}, {"b1", ElementType::kI1},
                                       {"i1", ElementType::kI8},  {"u1", ElementType::kI8},
                                       {"i4", ElementType::kI32}, {"u4", ElementType::kI32},
                                       {"i8", ElementType::kI64}, {"u8", ElementType::kI64}};
  for (const Entry& entry : kEntries) {
    if (code != entry.code) continue;
    header->type.element = entry.type;
    if (ElementBytes(entry.type) > 1) {
      if (order == '|') return Unsupported(descr, "does not say its byte order");
      header->big_endian = order == '>';
    }
    return absl::OkStatus();
  }
  switch (code.empty() ? '\0' : code[0]) {
    case 'O':
      return Unsupported(descr, "means pickled Python objects, which are never read");
    case 'U':
    case 'S':
    case 'a':
      return Unsupported(descr, "means strings");
    case 'c':
      return Unsupported(descr, "means complex numbers");
    case 'V':
      return Unsupported(descr, "means bytes without a meaning");
    default:
      return Unsupported(descr, "is not supported");
  }
}

absl::Status ParseShape(LiteralReader* reader, std::vector<int64_t>* shape) {
  if (!reader->Take('(')) return Damaged("the shape is not a tuple");
  bool has_comma = false;
  while (!reader->Take(')')) {
    if (!shape->empty() && !has_comma) return Damaged("the shape is not a tuple of whole numbers");
    const std::optional<int64_t> dimension = reader->TakeInteger();
    if (!dimension) return Damaged("the shape is not a tuple of whole numbers");
    if (*dimension < 0)
      return absl::InvalidArgumentError(
          absl::StrCat("the shape has the negative dimension ", *dimension));
    if (shape->size() == kMaxRank)
      return absl::InvalidArgumentError(
          absl::StrCat("the shape has more than ", kMaxRank, " dimensions"));
    shape->push_back(*dimension);
    has_comma = reader->Take(',');
  }
  if (shape->size() == 1 && !has_comma) return Damaged("the shape is a number, not a tuple");
  return absl::OkStatus();
}

absl::Status ParseValue(const std::string& key, LiteralReader* reader,
                        std::optional<ElementType> wanted, NpyHeader* header) {
  if (key == "descr") {
    if (reader->Peek() == '[' || reader->Peek() == '(' || reader->Peek() == '{') {
      return absl::InvalidArgumentError(
          "a structured element type is not supported; save each field as an array");
    }
    const std::optional<std::string> descr = reader->TakeString();
    if (!descr) return Damaged("'descr' is not a string");
    return ParseDescr(*descr, wanted, header);
  }
  if (key == "fortran_order") {
    header->fortran_order = reader->TakeWord("True");
    if (!header->fortran_order && !reader->TakeWord("False"))
      return Damaged("'fortran_order' is neither True nor False");
    return absl::OkStatus();
  }
  return ParseShape(reader, &header->type.shape);
}

}  // namespace

absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view text, std::optional<ElementType> wanted) {
  static constexpr std::string_view kKeys[] = {"descr", "fortran_order", "shape"};
  bool seen[3] = {};
  NpyHeader header;
  LiteralReader reader(text);
  if (!reader.Take('{')) return Damaged("it does not begin with {");
  bool needs_comma = false;
  while (!reader.Take('}')) {
    if (needs_comma) return Damaged("a comma is missing between its keys");
    const std::optional<std::string> key = reader.TakeString();
    if (!key || !reader.Take(':')) return Damaged("a key is not a string followed by a colon");
    size_t index = 0;
    while (index < 3 && kKeys[index] != *key) ++index;
    if (index == 3) return Damaged("it has a key other than descr, fortran_order and shape");
    if (seen[index]) return Damaged(absl::StrCat("the key '", *key, "' stands twice"));
    seen[index] = true;
    AUTOPAR_RETURN_IF_ERROR(ParseValue(*key, &reader, wanted, &header));
    needs_comma = !reader.Take(',');
  }
  if (!reader.AtEnd()) return Damaged("text follows its closing }");
  for (size_t i = 0; i < 3; ++i) {
    if (!seen[i]) return Damaged(absl::StrCat("the key '", std::string(kKeys[i]), "' is missing"));
  }
  return header;
}

std::string FormatNpyHeader(const TensorType& type) {
  static constexpr const char* kDescr[] = {"<f4", "<f8", "<f2", "<V2",
                                           "|b1", "|i1", "<i4", "<i8"};  // by ElementType
  std::string shape;
  for (int64_t dimension : type.shape)
    absl::StrAppend(&shape, shape.empty() ? "" : ", ", dimension);
  if (type.shape.size() == 1) shape += ',';
  return absl::StrCat("{'descr': '", kDescr[static_cast<size_t>(type.element)],
                      "', 'fortran_order': False, 'shape': (", shape, "), }");
}

}  // namespace autopar
