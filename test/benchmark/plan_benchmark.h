// What the parts of plan_quality share.
#ifndef AUTOPAR_TEST_BENCHMARK_PLAN_BENCHMARK_H
#define AUTOPAR_TEST_BENCHMARK_PLAN_BENCHMARK_H

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace autopar::planning {

/// Processor seconds of this process.
inline double cpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

struct BenchmarkOptions {
  uint64_t seeds = 1;
  std::vector<int> efforts = {0, 1, 2, 3};
  size_t mostTasks = 1'000'000; ///< --scale
  unsigned mostSeconds = 300;   ///< --scale, of the processor, a case
  std::string family;           ///< --scale: only names that contain it
};

/// Plans against proved optima, by effort, machine, tasks and ratio of transfers to computation.
void reportQuality(const BenchmarkOptions &options);
/// Plans made with queueing links in mind against plans made without, run on such links.
void reportContention(const BenchmarkOptions &options);
/// Seconds and memory up to a million tasks; one process a case.
void reportScale(const BenchmarkOptions &options);

} // namespace autopar::planning

#endif // AUTOPAR_TEST_BENCHMARK_PLAN_BENCHMARK_H
