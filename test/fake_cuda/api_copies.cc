// Exported: copies and fills. SYNC is docs.nvidia.com/cuda/cuda-driver-api/api-sync-behavior.html.
#include <cstring>
#include <utility>

#include "test/fake_cuda/api.h"
#include "test/fake_cuda/graph.h"

using namespace fake;

namespace {

CopyWork Rows(void* target, size_t target_pitch, const void* source, size_t source_pitch,
              size_t width, size_t height, cudaMemcpyKind kind) {
  CopyWork c;
  c.target = target;
  c.source = source;
  c.target_pitch = target_pitch;
  c.source_pitch = source_pitch;
  c.width = width;
  c.height = height;
  c.kind = kind;
  return c;
}

std::string Label(const char* name, const CopyWork& c) {
  return std::string(name) + " of " + std::to_string(c.width * c.height) + " bytes";
}

// The source's bytes as they are now.
cudaError_t Stage(World& world, CopyWork* c) {
  auto bytes = std::make_shared<std::vector<std::byte>>(c->width * c->height);
  for (uint64_t i = 0; i < c->height; ++i) {
    if (!ReadHost(bytes->data() + i * c->width,
                  static_cast<const std::byte*>(c->source) + i * c->source_pitch, c->width)) {
      return world.Refuse(cudaErrorInvalidValue, "copy: its pageable source cannot be read");
    }
  }
  c->staged = std::move(bytes);
  return cudaSuccess;
}

// Copies between devices: whether the bytes pass through the host, and the faults of hardware that
// were asked for.
void NotePeers(World& world, CopyWork* c) {
  AllocationPtr target = world.memory.Find(c->target, 0), source = world.memory.Find(c->source, 0);
  if (target == nullptr || source == nullptr || target->is_host() || source->is_host() ||
      target->device == source->device)
    return;
  bool has_access = world.devices[source->device].peers.count(target->device) > 0 ||
                    world.devices[target->device].peers.count(source->device) > 0;
  ++(has_access ? world.stats.peer_copies : world.stats.staged_peer_copies);
  c->is_dropped = has_access ? world.options.peer_drops : world.options.staged_drops;
}

Work ToWork(CopyWork copy) {
  Work work;
  work.kind = WorkKind::kCopy;
  work.copy = std::move(copy);
  return work;
}

cudaError_t EnqueueCopy(World& world, Stream* stream, CopyWork c, const char* name,
                        OperationPtr* issued = nullptr) {
  NotePeers(world, &c);
  std::string label = Label(name, c);
  return Enqueue(world, stream, ToWork(std::move(c)), label, issued);
}

// An asynchronous copy that pageable memory takes part in: the seed's one of three behaviours.
// SYNC, "Asynchronous": 11.0 "For transfers from device memory to pageable host memory, the
// function will return only once the copy has completed"; 12.2 and later "might be synchronous";
// "from pageable host memory … the data may be staged".
cudaError_t PageableAsync(World& world, Stream* stream, CopyWork c, bool from_host,
                          const char* name) {
  ++world.stats.pageable_copies;
  OperationPtr issued;
  if (world.options.pageable == Pageable::kBlocking) {
    if (cudaError_t error = EnqueueCopy(world, stream, std::move(c), name, &issued);
        error != cudaSuccess)
      return error;
    ++world.stats.host_blocks;
    world.WaitFor(issued);
    return Sticky(world, stream->device);
  }
  if (from_host && world.options.pageable == Pageable::kStaged) {
    if (cudaError_t error = Stage(world, &c); error != cudaSuccess) return error;
  }
  if (!from_host) {
    // The target's old bytes must not pass for the result.
    std::vector<std::byte> garbage(c.width, std::byte{0xcb});
    for (uint64_t i = 0; i < c.height; ++i) {
      if (!WriteHost(static_cast<std::byte*>(c.target) + i * c.target_pitch, garbage.data(),
                     c.width)) {
        return world.Refuse(cudaErrorInvalidValue, "copy: its pageable target cannot be written");
      }
    }
  }
  return EnqueueCopy(world, stream, std::move(c), name);
}

cudaError_t CopyAsync(World& world, cudaStream_t handle, CopyWork c, const char* name) {
  Stream* stream = world.FindStream(handle);
  if (stream == nullptr)
    return world.Refuse(cudaErrorInvalidResourceHandle, std::string(name) + ": no such stream");
  if (c.width > c.target_pitch || c.width > c.source_pitch) {
    if (c.height > 1)
      return world.Refuse(cudaErrorInvalidValue, std::string(name) + ": rows overlap");
  }
  Place target = PlaceOf(world, c.target), source = PlaceOf(world, c.source);
  if (stream->capture != nullptr || c.width == 0 || c.height == 0)
    return EnqueueCopy(world, stream, std::move(c), name);
  if (target != Place::kDevice && source != Place::kDevice) {
    // SYNC: "For transfers from any host memory to any host memory, the function is fully
    // synchronous".
    OperationPtr issued;
    if (cudaError_t error = EnqueueCopy(world, stream, std::move(c), name, &issued);
        error != cudaSuccess)
      return error;
    ++world.stats.host_blocks;
    world.WaitFor(issued);
    return Sticky(world, stream->device);
  }
  if (target == Place::kPageable || source == Place::kPageable) {
    return PageableAsync(world, stream, std::move(c), source == Place::kPageable, name);
  }
  return EnqueueCopy(world, stream, std::move(c), name);
}

// cudaMemcpy and cudaMemcpy2D: on the legacy stream of the current device.
cudaError_t CopySync(World& world, CopyWork c, const char* name) {
  Stream* legacy = world.FindStream(nullptr);
  if (cudaError_t error = RefuseImplicit(world, legacy); error != cudaSuccess) return error;
  ++world.stats.host_blocks;
  if (c.width == 0 || c.height == 0) return cudaSuccess;
  Place target = PlaceOf(world, c.target), source = PlaceOf(world, c.source);
  if (source == Place::kPageable && target == Place::kDevice) {
    // SYNC: "a stream sync is performed before the copy is initiated. The function will return once
    // the pageable buffer has been copied to the staging memory …, but the DMA to final destination
    // may not have completed."
    ++world.stats.pageable_copies;
    for (const OperationPtr& operation : world.LegacyPredecessors(legacy)) world.WaitFor(operation);
    world.WaitForStream(legacy);
    if (cudaError_t error = Stage(world, &c); error != cudaSuccess) return error;
    return EnqueueCopy(world, legacy, std::move(c), name);
  }
  OperationPtr issued;
  if (cudaError_t error = EnqueueCopy(world, legacy, std::move(c), name, &issued);
      error != cudaSuccess)
    return error;
  // SYNC: "For transfers from device memory to device memory, no host-side synchronization is
  // performed".
  if (source != Place::kDevice || target != Place::kDevice) world.WaitFor(issued);
  return Sticky(world, CurrentDevice());
}

cudaError_t FillAsync(World& world, cudaStream_t handle, void* target, int value, size_t bytes,
                      const char* name) {
  Stream* stream = world.FindStream(handle);
  if (stream == nullptr)
    return world.Refuse(cudaErrorInvalidResourceHandle, std::string(name) + ": no such stream");
  Work work;
  work.kind = WorkKind::kSet;
  work.set = {target, value, bytes};
  return Enqueue(world, stream, std::move(work),
                 std::string(name) + " of " + std::to_string(bytes) + " bytes");
}

}  // namespace

