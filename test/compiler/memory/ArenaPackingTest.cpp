// Arenas are as small as what lives together, and nothing shares bytes that must not.
#include "compiler/memory/ArenaPacking.h"

#include <gtest/gtest.h>

#include "compiler/memory/OnlinePacking.h"
#include "test/compiler/memory/RandomCommands.h"

namespace mlir::autopar {
namespace {

using test::RandomProgram;

/// Order, clocks and buffers of a program.
struct Analysed {
  const CommandGraph &graph;
  std::vector<uint32_t> order;
  HappensBefore happens;
  CommandTimes times;
  ArenaBuffers buffers;

  explicit Analysed(const RandomProgram &program)
      : graph(program.graph), order(computeIssueOrder(graph).order), happens(graph, order),
        times(graph, happens, order), buffers(program.buffers(happens)) {}
};

bool overlap(const ArenaBuffers &buffers, const std::vector<uint64_t> &offsets, uint32_t a, uint32_t b) {
  return offsets[a] < offsets[b] + buffers.bytes[b] && offsets[b] < offsets[a] + buffers.bytes[a];
}

/// By definition, pair by pair: the buffers of every later command that shares bytes follow all uses.
void expectSound(const Analysed &program, const RandomProgram &source, ReuseOrder order, const ArenaPacking &packing) {
  for (uint32_t a = 0; a < program.buffers.size(); ++a) {
    EXPECT_EQ(packing.offsets[a] % bufferAlignment, 0u);
    EXPECT_LE(packing.offsets[a] + program.buffers.bytes[a], packing.bytes);
    for (uint32_t b = 0; b < program.buffers.size(); ++b) {
      if (a == b || !overlap(program.buffers, packing.offsets, a, b) ||
          program.times.position[a] > program.times.position[b])
        continue;
      std::vector<uint32_t> uses = source.users[a];
      uses.push_back(a);
      for (uint32_t use : uses)
        EXPECT_TRUE(program.times.isBefore(use, b, order) || (order == ReuseOrder::plannedTime &&
                                                             program.times.position[use] < program.times.position[b]))
            << "buffer " << b << " overwrites buffer " << a << " while command " << use << " uses it";
    }
  }
  EXPECT_FALSE(findConflict(program.buffers, program.times, order, packing.offsets));
}

/// Largest antichain by trying all sets; for a dozen buffers.
uint64_t largestLiveSetByForce(const Analysed &program) {
  uint32_t count = program.buffers.size();
  std::vector<uint32_t> shares(count, 0); // bit b of shares[a]: a and b may share
  auto precedes = [&](uint32_t a, uint32_t b) {
    for (uint32_t i = program.buffers.endBegin[a]; i < program.buffers.endBegin[a + 1]; ++i)
      if (!program.happens.isBefore(program.buffers.ends[i], program.buffers.definition[b]))
        return false;
    return true;
  };
  for (uint32_t a = 0; a < count; ++a)
    for (uint32_t b = 0; b < count; ++b)
      if (a != b && (precedes(a, b) || precedes(b, a)))
        shares[a] |= 1u << b;
  uint64_t best = 0;
  for (uint32_t set = 0; set < 1u << count; ++set) {
    uint64_t bytes = 0;
    bool isAntichain = true;
    for (uint32_t a = 0; a < count && isAntichain; ++a)
      if (set >> a & 1) {
        isAntichain = (shares[a] & set) == 0;
        bytes += program.buffers.bytes[a];
      }
    if (isAntichain)
      best = std::max(best, bytes);
  }
  return best;
}

TEST(ArenaPacking, LargestLiveSetIsExact) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RandomProgram source(12, 1 + seed % 4, seed);
    Analysed program(source);
    uint64_t exact = largestLiveSet(program.buffers, program.times);
    EXPECT_EQ(exact, largestLiveSetByForce(program)) << "seed " << seed;
    EXPECT_LE(liveLowerBound(program.buffers, program.times), exact) << "seed " << seed;
  }
}

TEST(ArenaPacking, EveryOrderIsSoundForSmallGraphs) {
  for (ReuseOrder order : {ReuseOrder::happensBefore, ReuseOrder::plannedTime, ReuseOrder::issueOrder})
    for (uint64_t seed = 1; seed <= 12; ++seed) {
      RandomProgram source(60, 1 + seed % 5, seed);
      Analysed program(source);
      expectSound(program, source, order, packArena(program.buffers, program.times, order));
      expectSound(program, source, order, packOnline(program.buffers, program.times, order));
    }
}

TEST(ArenaPacking, ArenaIsWithinFivePercentOfTheLargestLiveSetOnAverage) {
  double sum = 0;
  uint32_t count = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RandomProgram source(20 + 10 * (seed % 9), 1 + seed % 6, seed);
    Analysed program(source);
    ArenaPacking packing = packArena(program.buffers, program.times, ReuseOrder::happensBefore);
    double ratio = static_cast<double>(packing.bytes) / largestLiveSet(program.buffers, program.times);
    EXPECT_GE(ratio, 1.0) << "seed " << seed;
    sum += ratio;
    ++count;
  }
  RecordProperty("mean_ratio", std::to_string(sum / count));
  EXPECT_LE(sum / count, 1.05);
}

