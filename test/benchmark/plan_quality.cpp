// plan_quality: how good plans are and how long planning takes, on random graphs of the
// literature's families (test/compiler/planning/graphs/RandomGraphs.h). Times are this machine's, the rest
// is the same everywhere.
//
//   plan_quality                quality and contention, one seed: about ten minutes
//   plan_quality --seeds=3      more graphs
//   plan_quality --scale        1,000 to 1,000,000 tasks, one process a case
#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

#include <CLI/CLI.hpp>

#include "compiler/planning/Planner.h"
#include "compiler/planning/bounds/LowerBound.h"
#include "compiler/planning/lists/ListScheduler.h"
#include "compiler/planning/model/PlanValidator.h"
#include "test/benchmark/plan_benchmark.h"
#include "test/compiler/planning/graphs/RandomGraphs.h"

namespace autopar::planning {

namespace {

Plan planOrExit(const RandomProblem &problem, const RandomGraphOptions &options, int effort) {
  PlannerOptions planner;
  planner.effort = effort;
  absl::StatusOr<Plan> plan = planGraph(problem.graph, problem.machine, planner);
  absl::Status status =
      plan.ok() ? validatePlan(problem.graph, problem.machine, *plan) : plan.status();
  if (!status.ok()) {
    std::fprintf(stderr, "plan_quality: error: %s: %s\n", describe(options).c_str(),
                 std::string(status.message()).c_str());
    std::exit(1);
  }
  return *std::move(plan);
}

// ---- quality

struct Figures {
  size_t graphs = 0, known = 0, reached = 0, proved = 0;
  double sumToOptimum = 0, worstToOptimum = 1;
  double sumToBound = 0, worstToBound = 1;
  std::vector<double> seconds;
};

struct BoundFigures {
  size_t graphs = 0, tight = 0;
  double sum = 0, worst = 1, seconds = 0;
};

/// One graph under all efforts.
class Graph {
public:
  Graph(const RandomGraphOptions &options, const std::vector<int> &efforts)
      : problem(randomProblem(options)) {
    for (int effort : efforts) {
      const double start = cpuSeconds();
      plans.push_back(planOrExit(problem, options, effort));
      seconds.push_back(cpuSeconds() - start);
    }
    const Plan &best =
        *std::min_element(plans.begin(), plans.end(),
                          [](const Plan &a, const Plan &b) { return a.makespanNs < b.makespanNs; });
    bestNs = best.makespanNs;
    boundNs = lowerBound(problem.graph, problem.machine, {bestNs, 2}).ns;
    isKnown = boundNs == bestNs;
    for (const Plan &plan : plans)
      isKnown |= plan.provedOptimal;
  }

  /// The optimum, if it is known, over the bound at `effort`.
  void addBoundTo(BoundFigures &figures, int effort) const {
    if (!isKnown)
      return;
    const double start = cpuSeconds();
    const int64_t ns = lowerBound(problem.graph, problem.machine, {kNoUpperBound, effort}).ns;
    figures.seconds += cpuSeconds() - start;
    if (ns > bestNs) {
      std::fprintf(stderr,
                   "plan_quality: error: a bound of %lld ns is above an optimum of %lld ns\n",
                   static_cast<long long>(ns), static_cast<long long>(bestNs));
      std::exit(1);
    }
    ++figures.graphs;
    figures.tight += ns == bestNs;
    figures.sum += double(bestNs) / double(ns);
    figures.worst = std::max(figures.worst, double(bestNs) / double(ns));
  }

