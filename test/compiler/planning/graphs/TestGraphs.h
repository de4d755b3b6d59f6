// Machines and task graphs for the planner's tests.
#ifndef AUTOPAR_TEST_COMPILER_PLANNING_GRAPHS_TESTGRAPHS_H
#define AUTOPAR_TEST_COMPILER_PLANNING_GRAPHS_TESTGRAPHS_H

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/planning/model/TaskGraph.h"
#include "runtime/machine/machine.h"
#include "test/compiler/planning/graphs/Random.h"

namespace autopar::planning {

/// `count` devices of kind virtual, every pair joined by links of 1 byte per nanosecond that never
/// queue: the machine of the papers.
Machine fullyConnected(size_t count);
/// A CPU and `gpus` virtual devices, each with an engine in and one out; `peerLinks` joins the GPUs
/// directly too.
Machine cpuAndGpus(size_t gpus, uint32_t streams, bool peerLinks);
/// Like cpuAndGpus, all transfers over one bus.
Machine gpusOnABus(size_t gpus, uint32_t streams);
/// One of several shapes: with and without CPU, buses, overheads, several streams.
Machine randomMachine(Random &random);

/// An example printed in a paper: rows of costs and edges {from, to, bytes}.
struct Edge {
  size_t from, to;
  uint64_t bytes;
};
TaskGraph graphOf(const std::vector<std::vector<int64_t>> &costs, const std::vector<Edge> &edges);
/// Fig. 2 of Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002: HEFT gives 80.
TaskGraph topcuogluGraph();
/// Fig. 1 of Arabnejad, Barbosa, IEEE TPDS 25(3), 2014: HEFT gives 133.
TaskGraph arabnejadGraph();

/// Any mixture of pins, groups, tokens, shares, inputs, results, empty values and tasks without
/// cost. Finalized.
TaskGraph randomGraph(Random &random, const Machine &machine, size_t tasks, bool withPins = true);

/// Big graphs of one shape, for `devices` devices.
TaskGraph chainGraph(size_t tasks, size_t devices);
TaskGraph fanOutGraph(size_t tasks,
                      size_t devices); ///< One producer, the rest reads it, one joins them all.
TaskGraph layeredGraph(size_t tasks, size_t width, uint64_t bytes, size_t devices);
TaskGraph independentGraph(size_t tasks, size_t devices);
/// Layers of `width`; each task reads all of the layer before.
TaskGraph denseGraph(size_t tasks, size_t width, size_t devices);
/// All tasks read one input on device 0; all results are wanted by the program.
TaskGraph reductionsGraph(size_t tasks, size_t devices);

} // namespace autopar::planning

#endif // AUTOPAR_TEST_COMPILER_PLANNING_GRAPHS_TESTGRAPHS_H