TEST(ArenaPacking, MoreOrderNeedsNoMoreMemory) {
  // Two independent chains on two streams: happens-before keeps them apart; in issue order they may share.
  CommandGraph graph;
  graph.streamCount = 2;
  for (uint32_t id = 0; id < 8; ++id)
    graph.commands.push_back({id / 4, true, id / 4 * 400 + id % 4 * 100, id / 4 * 400 + id % 4 * 100 + 100});
  for (uint32_t id : {0, 1, 2, 4, 5, 6})
    graph.edges.push_back({id, id + 1});
  IssueOrder order = computeIssueOrder(graph);
  HappensBefore happens(graph, order.order);
  CommandTimes times(graph, happens, order.order);
  ArenaBuffers buffers;
  for (uint32_t id = 0; id < 8; ++id)
    buffers.add(1024, id, id % 4 == 3 ? std::vector<uint32_t>{} : std::vector<uint32_t>{id + 1}, happens);
  EXPECT_EQ(packArena(buffers, times, ReuseOrder::happensBefore).bytes, 4096u);
  EXPECT_EQ(packArena(buffers, times, ReuseOrder::plannedTime).bytes, 2048u);
  EXPECT_EQ(packArena(buffers, times, ReuseOrder::issueOrder).bytes, 2048u);
}

TEST(ArenaPacking, NoBuffersNeedNoBytes) {
  CommandGraph graph;
  HappensBefore happens(graph, {});
  CommandTimes times(graph, happens, {});
  EXPECT_EQ(packArena(ArenaBuffers(), times, ReuseOrder::happensBefore).bytes, 0u);
}

TEST(ArenaPacking, LargeProgramsAreSound) {
  RandomProgram source(20000, 8, 1);
  Analysed program(source);
  for (ReuseOrder order : {ReuseOrder::happensBefore, ReuseOrder::plannedTime, ReuseOrder::issueOrder}) {
    ArenaPacking packing = packArena(program.buffers, program.times, order);
    EXPECT_FALSE(findConflict(program.buffers, program.times, order, packing.offsets));
  }
}

TEST(ArenaPacking, LargeProgramsOfOneStreamAreNearTheirBound) {
  RandomProgram source(20000, 1, 1);
  Analysed program(source);
  ArenaPacking packing = packArena(program.buffers, program.times, ReuseOrder::happensBefore);
  EXPECT_LE(packing.bytes, 1.25 * liveLowerBound(program.buffers, program.times));
}

// What lives at once does not grow with the program, so neither must the arena.
TEST(ArenaPacking, ArenaOfManyStreamsDoesNotGrowWithTheProgram) {
  RandomProgram shortSource(4000, 8, 1), longSource(20000, 8, 1);
  Analysed shortProgram(shortSource), longProgram(longSource);
  EXPECT_LE(packArena(longProgram.buffers, longProgram.times, ReuseOrder::happensBefore).bytes,
            2 * packArena(shortProgram.buffers, shortProgram.times, ReuseOrder::happensBefore).bytes);
}

TEST(CommandGraph, IssueOrderKeepsStreamsAndEdges) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    RandomProgram source(200, 5, seed);
    IssueOrder order = computeIssueOrder(source.graph);
    ASSERT_FALSE(order.onCycle);
    std::vector<uint32_t> position(order.order.size());
    for (uint32_t i = 0; i < order.order.size(); ++i)
      position[order.order[i]] = i;
    for (const CommandGraph::Edge &edge : source.graph.edges)
      EXPECT_LT(position[edge.before], position[edge.after]);
    std::vector<int64_t> lastStartNs(source.graph.streamCount, -1);
    for (uint32_t id : order.order) {
      EXPECT_GE(source.graph.commands[id].startNs, lastStartNs[source.graph.commands[id].stream]);
      lastStartNs[source.graph.commands[id].stream] = source.graph.commands[id].startNs;
    }
  }
}

TEST(CommandGraph, ContradictionBetweenStreamAndEdgeIsFound) {
  // On one stream command 0 starts first, yet it depends on command 1.
  CommandGraph graph{1, {{0, true, 0, 10}, {0, true, 10, 20}}, {{1, 0}}};
  IssueOrder order = computeIssueOrder(graph);
  ASSERT_TRUE(order.onCycle);
  EXPECT_LT(*order.onCycle, 2u);
}

TEST(CommandGraph, HappensBeforeIsReachability) {
  RandomProgram source(80, 4, 7);
  IssueOrder order = computeIssueOrder(source.graph);
  HappensBefore happens(source.graph, order.order);
  uint32_t count = source.graph.commands.size();
  std::vector<std::vector<bool>> reach(count, std::vector<bool>(count, false));
  for (const CommandGraph::Edge &edge : source.graph.edges)
    reach[edge.before][edge.after] = true;
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t j = i + 1; j < count; ++j)
      if (source.graph.commands[order.order[i]].stream == source.graph.commands[order.order[j]].stream)
        reach[order.order[i]][order.order[j]] = true;
  for (uint32_t k = 0; k < count; ++k)
    for (uint32_t i = 0; i < count; ++i)
      for (uint32_t j = 0; j < count; ++j)
        if (reach[i][k] && reach[k][j])
          reach[i][j] = true;
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t j = 0; j < count; ++j)
      EXPECT_EQ(happens.isBefore(i, j), reach[i][j]) << i << " before " << j;
}

} // namespace
} // namespace mlir::autopar
