#include "runtime/device/host/elf_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace autopar {
namespace {

bool WriteAll(int file, absl::Span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

// A temporary file that can be executed; its path, which the caller unlinks, is stored in `path`.
int OpenTemporary(std::string* path) {
  const char* configured = std::getenv("TMPDIR");
  for (const char* folder : {configured, "/dev/shm", "/tmp"}) {
    if (folder == nullptr) continue;
    *path = absl::StrCat(folder, "/autopar-XXXXXX");
    int file = mkostemp(path->data(), O_CLOEXEC);
    if (file >= 0) return file;
  }
  return -1;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ElfLibrary>> ElfLibrary::Load(absl::Span<const uint8_t> image,
                                                             const std::string& name) {
  std::unique_ptr<ElfLibrary> library(new ElfLibrary);
  library->name_ = name;
  // The file stays open as long as the library: dlopen knows libraries by their path, and a later
  // file under the same number would be taken for this one.
  library->file_ = memfd_create("autopar-kernels", MFD_CLOEXEC);
  std::string path, temporary;
  if (library->file_ >= 0) {
    path = absl::StrCat("/proc/self/fd/", library->file_);
  } else {
    library->file_ = OpenTemporary(&temporary);
    path = temporary;
  }
  if (library->file_ < 0) {
    return absl::UnavailableError(absl::StrCat(
        "machine code '", name, "' needs an anonymous or temporary file to be loaded from: ",
        std::strerror(errno), "; set TMPDIR to a folder that can be written"));
  }
  bool written = WriteAll(library->file_, image);
  std::string reason = written ? "" : std::strerror(errno);
  if (written) {
    library->handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library->handle_ == nullptr) {
      const char* text = dlerror();
      reason = text == nullptr ? "unknown reason" : text;
    }
  }
  if (!temporary.empty()) unlink(temporary.c_str());
  if (library->handle_ == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("machine code '", name, "' cannot be loaded: ", reason));
  }
  return library;
}

ElfLibrary::~ElfLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
  if (file_ >= 0) close(file_);
}

absl::StatusOr<void*> ElfLibrary::FindSymbol(const std::string& symbol) const {
  dlerror();
  void* address = dlsym(handle_, symbol.c_str());
  if (address == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("machine code '", name_, "' has no function '", symbol, "'"));
  }
  return address;
}

}  // namespace autopar
