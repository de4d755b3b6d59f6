#include "test/fake_cuda/api.h"

#include <utility>

#include "test/fake_cuda/graph.h"

namespace fake {
namespace {

thread_local int current_device = 0;
thread_local cudaError_t last_error = cudaSuccess;
thread_local int host_functions = 0;

// Without a usable driver every call answers so (measured with the toolkit's own library, 13.0).
cudaError_t DriverError(const World& world) {
  if (world.options.stub) return cudaErrorStubLibrary;
  if (world.options.driver < CUDART_VERSION / 1000 * 1000) return cudaErrorInsufficientDriver;
  if (world.options.devices == 0) return cudaErrorNoDevice;
  return cudaSuccess;
}

}  // namespace

int CurrentDevice() { return current_device; }
void SetCurrentDevice(int device) { current_device = device; }
InHostFunction::InHostFunction() { ++host_functions; }
InHostFunction::~InHostFunction() { --host_functions; }

cudaError_t Sticky(World& world, int device) { return world.devices[device].sticky; }

cudaError_t EnterCall(World& world, const CallInfo& info) {
  if (host_functions > 0) {
    world.Note(ReportKind::kMisuse,
               std::string("a host function calls ") + info.name + ", which CUDA forbids");
    return cudaErrorNotPermitted;
  }
  if (!info.needs_device) return cudaSuccess;
  if (cudaError_t error = DriverError(world); error != cudaSuccess) return error;
  // A test that starts anew with fewer devices.
  if (current_device >= world.options.devices) current_device = 0;
  ++world.stats.calls;
  if (world.stats.calls == world.options.fail) {
    cudaError_t code = world.options.fail_code != 0
                           ? static_cast<cudaError_t>(world.options.fail_code)
                           : info.injected;
    if (world.options.late == 0) {
      return world.Refuse(code, std::string(info.name) + " (call " +
                                    std::to_string(world.stats.calls) + ") is made to fail");
    }
    world.late_error = code;
  } else if (world.late_error != cudaSuccess &&
             world.stats.calls >= world.options.fail + world.options.late) {
    // "Note that this function may also return error codes from previous, asynchronous launches"
    // (\notefnerr).
    return world.Refuse(std::exchange(world.late_error, cudaSuccess),
                        std::string(info.name) + " returns the error of an earlier call");
  }
  // driver_types.h on 700, 702, 714 to 719: "leaves the process in an inconsistent state and any
  // further CUDA work will return the same error".
  if (cudaError_t error = Sticky(world, current_device); error != cudaSuccess) {
    // What the broken context had left to do does not happen; who sees the error knows it.
    world.WaitForDevice(current_device);
    return error;
  }
  if (info.in_capture == InCapture::kUnsafe) return RefuseUnsafeCall(world, info.name);
  return cudaSuccess;
}

cudaError_t LeaveCall(World& world, const CallInfo& info, cudaError_t error) {
  if (info.needs_device && DriverError(world) == cudaSuccess && host_functions == 0)
    world.Progress();
  // cudaErrorNotReady "is not an error" (driver_types.h 600).
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

cudaError_t LastError() { return last_error; }

cudaError_t TakeLastError() {
  cudaError_t error = std::exchange(last_error, cudaSuccess);
  World& world = World::Get();
  // The context's own error stays, and so does that of a missing driver.
  if (cudaError_t missing = DriverError(world); missing != cudaSuccess) return last_error = missing;
  if (current_device < world.options.devices && Sticky(world, current_device) != cudaSuccess) {
    return last_error = Sticky(world, current_device);
  }
  return error;
}

cudaError_t Enqueue(World& world, Stream* stream, Work work, const std::string& label,
                    OperationPtr* issued) {
  if (stream->capture != nullptr) return CaptureWork(world, stream, std::move(work), label);
  if (cudaError_t error = Sticky(world, stream->device); error != cudaSuccess) return error;
  if (cudaError_t error = RefuseImplicit(world, stream); error != cudaSuccess) return error;
  std::vector<Access> accesses;
  if (cudaError_t error = ResolveWork(world, stream->device, &work, &accesses);
      error != cudaSuccess)
    return error;
  work.fault = cudaSuccess;  // found again when it is issued
  OperationPtr operation = world.Issue(stream, std::move(work), label);
  if (issued != nullptr) *issued = operation;
  return cudaSuccess;
}

}  // namespace fake
