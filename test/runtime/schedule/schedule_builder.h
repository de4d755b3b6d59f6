// Makes schedules by hand, command by command, in issue order. Test support.
#ifndef AUTOPAR_TEST_RUNTIME_SCHEDULE_SCHEDULE_BUILDER_H_
#define AUTOPAR_TEST_RUNTIME_SCHEDULE_SCHEDULE_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/schedule/schedule.h"

namespace autopar {

// A CPU (device 0, 16 streams, no memory limit) and two virtual GPUs (devices 1 and 2, 16 streams each); links in both
// directions between every two of them.
Machine TestMachine();

// [offset, offset + bytes) of a space.
Region Bytes(SpaceId space, uint64_t offset, uint64_t bytes);
// `rows` rows of `row_bytes`, `row_stride` apart.
Region Strided(SpaceId space, uint64_t offset, uint64_t row_bytes, uint64_t row_stride, uint64_t rows);

// One schedule with one function, "main". Launches get synthetic kernels that fit their operands, one per signature.
class ScheduleBuilder {
 public:
  static constexpr DeviceId kCpu{size_t{0}}, kGpu0{size_t{1}}, kGpu1{size_t{2}};

  ScheduleBuilder();

  // The stream of that number, made at first use.
  StreamId Compute(DeviceId device, uint32_t ordinal);
  StreamId Copying(DeviceId from, DeviceId to);

  SpaceId Arena(DeviceId device, uint64_t bytes);
  SpaceId Argument(DeviceId device, uint64_t bytes, const std::string& name = "");
  SpaceId Result(DeviceId device, uint64_t bytes, const std::string& name = "");
  SpaceId Constant(DeviceId device, uint64_t bytes);

  // Each returns the number of the command.
  uint32_t Launch(StreamId stream, const std::vector<Region>& reads, const std::vector<Region>& writes,
                  const std::vector<Region>& scratch = {}, const std::string& label = "task");
  uint32_t Launch(KernelId kernel, StreamId stream, const std::vector<Region>& reads, const std::vector<Region>& writes,
                  const std::vector<Region>& scratch = {}, const std::string& label = "task");
  uint32_t Copy(StreamId stream, const Region& from, const Region& to, const std::string& label = "copy");
  uint32_t Record(StreamId stream, EventId* event);
  uint32_t Wait(StreamId stream, EventId event, WaitReason reason = WaitReason::kData);
  // Record on one stream, wait on the other.
  void Join(StreamId from, StreamId to, WaitReason reason = WaitReason::kData);
  void Order(uint32_t before, uint32_t after);

  KernelId AddKernel(Kernel kernel);

  Schedule& schedule() { return schedule_; }
  Function& function() { return schedule_.functions[0]; }

 private:
  uint32_t Add(Command command, const std::vector<std::vector<Region>>& operands);

  Schedule schedule_;
};

// A schedule of every kind of thing that the format has: constants, two modules, all kernel kinds, every device,
// strided regions, scratch, token edges, empty tensors. Its waits are minimal: without any one of them it is unsafe.
Schedule SampleSchedule();

// The file with the checksums of its segments and its header computed anew, whatever its bytes say: what somebody who
// wants to break the reader would do. Leaves the bytes alone where they cannot be read as a header.
void RepairChecksums(std::vector<uint8_t>& file);

// Are the long runs asked for (environment variable AUTOPAR_FULL_TESTS, set and not empty: tools/test.sh --full)?
bool WantsFullTests();

// Equal in everything that a file keeps (all but `constants`, which the reader hands out apart).
bool SameSchedule(const Schedule& a, const Schedule& b);

}  // namespace autopar

#endif  // AUTOPAR_TEST_RUNTIME_SCHEDULE_SCHEDULE_BUILDER_H_
