// Cores and memory from sched_getaffinity, /proc and /sys. hwloc would say more (caches, packages),
// but loading a topology takes milliseconds and a library, and a start has 20 ms in all; nothing
// here needs what it knows.
#include "runtime/machine/probe.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"
#include "runtime/machine/machine.h"

namespace autopar {
namespace {

constexpr uint64_t kMaxProcFileBytes = 1 << 20;

// The first whole number of the text; 0 if it does not begin with one.
uint64_t LeadingNumber(std::string_view text) {
  uint64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc() ? number : 0;
}

std::string ReadOrEmpty(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path, kMaxProcFileBytes);
  return text.ok() ? *std::move(text) : std::string();
}

// Calls visit(folder) for the control group and all groups above it: each may set a limit.
template <class Visit>
void ForEachGroup(const std::string& mount, std::string group, Visit visit) {
  while (true) {
    visit(mount + group);
    if (group.empty() || group == "/") return;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

template <class T>
void Lower(T candidate, T* limit) {
  if (candidate != 0 && (*limit == 0 || candidate < *limit)) *limit = candidate;
}

uint32_t AffinityCores() {
  // The kernel refuses a mask that is shorter than its own: grow until it fits.
  for (size_t cpus = 1024; cpus <= (1 << 20); cpus *= 2) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (set == nullptr) break;
    const size_t bytes = CPU_ALLOC_SIZE(cpus);
    CPU_ZERO_S(bytes, set);
    const bool ok = sched_getaffinity(0, bytes, set) == 0;
    const int count = ok ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (ok) return static_cast<uint32_t>(std::max(count, 1));
  }
  return static_cast<uint32_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
}

}  // namespace

uint32_t CoresOfCpuMax(std::string_view text) {
  const uint64_t quota = LeadingNumber(text);
  const size_t space = text.find(' ');
  const uint64_t period =
      space == std::string_view::npos ? 0 : LeadingNumber(text.substr(space + 1));
  if (quota == 0 || period == 0) return 0;
  return static_cast<uint32_t>(std::clamp<uint64_t>((quota - 1) / period + 1, 1, 1 << 20));
}

uint64_t BytesOfMemoryMax(std::string_view text) {
  const uint64_t bytes = LeadingNumber(text);
  return bytes >= (uint64_t{1} << 60) ? 0 : bytes;  // version 1 says "no limit" with a huge number
}

std::string CgroupFolder(std::string_view self_cgroup, std::string_view controller) {
  // Lines "ID:controller,controller:/folder"; version 2 is "0::/folder".
  while (!self_cgroup.empty()) {
    const size_t line_end = std::min(self_cgroup.find('\n'), self_cgroup.size());
    const std::string_view line = self_cgroup.substr(0, line_end);
    self_cgroup.remove_prefix(std::min(line_end + 1, self_cgroup.size()));
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string folder(line.substr(second + 1));
    if (controllers.empty() && controller.empty()) return folder;
    while (!controllers.empty() && !controller.empty()) {
      const size_t comma = std::min(controllers.find(','), controllers.size());
      if (controllers.substr(0, comma) == controller) return folder;
      controllers.remove_prefix(std::min(comma + 1, controllers.size()));
    }
  }
  return "";
}

uint32_t UsableCores() {
  uint32_t limit = 0;
  const std::string groups = ReadOrEmpty("/proc/self/cgroup");
  ForEachGroup("/sys/fs/cgroup", CgroupFolder(groups, ""), [&](const std::string& folder) {
    Lower(CoresOfCpuMax(ReadOrEmpty(folder + "/cpu.max")), &limit);
  });
  ForEachGroup("/sys/fs/cgroup/cpu", CgroupFolder(groups, "cpu"), [&](const std::string& folder) {
    const uint64_t quota =
        LeadingNumber(ReadOrEmpty(folder + "/cpu.cfs_quota_us"));  // "-1": no limit
    const uint64_t period = LeadingNumber(ReadOrEmpty(folder + "/cpu.cfs_period_us"));
    Lower(CoresOfCpuMax(absl::StrCat(quota, " ", period)), &limit);
  });
  const uint32_t cores = AffinityCores();
  return limit == 0 ? cores : std::min(cores, limit);
}

uint64_t UsableMemoryBytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  uint64_t limit = pages > 0 && page_bytes > 0
                       ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes)
                       : 0;
  const std::string groups = ReadOrEmpty("/proc/self/cgroup");
  ForEachGroup("/sys/fs/cgroup", CgroupFolder(groups, ""), [&](const std::string& folder) {
    Lower(BytesOfMemoryMax(ReadOrEmpty(folder + "/memory.max")), &limit);
  });
  ForEachGroup("/sys/fs/cgroup/memory", CgroupFolder(groups, "memory"),
               [&](const std::string& folder) {
                 Lower(BytesOfMemoryMax(ReadOrEmpty(folder + "/memory.limit_in_bytes")), &limit);
               });
  return limit;
}

}  // namespace autopar
