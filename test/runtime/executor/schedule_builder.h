// Schedules written by hand, for tests of the runtime: one function "main" on a small machine.
#ifndef AUTOPAR_TEST_RUNTIME_EXECUTOR_SCHEDULE_BUILDER_H_
#define AUTOPAR_TEST_RUNTIME_EXECUTOR_SCHEDULE_BUILDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executor/program.h"
#include "runtime/machine/machine.h"
#include "runtime/schedule/schedule.h"
#include "runtime/schedule/schedule_file.h"

namespace autopar {

// "cpu0" with `cpu_cores`, then virtual "gpu0", "gpu1" ... of `gpu_cores` each, gpu i on core i. A link
// each way between the CPU and each GPU and between the GPUs; each has an engine of its own.
Machine TestMachine(uint32_t gpus, uint32_t cpu_cores = 2, uint32_t gpu_cores = 1);

// A schedule without a file, which no checker has seen: tests may plant mistakes.
class UncheckedScheduleFile : public ScheduleFile {
 public:
  explicit UncheckedScheduleFile(Schedule schedule) : schedule_(std::move(schedule)) {}
  const Schedule& schedule() const override { return schedule_; }
  absl::Span<const uint8_t> constants() const override { return schedule_.constants; }

 private:
  Schedule schedule_;
};

class ScheduleBuilder {
 public:
  explicit ScheduleBuilder(Machine machine);

  SpaceId Argument(TensorType type, DeviceId device = DeviceId(0));
  SpaceId Result(TensorType type, DeviceId device = DeviceId(0));
  SpaceId Arena(DeviceId device, uint64_t bytes);
  SpaceId Constant(const std::vector<uint8_t>& bytes, DeviceId device = DeviceId(0));
  StreamId Compute(DeviceId device, uint32_t ordinal = 0);
  StreamId CopyStream(DeviceId from, DeviceId to);

  KernelId Synthetic(const std::string& name, std::vector<uint64_t> read_bytes,
                     std::vector<uint64_t> write_bytes, bool spin = false);
  // Epilogue "" for none; it and native kernels are symbols of `module`.
  KernelId Matmul(const std::string& name, const MatmulParams& params,
                  const std::string& epilogue = "", std::vector<uint64_t> more_reads = {});
  KernelId Native(const std::string& name, const std::string& symbol, int64_t tiles,
                  std::vector<uint64_t> read_bytes, std::vector<uint64_t> write_bytes);
  void AddModule(const std::string& path, std::vector<std::string> features = {});

  uint32_t Launch(StreamId stream, KernelId kernel, std::vector<Region> reads,
                  std::vector<Region> writes, int64_t duration_ns = 0);
  uint32_t Copy(StreamId stream, Region from, Region to);
  EventId Record(StreamId stream);
  void Wait(StreamId stream, EventId event);

  Region Whole(SpaceId space) const;
  static Region Piece(SpaceId space, uint64_t offset, uint64_t bytes);

  Schedule& schedule() { return schedule_; }
  Function& function() { return schedule_.functions[0]; }
  // Through the file format and the checker.
  absl::StatusOr<std::shared_ptr<const Program>> Build(const LoadOptions& options = {});
  // Past both.
  absl::StatusOr<std::shared_ptr<const Program>> BuildUnchecked(const LoadOptions& options = {});

 private:
  Command& AddCommand(CommandKind kind, StreamId stream);
  KernelId AddKernel(Kernel kernel);
  SpaceId AddSpace(Space space);

  Schedule schedule_;
  std::vector<std::shared_ptr<std::vector<uint8_t>>> files_;  // what programs are mapped from
};

// Fills with a pattern that depends on `seed`.
std::vector<uint8_t> TestBytes(size_t count, uint64_t seed);
std::vector<float> TestFloats(size_t count, uint64_t seed);

// Calls "main" with one buffer per argument; returns one per result.
absl::StatusOr<std::vector<std::vector<uint8_t>>> CallMain(
    const Program& program, Session& session, const std::vector<std::vector<uint8_t>>& inputs);

std::vector<uint8_t> BytesOf(const std::vector<float>& floats);
std::vector<float> FloatsOf(const std::vector<uint8_t>& bytes);

}  // namespace autopar

#endif  // AUTOPAR_TEST_RUNTIME_EXECUTOR_SCHEDULE_BUILDER_H_
