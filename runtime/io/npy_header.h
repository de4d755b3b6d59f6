// The header of a .npy file: a Python dictionary literal of three keys. Private to this folder.
#ifndef AUTOPAR_RUNTIME_IO_NPY_HEADER_H_
#define AUTOPAR_RUNTIME_IO_NPY_HEADER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/base/element_type.h"

namespace autopar {

struct NpyHeader {
  TensorType type;
  bool fortran_order = false;
  bool big_endian = false;
};

// Messages are fragments: the caller puts the file's name before them.
absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view text, std::optional<ElementType> wanted);

// The text of a header for a tensor in C order, without padding.
std::string FormatNpyHeader(const TensorType& type);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_IO_NPY_HEADER_H_
