// A function of a program, bound to the memory and streams of one session. Private to the executor.
#ifndef AUTOPAR_RUNTIME_EXECUTOR_FUNCTION_BINDING_H_
#define AUTOPAR_RUNTIME_EXECUTOR_FUNCTION_BINDING_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/device/device.h"
#include "runtime/executor/program_impl.h"

namespace autopar {

// What the functions of a session share; outlives the bindings.
struct SessionResources {
  const Program::Impl* program = nullptr;
  std::vector<std::unique_ptr<DeviceSession>> devices;  // by DeviceId; null: unused
  std::vector<std::byte*> arenas;                       // by DeviceId
  std::unique_ptr<Progress[]> progress;                 // by StreamId of whichever function runs
  size_t progress_count = 0;
};

class FunctionBinding {
 public:
  // Resolves all commands. `noted`: the times of launches and copies are to be noted.
  static absl::StatusOr<std::unique_ptr<FunctionBinding>> Create(const Function& function,
                                                                 const SessionResources& resources,
                                                                 bool noted);

  // Points the commands at the caller's buffers, or fills the device's copies of the arguments. The
  // sizes have been checked.
  absl::Status BindArguments(absl::Span<const absl::Span<const uint8_t>> inputs,
                             absl::Span<const absl::Span<uint8_t>> outputs);
  // Copies results that were written in a device's memory to the bound buffers.
  absl::Status FetchResults() const;
  bool is_bound() const { return bound_; }
  void Unbind() { bound_ = false; }

  const Function& function() const { return function_; }
  // How many events one call may record on a stream.
  uint32_t max_records() const { return max_records_; }
  absl::Span<const std::unique_ptr<DeviceFunction>> parts() const { return parts_; }
  absl::Span<const StreamSpan> stream_spans() const { return stream_spans_; }
  // By command; untouched for records and waits. Empty if times are not noted.
  absl::Span<const CommandSpan> command_spans() const { return command_spans_; }

 private:
  // An argument or result. On the host, `regions` point straight into the caller's buffer.
  struct BoundPort {
    DeviceId device;
    std::vector<uint32_t> regions;         // indices into Function::regions; host only
    std::byte* bound = nullptr;            // the caller's buffer that they point at now
    std::unique_ptr<DeviceMemory> memory;  // other devices
  };

  FunctionBinding(const Function& function, const SessionResources& resources)
      : function_(function), resources_(resources) {}
  absl::Status ResolvePorts();
  void ResolveRegions();
  absl::Status ResolveCommands(bool noted);
  absl::Status CheckLaunch(uint32_t index, const Kernel& kernel) const;
  void BindHostPort(BoundPort& port, std::byte* base);

  const Function& function_;
  const SessionResources& resources_;
  std::vector<BoundPort> arguments_, results_;
  std::vector<absl::Span<uint8_t>> outputs_;  // the caller's, while bound
  bool bound_ = false;
  std::vector<void*> buffers_;  // by region: where it starts
  std::vector<int64_t> event_ns_;
  std::vector<StreamSpan> stream_spans_;
  std::vector<CommandSpan> command_spans_;
  std::vector<std::unique_ptr<DeviceFunction>> parts_;
  uint32_t max_records_ = 0;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_EXECUTOR_FUNCTION_BINDING_H_
