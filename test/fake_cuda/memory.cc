#include "test/fake_cuda/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace fake {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kFilledPinned = 1 << 20;
// User views live here: below the libraries, within what ThreadSanitizer and AddressSanitizer allow
// for mappings. No number that a program passes by value looks like one.
constexpr uintptr_t kFirstUser = 0x7e8000000000, kLastUser = 0x7f0000000000;
uintptr_t next_user = kFirstUser;  // of one World: never goes back

uint64_t RoundUp(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Maps `file` at a fresh user address, with a gap before the next.
std::byte* MapUser(int file, uint64_t bytes, int protection) {
  while (next_user + bytes + kPage < kLastUser) {
    void* wanted = reinterpret_cast<void*>(next_user);
    next_user += bytes + kPage;
    void* got = mmap(wanted, bytes, protection, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
    if (got == wanted) return static_cast<std::byte*>(got);
    if (got != MAP_FAILED) munmap(got, bytes);
  }
  return nullptr;
}

}  // namespace

Allocation::~Allocation() {
  if (kind == MemoryKind::kRegistered) return;
  if (user != nullptr) munmap(user, mapped_bytes);
  if (internal != nullptr) munmap(internal, mapped_bytes);
}

std::string Allocation::Describe() const {
  std::string text = kind == MemoryKind::kDevice   ? "device memory "
                     : kind == MemoryKind::kPinned ? "pinned memory "
                                                   : "registered memory ";
  text += std::to_string(number) + " (";
  if (kind == MemoryKind::kDevice) text += "gpu " + std::to_string(device) + ", ";
  return text + std::to_string(bytes) + " bytes)";
}

void Allocation::Pend(uint64_t begin, uint64_t end, bool writes, int delta) {
  if (kind != MemoryKind::kPinned || is_freed || begin >= end) return;
  uint64_t last = (end - 1) / kPage;
  uint64_t run = 0;  // pages before `page` whose protection has to become `wanted_run`
  int wanted_run = 0;
  auto flush = [&](uint64_t page) {
    if (run > 0) mprotect(user + (page - run) * kPage, run * kPage, wanted_run);
    run = 0;
  };
  for (uint64_t page = begin / kPage; page <= last; ++page) {
    Page& p = pages[page];
    (writes ? p.writers : p.readers) += static_cast<uint32_t>(delta);
    int wanted = p.writers > 0 ? PROT_NONE : p.readers > 0 ? PROT_READ : PROT_READ | PROT_WRITE;
    if (wanted == p.protection) {
      flush(page);
      continue;
    }
    p.protection = wanted;
    if (run > 0 && wanted != wanted_run) flush(page);
    wanted_run = wanted;
    ++run;
  }
  flush(last + 1);
}

void Allocation::Unprotect(const void* pointer) {
  uint64_t page = static_cast<uint64_t>(static_cast<const std::byte*>(pointer) - user) / kPage;
  if (page < pages.size()) pages[page].protection = PROT_READ | PROT_WRITE;
  Fill(page * kPage, page * kPage + 1);
  mprotect(user + page * kPage, kPage, PROT_READ | PROT_WRITE);
}

void Allocation::Fill(uint64_t begin, uint64_t end) {
  if (is_fresh.empty() || begin >= end) return;
  for (uint64_t page = begin / kPage; page <= (end - 1) / kPage; ++page) {
    if (is_fresh[page]) std::memset(internal + page * kPage, 0xff, kPage);
    is_fresh[page] = false;
  }
}

Memory::Memory() { next_user = kFirstUser; }

AllocationPtr Memory::Allocate(MemoryKind kind, int device, uint64_t bytes) {
  auto allocation = std::make_shared<Allocation>();
  allocation->kind = kind;
  allocation->device = device;
  allocation->bytes = bytes;
  uint64_t mapped = allocation->mapped_bytes = std::max(RoundUp(bytes), kPage);
  int file = memfd_create("autopar-fake-cuda", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  if (ftruncate(file, static_cast<off_t>(mapped)) == 0) {
    void* internal = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (internal != MAP_FAILED) allocation->internal = static_cast<std::byte*>(internal);
    int protection = kind == MemoryKind::kDevice ? PROT_NONE : PROT_READ | PROT_WRITE;
    allocation->user = MapUser(file, mapped, protection);
  }
  close(file);
  if (allocation->internal == nullptr || allocation->user == nullptr) return nullptr;
  if (kind == MemoryKind::kPinned) {
    std::memset(allocation->internal, 0xff, std::min(mapped, kFilledPinned));
    allocation->pages.assign(mapped / kPage, {0, 0, PROT_READ | PROT_WRITE});
  } else {
    allocation->is_fresh.assign(mapped / kPage, true);
  }
  allocation->number = ++count_;
  live_[reinterpret_cast<uintptr_t>(allocation->user)] = allocation;
  return allocation;
}

AllocationPtr Memory::AllocateHidden(int device, uint64_t bytes) {
  AllocationPtr allocation = Allocate(MemoryKind::kDevice, device, bytes);
  if (allocation != nullptr) live_.erase(reinterpret_cast<uintptr_t>(allocation->user));
  return allocation;
}

AllocationPtr Memory::Register(void* pointer, uint64_t bytes, int device) {
  auto allocation = std::make_shared<Allocation>();
  allocation->kind = MemoryKind::kRegistered;
  allocation->device = device;
  allocation->bytes = allocation->mapped_bytes = bytes;
  allocation->user = allocation->internal = static_cast<std::byte*>(pointer);
  allocation->number = ++count_;
  live_[reinterpret_cast<uintptr_t>(pointer)] = allocation;
  return allocation;
}

void Memory::Free(const AllocationPtr& allocation) {
  allocation->is_freed = true;
  if (allocation->kind != MemoryKind::kRegistered) {
    mprotect(allocation->user, allocation->mapped_bytes, PROT_NONE);
    // The address stays reserved and the pages go: remembered without its bytes.
    auto grave = std::make_shared<Allocation>();
    grave->kind = MemoryKind::kRegistered;  // owns nothing
    grave->device = allocation->device;
    grave->number = allocation->number;
    grave->user = allocation->user;
    grave->bytes = allocation->bytes;
    grave->mapped_bytes = allocation->mapped_bytes;
    grave->is_freed = true;
    freed_[reinterpret_cast<uintptr_t>(allocation->user)] = grave;
  }
  live_.erase(reinterpret_cast<uintptr_t>(allocation->user));
}

AllocationPtr Memory::Find(const void* pointer, uint64_t bytes) const {
  auto next = live_.upper_bound(reinterpret_cast<uintptr_t>(pointer));
  if (next == live_.begin()) return nullptr;
  const AllocationPtr& found = std::prev(next)->second;
  uint64_t offset = reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(found->user);
  if (offset > found->bytes || bytes > found->bytes - offset) return nullptr;
  return found;
}

AllocationPtr Memory::FindStart(const void* pointer) const {
  auto found = live_.find(reinterpret_cast<uintptr_t>(pointer));
  return found == live_.end() ? nullptr : found->second;
}

AllocationPtr Memory::FindFreed(const void* pointer) const {
  auto next = freed_.upper_bound(reinterpret_cast<uintptr_t>(pointer));
  if (next == freed_.begin()) return nullptr;
  const AllocationPtr& found = std::prev(next)->second;
  return found->Contains(pointer) ? found : nullptr;
}

bool Memory::IsOurs(const void* pointer) {
  uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
  return address >= kFirstUser && address < kLastUser;
}

}  // namespace fake
