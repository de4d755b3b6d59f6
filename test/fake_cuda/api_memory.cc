// Exported: device memory, pinned memory.
#include <cstring>

#include "test/fake_cuda/api.h"

using namespace fake;

namespace {

constexpr CallInfo Allocating(const char* name) {
  return {name, InCapture::kUnsafe, cudaErrorMemoryAllocation};
}

// H:4752: cudaFree may synchronise, or may not: whoever frees has to know that everything has
// finished.
void CheckUnused(World& world, const Allocation& allocation) {
  Shadow::Conflict conflict;
  if (!allocation.shadow.FindUncovered(world.host, &conflict)) return;
  world.Note(ReportKind::kFreed, allocation.Describe() +
                                     " is freed, and the host has not waited for " +
                                     *conflict.earlier.label + ", which uses it");
}

cudaError_t FreeHost(World& world, void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  AllocationPtr allocation = world.memory.FindStart(pointer);
  if (allocation == nullptr || allocation->kind != MemoryKind::kPinned) {
    return world.Refuse(cudaErrorInvalidValue, "cudaFreeHost of what is no pinned memory");
  }
  CheckUnused(world, *allocation);
  world.memory.Free(allocation);
  return cudaSuccess;
}

cudaError_t AllocateHost(World& world, void** pointer, size_t bytes) {
  ++world.stats.allocations;
  AllocationPtr allocation = world.memory.Allocate(MemoryKind::kPinned, CurrentDevice(), bytes);
  if (allocation == nullptr) return cudaErrorMemoryAllocation;
  return *pointer = allocation->user, cudaSuccess;
}

}  // namespace

FAKE_EXPORT cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return Call(Allocating("cudaMalloc"), [&](World& world) {
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;  // H: a null pointer and success
    ++world.stats.allocations;
    uint64_t& used = world.devices[CurrentDevice()].used_bytes;
    if (bytes > (world.options.memory_mb << 20) - used) {
      return world.Refuse(cudaErrorMemoryAllocation, "gpu " + std::to_string(CurrentDevice()) +
                                                         " has no " + std::to_string(bytes) +
                                                         " bytes left");
    }
    AllocationPtr allocation = world.memory.Allocate(MemoryKind::kDevice, CurrentDevice(), bytes);
    if (allocation == nullptr) return cudaErrorMemoryAllocation;
    used += bytes;
    return *pointer = allocation->user, cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaFree(void* pointer) {
  return Call({"cudaFree", InCapture::kUnsafe}, [&](World& world) {
    if (pointer == nullptr) return cudaSuccess;
    AllocationPtr allocation = world.memory.FindStart(pointer);
    if (allocation == nullptr || allocation->kind != MemoryKind::kDevice) {
      return world.Refuse(cudaErrorInvalidValue, "cudaFree of what is no device memory");
    }
    CheckUnused(world, *allocation);
    world.devices[allocation->device].used_bytes -= allocation->bytes;
    world.memory.Free(allocation);
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return Call(Allocating("cudaHostAlloc"), [&](World& world) {
    // H:1659: without this flag the memory is pinned for one context only, and its lifetime hangs
    // on it.
    if ((flags & cudaHostAllocPortable) == 0 && world.options.devices > 1) {
      world.Note(
          ReportKind::kMisuse,
          "cudaHostAlloc without cudaHostAllocPortable: other devices take it for pageable memory");
    }
    return AllocateHost(world, pointer, bytes);
  });
}

FAKE_EXPORT cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return Call(Allocating("cudaMallocHost"),
              [&](World& world) { return AllocateHost(world, pointer, bytes); });
}

FAKE_EXPORT cudaError_t cudaFreeHost(void* pointer) {
  return Call({"cudaFreeHost", InCapture::kUnsafe},
              [&](World& world) { return FreeHost(world, pointer); });
}

FAKE_EXPORT cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned) {
  return Call(Allocating("cudaHostRegister"), [&](World& world) {
    if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
    if (world.memory.Find(pointer, 0) != nullptr) return cudaErrorHostMemoryAlreadyRegistered;
    ++world.stats.allocations;
    world.memory.Register(pointer, bytes, CurrentDevice());
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaHostUnregister(void* pointer) {
  return Call({"cudaHostUnregister", InCapture::kUnsafe}, [&](World& world) {
    AllocationPtr allocation = world.memory.FindStart(pointer);
    if (allocation == nullptr || allocation->kind != MemoryKind::kRegistered)
      return cudaErrorHostMemoryNotRegistered;
    CheckUnused(world, *allocation);
    world.memory.Free(allocation);
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                 const void* pointer) {
  return Call({"cudaPointerGetAttributes"}, [&](World& world) {
    std::memset(attributes, 0, sizeof *attributes);
    AllocationPtr allocation = world.memory.Find(pointer, 1);
    if (allocation == nullptr) {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = -2;  // cudaInvalidDeviceId
      attributes->hostPointer = const_cast<void*>(pointer);
      return cudaSuccess;
    }
    attributes->type = allocation->is_host() ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
    attributes->device = allocation->device;
    attributes->devicePointer = const_cast<void*>(pointer);
    if (allocation->is_host()) attributes->hostPointer = const_cast<void*>(pointer);
    return cudaSuccess;
  });
}
