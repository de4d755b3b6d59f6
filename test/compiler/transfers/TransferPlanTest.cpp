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
