// plan_quality --scale: one process a case, so that each has a peak of memory of its own.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/planning/Planner.h"
#include "compiler/planning/bounds/LowerBound.h"
#include "compiler/planning/model/PlanValidator.h"
#include "test/benchmark/plan_benchmark.h"
#include "test/compiler/planning/graphs/RandomGraphs.h"

namespace autopar::planning {

namespace {

struct Shape {
  const char *name;
  Family family;
  size_t width;
  double ccr;
  bool oneValue; ///< All successors of a task read one value.
};

constexpr Shape kShapes[] = {
    {"chain", Family::Pipeline, 1, 1, false},
    {"pipeline, 100 stages", Family::Pipeline, 100, 1, false},
    {"fork", Family::Fork, 0, 1, false},
    {"fork of one value", Family::Fork, 0, 1, true},
    {"join", Family::Join, 0, 1, false},
    {"fork-joins of 200", Family::ForkJoin, 200, 0.5, false},
    {"in-tree", Family::InTreeBalanced, 0, 1, false},
    {"out-tree", Family::OutTreeBalanced, 0, 1, false},
    {"series-parallel", Family::SeriesParallel, 0, 1, false},
    {"stencil of 100", Family::Stencil, 100, 1, false},
    {"Cholesky", Family::Cholesky, 0, 1, true},
    {"layers of 200", Family::Layered, 200, 0.5, false},
    {"layers of 12, dear", Family::Layered, 12, 5, false},
    {"independent", Family::Independent, 0, 1, false},
};

struct CaseResult {
  double planSeconds = 0, boundSeconds = 0, ratio = 0;
  int64_t residentBytes = 0; // before planning: the graph
  bool isValid = false;
};

int64_t residentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

CaseResult run(const Shape &shape, size_t tasks, int effort) {
  RandomGraphOptions options;
  options.family = shape.family;
  options.width = shape.width;
  options.ccr = shape.ccr;
  options.oneValuePerTask = shape.oneValue;
  options.tasks = tasks;
  options.deviceSet = DeviceSet::GpuAndCpu;
  options.devices = 5;
  options.links = LinkSet::Engines;
  const RandomProblem problem = randomProblem(options);
  CaseResult result;
  result.residentBytes = residentBytes();
  PlannerOptions planner;
  planner.effort = effort;
  double start = cpuSeconds();
  absl::StatusOr<Plan> plan = planGraph(problem.graph, problem.machine, planner);
  result.planSeconds = cpuSeconds() - start;
  if (!plan.ok())
    return result;
  start = cpuSeconds();
  const int64_t bound = lowerBound(problem.graph, problem.machine).ns;
  result.boundSeconds = cpuSeconds() - start;
  result.ratio = double(plan->makespanNs) / double(std::max<int64_t>(1, bound));
  // Checking a million tasks takes more memory than planning them.
  result.isValid = tasks > 100'000 || validatePlan(problem.graph, problem.machine, *plan).ok();
  return result;
}

/// False if the case did not end in time, or not well.
bool runApart(const Shape &shape, size_t tasks, int effort, unsigned mostSeconds,
              CaseResult &result, int64_t &peakBytes) {
  int ends[2];
  if (pipe(ends) != 0)
    return false;
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {mostSeconds, mostSeconds};
    setrlimit(RLIMIT_CPU, &limit);
    CaseResult own = run(shape, tasks, effort);
    const bool isWritten = write(ends[1], &own, sizeof(own)) == sizeof(own);
    _exit(isWritten ? 0 : 1);
  }
  close(ends[1]);
  const bool isRead = child > 0 && read(ends[0], &result, sizeof(result)) == sizeof(result);
  close(ends[0]);
  int status = 0;
  rusage usage = {};
  if (child > 0)
    wait4(child, &status, 0, &usage);
  peakBytes = int64_t(usage.ru_maxrss) * 1024;
  return isRead && result.isValid;
}

} // namespace

void reportScale(const BenchmarkOptions &options) {
  std::printf(
      "4 GPUs and a CPU, an engine in and one out of each. Processor seconds of the library; "
      "memory in MB:\nthe graph, and what planning added at its peak.\n\n");
  std::printf("%-21s %9s %6s | %9s %8s | %8s %8s | %8s\n", "shape", "tasks", "effort", "seconds",
              "bound s", "graph", "planning", "/ bound");
  for (const Shape &shape : kShapes) {
    if (std::string(shape.name).find(options.family) == std::string::npos)
      continue;
    for (int effort : options.efforts) {
      if (effort > 1)
        continue;
      for (size_t tasks = 1'000; tasks <= options.mostTasks; tasks *= 10) {
        CaseResult result;
        int64_t peak = 0;
        std::printf("%-21s %9zu %6d | ", shape.name, tasks, effort);
        if (!runApart(shape, tasks, effort, options.mostSeconds, result, peak)) {
          std::printf("no valid plan within %u s\n", options.mostSeconds);
          break;
        }
        constexpr double kMb = 1e6;
        std::printf("%9.3f %8.3f | %8.0f %8.0f | %8.4f\n", result.planSeconds, result.boundSeconds,
                    double(result.residentBytes) / kMb,
                    double(std::max<int64_t>(0, peak - result.residentBytes)) / kMb, result.ratio);
        std::fflush(stdout);
      }
    }
  }
}

} // namespace autopar::planning
