// Whole files, with errors that are sentences. Blocking; thread-free.
#ifndef AUTOPAR_RUNTIME_BASE_FILE_H_
#define AUTOPAR_RUNTIME_BASE_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace autopar {

// The bytes of a regular file (or pipe). NotFound, InvalidArgument (a directory), ResourceExhausted
// (longer than `max_bytes`; nothing of that size was allocated), PermissionDenied, Unavailable
// (reading failed).
absl::StatusOr<std::string> ReadFile(const std::string& path, uint64_t max_bytes);

// Writes the parts one after the other to a temporary file beside `path` and renames it: a reader
// sees the old file or the new one, never half of one, and a failure leaves the old one as it was.
// A path that exists and is not a regular file (/dev/stdout, a pipe) is written directly.
absl::Status WriteFile(const std::string& path, absl::Span<const std::string_view> parts);
absl::Status WriteFile(const std::string& path, std::string_view text);

// "'path': no such file" and the like, for an errno of an open, read or write of `path`.
absl::Status FileError(std::string_view what, const std::string& path, int error_number);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_BASE_FILE_H_