FAKE_EXPORT cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes,
                                        cudaMemcpyKind kind, cudaStream_t stream) {
  return Call({"cudaMemcpyAsync"}, [&](World& world) {
    return CopyAsync(world, stream, Rows(target, bytes, source, bytes, bytes, 1, kind), "copy");
  });
}

FAKE_EXPORT cudaError_t cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source,
                                          size_t source_pitch, size_t width, size_t height,
                                          cudaMemcpyKind kind, cudaStream_t stream) {
  return Call({"cudaMemcpy2DAsync"}, [&](World& world) {
    return CopyAsync(world, stream,
                     Rows(target, target_pitch, source, source_pitch, width, height, kind),
                     "copy of rows");
  });
}

FAKE_EXPORT cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes,
                                   cudaMemcpyKind kind) {
  return Call({"cudaMemcpy", InCapture::kUnsafe}, [&](World& world) {
    return CopySync(world, Rows(target, bytes, source, bytes, bytes, 1, kind), "blocking copy");
  });
}

FAKE_EXPORT cudaError_t cudaMemcpy2D(void* target, size_t target_pitch, const void* source,
                                     size_t source_pitch, size_t width, size_t height,
                                     cudaMemcpyKind kind) {
  return Call({"cudaMemcpy2D", InCapture::kUnsafe}, [&](World& world) {
    return CopySync(world, Rows(target, target_pitch, source, source_pitch, width, height, kind),
                    "blocking copy of rows");
  });
}

