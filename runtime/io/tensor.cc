#include "runtime/io/tensor.h"

#include <bit>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/io/float16.h"

namespace autopar {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are little-endian in memory and in files");

constexpr size_t kAlignment = 64;

template <class T>
T Load(absl::Span<const uint8_t> bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

absl::StatusOr<Tensor> Tensor::Allocate(TensorType type) {
  const std::optional<uint64_t> bytes = CheckedBytes(type);
  if (!bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tensor of type ", type.ToString(),
                     " cannot exist: its size is negative or beyond 2^62 bytes"));
  }
  // An empty tensor gets memory too, so that its pointer is never null.
  const size_t rounded = (*bytes / kAlignment + 1) * kAlignment;
  auto* data = static_cast<uint8_t*>(std::aligned_alloc(kAlignment, rounded));
  if (data == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a tensor of type ", type.ToString(), " (", *bytes, " bytes)"));
  }
  return Tensor(std::move(type), data, *bytes, [](uint8_t* memory) { std::free(memory); });
}

Tensor Tensor::Adopt(TensorType type, uint8_t* data, std::function<void(uint8_t*)> release) {
  const size_t bytes = type.bytes();
  return Tensor(std::move(type), data, bytes, std::move(release));
}

double Tensor::FloatAt(int64_t index) const {
  switch (type_.element) {
    case ElementType::kF32:
      return Load<float>(bytes(), index);
    case ElementType::kF64:
      return Load<double>(bytes(), index);
    case ElementType::kF16:
      return Float16ToFloat(Load<uint16_t>(bytes(), index));
    case ElementType::kBf16:
      return Bfloat16ToFloat(Load<uint16_t>(bytes(), index));
    default:
      return static_cast<double>(IntAt(index));
  }
}

int64_t Tensor::IntAt(int64_t index) const {
  switch (type_.element) {
    case ElementType::kI1:
      return Load<uint8_t>(bytes(), index) != 0;
    case ElementType::kI8:
      return Load<int8_t>(bytes(), index);
    case ElementType::kI32:
      return Load<int32_t>(bytes(), index);
    case ElementType::kI64:
      return Load<int64_t>(bytes(), index);
    default:
      return 0;
  }
}

bool IsFloat(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kF64 || type == ElementType::kF16 ||
         type == ElementType::kBf16;
}

}  // namespace autopar
