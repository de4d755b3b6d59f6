// Exported: versions, devices, peers, errors.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "test/fake_cuda/api.h"

using namespace fake;

namespace {

bool IsDevice(const World& world, int device) {
  return device >= 0 && device < world.options.devices;
}

constexpr CallInfo Always(const char* name) {
  return {name, InCapture::kAllowed, cudaErrorUnknown, false};
}

// An H200's figures, shrunk where the fake is smaller.
int Attribute(const World& world, cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      return 1024;
    case cudaDevAttrWarpSize:
      return 32;
    case cudaDevAttrMultiProcessorCount:
      return 132;
    case cudaDevAttrMaxGridDimX:
      return 0x7fffffff;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return 65535;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return 48 * 1024;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return 2048;
    case cudaDevAttrComputeCapabilityMajor:
      return world.options.arch / 10;
    case cudaDevAttrComputeCapabilityMinor:
      return world.options.arch % 10;
    case cudaDevAttrAsyncEngineCount:
      return 3;
    case cudaDevAttrClockRate:
      return 1980000;
    case cudaDevAttrMemoryClockRate:
      return 3201000;
    case cudaDevAttrGlobalMemoryBusWidth:
      return 6144;
    case cudaDevAttrL2CacheSize:
      return 50 << 20;
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

FAKE_EXPORT cudaError_t cudaDriverGetVersion(int* version) {
  return Call(Always("cudaDriverGetVersion"), [&](World& world) {
    *version = world.options.stub ? 0 : world.options.driver;
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaRuntimeGetVersion(int* version) {
  return Call(Always("cudaRuntimeGetVersion"),
              [&](World&) { return *version = CUDART_VERSION, cudaSuccess; });
}

FAKE_EXPORT cudaError_t cudaGetDeviceCount(int* count) {
  return Call({"cudaGetDeviceCount"},
              [&](World& world) { return *count = world.options.devices, cudaSuccess; });
}

FAKE_EXPORT cudaError_t cudaGetDevice(int* device) {
  return Call({"cudaGetDevice"}, [&](World&) { return *device = CurrentDevice(), cudaSuccess; });
}

FAKE_EXPORT cudaError_t cudaSetDevice(int device) {
  return Call({"cudaSetDevice"}, [&](World& world) {
    if (!IsDevice(world, device))
      return world.Refuse(cudaErrorInvalidDevice, "there is no device " + std::to_string(device));
    SetCurrentDevice(device);
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return Call({"cudaDeviceGetAttribute"}, [&](World& world) {
    if (!IsDevice(world, device)) return cudaErrorInvalidDevice;
    return *value = Attribute(world, attribute), cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return Call({"cudaGetDeviceProperties"}, [&](World& world) {
    if (!IsDevice(world, device)) return cudaErrorInvalidDevice;
    std::memset(properties, 0, sizeof *properties);
    std::snprintf(properties->name, sizeof properties->name, "Fake GPU %d", device);
    std::memset(properties->uuid.bytes, device + 1, sizeof properties->uuid.bytes);
    properties->totalGlobalMem = world.options.memory_mb << 20;
    properties->sharedMemPerBlock = 48 * 1024;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    properties->maxGridSize[0] = 0x7fffffff;
    properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
    properties->major = world.options.arch / 10;
    properties->minor = world.options.arch % 10;
    properties->multiProcessorCount = Attribute(world, cudaDevAttrMultiProcessorCount);
    properties->asyncEngineCount = Attribute(world, cudaDevAttrAsyncEngineCount);
    properties->unifiedAddressing = 1;
    properties->concurrentKernels = 1;
    properties->memoryBusWidth = Attribute(world, cudaDevAttrGlobalMemoryBusWidth);
    properties->pciBusID = device + 1;
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaDeviceSynchronize() {
  return Call({"cudaDeviceSynchronize", InCapture::kUnsafe}, [&](World& world) {
    ++world.stats.syncs;
    ++world.stats.host_blocks;  // for everything on the device: never wanted within a call
    world.WaitForDevice(CurrentDevice());
    return Sticky(world, CurrentDevice());
  });
}

FAKE_EXPORT cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return Call({"cudaDeviceCanAccessPeer"}, [&](World& world) {
    if (!IsDevice(world, device) || !IsDevice(world, peer)) return cudaErrorInvalidDevice;
    return *can = device != peer && world.options.peer, cudaSuccess;
  });
}

// H:8529: one-way; a second time is an error of its own (704); where it is impossible, 101.
FAKE_EXPORT cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return Call({"cudaDeviceEnablePeerAccess", InCapture::kUnsafe}, [&](World& world) {
    if (flags != 0) return cudaErrorInvalidValue;
    if (!IsDevice(world, peer) || peer == CurrentDevice() || !world.options.peer) {
      return world.Refuse(cudaErrorInvalidDevice, "no peer access from gpu " +
                                                      std::to_string(CurrentDevice()) + " to gpu " +
                                                      std::to_string(peer) + " is possible");
    }
    bool is_new = world.devices[CurrentDevice()].peers.insert(peer).second;
    return is_new ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  });
}

FAKE_EXPORT cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return Call({"cudaDeviceDisablePeerAccess", InCapture::kUnsafe}, [&](World& world) {
    return world.devices[CurrentDevice()].peers.erase(peer) > 0 ? cudaSuccess
                                                                : cudaErrorPeerAccessNotEnabled;
  });
}

FAKE_EXPORT cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return Call({"cudaMemGetInfo"}, [&](World& world) {
    *total = world.options.memory_mb << 20;
    *free = *total - world.devices[CurrentDevice()].used_bytes;
    return cudaSuccess;
  });
}

// H:1165: per host thread; returned and cleared.
FAKE_EXPORT cudaError_t cudaGetLastError() {
  std::lock_guard<std::recursive_mutex> lock(WorldMutex());
  return TakeLastError();
}

FAKE_EXPORT cudaError_t cudaPeekAtLastError() { return LastError(); }
