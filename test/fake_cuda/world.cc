#include "test/fake_cuda/world.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "test/fake_cuda/blas.h"
#include "test/fake_cuda/graph.h"
#include "test/fake_cuda/host_faults.h"

namespace fake {
namespace {

// Never destroyed: calls may come from destructors that run after ours.
World* current = nullptr;

void AtExit() {
  std::lock_guard<std::recursive_mutex> lock(WorldMutex());
  if (current == nullptr) return;
  current->ReportLeaks();
  current->reports.Write(current->stats);
  if (current->options.strict != 0 && current->reports.faults() > 0) _Exit(current->options.strict);
}

Options FromEnvironment() {
  Options options;
  std::string error;
  const char* text = std::getenv("AUTOPAR_FAKE_CUDA");
  if (!ParseOptions(text == nullptr ? "" : text, &options, &error)) {
    std::fprintf(stderr, "%s\n", error.c_str());
    std::_Exit(1);
  }
  return options;
}

}  // namespace

std::recursive_mutex& WorldMutex() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}

World& World::Get() {
  if (current == nullptr) {
    current = new World(FromEnvironment());
    InstallHostFaultHandler();
    std::atexit(AtExit);
  }
  return *current;
}

void World::Reset(const Options& options) {
  std::lock_guard<std::recursive_mutex> lock(WorldMutex());
  Get();
  delete current;
  current = new World(options);
}

World::World(const Options& options)
    : options(options), random(options.seed ^ 0x5eed), reports(options.report) {
  for (int i = 0; i < options.devices; ++i) {
    Device& device = devices.emplace_back();
    device.legacy = std::make_unique<Stream>();
    device.legacy->device = i;
    device.legacy->chain = NewChain();
  }
  const char* paths = std::getenv("AUTOPAR_FAKE_SCHEDULE");
  std::string rest = paths == nullptr ? "" : paths;
  while (!rest.empty()) {
    size_t colon = rest.find(':');
    std::string path = rest.substr(0, colon), error;
    rest = colon == rest.npos ? "" : rest.substr(colon + 1);
    if (path.empty() || host_code.ReadSchedule(path, &error)) continue;
    std::fprintf(stderr, "AUTOPAR_FAKE_SCHEDULE: %s\n", error.c_str());
    std::_Exit(1);
  }
}

World::~World() {
  // Operations point to each other: whatever has not run is cut apart.
  for (auto& [number, operation] : pending_) operation->successors.clear();
}

std::string Stream::Describe() const {
  std::string on = " (gpu " + std::to_string(device) + ")";
  return number == 0 ? "the legacy stream" + on : "stream " + std::to_string(number) + on;
}

void World::Break(int device, cudaError_t code, const std::string& why) {
  Note(ReportKind::kError, why);
  if (devices[device].sticky == cudaSuccess) devices[device].sticky = code;
}

void World::ReportLeaks() {
  if (!options.leaks) return;
  // On a broken device nothing can be freed, on hardware as here.
  auto is_broken = [&](int device) { return devices[device].sticky != cudaSuccess; };
  for (const auto& [address, allocation] : memory.live()) {
    if (!is_broken(allocation->device))
      Note(ReportKind::kLeak, allocation->Describe() + " is not freed");
  }
  for (const auto& stream : streams) {
    if (!stream->is_destroyed && !is_broken(stream->device)) {
      Note(ReportKind::kLeak, stream->Describe() + " is not destroyed");
    }
  }
  for (const auto& event : events) {
    if (!event->is_destroyed && !is_broken(event->device)) {
      Note(ReportKind::kLeak, event->Describe() + " is not destroyed");
    }
  }
  for (const Device& device : devices) {
    if (device.sticky != cudaSuccess) return;
  }
  for (const auto& library : libraries) {
    if (!library->is_unloaded) Note(ReportKind::kLeak, "a library is not unloaded");
  }
  for (const auto& graph : graphs) {
    if (!graph->is_destroyed) Note(ReportKind::kLeak, "a graph is not destroyed");
  }
  for (const auto& exec : execs) {
    if (!exec->is_destroyed) Note(ReportKind::kLeak, "an executable graph is not destroyed");
  }
  for (const auto& handle : blas_handles) {
    if (!handle->is_destroyed) Note(ReportKind::kLeak, "a cuBLAS handle is not destroyed");
  }
}

Stream* World::FindStream(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy)
    return devices.empty() ? nullptr : devices[CurrentDevice()].legacy.get();
  for (const auto& stream : streams) {
    if (stream.get() == reinterpret_cast<Stream*>(handle))
      return stream->is_destroyed ? nullptr : stream.get();
  }
  return nullptr;
}

Event* World::FindEvent(cudaEvent_t handle) {
  for (const auto& event : events) {
    if (event.get() == reinterpret_cast<Event*>(handle))
      return event->is_destroyed ? nullptr : event.get();
  }
  return nullptr;
}

LoadedKernel* World::FindKernel(const void* function) {
  for (const auto& library : libraries) {
    if (library->is_unloaded) continue;
    for (const auto& [name, kernel] : library->kernels) {
      if (kernel.get() == function) return kernel.get();
    }
  }
  return nullptr;
}

}  // namespace fake
