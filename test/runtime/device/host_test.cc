// The parts of devices that run on this host's cores.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "runtime/device/host/affinity.h"
#include "runtime/device/host/copy_engines.h"
#include "runtime/device/host/cpu_features.h"
#include "runtime/device/host/host_memory.h"
#include "runtime/device/host/synthetic.h"
#include "runtime/device/host/tile_board.h"

namespace autopar {
namespace {

TEST(HostMemory, IsAlignedWritableAndEmptyWhenAsked) {
  for (uint64_t bytes : {uint64_t{1}, uint64_t{4097}, uint64_t{5} << 20}) {
    auto memory = AllocateHostMemory(bytes, "test");
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_EQ((*memory)->bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>((*memory)->base()) % 64, 0u);
    std::memset((*memory)->base(), 1, bytes);
  }
  auto empty = AllocateHostMemory(0, "test");
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ((*empty)->bytes(), 0u);
}

TEST(HostMemory, MoreThanThereIsIsRefused) {
  EXPECT_GT(AvailableHostBytes(), 0u);
  auto memory = AllocateHostMemory(AvailableHostBytes() / 2 * 3, "the memory of gpu0");
  ASSERT_FALSE(memory.ok());
  EXPECT_NE(std::string(memory.status().message()).find("the memory of gpu0: "), std::string::npos);
}

TEST(CpuFeatures, UnknownOnesAreMissing) {
  EXPECT_TRUE(MissingCpuFeatures({}).empty());
  EXPECT_EQ(MissingCpuFeatures({"no_such_feature"}), std::vector<std::string>{"no_such_feature"});
}

TEST(Affinity, PinnedThreadStaysOnItsCore) {
  const std::vector<int>& cores = HostCores();
  ASSERT_FALSE(cores.empty());
  std::thread thread([&] {
    for (size_t i = 0; i < cores.size() + 1; ++i) {
      ASSERT_TRUE(PinThread(i));
      EXPECT_EQ(sched_getcpu(), cores[i % cores.size()]);
    }
    UnpinThread();
  });
  thread.join();
}

Region Rows(uint64_t offset, uint64_t row_bytes, uint64_t row_stride, uint64_t rows) {
  return {.space = SpaceId(0), .offset = offset, .row_bytes = row_bytes, .row_stride = row_stride,
          .rows = rows};
}

// Layout is not meaning: a strided operand digests like the same bytes in one piece.
TEST(Synthetic, DigestDependsOnBytesNotOnLayout) {
  std::vector<uint8_t> dense(35), strided(5 * 13, 0xee);
  for (size_t i = 0; i < dense.size(); ++i) {
    dense[i] = static_cast<uint8_t>(i * 37 + 11);
    strided[i / 7 * 13 + i % 7] = dense[i];
  }
  void* dense_at = dense.data();
  void* strided_at = strided.data();
  uint64_t expected = DigestOperands(1, {Rows(0, 35, 35, 1)}, &dense_at);
  EXPECT_EQ(DigestOperands(1, {Rows(0, 7, 13, 5)}, &strided_at), expected);
  EXPECT_NE(DigestOperands(2, {Rows(0, 35, 35, 1)}, &dense_at), expected);
  for (size_t i = 0; i < dense.size(); ++i) {
    dense[i] ^= 1;
    EXPECT_NE(DigestOperands(1, {Rows(0, 35, 35, 1)}, &dense_at), expected) << "byte " << i;
    dense[i] ^= 1;
  }
}

TEST(Synthetic, FillsAllResultBytesAndNoOthers) {
  std::vector<uint8_t> dense(35, 0), strided(5 * 13, 0xee);
  void* dense_at = dense.data();
  void* strided_at = strided.data();
  FillResults(99, {Rows(0, 35, 35, 1)}, &dense_at);
  FillResults(99, {Rows(0, 7, 13, 5)}, &strided_at);
  for (size_t i = 0; i < strided.size(); ++i) {
    bool inside = i % 13 < 7;
    EXPECT_EQ(strided[i], inside ? dense[i / 13 * 7 + i % 13] : 0xee) << i;
  }
  std::vector<uint8_t> other(35, 0xff);
  void* other_at = other.data();
  FillResults(99, {Rows(0, 35, 35, 1)}, &other_at);
  EXPECT_EQ(other, dense) << "what was there before does not matter";
  EXPECT_GT(std::set<uint8_t>(dense.begin(), dense.end()).size(), 20u);
}

TEST(CopyEngines, CopiesOnOneEngineFollowEachOtherExactly) {
  Machine machine;
  machine.engines = {"shared", "own"};
  Link first, second;
  first.bytes_per_s = second.bytes_per_s = 1000000000;  // a byte a nanosecond
  first.latency_ns = 5;
  first.engines = {0};
  second.engines = {0, 1};
  machine.links = {first, second};
  CopyEngines engines(machine);
  CopyEngines::Slot slot = engines.Reserve(LinkId(0), 100, 1000);
  EXPECT_EQ(slot.start_ns, 1000);
  EXPECT_EQ(slot.finish_ns, 1105);
  // Asked for late, but ready before the engine was: starts where the other ended.
  slot = engines.Reserve(LinkId(1), 100, 1050);
  EXPECT_EQ(slot.start_ns, 1105);
  EXPECT_EQ(slot.finish_ns, 1205);
  slot = engines.Reserve(LinkId(0), 1, 5000);
  EXPECT_EQ(slot.start_ns, 5000);
}

struct FakeLaunch {
  int64_t tiles = 0;
  std::vector<std::atomic<int>>* runs = nullptr;
};

// One owner shows launch after launch while others take tiles: each tile runs exactly once.
TEST(TileBoard, EachTileIsTakenOnceWhileLaunchesFollowEachOther) {
  constexpr int kLaunches = 50000;
  TileSlot<FakeLaunch> slot;
  Bell owner;
  std::vector<std::atomic<int>> runs[2] = {std::vector<std::atomic<int>>(37),
                                           std::vector<std::atomic<int>>(5)};
  FakeLaunch launches[2] = {{37, &runs[0]}, {5, &runs[1]}};
  std::atomic<bool> stop{false};
  auto run = [](const TileSlot<FakeLaunch>::Share& share) {
    for (int64_t tile = share.begin; tile < share.end; ++tile) {
      (*share.launch->runs)[static_cast<size_t>(tile)].fetch_add(1, std::memory_order_relaxed);
    }
  };
  std::vector<std::thread> helpers;
  for (int i = 0; i < 3; ++i) {
    helpers.emplace_back([&] {
      while (!stop) {
        TileSlot<FakeLaunch>::Share share = slot.Take(8);
        if (share.empty()) {
          std::this_thread::yield();
          continue;
        }
        int64_t tiles = share.launch->tiles;
        run(share);
        slot.Complete(share.end - share.begin, tiles, owner);
      }
    });
  }
  for (int i = 0; i < kLaunches; ++i) {
    const FakeLaunch& launch = launches[i % 2];
    slot.Publish(&launch);
    int64_t done = 0;
    for (;;) {
      TileSlot<FakeLaunch>::Share share = slot.Take(4);
      if (share.empty()) break;
      run(share);
      done += share.end - share.begin;
    }
    slot.Complete(done, launch.tiles, owner);
    while (!slot.Done()) owner.Park([&] { return slot.Done(); });
    for (auto& count : *launch.runs) ASSERT_EQ(count.exchange(0), 1) << "launch " << i;
  }
  stop = true;
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace
}  // namespace autopar
