// A dense tensor in host memory that owns its bytes: what the readers give and the writers take.
#ifndef AUTOPAR_RUNTIME_IO_TENSOR_H_
#define AUTOPAR_RUNTIME_IO_TENSOR_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/element_type.h"

namespace autopar {

// Row-major, little-endian, aligned to 64 bytes. Move-only; thread-compatible.
class Tensor {
 public:
  // Undefined contents. InvalidArgument for a negative dimension or more than 2^62 bytes,
  // ResourceExhausted if the system has not that much memory.
  static absl::StatusOr<Tensor> Allocate(TensorType type);
  // In memory that somebody else got; `release` gives it back, with the address. `data` has type.bytes() bytes.
  static Tensor Adopt(TensorType type, uint8_t* data, std::function<void(uint8_t*)> release);

  const TensorType& type() const { return type_; }
  absl::Span<uint8_t> bytes() { return absl::MakeSpan(data_.get(), size_); }
  absl::Span<const uint8_t> bytes() const { return absl::MakeConstSpan(data_.get(), size_); }

  // One element by its row-major number, as a double (exact but for i64 beyond 2^53) or as a whole
  // number (i types only).
  double FloatAt(int64_t index) const;
  int64_t IntAt(int64_t index) const;

 private:
  using Release = std::function<void(uint8_t*)>;
  Tensor(TensorType type, uint8_t* data, size_t size, Release release)
      : type_(std::move(type)), data_(data, std::move(release)), size_(size) {}

  TensorType type_;
  std::unique_ptr<uint8_t, Release> data_;
  size_t size_ = 0;
};

// f32 f64 f16 bf16.
bool IsFloat(ElementType type);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_IO_TENSOR_H_
