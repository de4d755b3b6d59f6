#include "test/compiler/planning/graphs/PaperGraphs.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "test/compiler/planning/graphs/TestGraphs.h"

namespace autopar::planning {

namespace {

/// The text line by line, each as a stream of words; empty at its end.
class Lines {
public:
  explicit Lines(std::istream &in) : in(in) {}
  bool next() {
    std::string line;
    if (!std::getline(in, line))
      return false;
    words = std::istringstream(line);
    return true;
  }
  std::string word() {
    std::string word;
    words >> word;
    return word;
  }
  /// The next number of the line in tenths; false at its end.
  bool tenths(int64_t &out) {
    double number = 0;
    if (!(words >> number))
      return false;
    out = std::llround(number * PaperGraph::kUnit);
    EXPECT_NEAR(double(out), number * PaperGraph::kUnit, 1e-6);
    return true;
  }
  size_t count() {
    size_t count = 0;
    words >> count;
    return count;
  }

private:
  std::istream &in;
  std::istringstream words;
};

std::vector<std::vector<int64_t>> readCosts(Lines &lines, size_t devices) {
  std::vector<std::vector<int64_t>> costs(lines.count());
  for (std::vector<int64_t> &row : costs) {
    lines.next();
    for (int64_t cost = 0; lines.tenths(cost);)
      row.push_back(cost);
    if (row.size() == 1)
      row.resize(devices, row[0]);
    EXPECT_EQ(row.size(), devices);
  }
  return costs;
}

std::vector<Edge> readEdges(Lines &lines) {
  std::vector<Edge> edges(lines.count());
  for (Edge &edge : edges) {
    lines.next();
    edge.from = lines.count();
    edge.to = lines.count();
    int64_t bytes = 0;
    EXPECT_TRUE(lines.tenths(bytes));
    edge.bytes = uint64_t(bytes);
  }
  return edges;
}

} // namespace

std::vector<PaperGraph> paperGraphs() {
  std::vector<PaperGraph> graphs;
  const char *folder = std::getenv("AUTOPAR_TEST_DATA");
  if (!folder)
    return graphs;
  std::ifstream file(std::string(folder) + "/paper_examples.tgs");
  EXPECT_TRUE(file.is_open()) << "no paper_examples.tgs in " << folder;
  Lines lines(file);
  std::vector<std::vector<int64_t>> costs;
  while (lines.next()) {
    const std::string key = lines.word();
    if (key == "graph") {
      graphs.emplace_back();
      graphs.back().name = lines.word();
    } else if (key == "procs") {
      graphs.back().devices = lines.count();
    } else if (key == "tasks") {
      costs = readCosts(lines, graphs.back().devices);
    } else if (key == "edges") {
      graphs.back().graph = graphOf(costs, readEdges(lines));
    } else if (key == "expect") {
      const std::string what = lines.word();
      if (int64_t value = 0; what.find('_') == std::string::npos && lines.tenths(value))
        graphs.back().expected[what] = value;
    }
  }
  return graphs;
}

} // namespace autopar::planning
