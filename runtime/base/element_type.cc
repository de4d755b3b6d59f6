#include "runtime/base/element_type.h"

namespace autopar {
namespace {

struct ElementInfo {
  std::string_view name;
  uint64_t bytes;
};

// Indexed by ElementType.
constexpr ElementInfo kElements[] = {{"f32", 4}, {"f64", 8}, {"f16", 2}, {"bf16", 2},
                                     {"i1", 1},  {"i8", 1},  {"i32", 4}, {"i64", 8}};
constexpr size_t kElementCount = sizeof(kElements) / sizeof(kElements[0]);

}  // namespace

uint64_t ElementBytes(ElementType type) {
  const auto index = static_cast<size_t>(type);
  return index < kElementCount ? kElements[index].bytes : 0;
}

std::string_view ElementTypeName(ElementType type) {
  const auto index = static_cast<size_t>(type);
  return index < kElementCount ? kElements[index].name : "unknown";
}

std::optional<ElementType> ParseElementType(std::string_view name) {
  for (size_t i = 0; i < kElementCount; ++i) {
    if (kElements[i].name == name) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

int64_t TensorType::elements() const {
  int64_t count = 1;
  for (int64_t dimension : shape) count *= dimension;
  return count;
}

std::string TensorType::ToString() const {
  std::string text;
  for (int64_t dimension : shape) {
    text += std::to_string(dimension);
    text += 'x';
  }
  text += ElementTypeName(element);
  return text;
}

std::optional<uint64_t> CheckedBytes(const TensorType& type) {
  // A zero anywhere makes the tensor empty, but the other dimensions must still be sensible: their
  // product is taken without the zeros, so that {2^62, 2^62, 0} is refused like {2^62, 2^62}.
  constexpr uint64_t kLimit = uint64_t{1} << 62;
  uint64_t product = ElementBytes(type.element);
  bool empty = false;
  for (int64_t dimension : type.shape) {
    if (dimension < 0) return std::nullopt;
    if (dimension == 0) {
      empty = true;
      continue;
    }
    if (__builtin_mul_overflow(product, static_cast<uint64_t>(dimension), &product))
      return std::nullopt;
    if (product > kLimit) return std::nullopt;
  }
  return empty ? 0 : product;
}

}  // namespace autopar
