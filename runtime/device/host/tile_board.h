// Where the streams of one device show the launches whose tiles others may take.
#ifndef AUTOPAR_RUNTIME_DEVICE_HOST_TILE_BOARD_H_
#define AUTOPAR_RUNTIME_DEVICE_HOST_TILE_BOARD_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/device/sync.h"

namespace autopar {

// One launch at a time, shown by its owner. Owner: Publish, Take until it gets nothing, AwaitDone.
// Helpers: Take, run, Complete. Each tile is taken exactly once; what was done before Publish is
// visible to a helper that takes, what a helper did before Complete is visible after AwaitDone.
template <class Launch>
class alignas(kCacheLine) TileSlot {
 public:
  struct Share {
    const Launch* launch = nullptr;
    int64_t begin = 0, end = 0;  // nothing taken if equal
    bool empty() const { return begin == end; }
  };

  // launch->tiles: more than 0, less than 2^31.
  void Publish(const Launch* launch) {
    uint32_t tiles = static_cast<uint32_t>(launch->tiles);
    tiles_ = tiles;
    completed_.store(0, std::memory_order_relaxed);
    launch_.store(launch, std::memory_order_release);
    generation_ += uint64_t{1} << 32;
    left_.store(generation_ | tiles, std::memory_order_seq_cst);
  }

  bool HasTiles() const {
    return static_cast<uint32_t>(left_.load(std::memory_order_seq_cst)) != 0;
  }

  // Takes 1/parts of what is left, at least one tile, from the front.
  Share Take(uint32_t parts) {
    uint64_t left = left_.load(std::memory_order_acquire);
    while (static_cast<uint32_t>(left) != 0) {
      // Tiles of this generation are left, so the owner cannot have replaced the launch: if it has
      // since, the exchange fails, as the generation is another.
      const Launch* launch = launch_.load(std::memory_order_acquire);
      uint32_t remaining = static_cast<uint32_t>(left);
      uint32_t count = std::max(1u, remaining / parts);
      if (left_.compare_exchange_weak(left, left - count, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
        int64_t begin = launch->tiles - remaining;
        return {launch, begin, begin + count};
      }
    }
    return {};
  }

  // Says that `count` tiles of a launch of `tiles` are done and wakes the owner if they were the
  // last. Nothing of the launch may be touched afterwards: the owner may go on at once.
  void Complete(int64_t count, int64_t tiles, Bell& owner) {
    uint32_t before = completed_.fetch_add(static_cast<uint32_t>(count), std::memory_order_seq_cst);
    if (before + count == tiles) owner.Ring();
  }

  // Owner. Whether all tiles are done.
  bool Done() const { return completed_.load(std::memory_order_seq_cst) == tiles_; }

 private:
  std::atomic<uint64_t> left_{0};  // generation << 32 | tiles not taken yet
  std::atomic<const Launch*> launch_{nullptr};
  uint64_t generation_ = 0;            // owner's
  uint32_t tiles_ = 0;                 // owner's
  std::atomic<uint32_t> completed_{0};
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_HOST_TILE_BOARD_H_
