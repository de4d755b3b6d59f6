// What the executor asks of a device, whatever it is made of.
//
//   DeviceBackend    one per device of the schedule and loaded Program: memory, and kernels made
//                    ready at load.
//   DeviceSession    one per device and Session: its streams (and whatever threads drive them).
//   DeviceFunction   one per device, Session and function: the device's commands, compiled into
//                    the form it executes; built once, started at each call.
//
// What is enqueued: Start() hands all of a device's commands to it and returns; nothing of it
// blocks the caller. A CPU stream is a thread that executes its own list in order. A device with an
// asynchronous driver (CUDA) fits behind the same interface with one thread that issues the lists
// of all its streams in the file's order (DeviceCommand::command), waits of the other devices'
// progress counters on that thread and publishes its own through driver events; or with one captured
// graph. Events between any two streams are Progress counters.
//
// Threads: all functions are called by one thread at a time, unless they say otherwise.
#ifndef AUTOPAR_RUNTIME_DEVICE_DEVICE_H_
#define AUTOPAR_RUNTIME_DEVICE_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/device/sync.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

// Memory of a device; freed by the destructor. base() is 64-byte aligned. The bytes are undefined.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual std::byte* base() const = 0;
  virtual uint64_t bytes() const = 0;
};

// A kernel that is loaded, assembled, packed: ready to be launched. Immutable.
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;
};

// What one call shares between the devices: where it begins, who has finished, what went wrong.
struct CallState {
  uint32_t base = 0;      // the progress counters' value when it starts
  int64_t start_ns = 0;   // NowNs() when it was started
  uint64_t number = 0;    // 1, 2, 3 ... in the session
  std::atomic<uint32_t> running{0};  // participants that have not finished
  Bell finished;          // rung by the last participant
  std::atomic<bool> failed{false};  // there is an error
  std::mutex mutex;
  absl::Status error;     // the first one; guarded by mutex

  // Any thread. Execution goes on, so that nobody waits for ever; the call fails in the end.
  void Fail(absl::Status status) {
    failed.store(true, std::memory_order_seq_cst);
    std::lock_guard<std::mutex> lock(mutex);
    if (error.ok()) error = std::move(status);
  }
  void Finish() {
    if (running.fetch_sub(1, std::memory_order_seq_cst) == 1) finished.Ring();
  }
};

// When a stream began and ended its part of a call, NowNs().
struct StreamSpan {
  int64_t start_ns = 0, finish_ns = 0;
};

// When a command began and ended, NowNs(). Written by the stream that runs the command.
struct CommandSpan {
  int64_t start_ns = 0, finish_ns = 0;
};

// A command with everything resolved. All pointers outlive the DeviceFunction.
struct DeviceCommand {
  CommandKind kind = CommandKind::kLaunch;
  uint32_t command = 0;                      // index into Function::commands: the issue order
  const PreparedKernel* kernel = nullptr;    // launch
  void* const* buffers = nullptr;            // launch, copy: one pointer per region; the pointers
                                             // may be replaced between calls
  absl::Span<const Region> regions{};        // launch, copy
  Progress* progress = nullptr;              // record: the own stream's; wait: the recorder's
  uint32_t target = 0;                       // record, wait: base + target
  // Record, wait: when the event happened on the emulated clock (host/stream_thread.h); null in
  // functions that emulate nothing. Ordered by the event itself.
  int64_t* event_ns = nullptr;
  int64_t duration_ns = 0;                   // synthetic launch
  CommandSpan* span = nullptr;               // launch, copy: where to note the times, or null
};

// One stream's share of a function.
struct StreamWork {
  Stream stream;
  Progress* progress = nullptr;
  std::vector<Bell*> waiters;  // of the streams that wait for this one
  std::vector<DeviceCommand> commands;
  StreamSpan* span = nullptr;
};

class DeviceFunction {
 public:
  virtual ~DeviceFunction() = default;
  // How many times CallState::Finish is called: added to CallState::running before any device starts.
  virtual uint32_t participants() const = 0;
  // Starts the commands and returns. `call` lives until all participants have finished.
  virtual void Start(CallState* call) = 0;
};

class DeviceSession {
 public:
  virtual ~DeviceSession() = default;  // no call is running
  // Rung to wake the thread that waits on behalf of `stream`.
  virtual Bell* StreamBell(const Stream& stream) = 0;
  // `function`, of the schedule, outlives the session. All devices are prepared before any is started.
  virtual absl::StatusOr<std::unique_ptr<DeviceFunction>> Prepare(const Function& function,
                                                                  std::vector<StreamWork> work) = 0;
};

// The emulated copy engines of a session; see host/copy_engines.h.
class CopyEngines;
// What the CUDA devices of a session share; see cuda/cuda.h.
class CudaSessionShared;

struct DeviceSessionOptions {
  DeviceId device;
  const Schedule* schedule = nullptr;  // outlives the session
  CopyEngines* engines = nullptr;      // outlives the session
  CudaSessionShared* cuda = nullptr;   // outlives the session; null without CUDA devices
  std::vector<Stream> streams{};       // every stream of this device that any function uses
  // Of all devices in the session: they compete for the cores.
  uint32_t compute_streams = 0, copy_streams = 0;
  uint64_t delay_seed = 0;             // != 0: random delays before commands
};

class DeviceBackend {
 public:
  virtual ~DeviceBackend() = default;
  // ResourceExhausted, with a sentence, where the device or this machine has less.
  virtual absl::StatusOr<std::unique_ptr<DeviceMemory>> Allocate(uint64_t bytes) = 0;
  // Between host memory and this device's, blocking. Any thread.
  virtual absl::Status CopyIn(void* device, const void* host, uint64_t bytes) = 0;
  virtual absl::Status CopyOut(void* host, const void* device, uint64_t bytes) = 0;
  // Loads a kernel of the schedule; owned by the backend, loaded once however often it is asked for.
  virtual absl::StatusOr<const PreparedKernel*> PrepareKernel(KernelId kernel) = 0;
  virtual absl::StatusOr<std::unique_ptr<DeviceSession>> OpenSession(
      const DeviceSessionOptions& options) = 0;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_DEVICE_H_
