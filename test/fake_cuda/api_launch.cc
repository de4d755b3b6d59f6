// Exported: libraries, kernels, launches.
#include <cstdlib>
#include <cstring>
#include <utility>

#include "test/fake_cuda/api.h"
#include "test/fake_cuda/graph.h"
#include "test/fake_cuda/launch.h"

namespace fake {

// Lazy loading (H:13222): a kernel arrives on a device at its first use, which may synchronise the
// whole device, so a program loads its kernels before the first call. Waiting here orders nothing
// that the program could rely on.
void UseKernel(World& world, LoadedKernel* kernel, int device, bool is_launch, bool is_captured) {
  if (!kernel->loaded_on.insert(device).second || !is_launch) return;
  ++world.stats.lazy_loads;
  if (is_captured)
    world.Note(ReportKind::kMisuse,
               "kernel " + kernel->entry.name + " is loaded by a launch inside a capture");
  if (world.random.Percent(50)) {
    ++world.stats.host_blocks;
    while (world.RunOne()) {
    }
  }
}

cudaError_t MakeKernelWork(World& world, int device, const void* function, dim3 grid, dim3 block,
                           void** arguments, size_t shared_bytes, Work* work) {
  LoadedKernel* kernel = world.FindKernel(function);
  if (kernel == nullptr)
    return world.Refuse(cudaErrorInvalidDeviceFunction, "launch of what is no loaded kernel");
  const PtxEntry& entry = kernel->entry;
  std::string name = "kernel " + entry.name;
  // H:4030 and the programming guide's table of limits.
  uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || threads == 0 || threads > 1024 ||
      grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535 || block.x > 1024 ||
      block.y > 1024 || block.z > 64) {
    return world.Refuse(cudaErrorInvalidConfiguration,
                        name + ": a grid of " + std::to_string(grid.x) + " x " +
                            std::to_string(grid.y) + " x " + std::to_string(grid.z) +
                            " blocks of " + std::to_string(threads) + " threads");
  }
  if (threads > static_cast<uint64_t>(entry.max_threads)) {
    return world.Refuse(cudaErrorInvalidValue, name + ": more threads than its .maxntid");
  }
  if (shared_bytes > 48 * 1024)
    return world.Refuse(cudaErrorInvalidValue,
                        name + ": more than 48 KiB of dynamic shared memory");
  if (kernel->host == nullptr || kernel->host->run == nullptr) {
    return world.Refuse(cudaErrorNotSupported,
                        name +
                            " has no CPU code here: name its schedule in AUTOPAR_FAKE_SCHEDULE, "
                            "and compile it with code for CPUs");
  }
  if (kernel->host->operands.size() != static_cast<size_t>(entry.parameters) ||
      !entry.parameters_are_64_bit) {
    return world.Refuse(cudaErrorInvalidValue, name + ": its PTX has " +
                                                   std::to_string(entry.parameters) +
                                                   " parameters, its CPU code " +
                                                   std::to_string(kernel->host->operands.size()));
  }
  work->kind = WorkKind::kKernel;
  work->kernel.kernel = kernel;
  // H:3829: the parameters are copied at the call.
  for (int i = 0; i < entry.parameters; ++i) {
    void* value;
    std::memcpy(&value, arguments[i], sizeof value);
    work->kernel.arguments.push_back(value);
  }
  return cudaSuccess;
}

}  // namespace fake

using namespace fake;

namespace {

cudaError_t LaunchKernel(World& world, const void* function, dim3 grid, dim3 block,
                         void** arguments, size_t shared_bytes, cudaStream_t handle) {
  Stream* stream = world.FindStream(handle);
  if (stream == nullptr)
    return world.Refuse(cudaErrorInvalidResourceHandle, "launch: no such stream, or destroyed");
  // Programming guide, multi-GPU systems, 3.4.1.3: a launch into a stream of a device that is not
  // current fails.
  if (stream->device != CurrentDevice()) {
    return world.Refuse(cudaErrorInvalidResourceHandle,
                        "launch on " + stream->Describe() + " while gpu " +
                            std::to_string(CurrentDevice()) + " is current");
  }
  Work work;
  if (cudaError_t error = MakeKernelWork(world, stream->device, function, grid, block, arguments,
                                         shared_bytes, &work);
      error != cudaSuccess) {
    return error;
  }
  LoadedKernel* kernel = world.FindKernel(function);
  UseKernel(world, kernel, stream->device, true, stream->capture != nullptr);
  return Enqueue(world, stream, std::move(work), "kernel " + kernel->entry.name);
}

// "sm_75" -> 75, from the line `.target sm_75`; 0 if there is none.
int TargetOf(const std::string& text) {
  size_t at = text.find(".target");
  if (at == text.npos) return 0;
  at = text.find("sm_", at);
  return at == text.npos ? 0 : std::atoi(text.c_str() + at + 3);
}

}  // namespace

