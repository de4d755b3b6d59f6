// Where values are copied, over which links and when.
#include "compiler/transfers/TransferPlan.h"

#include <gtest/gtest.h>

namespace mlir::autopar {
namespace {

using ::autopar::DeviceId;
using ::autopar::LinkId;
using ::autopar::Machine;

/// cpu0, gpu0, gpu1 with links between the CPU and each GPU (100 bytes take 100 ns), one engine a direction.
Machine machineWithoutPeerLinks() {
  Machine machine;
  machine.devices.resize(3);
  machine.devices[0].name = "cpu0";
  for (int gpu : {1, 2}) {
    machine.devices[gpu].name = "gpu" + std::to_string(gpu - 1);
    machine.devices[gpu].kind = ::autopar::DeviceKind::kVirtual;
    for (bool isOut : {false, true}) {
      ::autopar::Link link;
      link.from = DeviceId(isOut ? gpu : 0);
      link.to = DeviceId(isOut ? 0 : gpu);
      link.bytes_per_s = 1'000'000'000;
      link.engines = {static_cast<uint32_t>(machine.engines.size())};
      machine.engines.push_back("e" + std::to_string(machine.engines.size()));
      machine.links.push_back(link);
    }
  }
  return machine;
}

TEST(TransferPlan, ValueIsCopiedToADeviceOnce) {
  TransferDemand demand{{{DeviceId(0), 100, 50}}, {{0, DeviceId(1), 300}, {0, DeviceId(1), 200}}};
  TransferPlan plan = planTransfers(demand, machineWithoutPeerLinks());
  ASSERT_EQ(plan.transfers.size(), 1u);
  EXPECT_EQ(plan.transfers[0], (PlannedTransfer{0, DeviceId(0), DeviceId(1), LinkId(0), 50, 150}));
}

TEST(TransferPlan, WithoutALinkTheHostStandsBetweenAndKeepsACopy) {
  TransferDemand demand{{{DeviceId(1), 100, 0}}, {{0, DeviceId(2), 500}, {0, DeviceId(0), 900}}};
  TransferPlan plan = planTransfers(demand, machineWithoutPeerLinks());
  ASSERT_EQ(plan.transfers.size(), 2u);
  EXPECT_EQ(plan.transfers[0], (PlannedTransfer{0, DeviceId(1), DeviceId(0), LinkId(1), 0, 100}));
  EXPECT_EQ(plan.transfers[1], (PlannedTransfer{0, DeviceId(0), DeviceId(2), LinkId(2), 100, 200}));
}

TEST(TransferPlan, TransfersOfOneEngineQueueInOrderOfReadiness) {
  TransferDemand demand{{{DeviceId(1), 100, 30}, {DeviceId(1), 100, 10}},
                        {{0, DeviceId(0), 1000}, {1, DeviceId(0), 1000}}};
  TransferPlan plan = planTransfers(demand, machineWithoutPeerLinks());
  ASSERT_EQ(plan.transfers.size(), 2u);
  EXPECT_EQ(plan.transfers[1].startNs, 10);
  EXPECT_EQ(plan.transfers[0].startNs, 110);
}

TEST(TransferPlan, AnEmptyValueTakesNoTimeAndNoEngine) {
  TransferDemand demand{{{DeviceId(1), 100, 10}, {DeviceId(1), 0, 10}}, {{0, DeviceId(0), 1000}, {1, DeviceId(0), 1000}}};
  Machine machine = machineWithoutPeerLinks();
  machine.links[1].latency_ns = 7;
  TransferPlan plan = planTransfers(demand, machine);
  ASSERT_EQ(plan.transfers.size(), 2u);
  EXPECT_EQ(plan.transfers[0].finishNs, 117);
  EXPECT_EQ(plan.transfers[1].startNs, 10);
  EXPECT_EQ(plan.transfers[1].finishNs, 10);
}

/// Streams of transfers over one link at these times.
std::vector<uint32_t> streamsOf(const std::vector<std::pair<int64_t, int64_t>> &times, bool hasEngine,
                                uint32_t mostStreams) {
  Machine machine = machineWithoutPeerLinks();
  if (!hasEngine)
    machine.links[0].engines.clear();
  std::vector<PlannedTransfer> transfers;
  for (auto [startNs, finishNs] : times)
    transfers.push_back({0, DeviceId(0), DeviceId(1), LinkId(0), startNs, finishNs});
  assignCopyStreams(transfers, machine, mostStreams);
  std::vector<uint32_t> streams;
  for (const PlannedTransfer &transfer : transfers)
    streams.push_back(transfer.stream);
  return streams;
}

TEST(TransferPlan, OverlappingTransfersOfALinkWithoutEnginesGoOnDifferentStreams) {
  using Streams = std::vector<uint32_t>;
  EXPECT_EQ(streamsOf({{20, 30}, {0, 10}, {10, 20}}, false, 9), (Streams{0, 0, 0})) << "one after the other";
  EXPECT_EQ(streamsOf({{0, 100}, {0, 10}, {5, 20}, {15, 30}}, false, 9), (Streams{1, 0, 2, 0}));
  EXPECT_EQ(streamsOf({{0, 100}, {0, 10}, {5, 20}, {15, 30}}, false, 2), (Streams{1, 0, 0, 0}))
      << "the third waits for the stream that is free first";
  EXPECT_EQ(streamsOf({{0, 100}, {0, 10}, {5, 20}}, true, 9), (Streams{0, 0, 0})) << "it queues for the engine";
}

TEST(TransferPlan, FunctionsOfManyCommandsHaveFewerCopyStreams) {
  Machine machine = machineWithoutPeerLinks(); // four links
  EXPECT_EQ(mostCopyStreams(0, machine), 64u);
  EXPECT_EQ(mostCopyStreams(10'000, machine), 64u);
  EXPECT_EQ(mostCopyStreams(100'000, machine), 41u);
  EXPECT_EQ(mostCopyStreams(100'000'000, machine), 1u);
  machine.links.resize(16 * 15);
  EXPECT_EQ(mostCopyStreams(10, machine), 8u);
}

TEST(TransferPlan, NoWayIsReported) {
  Machine machine = machineWithoutPeerLinks();
  machine.links.pop_back(); // gpu1 to cpu0
  TransferDemand demand{{{DeviceId(2), 100, 0}}, {{0, DeviceId(1), 500}}};
  TransferPlan plan = planTransfers(demand, machine);
  ASSERT_TRUE(plan.unreachableUse);
  EXPECT_EQ(*plan.unreachableUse, 0u);
}

} // namespace
} // namespace mlir::autopar