  void addTo(Figures &figures, size_t effort) const {
    const Plan &plan = plans[effort];
    const double length = double(plan.makespanNs);
    ++figures.graphs;
    figures.seconds.push_back(seconds[effort]);
    figures.proved +=
        plan.provedOptimal ||
        lowerBound(problem.graph, problem.machine, {plan.makespanNs, 1}).ns == plan.makespanNs;
    if (isKnown) {
      ++figures.known;
      figures.reached += plan.makespanNs == bestNs;
      figures.sumToOptimum += length / double(bestNs);
      figures.worstToOptimum = std::max(figures.worstToOptimum, length / double(bestNs));
    } else {
      figures.sumToBound += length / double(boundNs);
      figures.worstToBound = std::max(figures.worstToBound, length / double(boundNs));
    }
  }

private:
  RandomProblem problem;
  std::vector<Plan> plans; // by place in the list of efforts
  std::vector<double> seconds;
  int64_t bestNs = 0, boundNs = 0;
  bool isKnown = false; // the best plan is proved optimal
};

void printHeader() {
  std::printf("%-10s %3s %5s %6s | %6s %6s %7s | %7s %7s %8s | %7s %7s | %9s\n", "devices", "n",
              "ccr", "effort", "graphs", "known", "optimal", "mean", "worst", "proved", "unknown",
              "/ bound", "median ms");
}

void print(const char *devices, size_t tasks, const std::string &ccr, int effort,
           Figures &figures) {
  std::nth_element(figures.seconds.begin(),
                   figures.seconds.begin() + std::ptrdiff_t(figures.seconds.size() / 2),
                   figures.seconds.end());
  const size_t unknown = figures.graphs - figures.known;
  std::printf("%-10s %3zu %5s %6d | %6zu %5.1f%% %6.1f%% | %7.4f %7.4f %7.1f%% | %7.4f %7.4f | "
              "%9.3f\n",
              devices, tasks, ccr.c_str(), effort, figures.graphs,
              100.0 * double(figures.known) / double(figures.graphs),
              100.0 * double(figures.reached) / double(std::max<size_t>(1, figures.known)),
              figures.sumToOptimum / double(std::max<size_t>(1, figures.known)),
              figures.worstToOptimum, 100.0 * double(figures.proved) / double(figures.graphs),
              unknown > 0 ? figures.sumToBound / double(unknown) : 1.0, figures.worstToBound,
              1e3 * figures.seconds[figures.seconds.size() / 2]);
  std::fflush(stdout);
}

std::string ratioName(double ccr) {
  char text[16];
  std::snprintf(text, sizeof(text), "%.1f", ccr);
  return text;
}

} // namespace

void reportQuality(const BenchmarkOptions &options) {
  std::printf(
      "Length of the plan over the optimum, where the optimum is known (one of the efforts "
      "proved it);\nover the lower bound where it is not (two columns: mean, worst). proved: "
      "by this effort or by the bound alone.\n\n");
  printHeader();
  struct Group {
    const char *name;
    DeviceSet set;
    std::vector<size_t> devices;
  };
  for (const Group &group : {Group{"identical", DeviceSet::Identical, {2, 4, 8, 16}},
                             Group{"GPUs+CPU", DeviceSet::GpuAndCpu, {3, 5}}})
    for (size_t tasks : {10, 20, 30}) {
      std::map<int, Figures> total;
      std::map<int, BoundFigures> bounds;
      for (double ccr : {0.1, 1.0, 2.0, 10.0}) {
        std::map<int, Figures> row;
        for (size_t family = 0; family < kFamilyCount; ++family)
          for (size_t devices : group.devices)
            for (uint64_t seed = 1; seed <= options.seeds; ++seed) {
              RandomGraphOptions graphOptions;
              graphOptions.family = Family(family);
              graphOptions.tasks = tasks;
              graphOptions.ccr = ccr;
              graphOptions.deviceSet = group.set;
              graphOptions.devices = devices;
              graphOptions.seed = seed;
              Graph graph(graphOptions, options.efforts);
              for (int effort : {0, 1, 2})
                graph.addBoundTo(bounds[effort], effort);
              for (size_t i = 0; i < options.efforts.size(); ++i) {
                graph.addTo(row[options.efforts[i]], i);
                graph.addTo(total[options.efforts[i]], i);
              }
            }
        for (auto &[effort, figures] : row)
          print(group.name, tasks, ratioName(ccr), effort, figures);
      }
      for (auto &[effort, figures] : total)
        print(group.name, tasks, "all", effort, figures);
      for (const auto &[effort, figures] : bounds)
        std::printf(
            "  lower bound, effort %d, %zu known optima: optimum/bound mean %.4f, worst %.3f, "
            "tight on %.1f %%, %.3f ms\n",
            effort, figures.graphs, figures.sum / double(std::max<size_t>(1, figures.graphs)),
            figures.worst,
            100.0 * double(figures.tight) / double(std::max<size_t>(1, figures.graphs)),
            1e3 * figures.seconds / double(std::max<size_t>(1, figures.graphs)));
      std::printf("\n");
    }
}

// ---- contention

namespace {

/// The order and devices of `plan`, run on the machine of `problem`.
int64_t timedOn(const RandomProblem &problem, const Plan &plan) {
  MachineModel machine(problem.machine, 0);
  TaskTable table;
  if (!TaskTable::create(problem.graph, machine, table).ok())
    return plan.makespanNs;
  std::vector<TaskId> order(problem.graph.topologicalOrder().begin(),
                            problem.graph.topologicalOrder().end());
  std::stable_sort(order.begin(), order.end(), [&](TaskId a, TaskId b) {
    return plan.tasks[a.index()].startNs < plan.tasks[b.index()].startNs;
  });
  std::vector<DeviceId> devices;
  for (const TaskPlacement &place : plan.tasks)
    devices.push_back(place.device);
  std::optional<Plan> timed =
      scheduleOn({problem.graph, machine, table}, order, devices, ScheduleBuilder::Mode::Insert);
  return timed ? timed->makespanNs : plan.makespanNs;
}

} // namespace

void reportContention(const BenchmarkOptions &options) {
  std::printf(
      "60 tasks on links that queue. stretch: a plan made for free links, run with its order "
      "and devices on\nthese, over what it promised. free / aware: the same over the plan "
      "made for these links.\n\n");
  std::printf("%-8s %5s %6s | %6s | %8s %8s | %12s %7s\n", "links", "ccr", "effort", "graphs",
              "stretch", "worst", "free / aware", "worst");
  for (LinkSet links : {LinkSet::Engines, LinkSet::Bus})
    for (double ccr : {0.1, 0.5, 1.0, 3.0})
      for (int effort : options.efforts) {
        if (effort == 3)
          continue; // the exact search does not know queues, nor what 60 tasks are
        size_t graphs = 0;
        double stretch = 0, worstStretch = 0, loss = 0, worstLoss = 0;
        for (Family family : {Family::Layered, Family::ForkJoin, Family::Pipeline, Family::Stencil,
                              Family::Cholesky})
          for (DeviceSet set : {DeviceSet::Identical, DeviceSet::GpuAndCpu})
            for (uint64_t seed = 1; seed <= 2 * options.seeds; ++seed) {
              RandomGraphOptions graphOptions;
              graphOptions.family = family;
              graphOptions.tasks = 60;
              graphOptions.width = 8;
              graphOptions.ccr = ccr;
              graphOptions.deviceSet = set;
              graphOptions.seed = seed;
              const RandomProblem free = randomProblem(graphOptions);
              graphOptions.links = links;
              const RandomProblem queueing = randomProblem(graphOptions);
              const Plan careless = planOrExit(free, graphOptions, effort);
              const Plan aware = planOrExit(queueing, graphOptions, effort);
              const double run = double(timedOn(queueing, careless));
              ++graphs;
              stretch += run / double(careless.makespanNs);
              worstStretch = std::max(worstStretch, run / double(careless.makespanNs));
              loss += run / double(aware.makespanNs);
              worstLoss = std::max(worstLoss, run / double(aware.makespanNs));
            }
        std::printf("%-8s %5.1f %6d | %6zu | %8.3f %8.3f | %12.3f %7.3f\n",
                    links == LinkSet::Bus ? "one bus" : "in + out", ccr, effort, graphs,
                    stretch / double(graphs), worstStretch, loss / double(graphs), worstLoss);
        std::fflush(stdout);
      }
}

} // namespace autopar::planning

int main(int argc, char **argv) {
  using namespace autopar::planning;
  BenchmarkOptions options;
  bool scale = false, onlyQuality = false, onlyContention = false;
  CLI::App app("How good plans are and how long planning takes, on random graphs.");
  app.add_option("--seeds", options.seeds, "graphs of each kind")->check(CLI::Range(1, 1000));
  app.add_option("--efforts", options.efforts)->delimiter(',')->check(CLI::Range(0, 3));
  app.add_flag("--quality", onlyQuality, "only plans against optima");
  app.add_flag("--contention", onlyContention, "only plans on links that queue");
  app.add_flag("--scale", scale, "seconds and memory of big graphs instead");
  app.add_option("--most-tasks", options.mostTasks)->check(CLI::Range(1'000, 100'000'000));
  app.add_option("--most-seconds", options.mostSeconds)->check(CLI::Range(1, 100'000));
  app.add_option("--only", options.family, "with --scale: only shapes whose name contains this");
  CLI11_PARSE(app, argc, argv);
  if (scale) {
    reportScale(options);
    return 0;
  }
  if (!onlyContention)
    reportQuality(options);
  if (!onlyQuality)
    reportContention(options);
  return 0;
}
