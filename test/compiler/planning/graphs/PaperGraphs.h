// The published example graphs of paper_examples.tgs, which is not committed: see
// AUTOPAR_TEST_DATA.
#ifndef AUTOPAR_TEST_COMPILER_PLANNING_GRAPHS_PAPERGRAPHS_H
#define AUTOPAR_TEST_COMPILER_PLANNING_GRAPHS_PAPERGRAPHS_H

#include <map>
#include <string>
#include <vector>

#include "compiler/planning/model/TaskGraph.h"

namespace autopar::planning {

struct PaperGraph {
  /// Costs have up to one decimal; all times are in tenths. One byte takes one nanosecond.
  static constexpr int64_t kUnit = 10;

  std::string name;
  size_t devices = 0; ///< All pairs joined without queueing: fullyConnected(devices).
  TaskGraph graph{0};
  std::map<std::string, int64_t> expected; ///< "heft", "cpop", "peft", "lookahead", "optimal": ns
};

/// All graphs of the file in the folder that the environment variable AUTOPAR_TEST_DATA names;
/// empty without the variable. A test failure if the file cannot be read.
std::vector<PaperGraph> paperGraphs();

} // namespace autopar::planning

#endif // AUTOPAR_TEST_COMPILER_PLANNING_GRAPHS_PAPERGRAPHS_H
