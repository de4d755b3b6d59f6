#include "runtime/device/host/host_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace autopar {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;
constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

class HostMemory : public DeviceMemory {
 public:
  HostMemory(std::byte* base, uint64_t bytes, void* mapping, uint64_t mapped)
      : base_(base), bytes_(bytes), mapping_(mapping), mapped_(mapped) {}
  ~HostMemory() override {
    if (mapping_ != nullptr) munmap(mapping_, mapped_);
  }
  std::byte* base() const override { return base_; }
  uint64_t bytes() const override { return bytes_; }

 private:
  std::byte* base_;
  uint64_t bytes_;
  void* mapping_;
  uint64_t mapped_;
};

// A whole small text file of the kernel; empty if it cannot be read.
std::string ReadKernelFile(const char* path) {
  std::string text;
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return text;
  char buffer[4096];
  size_t count;
  while ((count = std::fread(buffer, 1, sizeof buffer, file)) > 0) text.append(buffer, count);
  std::fclose(file);
  return text;
}

// The number after `key`, or the first number if `key` is empty; kUnlimited without one.
uint64_t NumberAfter(const std::string& text, std::string_view key) {
  size_t at = text.find(key);
  if (at == std::string::npos) return kUnlimited;
  at += key.size();
  while (at < text.size() && text[at] == ' ') ++at;
  if (at >= text.size() || text[at] < '0' || text[at] > '9') return kUnlimited;
  return std::strtoull(text.c_str() + at, nullptr, 10);
}

}  // namespace

uint64_t AvailableHostBytes() {
  uint64_t available = kUnlimited;
  uint64_t kib = NumberAfter(ReadKernelFile("/proc/meminfo"), "MemAvailable:");
  if (kib != kUnlimited) available = kib * 1024;
  // Inside a container the control group's root shows its own limits.
  uint64_t limit = NumberAfter(ReadKernelFile("/sys/fs/cgroup/memory.max"), "");
  uint64_t used = NumberAfter(ReadKernelFile("/sys/fs/cgroup/memory.current"), "");
  if (limit != kUnlimited && used != kUnlimited) {
    available = std::min(available, limit > used ? limit - used : 0);
  }
  return available;
}

absl::StatusOr<std::unique_ptr<DeviceMemory>> AllocateHostMemory(uint64_t bytes,
                                                                 const std::string& what) {
  if (bytes == 0) {
    // A valid address that nobody may touch.
    return std::make_unique<HostMemory>(reinterpret_cast<std::byte*>(kCacheLine), 0, nullptr, 0);
  }
  uint64_t available = AvailableHostBytes();
  if (bytes > available) {
    return absl::ResourceExhaustedError(absl::StrCat(
        what, ": ", bytes, " bytes are needed, but this machine has only ", available,
        " bytes free; use a smaller program or a machine with more memory"));
  }
  // Large pieces begin on a huge page, so that they can be made of huge pages.
  uint64_t slack = bytes >= kHugePage ? kHugePage : 0;
  uint64_t mapped = bytes + slack;
  void* mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat(what, ": the system refuses ", bytes,
                                                     " bytes: ", std::strerror(errno)));
  }
  uintptr_t base = reinterpret_cast<uintptr_t>(mapping);
  if (slack != 0) {
    base = (base + kHugePage - 1) & ~(kHugePage - 1);
    // Only the part that is used in full: the rounded-up tail would cost memory nobody asked for.
    madvise(reinterpret_cast<void*>(base), bytes & ~(kHugePage - 1), MADV_HUGEPAGE);
  }
  return std::make_unique<HostMemory>(reinterpret_cast<std::byte*>(base), bytes, mapping, mapped);
}

}  // namespace autopar
