// Random programs for the tests of memory and waits: layered task graphs on several streams, from a seed.
#ifndef AUTOPAR_TEST_COMPILER_MEMORY_RANDOMCOMMANDS_H
#define AUTOPAR_TEST_COMPILER_MEMORY_RANDOMCOMMANDS_H

#include <random>
#include <vector>

#include "compiler/memory/ArenaPacking.h"

namespace mlir::autopar::test {

/// Each command makes one buffer of a random size, which some of the later commands read.
struct RandomProgram {
  CommandGraph graph;
  std::vector<uint64_t> bytes;              ///< By command: of its buffer.
  std::vector<std::vector<uint32_t>> users; ///< By command: who reads its buffer.

  RandomProgram(uint32_t commands, uint32_t streams, uint64_t seed) : bytes(commands), users(commands) {
    std::mt19937_64 random(seed);
    graph.streamCount = streams;
    std::vector<int64_t> freeNs(streams, 0);
    for (uint32_t id = 0; id < commands; ++id) {
      CommandGraph::Command command;
      command.stream = random() % streams;
      int64_t readyNs = 0;
      uint32_t inputs = id == 0 ? 0 : random() % 3;
      for (uint32_t i = 0; i < inputs; ++i) {
        uint32_t reach = std::min<uint32_t>(id, 12), before = id - 1 - random() % reach;
        if (users[before].empty() || users[before].back() != id) {
          users[before].push_back(id);
          graph.edges.push_back({before, id});
          readyNs = std::max(readyNs, graph.commands[before].finishNs);
        }
      }
      command.startNs = std::max(readyNs, freeNs[command.stream]);
      command.finishNs = command.startNs + 1 + static_cast<int64_t>(random() % 100);
      freeNs[command.stream] = command.finishNs;
      graph.commands.push_back(command);
      bytes[id] = 64 * (1 + random() % 64) << random() % 6;
    }
  }

  ArenaBuffers buffers(const HappensBefore &happens) const {
    ArenaBuffers result;
    for (uint32_t id = 0; id < bytes.size(); ++id)
      result.add(bytes[id], id, users[id], happens);
    return result;
  }
};

} // namespace mlir::autopar::test

#endif // AUTOPAR_TEST_COMPILER_MEMORY_RANDOMCOMMANDS_H
