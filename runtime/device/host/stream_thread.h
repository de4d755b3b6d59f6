// One CPU stream: a thread that executes its list of commands in order, and helps its device with
// tiles whenever it has to wait.
//
// Emulated time. Sleeping to a deadline ends late, by what the system takes to wake a thread. So that
// a chain of sleeps does not add this up, a stream keeps the moment at which its last command ended
// *on the emulated device* (the deadline itself), events carry it from stream to stream, and the next
// emulated command begins there. Real commands begin and end when they do. The noted times of emulated
// commands are the emulated ones.
#ifndef AUTOPAR_RUNTIME_DEVICE_HOST_STREAM_THREAD_H_
#define AUTOPAR_RUNTIME_DEVICE_HOST_STREAM_THREAD_H_

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/device/device.h"
#include "runtime/device/host/copy_engines.h"
#include "runtime/device/host/host_kernels.h"
#include "runtime/device/host/tile_board.h"
#include "runtime/device/sync.h"

namespace autopar {

enum class HostOp : uint8_t {
  kNothing,    // a launch without tiles
  kNative,     // one call of generated code
  kLaunch,     // any kernel, all tiles on this thread
  kShared,     // any kernel, tiles dealt over the device's threads
  kSynthetic,
  kCopy,
  kRecord,
  kWait,
  kTimedRecord,  // in functions with emulated commands
  kTimedWait,
};

// A launch or copy with all that its execution needs.
struct HostLaunch {
  const HostKernel* kernel = nullptr;
  void* const* buffers = nullptr;
  int64_t tiles = 0;
  bool is_long = false;              // long enough to wake sleeping threads for, by its size
  absl::Span<const Region> regions;
  int64_t duration_ns = 0;           // synthetic
  LinkId link;                       // copy: valid if its speed is emulated
};

// The hot part of a command. The list of a stream is an array of these.
struct HostCommand {
  HostOp op = HostOp::kNothing;
  uint32_t target = 0;                // record, wait
  union {
    NativeKernelFn native = nullptr;  // kNative
    const HostLaunch* launch;         // kLaunch, kShared, kSynthetic, kCopy
    Progress* progress;               // kRecord ... kTimedWait
  };
  union {
    void* const* buffers = nullptr;   // kNative
    int64_t* event_ns;                // kTimedRecord, kTimedWait
  };
  int64_t tiles = 0;                  // kNative
};
static_assert(sizeof(HostCommand) == 32);

// A stream's share of a function, compiled.
struct HostStreamCode {
  std::vector<HostCommand> commands;
  std::vector<CommandSpan*> spans;  // per command, entries may be null; empty: times are not noted
  std::vector<Bell*> waiters;
  StreamSpan* span = nullptr;
  bool timed = false;
};

using HostTileSlot = TileSlot<HostLaunch>;

class StreamThread;

// What the threads of one device share.
struct HostThreadGroup {
  const MatmulLibrary* matmuls = nullptr;
  CopyEngines* engines = nullptr;
  uint64_t delay_seed = 0;
  std::vector<StreamThread*> workers;   // those that take tiles: compute streams and helpers
  std::unique_ptr<HostTileSlot[]> slots;  // by worker; null if tiles are not shared
};

struct StreamThreadOptions {
  std::string name{};       // as the system shows it, 15 characters
  int core = -1;            // index into HostCores(), modulo; -1: any
  int worker = -1;          // index into HostThreadGroup::workers; -1: a copy stream
  int spins = 0;            // looks at a condition, with a pause between them, before sleeping
  uint64_t random_seed = 0;  // of the injected delays
};

class StreamThread {
 public:
  // `group` outlives the thread and is complete before Launch.
  StreamThread(HostThreadGroup* group, StreamThreadOptions options);
  ~StreamThread();

  // Starts the thread; Ready(), after a start that went well, says how its preparation ended.
  absl::Status Launch();
  absl::Status Ready() { return ready_.get_future().get(); }
  // Ends the thread; no call is running. Threads of one group ring each other's bells: all of them are
  // stopped before any is destroyed.
  void Stop();
  // Hands over a list to execute and wakes the thread. The thread is idle.
  void Start(const HostStreamCode* code, CallState* call);
  Bell& bell() { return bell_; }

 private:
  void Main();
  void Idle();
  void RunCall();
  template <bool kInstrumented>
  void RunCommands();
  void RunLaunch(const HostLaunch& launch, int64_t tile_begin, int64_t tile_end);
  void RunShared(const HostLaunch& launch);
  void RingWorkers(int64_t tiles);
  void RunSynthetic(const HostLaunch& launch);
  void RunCopy(const HostLaunch& launch);
  void AwaitEvent(Progress& progress, uint32_t target);
  bool SomeTiles() const;
  // Runs a few tiles of another worker's launch, if there are any.
  bool HelpOnce(uint32_t parts);
  void Delay();

  HostThreadGroup* group_;
  StreamThreadOptions options_;
  std::unique_ptr<MatmulThread> matmuls_;
  const HostStreamCode* code_ = nullptr;
  CallState* call_ = nullptr;
  int64_t clock_ns_ = 0;  // emulated time; 0: the last command was real, it is now
  int64_t emulated_start_ns_ = 0;  // of the last command that was emulated
  uint64_t random_ = 0;
  std::promise<absl::Status> ready_;
  Bell bell_;
  alignas(kCacheLine) std::atomic<uint32_t> started_{0};  // calls handed over
  std::atomic<bool> stop_{false};
  uint32_t seen_ = 0;  // calls executed
  std::thread thread_;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_HOST_STREAM_THREAD_H_
