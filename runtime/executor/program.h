// The C++ API: load a schedule once, call it many times.
//
//   auto program = Program::Load("prog.sched");         // maps, checks, loads kernels
//   if (!program.ok()) return program.status();
//   auto session = Session::Create(*program, {});        // arenas and threads
//   if (!session.ok()) return session.status();
//   std::vector<absl::Span<const uint8_t>> inputs = ...;  // the bytes of each argument
//   std::vector<absl::Span<uint8_t>> outputs = ...;       // room for each result
//   absl::Status done = (*session)->Call("main", inputs, outputs);  // blocks until the results are there
//
// Ownership: inputs and outputs are the caller's memory; a call reads inputs and writes outputs only while it runs, and
// an output is complete and the caller's alone when Call returns. Outputs must not overlap inputs or each other.
// Threads: a Program is immutable and may be shared by any number of sessions in any threads. A Session's calls are
// serial: one at a time, from any thread; a second concurrent call is refused. Sessions run side by side.
// Errors: absl::Status with one sentence; after an error of Call the session can be called again.
#ifndef AUTOPAR_RUNTIME_EXECUTOR_PROGRAM_H_
#define AUTOPAR_RUNTIME_EXECUTOR_PROGRAM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/device/cuda/cuda_options.h"
#include "runtime/schedule/schedule.h"
#include "runtime/schedule/schedule_file.h"

namespace autopar {

class DeviceMemory;

struct LoadOptions {
  // Schedule device name -> physical device ("virtual:0", "cuda:1"); a device not named here is taken as planned.
  std::map<std::string, std::string> device_map{};
  CudaOptions cuda{};  // only for schedules with CUDA devices
};

// Memory for arguments and results.
class HostBuffer {
 public:
  HostBuffer(std::unique_ptr<DeviceMemory> memory, bool is_pinned);
  ~HostBuffer();
  absl::Span<uint8_t> bytes();
  bool is_pinned() const { return is_pinned_; }

 private:
  std::unique_ptr<DeviceMemory> memory_;
  bool is_pinned_;
};

class Program {
 public:
  static absl::StatusOr<std::shared_ptr<const Program>> Load(const std::string& path, const LoadOptions& options = {});
  static absl::StatusOr<std::shared_ptr<const Program>> Create(std::shared_ptr<const ScheduleFile> file,
                                                               const LoadOptions& options = {});
  ~Program();
  const Schedule& schedule() const;
  bool UsesCuda() const;
  // Undefined contents, aligned to 64 bytes. Pinned if the program has CUDA devices and the system allows it: those then
  // copy from and to it directly, where other memory is staged. The program outlives it. Any thread.
  absl::StatusOr<std::unique_ptr<HostBuffer>> AllocateBuffer(uint64_t bytes) const;

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  Program();
  std::unique_ptr<Impl> impl_;
};

// One command as it ran: index into Function::commands, nanoseconds from the start of the call. Emulated commands
// (synthetic tasks that sleep, copies over emulated links) say when they ran on the emulated device.
struct CommandTiming {
  uint32_t command = 0;
  int64_t start_ns = 0, finish_ns = 0;
};

struct SessionOptions {
  bool record_timings = false;  // fills Session::timings() at each call (launches and copies)
  uint64_t delay_seed = 0;      // tests: != 0 sleeps a random few microseconds before commands
  bool poison = false;          // tests: arenas are filled with a pattern, gaps between regions verified after each call
};

class Session {
 public:
  static absl::StatusOr<std::unique_ptr<Session>> Create(std::shared_ptr<const Program> program,
                                                         const SessionOptions& options = {});
  ~Session();

  // One span of bytes per argument and result of the function, in order; sizes must equal the types'. Blocks.
  absl::Status Call(std::string_view function, absl::Span<const absl::Span<const uint8_t>> inputs,
                    absl::Span<const absl::Span<uint8_t>> outputs);

  // The three steps of Call, for many calls with the same buffers. Bind copies the arguments that live on a device other
  // than the host there; the other buffers are used in place, so both spans' memory must live until the next Bind or Call.
  // Run executes: it reads the host's arguments and writes the host's results. Fetch copies the results that live on
  // another device to the bound outputs. A plan's makespan is the time of Run.
  absl::Status Bind(std::string_view function, absl::Span<const absl::Span<const uint8_t>> inputs,
                    absl::Span<const absl::Span<uint8_t>> outputs);
  absl::Status Run(std::string_view function);
  absl::Status Fetch(std::string_view function);
  // Of the last call; valid until the next.
  const std::vector<CommandTiming>& timings() const;
  // Wall time of the last call, from the first command's start to the last one's end.
  int64_t elapsed_ns() const;
  // Why a function that uses CUDA devices is not replayed as CUDA graphs, as far as that is known (at load, and by the
  // last call): one clause. Empty if it is, or uses none.
  std::string WhyNoCudaGraph(std::string_view function) const;

 private:
  Session();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_EXECUTOR_PROGRAM_H_
