// The frame of every exported call: lock, counting, injected and sticky errors, the thread's last
// error, progress.
#ifndef AUTOPAR_TEST_FAKE_CUDA_API_H_
#define AUTOPAR_TEST_FAKE_CUDA_API_H_

#include <cuda_runtime_api.h>

#include "test/fake_cuda/world.h"

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace fake {

// How a call behaves while streams are being captured (H:2560, "potentially unsafe API calls").
enum class InCapture { kAllowed, kUnsafe };

struct CallInfo {
  const char* name;
  InCapture in_capture = InCapture::kAllowed;
  cudaError_t injected = cudaErrorUnknown;  // what it returns when it is made to fail
  bool needs_device = true;                 // false: works without a driver too
  bool is_destroyer = false;                // no progress before: what it frees may be in use
};

// Says whether the call may go on: counts it, and returns an injected, late, sticky or capture
// error instead.
cudaError_t EnterCall(World& world, const CallInfo& info);
// Progress and the last error.
cudaError_t LeaveCall(World& world, const CallInfo& info, cudaError_t error);

template <class Body>
cudaError_t Call(const CallInfo& info, Body body) {
  std::lock_guard<std::recursive_mutex> lock(WorldMutex());
  World& world = World::Get();
  cudaError_t error = EnterCall(world, info);
  if (error == cudaSuccess) error = body(world);
  return LeaveCall(world, info, error);
}

cudaError_t LastError();
cudaError_t TakeLastError();

// Marks this thread as inside a host function of a stream, where no CUDA call is allowed (H:4145).
class InHostFunction {
 public:
  InHostFunction();
  ~InHostFunction();
};

// The context error of the device, or of the current one.
cudaError_t Sticky(World& world, int device);

// Enqueues work on a stream, or notes it in the graph that the stream is captured into.
cudaError_t Enqueue(World& world, Stream* stream, Work work, const std::string& label,
                    OperationPtr* issued = nullptr);

}  // namespace fake

#endif  // AUTOPAR_TEST_FAKE_CUDA_API_H_