FAKE_EXPORT cudaError_t cudaLibraryLoadData(cudaLibrary_t* handle, const void* code, cudaJitOption*,
                                            void**, unsigned, cudaLibraryOption*, void**,
                                            unsigned) {
  return Call({"cudaLibraryLoadData", InCapture::kUnsafe}, [&](World& world) {
    std::string text(static_cast<const char*>(code)), error;
    std::vector<PtxEntry> entries;
    if (!ParsePtx(text, &entries, &error)) return world.Refuse(cudaErrorInvalidPtx, error);
    if (TargetOf(text) > world.options.arch) {
      return world.Refuse(cudaErrorInvalidPtx, "PTX for sm_" + std::to_string(TargetOf(text)) +
                                                   " on a device of sm_" +
                                                   std::to_string(world.options.arch));
    }
    auto library = std::make_unique<Library>();
    for (PtxEntry& entry : entries) {
      auto kernel = std::make_unique<LoadedKernel>();
      kernel->library = library.get();
      kernel->host = world.host_code.Find(entry.name);
      if (kernel->host == nullptr && entry.parameters == 0) {
        // It can touch no memory.
        world.host_code.Register({entry.name, {}, [](void* const*) {}});
        kernel->host = world.host_code.Find(entry.name);
      }
      kernel->entry = std::move(entry);
      std::string name = kernel->entry.name;
      library->kernels[name] = std::move(kernel);
    }
    *handle =
        reinterpret_cast<cudaLibrary_t>(world.libraries.emplace_back(std::move(library)).get());
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaLibraryUnload(cudaLibrary_t handle) {
  return Call({"cudaLibraryUnload", InCapture::kUnsafe}, [&](World& world) {
    for (const auto& library : world.libraries) {
      if (library.get() != reinterpret_cast<Library*>(handle) || library->is_unloaded) continue;
      library->is_unloaded = true;
      return cudaSuccess;
    }
    return world.Refuse(cudaErrorInvalidResourceHandle, "cudaLibraryUnload: no such library");
  });
}

FAKE_EXPORT cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t handle,
                                             const char* name) {
  return Call({"cudaLibraryGetKernel"}, [&](World& world) {
    for (const auto& library : world.libraries) {
      if (library.get() != reinterpret_cast<Library*>(handle) || library->is_unloaded) continue;
      auto found = library->kernels.find(name);
      if (found == library->kernels.end())
        return world.Refuse(cudaErrorSymbolNotFound, std::string("no kernel ") + name);
      *kernel = reinterpret_cast<cudaKernel_t>(found->second.get());
      return cudaSuccess;
    }
    return world.Refuse(cudaErrorInvalidResourceHandle, "cudaLibraryGetKernel: no such library");
  });
}

FAKE_EXPORT cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                              const void* function) {
  return Call({"cudaFuncGetAttributes"}, [&](World& world) {
    LoadedKernel* kernel = world.FindKernel(function);
    if (kernel == nullptr)
      return world.Refuse(cudaErrorInvalidDeviceFunction, "attributes of what is no loaded kernel");
    UseKernel(world, kernel, CurrentDevice(), false, false);
    std::memset(attributes, 0, sizeof *attributes);
    attributes->maxThreadsPerBlock = kernel->entry.max_threads;
    attributes->numRegs = 32;
    attributes->binaryVersion = world.options.arch;
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute, int) {
  return Call({"cudaFuncSetAttribute"}, [&](World& world) {
    return world.FindKernel(function) != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
  });
}

FAKE_EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                            void** arguments) {
  return Call({"cudaLaunchKernelExC"}, [&](World& world) {
    return LaunchKernel(world, function, config->gridDim, config->blockDim, arguments,
                        config->dynamicSmemBytes, config->stream);
  });
}

FAKE_EXPORT cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block,
                                         void** arguments, size_t shared_bytes,
                                         cudaStream_t stream) {
  return Call({"cudaLaunchKernel"}, [&](World& world) {
    return LaunchKernel(world, function, grid, block, arguments, shared_bytes, stream);
  });
}
