#include "test/fake_cuda/guards.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace fake {
namespace {

constexpr uint64_t kPage = 4096, kFront = 4096, kAlignment = 64;
constexpr std::byte kCanary{0xa7};

struct Operand {
  size_t parameter = 0;
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
};

// A run of operands that overlap or touch, and its copy:
//   [canary: at least kFront][bytes][canary: below kAlignment][unreadable page]
struct Group {
  std::vector<Operand> operands;
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
  std::byte* map = nullptr;
  uint64_t map_bytes = 0;
  std::byte* copy = nullptr;

  uint64_t bytes() const { return static_cast<uint64_t>(end - begin); }
  std::byte* guard_page() const { return map + map_bytes - kPage; }
};

thread_local const std::vector<Group>* running = nullptr;
thread_local const std::string* running_name = nullptr;

std::vector<Group> GroupsOf(const KernelCodeOnHost& kernel,
                            const std::vector<std::byte*>& buffers) {
  std::vector<Operand> operands;
  for (size_t i = 0; i < kernel.operands.size(); ++i) {
    if (buffers[i] == nullptr) continue;
    operands.push_back({i, buffers[i], buffers[i] + kernel.operands[i].bytes});
  }
  std::sort(operands.begin(), operands.end(),
            [](const Operand& a, const Operand& b) { return a.begin < b.begin; });
  std::vector<Group> groups;
  for (const Operand& operand : operands) {
    // Only operands that share bytes (work in place) must share a copy.
    if (groups.empty() || operand.begin >= groups.back().end) {
      groups.emplace_back();
      groups.back().begin = operand.begin;
      groups.back().end = operand.end;
    }
    groups.back().operands.push_back(operand);
    groups.back().end = std::max(groups.back().end, operand.end);
  }
  return groups;
}

bool MapGroup(Group* group) {
  uint64_t phase = reinterpret_cast<uintptr_t>(group->begin) % kAlignment;
  uint64_t inner = kFront + phase + group->bytes() + kAlignment;
  group->map_bytes = (inner + kPage - 1) / kPage * kPage + kPage;
  void* map =
      mmap(nullptr, group->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return false;
  group->map = static_cast<std::byte*>(map);
  std::byte* guard = group->guard_page();
  // The last place that ends before the guard and is aligned as the original.
  group->copy = guard - group->bytes();
  group->copy -= (reinterpret_cast<uintptr_t>(group->copy) - phase) % kAlignment;
  std::memset(group->map, static_cast<int>(kCanary), static_cast<size_t>(guard - group->map));
  std::memcpy(group->copy, group->begin, group->bytes());
  mprotect(guard, kPage, PROT_NONE);
  return true;
}

// "writes up to 4 bytes before parameter 2": bytes of the frame that are no longer what they were.
std::string ChangedFrame(const Group& group) {
  auto changed = [](std::byte b) { return b != kCanary; };
  const std::byte* front = std::find_if(group.map, group.copy, changed);
  if (front != group.copy) {
    return "writes up to " + std::to_string(group.copy - front) + " bytes before parameter " +
           std::to_string(group.operands.front().parameter);
  }
  const std::byte* end = group.copy + group.bytes();
  const std::byte* last = group.guard_page();
  while (last > end && !changed(last[-1])) --last;
  if (last > end) {
    return "writes up to " + std::to_string(last - end) + " bytes beyond the end of parameter " +
           std::to_string(group.operands.back().parameter);
  }
  return "";
}

// Copies back what is written; says if anything else of the group changed.
std::string CopyBack(const KernelCodeOnHost& kernel, const Group& group) {
  std::vector<std::byte> expected(group.begin, group.end);
  for (const Operand& operand : group.operands) {
    if (!kernel.operands[operand.parameter].writes) continue;
    const std::byte* from = group.copy + (operand.begin - group.begin);
    std::memcpy(expected.data() + (operand.begin - group.begin), from,
                static_cast<size_t>(operand.end - operand.begin));
    std::memcpy(operand.begin, from, static_cast<size_t>(operand.end - operand.begin));
  }
  if (std::memcmp(expected.data(), group.copy, group.bytes()) == 0) return "";
  return "writes to parameter " + std::to_string(group.operands.front().parameter) +
         ", which it may only read";
}

}  // namespace

std::string RunGuarded(const KernelCodeOnHost& kernel, const std::vector<std::byte*>& buffers) {
  std::vector<Group> groups = GroupsOf(kernel, buffers);
  std::vector<void*> moved(buffers.begin(), buffers.end());
  std::string problem;
  for (Group& group : groups) {
    if (!MapGroup(&group)) problem = "cannot be run between guards: no memory";
    for (const Operand& operand : group.operands)
      moved[operand.parameter] = group.copy + (operand.begin - group.begin);
  }
  if (problem.empty()) {
    running = &groups;
    running_name = &kernel.name;
    kernel.run(moved.data());
    running = nullptr;
  }
  for (Group& group : groups) {
    if (group.map == nullptr) continue;
    if (problem.empty()) problem = ChangedFrame(group);
    std::string changed = CopyBack(kernel, group);
    if (problem.empty()) problem = changed;
    munmap(group.map, group.map_bytes);
  }
  return problem;
}

std::string GuardedKernelAt(const void* address) {
  if (running == nullptr) return "";
  for (const Group& group : *running) {
    if (address >= group.guard_page() && address < group.guard_page() + kPage) {
      return "kernel " + *running_name + " touches bytes beyond the end of parameter " +
             std::to_string(group.operands.back().parameter);
    }
  }
  return "";
}

}  // namespace fake
