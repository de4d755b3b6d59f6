// A file mapped read-only into memory. The mapping lives as long as the object; the file must not
// be truncated meanwhile (the writer renames a new file into place, which leaves the mapped one
// alone).
#ifndef AUTOPAR_RUNTIME_SCHEDULE_MAPPED_FILE_H_
#define AUTOPAR_RUNTIME_SCHEDULE_MAPPED_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace autopar {

class MappedFile {
 public:
  // NotFound, PermissionDenied, or InvalidArgument for what is not a regular file; the sentence
  // names the path.
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  // Page-aligned. Empty for an empty file.
  absl::Span<const uint8_t> bytes() const { return {data_, size_}; }

 private:
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_SCHEDULE_MAPPED_FILE_H_
