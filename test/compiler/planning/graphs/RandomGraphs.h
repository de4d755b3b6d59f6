// Random planning problems: task graphs of the shapes that the scheduling literature uses, on the
// machines that it (and this project) cares about. Used by tests, benchmarks and the tool
// random_graph. The same options give the same problem on every platform; seeds count from 1.
//
// One byte takes one nanosecond on every link, so that bytes are transfer times.
#ifndef AUTOPAR_TEST_COMPILER_PLANNING_GRAPHS_RANDOMGRAPHS_H
#define AUTOPAR_TEST_COMPILER_PLANNING_GRAPHS_RANDOMGRAPHS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/planning/model/TaskGraph.h"
#include "runtime/machine/machine.h"
#include "test/compiler/planning/graphs/Random.h"

namespace autopar::planning {

enum class Family : uint8_t {
  Fork,
  Join,
  ForkJoin,         ///< `width` (0: all) side by side, joined, and so on.
  InTreeBalanced,   ///< Two or three children each.
  InTreeUnbalanced, ///< The parent is one of the five tasks made before.
  OutTreeBalanced,
  OutTreeUnbalanced,
  Pipeline, ///< `width` stages; an item waits for its last stage and for the item before it.
  SeriesParallel,
  Stencil,  ///< `width` points per step, each reads its neighbourhood of three.
  Cholesky, ///< Tiled, right-looking; the first `tasks` tasks of the smallest matrix that has them.
  Layered,  ///< Layers of `width` on average; one to three operands, most from the layer before.
  Independent,
};
inline constexpr size_t kFamilyCount = 13;
/// "fork", "in-tree-balanced", …
std::string_view familyName(Family family);

enum class DeviceSet : uint8_t {
  Identical,
  GpuAndCpu, ///< `devices` - 1 equal GPUs and one CPU; 93 % of the tasks cost 4 to 20 times as much
             ///< on the CPU, the others less than on a GPU.
  Unrelated, ///< Each task has its own factor on each device.
};

enum class LinkSet : uint8_t {
  Free,    ///< A link for each pair; nothing queues.
  Engines, ///< One engine into and one out of each device.
  Bus,     ///< One engine for all transfers.
};

struct RandomGraphOptions {
  Family family = Family::Layered;
  size_t tasks = 20;
  size_t width = 0;        ///< Of the families that say so; 0: drawn, or fitting to `tasks`.
  double ccr = 1;          ///< Mean transfer time of the edges / mean cost of the tasks.
  int64_t meanNs = 10'000; ///< About the mean cost of a task on its usual device.
  uint64_t seed = 1;

  DeviceSet deviceSet = DeviceSet::Identical;
  size_t devices = 4;
  uint32_t streams = 1;
  LinkSet links = LinkSet::Free;
  bool viaHost = false;   ///< Device 0 is the only way between the others.
  bool hasHost = false;   ///< Device 0 is of kind cpu: results return to it. Implied by GpuAndCpu.
  bool overheads = false; ///< launch_ns, wait_ns and latencies of up to 10 % of meanNs.

  /// Tasks without successor have a result of the program.
  bool results = false;
  /// Tasks without predecessor read an input that is on some device.
  bool inputs = false;
  bool oneValuePerTask = false; ///< Else each edge has a value of its own.
  int sharePercent = 0;         ///< Of the tasks fill 5 to 60 % of a device.
  int pinPercent = 0;           ///< Of the tasks are pinned to some device.
  int groupPercent = 0;         ///< Of the tasks belong to one of a few co-location groups.
  int tokenPercent = 0;         ///< Of the edges carry a token.
  int emptyPercent = 0;         ///< Of the edges carry a value of no bytes.
  int cannotRunPercent = 0;     ///< Of the devices of a task cannot run it.
};

struct RandomProblem {
  Machine machine;
  TaskGraph graph{0}; ///< Finalized.
};

struct RandomShape {
  std::vector<std::pair<uint32_t, uint32_t>> edges; ///< From task, to task.
  std::vector<int64_t> work; ///< By task, in thousandths of the mean; empty: to be drawn.
  bool equalValues = false;  ///< All edges carry about the same (the tiles of a matrix).
};
/// `options.tasks` tasks.
RandomShape randomShape(const RandomGraphOptions &options, Random &random);
Machine randomMachine(const RandomGraphOptions &options, Random &random);
RandomProblem randomProblem(const RandomGraphOptions &options);

/// Everything drawn: any family, device set, links and features, `least` to `most` tasks.
RandomGraphOptions randomOptions(uint64_t seed, size_t least, size_t most);
/// "layered, 20 tasks, ccr 1, seed 7, …": enough to make the problem again.
std::string describe(const RandomGraphOptions &options);

/// The graph as a program of autopar.synthetic_task in generic form, one function @main.
std::string programText(const TaskGraph &graph, const Machine &machine);

} // namespace autopar::planning

#endif // AUTOPAR_TEST_COMPILER_PLANNING_GRAPHS_RANDOMGRAPHS_H
