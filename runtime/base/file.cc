#include "runtime/base/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace autopar {
namespace {

// Closes on every way out.
class FileDescriptor {
 public:
  explicit FileDescriptor(int value) : value_(value) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (value_ >= 0) close(value_);
  }
  int get() const { return value_; }
  // False if the kernel reports a late write error.
  bool Close() {
    const int value = value_;
    value_ = -1;
    return close(value) == 0;
  }

 private:
  int value_;
};

absl::Status TooLong(const std::string& path, uint64_t max_bytes) {
  return absl::ResourceExhaustedError(absl::StrCat("'", path, "' is longer than the ", max_bytes,
                                                   " bytes allowed for such a file"));
}

absl::Status WriteAll(int descriptor, const std::string& path,
                      absl::Span<const std::string_view> parts) {
  for (std::string_view part : parts) {
    size_t done = 0;
    while (done < part.size()) {
      const ssize_t written = write(descriptor, part.data() + done, part.size() - done);
      if (written < 0) {
        if (errno == EINTR) continue;
        return FileError("cannot write", path, errno);
      }
      done += static_cast<size_t>(written);
    }
  }
  return absl::OkStatus();
}

// The permissions that a plain creation would have given: 0666 less the process's mask. There is no
// way to read the mask without setting it for a moment, which other threads could see; /proc has it
// on every Linux since 4.7.
mode_t CreationMode() {
  mode_t mask = 022;
  if (FILE* status = fopen("/proc/self/status", "re")) {
    char line[128];
    while (fgets(line, sizeof(line), status) != nullptr) {
      unsigned value = 0;
      if (sscanf(line, "Umask:\t%o", &value) == 1) {
        mask = value;
        break;
      }
    }
    fclose(status);
  }
  return 0666 & ~mask;
}

}  // namespace

absl::Status FileError(std::string_view what, const std::string& path, int error_number) {
  const std::string start = absl::StrCat(std::string(what), " '", path, "': ");
  switch (error_number) {
    case ENOENT:
      return absl::NotFoundError(absl::StrCat(start, "no such file or folder"));
    case EISDIR:
      return absl::InvalidArgumentError(absl::StrCat(start, "it is a folder, not a file"));
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(absl::StrCat(start, strerror(error_number)));
    default:
      return absl::UnavailableError(absl::StrCat(start, strerror(error_number)));
  }
}

absl::StatusOr<std::string> ReadFile(const std::string& path, uint64_t max_bytes) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return FileError("cannot open", path, errno);
  struct stat info;
  if (fstat(file.get(), &info) != 0) return FileError("cannot read", path, errno);
  if (S_ISDIR(info.st_mode)) return FileError("cannot read", path, EISDIR);
  std::string text;
  // The size is a hint only: pipes and /proc say 0, and a file may grow.
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size > max_bytes) return TooLong(path, max_bytes);
  constexpr uint64_t kChunk = 1 << 16;
  text.resize(size + 1 < kChunk ? kChunk : size + 1);
  size_t used = 0;
  while (true) {
    const ssize_t count = read(file.get(), text.data() + used, text.size() - used);
    if (count < 0) {
      if (errno == EINTR) continue;
      return FileError("cannot read", path, errno);
    }
    if (count == 0) break;
    used += static_cast<size_t>(count);
    if (used > max_bytes) return TooLong(path, max_bytes);
    if (used == text.size()) text.resize(text.size() * 2);
  }
  text.resize(used);
  return text;
}

absl::Status WriteFile(const std::string& path, absl::Span<const std::string_view> parts) {
  if (path.empty()) return absl::InvalidArgumentError("cannot write '': the file name is empty");
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return FileError("cannot write", path, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    FileDescriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) return FileError("cannot write", path, errno);
    return WriteAll(file.get(), path, parts);
  }
  // A link keeps pointing where it does: its target is replaced.
  std::string target = path;
  if (exists) {
    if (access(path.c_str(), W_OK) != 0) return FileError("cannot write", path, errno);
    if (char* resolved = realpath(path.c_str(), nullptr)) {
      target = resolved;
      free(resolved);
    }
  }
  std::string temporary = absl::StrCat(target, ".XXXXXX");
  FileDescriptor file(mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) return FileError("cannot write", path, errno);
  absl::Status status = WriteAll(file.get(), path, parts);
  if (status.ok() && fchmod(file.get(), exists ? info.st_mode & 0777 : CreationMode()) != 0) {
    status = FileError("cannot write", path, errno);
  }
  if (!file.Close() && status.ok()) status = FileError("cannot write", path, errno);
  if (status.ok() && rename(temporary.c_str(), target.c_str()) != 0) {
    status = FileError("cannot write", path, errno);
  }
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

absl::Status WriteFile(const std::string& path, std::string_view text) {
  return WriteFile(path, absl::MakeConstSpan(&text, 1));
}

}  // namespace autopar
