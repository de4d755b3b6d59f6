// Commands on streams, the order in which they are issued, and what happens before what. Knows no MLIR.
//
// A stream runs its commands in issue order. Command a happens before b if a path of stream order and edges leads from a
// to b. Vector clocks (Mattern 1989) answer that in constant time after one pass over the edges.
#ifndef AUTOPAR_COMPILER_MEMORY_COMMANDGRAPH_H
#define AUTOPAR_COMPILER_MEMORY_COMMANDGRAPH_H

#include <cstdint>
#include <optional>
#include <vector>

namespace mlir::autopar {

struct CommandGraph {
  struct Command {
    uint32_t stream = 0;
    bool inOrder = true; ///< Keeps the start order of its stream; otherwise (copies) goes as soon as its input is there.
    int64_t startNs = 0, finishNs = 0;
  };
  /// `before` < `after` need not hold.
  struct Edge {
    uint32_t before = 0, after = 0;
  };
  uint32_t streamCount = 0;
  std::vector<Command> commands;
  std::vector<Edge> edges;
};

/// The order of issue: a topological order of the edges in which commands that could be next go by start, then finish (so
/// that what takes no time comes first), then number; in-order commands of a stream go in that order whatever their inputs. Nothing if the edges and the streams'
/// orders form a cycle; the result then names a command on it. n log n.
struct IssueOrder {
  std::vector<uint32_t> order; ///< Commands; complete only if there is no cycle.
  std::optional<uint32_t> onCycle;
};
IssueOrder computeIssueOrder(const CommandGraph &graph);

/// The happens-before relation of a graph under an issue order. Memory: commands x streams x 4 bytes.
class HappensBefore {
public:
  /// `order` is complete.
  HappensBefore(const CommandGraph &graph, const std::vector<uint32_t> &order);

  /// Strictly before: never of a command and itself.
  bool isBefore(uint32_t a, uint32_t b) const {
    return a != b && clock(b)[streamOf[a]] >= numberInStream[a];
  }
  uint32_t streamCount() const { return streams; }
  uint32_t stream(uint32_t command) const { return streamOf[command]; }
  /// 1, 2, ... within its stream, in issue order.
  uint32_t number(uint32_t command) const { return numberInStream[command]; }
  /// Per stream, the number of its last command that happens before, or is, this one; 0 if there is none.
  const uint32_t *clock(uint32_t command) const { return &clocks[size_t{command} * streams]; }

private:
  uint32_t streams;
  std::vector<uint32_t> streamOf, numberInStream, clocks;
};

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_MEMORY_COMMANDGRAPH_H
