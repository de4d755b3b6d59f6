// Cores and memory from sched_getaffinity, /proc and /sys. hwloc would say more (caches, packages),
// but loading a topology takes milliseconds and a library, and a start has 20 ms in all; nothing
// here needs what it knows.
#include "runtime/machine/probe.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
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

// The value of the line "NAME: value"; empty if there is none.
std::string FieldOf(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const size_t line_end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, line_end);
    text.remove_prefix(std::min(line_end + 1, text.size()));
    if (line.substr(0, name.size()) != name || line.substr(name.size(), 1) != ":") continue;
    const size_t first = line.find_first_not_of(" \t", name.size() + 1);
    const size_t last = line.find_last_not_of(" \t\r");
    return first == std::string_view::npos ? "" : std::string(line.substr(first, last + 1 - first));
  }
  return "";
}

}  // namespace

std::vector<InstalledGpu> InstalledGpus(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    paths.push_back(at->path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<InstalledGpu> gpus;
  for (const std::filesystem::path& path : paths) {
    const std::string text = ReadOrEmpty(path / "information");
    InstalledGpu gpu{FieldOf(text, "Model"), FieldOf(text, "GPU UUID")};
    if (!gpu.model.empty()) gpus.push_back(std::move(gpu));
  }
  return gpus;
}

std::vector<InstalledGpu> SelectGpus(const std::vector<InstalledGpu>& gpus, const char* list) {
  if (list == nullptr) return gpus;
  std::vector<InstalledGpu> selected;
  std::vector<bool> is_taken(gpus.size());
  std::string_view rest = list;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view entry = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    size_t found = gpus.size();
    const auto number = std::from_chars(entry.data(), entry.data() + entry.size(), found);
    const bool is_number =
        number.ec == std::errc() && number.ptr == entry.data() + entry.size();
    if (!is_number) {
      found = gpus.size();
      for (size_t i = 0; i < gpus.size() && entry.size() > 4; ++i) {
        if (gpus[i].uuid.compare(0, entry.size(), std::string(entry)) == 0) found = i;
      }
    }
    if (found >= gpus.size() || is_taken[found]) break;
    is_taken[found] = true;
    selected.push_back(gpus[found]);
  }
  return selected;
}

std::vector<InstalledGpu> VisibleGpus() {
  return SelectGpus(InstalledGpus("/proc/driver/nvidia/gpus"), std::getenv("CUDA_VISIBLE_DEVICES"));
}

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
