// The element types of a tensor, the same in the schedule file, the .npy reader and the command line.
#ifndef AUTOPAR_RUNTIME_BASE_ELEMENT_TYPE_H_
#define AUTOPAR_RUNTIME_BASE_ELEMENT_TYPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopar {

// i1 is stored as one byte per element, 0 or 1. Values are part of the file format: append only.
enum class ElementType : uint8_t { kF32 = 0, kF64 = 1, kF16 = 2, kBf16 = 3, kI1 = 4, kI8 = 5, kI32 = 6, kI64 = 7 };

// Bytes of one element.
uint64_t ElementBytes(ElementType type);
// "f32", "i1", ...
std::string_view ElementTypeName(ElementType type);
std::optional<ElementType> ParseElementType(std::string_view name);

// A ranked tensor of static shape, row-major and dense. Rank 0 is one element; a zero dimension is an empty tensor.
struct TensorType {
  ElementType element = ElementType::kF32;
  std::vector<int64_t> shape;

  // Product of the shape. Only for shapes that were checked on reading (no overflow, nothing negative).
  int64_t elements() const;
  uint64_t bytes() const { return static_cast<uint64_t>(elements()) * ElementBytes(element); }
  // "4x4xf32", "f32" for rank 0: the spelling of the command line.
  std::string ToString() const;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// Bytes of a tensor whose shape comes from outside; nothing if a dimension is negative or the bytes exceed 2^62.
std::optional<uint64_t> CheckedBytes(const TensorType& type);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_BASE_ELEMENT_TYPE_H_
