#include "compiler/waits/CapacityOrder.h"

#include <algorithm>
#include <limits>
#include <map>

using namespace mlir::autopar;

namespace {

constexpr uint32_t fullCapacity = ::autopar::planning::kFullOccupancy;
constexpr uint32_t smallestShare = fullCapacity / 4096;
constexpr uint32_t nobody = ~0u;

/// Who holds the capacity of one device, by planned finish.
class Holders {
public:
  Holders() { pieces[{std::numeric_limits<int64_t>::min(), nobody}] = fullCapacity; }

  /// Takes up to `units` from holders that finish by `startNs`, those of `preferred` first; calls `visit` for each.
  template <typename Visit>
  uint32_t take(uint32_t units, int64_t startNs, std::pair<int64_t, uint32_t> preferred, Visit visit) {
    uint32_t missing = units;
    auto takeFrom = [&](auto at) {
      uint32_t taken = std::min(missing, at->second);
      missing -= taken;
      at->second -= taken;
      if (at->first.second != nobody)
        visit(at->first.second);
      return at->second == 0 ? pieces.erase(at) : std::next(at);
    };
    if (auto own = pieces.find(preferred); own != pieces.end() && preferred.first <= startNs)
      takeFrom(own);
    for (auto at = pieces.begin(); missing > 0 && at != pieces.end() && at->first.first <= startNs;)
      at = takeFrom(at);
    return units - missing;
  }
  void give(int64_t finishNs, uint32_t command, uint32_t units) {
    if (units > 0)
      pieces[{finishNs, command}] += units;
  }

private:
  std::map<std::pair<int64_t, uint32_t>, uint32_t> pieces; // (finish, command) -> units
};

} // namespace

std::vector<OrderEdge> mlir::autopar::orderByCapacity(const CommandGraph &graph,
                                                      const std::vector<CapacityUse> &uses, uint32_t deviceCount) {
  std::vector<OrderEdge> edges;
  std::vector<Holders> holders(deviceCount);
  std::vector<std::pair<int64_t, uint32_t>> lastOfStream(graph.streamCount, {0, nobody});
  for (const CapacityUse &use : uses) {
    const CommandGraph::Command &command = graph.commands[use.command];
    uint32_t units = std::clamp(use.share, smallestShare, fullCapacity);
    // What the stream's last task held is free of charge: it comes before in any case.
    uint32_t taken = holders[use.device].take(
        units, command.startNs, lastOfStream[command.stream],
        [&](uint32_t before) { edges.push_back({before, use.command, OrderReason::capacity}); });
    holders[use.device].give(command.finishNs, use.command, taken);
    lastOfStream[command.stream] = {command.finishNs, use.command};
  }
  return edges;
}