FAKE_EXPORT cudaError_t cudaMemcpyPeerAsync(void* target, int target_device, const void* source,
                                            int source_device, size_t bytes, cudaStream_t handle) {
  return Call({"cudaMemcpyPeerAsync"}, [&](World& world) {
    Stream* stream = world.FindStream(handle);
    if (stream == nullptr)
      return world.Refuse(cudaErrorInvalidResourceHandle, "peer copy: no such stream");
    for (auto [pointer, device, side] :
         {std::tuple<const void*, int, const char*>{target, target_device, "target"},
          {source, source_device, "source"}}) {
      AllocationPtr allocation = world.memory.Find(pointer, 0);
      if (allocation != nullptr && !allocation->is_host() && allocation->device == device) continue;
      return world.Refuse(cudaErrorInvalidValue,
                          std::string("peer copy: the ") + side + " is not memory of gpu " +
                              std::to_string(device) +
                              (allocation == nullptr ? "" : " but " + allocation->Describe()));
    }
    CopyWork c = Rows(target, bytes, source, bytes, bytes, 1, cudaMemcpyDeviceToDevice);
    if (stream->number != 0 || stream->capture != nullptr)
      return EnqueueCopy(world, stream, std::move(c), "peer copy");
    // Programming guide, multi-GPU systems, 3.4.2: on the NULL stream it waits for everything on
    // both devices, and later commands of both wait for it.
    NotePeers(world, &c);
    std::vector<OperationPtr> after;
    for (int device : {target_device, source_device}) {
      for (const auto& other : world.streams) {
        if (other->device == device && other->last != nullptr) after.push_back(other->last);
      }
      if (world.devices[device].legacy->last != nullptr)
        after.push_back(world.devices[device].legacy->last);
    }
    OperationPtr issued = world.Issue(stream, ToWork(std::move(c)), "peer copy", after);
    for (int device : {target_device, source_device}) world.devices[device].legacy->last = issued;
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaMemsetAsync(void* target, int value, size_t bytes,
                                        cudaStream_t stream) {
  return Call({"cudaMemsetAsync"},
              [&](World& world) { return FillAsync(world, stream, target, value, bytes, "fill"); });
}

FAKE_EXPORT cudaError_t cudaMemset(void* target, int value, size_t bytes) {
  return Call({"cudaMemset", InCapture::kUnsafe}, [&](World& world) {
    ++world.stats.host_blocks;
    // SYNC: asynchronous to the host unless the target is pinned host memory.
    cudaError_t error = FillAsync(world, nullptr, target, value, bytes, "blocking fill");
    if (error == cudaSuccess && PlaceOf(world, target) == Place::kPinned)
      world.WaitForStream(world.FindStream(nullptr));
    return error;
  });
}
