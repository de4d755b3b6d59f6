// A device's commands as its issuing thread executes them; compiled once per function and session.
#ifndef AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_COMMANDS_H_
#define AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_COMMANDS_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "runtime/device/cuda/cuda_blas.h"
#include "runtime/device/cuda/cuda_copies.h"
#include "runtime/device/cuda/cuda_handles.h"
#include "runtime/device/cuda/cuda_kernels.h"
#include "runtime/device/device.h"

namespace autopar {

enum class CudaOp : uint8_t {
  kNothing,     // an empty launch or copy, a record that nobody waits for
  kLaunch,
  kProduct,
  kCopyInside,  // within a GPU, or between two that reach each other
  kCopyStaged,  // between two that do not
  kCopyIn,      // from the host's memory, pinned or not
  kCopyOut,
  kRecord,
  kWaitDevice,  // for a stream of a GPU
  kWaitHost,    // for a stream of another device
};

// An event of the schedule that a GPU records; shared by the devices of a session.
struct SharedEvent {
  CudaEvent event;     // streams wait for it
  CudaEvent captured;  // the same inside graphs: a captured event is of no use outside
  uint64_t captured_epoch = 0;      // of the capture in which `captured` was last recorded
  std::atomic<uint64_t> issued{0};  // CallState::number of the call in which it was last recorded
};

struct CudaLaunch {
  const CudaKernel* kernel = nullptr;
  void* const* buffers = nullptr;
  std::vector<void*> parameters;  // addresses of the addresses
  CudaBlas* blas = nullptr;       // products: of the stream
};

struct CudaCopy {
  void* const* buffers = nullptr;  // from, to; the host's may change between calls
  CopyShape shape;
  int from_ordinal = 0, to_ordinal = 0;  // kCopyInside
  PeerStage* stage = nullptr;            // kCopyStaged
  uint64_t host_bytes = 0;               // kCopyIn, kCopyOut: extent on the host's side
  bool settled = false;                  // kCopyIn: the source is written by no command
  int host_side = 0;                     // kCopyIn: 0, kCopyOut: 1
  bool pinned = false;                   // of this call
};

struct CudaCommand {
  CudaOp op = CudaOp::kNothing;
  bool host_waits = false;        // kRecord: other devices wait for its progress counter
  uint32_t command = 0;           // index into Function::commands
  uint32_t target = 0;            // kRecord, kWaitHost
  Progress* progress = nullptr;   // kRecord, kWaitHost
  SharedEvent* event = nullptr;   // kRecord, kWaitDevice
  int64_t* event_ns = nullptr;    // kRecord
  CudaLaunch* launch = nullptr;
  CudaCopy* copy = nullptr;
  CommandSpan* span = nullptr;    // where to note the times, or null
  int32_t timer = -1;             // index into CudaStreamCode::timers
};

// A stream's share of a function.
struct CudaStreamCode {
  cudaStream_t stream = nullptr;
  DeviceId device;  // of the schedule
  std::vector<CudaCommand> commands;
  std::vector<Bell*> waiters;
  StreamSpan* span = nullptr;
  CudaEvent idle;  // only if it copies from or to memory of the host
  struct Timer {
    CudaEvent begin, end;
  };
  std::vector<Timer> timers;  // of noted commands
};

// A device's share of a function.
struct CudaDeviceCode {
  const CudaContext* context = nullptr;
  std::vector<CudaStreamCode> streams;
  // (stream, command) in the file's order.
  struct Place {
    uint32_t stream = 0, index = 0;
  };
  std::vector<Place> order;
  CudaEvent origin;  // timed; only if times are noted
  bool noted = false;
  std::deque<CudaLaunch> launches;
  std::deque<CudaCopy> copies;
  std::vector<CudaCopy*> changing;  // copies whose host address may change
};

// Enqueues a launch or a copy that needs nothing of the host. The device of the stream is current.
// `epoch`: see PeerStage::Enqueue.
absl::Status EnqueueCommand(const CudaContext& context, const CudaCommand& command, cudaStream_t stream,
                            uint64_t epoch, bool captured);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_COMMANDS_H_
