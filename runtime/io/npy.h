// NumPy's .npy files (format versions 1.0, 2.0, 3.0).
//
// Read: f2 f4 f8, b1, i1 i4 i8 of either byte order, u1 u4 u8 as the signless type of the same
// width (bit pattern), C or Fortran order, any shape. bf16 has no NumPy type: arrays of
// ml_dtypes.bfloat16 are saved as two anonymous bytes
// ("V2") and are taken as bf16 only where bf16 is asked for. A bool byte other than 0 and 1
// becomes 1. Refused: pickled objects, strings, complex, structured types, a damaged or truncated
// file, bytes after the array. Nothing is allocated before the file was found long enough for it.
#ifndef AUTOPAR_RUNTIME_IO_NPY_H_
#define AUTOPAR_RUNTIME_IO_NPY_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/io/tensor.h"

namespace autopar {

// `wanted`: the element type that the caller expects, which only decides how V2 is read; the caller
// compares types. The error is a sentence that names the file.
absl::StatusOr<Tensor> ReadNpy(const std::string& path,
                               std::optional<ElementType> wanted = std::nullopt);
// The same from the file's bytes; `name` stands in messages.
absl::StatusOr<Tensor> ParseNpy(absl::Span<const uint8_t> file, const std::string& name,
                                std::optional<ElementType> wanted = std::nullopt);

// Version 1.0, C order, little-endian, payload aligned to 64 bytes; bf16 as "<V2". Written beside
// and renamed.
absl::Status WriteNpy(const std::string& path, const TensorType& type,
                      absl::Span<const uint8_t> bytes);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_IO_NPY_H_
