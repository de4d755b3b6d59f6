// Device and pinned memory. Each allocation is an anonymous file mapped twice: the *user view*,
// whose addresses the program holds, and the *internal view*, through which the fake reads and
// writes. The user view of device memory is unreadable; that of pinned memory is read-only (copy
// source) or unreadable (copy target) while a copy is pending, page by page. User addresses are
// never used again, so that a freed pointer stays recognisable.
//
// Fresh bytes are 0xff (floating-point NaN), of pinned memory those of the first MB. Pages of
// device memory become so when an operation first comes near them: workspaces of 32 MB cost nothing
// until they are used.
#ifndef AUTOPAR_TEST_FAKE_CUDA_MEMORY_H_
#define AUTOPAR_TEST_FAKE_CUDA_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "test/fake_cuda/clocks.h"

namespace fake {

enum class MemoryKind { kDevice, kPinned, kRegistered };

struct Allocation {
  MemoryKind kind = MemoryKind::kDevice;
  int device = 0;       // registered and pinned: the one that was current
  uint64_t number = 0;  // 1, 2, … in the order of allocation, for messages
  std::byte* user = nullptr;
  std::byte* internal = nullptr;  // registered: the same as user
  uint64_t bytes = 0;
  uint64_t mapped_bytes = 0;
  Shadow shadow;
  bool is_freed = false;

  // Pinned: of each page, how many pending operations write it and read it.
  struct Page {
    uint32_t writers = 0, readers = 0;
    int protection = 0;
  };
  std::vector<Page> pages;
  std::vector<bool> is_fresh;  // device: of each page, whether its 0xff is still to come

  ~Allocation();
  bool is_host() const { return kind != MemoryKind::kDevice; }
  bool Contains(const void* pointer) const {
    return pointer >= user && pointer < user + mapped_bytes;
  }
  // "device memory 3 (gpu 0, 4096 bytes)"
  std::string Describe() const;
  // Counts a pending operation that touches [begin, end) (delta 1), or one that has finished (-1),
  // and protects the pages.
  void Pend(uint64_t begin, uint64_t end, bool writes, int delta);
  // Makes one page of the user view usable, whatever is pending.
  void Unprotect(const void* pointer);
  // Before the internal view of [begin, end) is used.
  void Fill(uint64_t begin, uint64_t end);
};
using AllocationPtr = std::shared_ptr<Allocation>;

class Memory {
 public:
  // One at a time: what an earlier one gave out may be given out again.
  Memory();
  // Null if the system has no memory.
  AllocationPtr Allocate(MemoryKind kind, int device, uint64_t bytes);
  // Device memory that no pointer of the program's finds.
  AllocationPtr AllocateHidden(int device, uint64_t bytes);
  AllocationPtr Register(void* pointer, uint64_t bytes, int device);
  // Takes it out of the table and makes its user view inaccessible; operations that hold it may
  // still use its bytes.
  void Free(const AllocationPtr& allocation);

  // The live allocation that holds all of [pointer, pointer + bytes); null if there is none. bytes
  // may be 0.
  AllocationPtr Find(const void* pointer, uint64_t bytes) const;
  // The live allocation that starts there.
  AllocationPtr FindStart(const void* pointer) const;
  // One that once held it and was freed.
  AllocationPtr FindFreed(const void* pointer) const;
  // Whether the pointer lies where user views are.
  static bool IsOurs(const void* pointer);
  const std::map<uintptr_t, AllocationPtr>& live() const { return live_; }

 private:
  std::map<uintptr_t, AllocationPtr> live_, freed_;  // by user address
  uint64_t count_ = 0;
};

}  // namespace fake

#endif  // AUTOPAR_TEST_FAKE_CUDA_MEMORY_H_
