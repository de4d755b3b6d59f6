// Tensors as text, in the forms of iree-run-module: "2x3xf32=1 2 3 4 5 6".
#ifndef AUTOPAR_RUNTIME_IO_TENSOR_TEXT_H_
#define AUTOPAR_RUNTIME_IO_TENSOR_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/io/tensor.h"

namespace autopar {

// "4x4xf32", "f32": a type. Dimensions are whole numbers; the bytes are at most 2^62.
absl::StatusOr<TensorType> ParseTensorType(std::string_view text);

// One value of --input or --expected_output:
//   4x4xf32=1,2,...       elements in row-major order, separated by spaces or commas; brackets
//   around rows may be 2x2xi32=[[1 2][3 4]]  given and must then fit the shape; one value fills the
//   tensor; none at all ("4xf32") is zeros
//   @x.npy                a NumPy file; `wanted` as in ReadNpy
//   4x4xf32=@x.bin        the raw little-endian bytes of a file
// Floats: decimal or hexadecimal, inf, nan; a value too large for its type is refused. Whole
// numbers: decimal or 0x, and both the signed and the unsigned reading of the width. i1: 0, 1,
// true, false.
absl::StatusOr<Tensor> ParseTensor(std::string_view text,
                                   std::optional<ElementType> wanted = std::nullopt);

// "2x2xf32=[1 2][3 4]", "4xi32=1 2 3 4", "f32=1": what ParseTensor reads; floats with the fewest
// digits that give the same value (of their f32 value for the 16-bit types). Beyond `max_elements`
// it ends in "... (N of M elements left out)".
std::string PrintTensor(const TensorType& type, absl::Span<const uint8_t> bytes,
                        int64_t max_elements);
// One element, as in PrintTensor.
std::string PrintElement(const TensorType& type, absl::Span<const uint8_t> bytes, int64_t index);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_IO_TENSOR_TEXT_H_
