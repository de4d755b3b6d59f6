// Preemptive scheduling of jobs with heads and tails on one machine: a bound for anything that only
// one job can have at a time.
#ifndef AUTOPAR_COMPILER_PLANNING_BOUNDS_ONEMACHINE_H
#define AUTOPAR_COMPILER_PLANNING_BOUNDS_ONEMACHINE_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace autopar::planning {

struct OneMachineJob {
  int64_t head; ///< Earliest start.
  int64_t work;
  int64_t tail; ///< Least time after its end.
};

class OneMachine {
public:
  std::vector<OneMachineJob> jobs;

  /// Length of the best preemptive schedule (Jackson's: of what is ready, the job with the longest
  /// tail), which is the largest over all sets of jobs of least head + work + least tail. Sorts
  /// `jobs`. O(n log n).
  int64_t length() {
    std::sort(jobs.begin(), jobs.end(),
              [](const OneMachineJob &a, const OneMachineJob &b) { return a.head < b.head; });
    ready.clear();
    int64_t time = 0, longest = 0;
    for (size_t next = 0; next < jobs.size() || !ready.empty();) {
      if (ready.empty())
        time = std::max(time, jobs[next].head);
      for (; next < jobs.size() && jobs[next].head <= time; ++next) {
        ready.push_back({jobs[next].tail, jobs[next].work});
        std::push_heap(ready.begin(), ready.end(), hasShorterTail);
      }
      auto &[tail, work] = ready.front();
      int64_t run = work;
      if (next < jobs.size())
        run = std::min(run, jobs[next].head - time);
      time += run;
      work -= run;
      if (work == 0) {
        longest = std::max(longest, time + tail);
        std::pop_heap(ready.begin(), ready.end(), hasShorterTail);
        ready.pop_back();
      }
    }
    return longest;
  }

  /// Completion of all jobs, tails left out.
  int64_t completion() {
    std::sort(jobs.begin(), jobs.end(),
              [](const OneMachineJob &a, const OneMachineJob &b) { return a.head < b.head; });
    int64_t time = 0;
    for (const OneMachineJob &job : jobs)
      time = std::max(time, job.head) + job.work;
    return time;
  }

private:
  using Part = std::pair<int64_t, int64_t>; // tail, remaining work
  static bool hasShorterTail(const Part &a, const Part &b) { return a.first < b.first; }
  std::vector<Part> ready; // heap
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_BOUNDS_ONEMACHINE_H
