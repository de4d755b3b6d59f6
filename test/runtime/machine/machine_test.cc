#include "runtime/machine/machine.h"

#include <gtest/gtest.h>

#include <limits>

namespace autopar {
namespace {

constexpr int64_t kMaxNs = std::numeric_limits<int64_t>::max();

Link MakeLink(uint64_t bytes_per_s, int64_t latency_ns) {
  Link link;
  link.bytes_per_s = bytes_per_s;
  link.latency_ns = latency_ns;
  return link;
}

TEST(TransferNs, RoundsUpInWholeNanoseconds) {
  EXPECT_EQ(TransferNs(MakeLink(1'000'000'000, 0), 1), 1);
  EXPECT_EQ(TransferNs(MakeLink(3'000'000'000, 0), 1), 1);
  EXPECT_EQ(TransferNs(MakeLink(3'000'000'000, 0), 3), 1);
  EXPECT_EQ(TransferNs(MakeLink(3'000'000'000, 0), 4), 2);
  EXPECT_EQ(TransferNs(MakeLink(55'000'000'000, 8000), 4194304), 8000 + 76261);
  EXPECT_EQ(TransferNs(MakeLink(7, 5), 0), 5);
}

TEST(TransferNs, IsExactBeyond64BitProducts) {
  // 2^60 bytes * 1e9 needs 90 bits.
  EXPECT_EQ(TransferNs(MakeLink(1'000'000'000, 1), uint64_t{1} << 60), (int64_t{1} << 60) + 1);
  EXPECT_EQ(TransferNs(MakeLink(999'999'999, 0), 999'999'999'000'000'001),
            1'000'000'000'000'000'002);
}

TEST(TransferNs, SaturatesInsteadOfOverflowing) {
  EXPECT_EQ(TransferNs(MakeLink(1, 0), std::numeric_limits<uint64_t>::max()), kMaxNs);
  EXPECT_EQ(TransferNs(MakeLink(1'000'000'000, kMaxNs), 1), kMaxNs);
  EXPECT_EQ(TransferNs(MakeLink(0, 0), 1), kMaxNs);
}

TEST(Machine, LooksUpDevicesAndLinks) {
  const Machine machine = LoadMachine("virtual:2").value();
  EXPECT_EQ(machine.FindDevice("gpu1").index(), 2u);
  EXPECT_FALSE(machine.FindDevice("gpu2").valid());
  EXPECT_EQ(machine.HostDevice().index(), 0u);
  const LinkId link = machine.FindLink(DeviceId(1), DeviceId(2));
  ASSERT_TRUE(link.valid());
  EXPECT_EQ(machine.links[link.index()].from, DeviceId(1));
  EXPECT_EQ(machine.links[link.index()].to, DeviceId(2));
  EXPECT_FALSE(machine.FindLink(DeviceId(1), DeviceId(1)).valid());
}

TEST(CheckMachine, RefusesIdsThatPointNowhere) {
  Machine machine = LoadMachine("virtual:1").value();
  ASSERT_TRUE(CheckMachine(machine).ok());
  machine.links[0].to = DeviceId(7);
  EXPECT_EQ(CheckMachine(machine).message(), "links[0].to: no such device");
  machine = LoadMachine("virtual:1").value();
  machine.links[1].engines.push_back(99);
  EXPECT_EQ(CheckMachine(machine).message(), "links[1].engines[1]: no such engine");
  machine = LoadMachine("virtual:1").value();
  machine.devices[0].kind = static_cast<DeviceKind>(9);
  EXPECT_EQ(CheckMachine(machine).message(), "devices[0].kind: unknown; use cpu, cuda or virtual");
  EXPECT_FALSE(PrintMachine(machine).empty()) << "printing does not trust the ids";
}

}  // namespace
}  // namespace autopar
