// Machine code of a schedule, loaded from memory.
#ifndef AUTOPAR_RUNTIME_DEVICE_HOST_ELF_LIBRARY_H_
#define AUTOPAR_RUNTIME_DEVICE_HOST_ELF_LIBRARY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace autopar {

// An ELF shared object that is part of this process for as long as this object lives.
class ElfLibrary {
 public:
  // Loads `image` through an anonymous file, or a temporary one where those are forbidden. `name` is
  // for messages.
  static absl::StatusOr<std::unique_ptr<ElfLibrary>> Load(absl::Span<const uint8_t> image,
                                                          const std::string& name);
  ~ElfLibrary();
  ElfLibrary(const ElfLibrary&) = delete;
  ElfLibrary& operator=(const ElfLibrary&) = delete;

  // NotFound if the library has no such symbol.
  absl::StatusOr<void*> FindSymbol(const std::string& symbol) const;

 private:
  ElfLibrary() = default;

  std::string name_;
  void* handle_ = nullptr;
  int file_ = -1;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_HOST_ELF_LIBRARY_H_
