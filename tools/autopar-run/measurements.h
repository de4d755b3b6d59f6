// What --repeat, --profile and --trace report about the calls.
#ifndef AUTOPAR_TOOLS_AUTOPAR_RUN_MEASUREMENTS_H_
#define AUTOPAR_TOOLS_AUTOPAR_RUN_MEASUREMENTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "runtime/executor/program.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

// "makespan_ms predicted=1.200000 measured=1.250000 ratio=1.042\n": the plan's, and the median of what the calls took
// from their first command to their last. Not empty. No ratio where nothing was predicted.
std::string MakespanLine(int64_t predicted_ns, std::vector<int64_t> elapsed_ns);

// "time_ms min=1.230000 median=1.250000 max=1.400000 calls=10\n". Not empty.
std::string TimeLine(std::vector<int64_t> call_ns);

// Times of tasks over several calls, as autopar-opt --profile reads them:
//   {"function": "main", "tasks": {"matmul_0": {"cpu": 812345}}}
// A task is known by its label, a device by its kind (that on which it ran: `device_map` counts), or by
// its name where the machine has others of its kind that are not as it is; the time is the median over
// all calls and launches.
class TaskProfile {
 public:
  TaskProfile(const Schedule& schedule, const Function& function,
              const std::map<std::string, std::string>& device_map);
  void Add(absl::Span<const CommandTiming> timings);
  std::string ToJson() const;

 private:
  const Schedule& schedule_;
  const Function& function_;
  std::vector<std::string> keys_;  // by device
  std::map<std::pair<std::string, std::string>, std::vector<int64_t>> times_ns_;  // by label and key
};

// The trace of one call.
std::string TraceOfCall(const Schedule& schedule, const Function& function,
                        absl::Span<const CommandTiming> timings);

}  // namespace autopar

#endif  // AUTOPAR_TOOLS_AUTOPAR_RUN_MEASUREMENTS_H_
