// The same random graph of synthetic tasks on any placement: whatever the devices and streams, the
// result is the same bytes.
#ifndef AUTOPAR_TEST_RUNTIME_EXECUTOR_RANDOM_PROGRAM_H_
#define AUTOPAR_TEST_RUNTIME_EXECUTOR_RANDOM_PROGRAM_H_

#include <cstdint>

#include "test/runtime/executor/schedule_builder.h"

namespace autopar {

struct RandomPlacement {
  uint32_t gpus = 0;         // virtual devices beside the CPU
  uint32_t streams = 1;      // of each device
  uint64_t seed = 0;         // 0: everything on the CPU's first stream
  bool drop_waits = false;   // a mistake, for tests of the tests
  int64_t duration_ns = 0;
};

// `graph_seed` decides the tasks, their operands and sizes (odd ones); one argument and one result of
// 1,001 bytes.
ScheduleBuilder RandomProgram(uint64_t graph_seed, uint32_t tasks, const RandomPlacement& placement);

inline constexpr int64_t kRandomProgramBytes = 1001;

}  // namespace autopar

#endif  // AUTOPAR_TEST_RUNTIME_EXECUTOR_RANDOM_PROGRAM_H_
