// What streams of any device meet at: bells (sleep and be woken) and progress counters (the
// events). Also the clock. No allocation, no locks; every wait spins a little, then sleeps in a
// futex.
#ifndef AUTOPAR_RUNTIME_DEVICE_SYNC_H_
#define AUTOPAR_RUNTIME_DEVICE_SYNC_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace autopar {

inline constexpr size_t kCacheLine = 64;

inline void CpuPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Nanoseconds of CLOCK_MONOTONIC.
int64_t NowNs();
// Sleeps, using no processor time, until NowNs() >= deadline_ns.
void SleepUntil(int64_t deadline_ns);
// Sleep of this thread ends within a microsecond of its deadline where the kernel allows it.
void UsePreciseSleep();

// One thread sleeps here; any thread wakes it. A ringer first makes its condition true with a
// sequentially consistent store, then rings; the sleeper's `ready` reads the condition likewise:
// one of the two then sees the other, so no ring is lost. Ringing a bell nobody sleeps at is a load.
class alignas(kCacheLine) Bell {
 public:
  void Ring() {
    if (parked_.load(std::memory_order_seq_cst) != 0) RingParked();
  }
  // Sleeps unless ready(); returns after any ring, possibly early: call it in a loop.
  template <class Ready>
  void Park(const Ready& ready) {
    uint32_t seen = rings_.load(std::memory_order_acquire);
    parked_.store(1, std::memory_order_seq_cst);
    if (!ready()) FutexWait(seen);
    parked_.store(0, std::memory_order_relaxed);
  }

 private:
  void RingParked();
  void FutexWait(uint32_t seen);

  std::atomic<uint32_t> parked_{0};
  std::atomic<uint32_t> rings_{0};
};

// How far one stream has come: the number of events it has recorded since the session began,
// modulo 2^32. Event number n of a call that began at `base` has happened when the counter has
// reached base + n. One counter a stream rather than one an event: the line stays in the two
// caches that use it, and a recorded event orders all that the stream did before it.
class alignas(kCacheLine) Progress {
 public:
  // Starts a call: only while no stream runs.
  void Reset(uint32_t base) {
    wanted_.store(base + kNobody, std::memory_order_relaxed);
    done_.store(base, std::memory_order_release);
  }
  bool Reached(uint32_t target) const {
    return static_cast<int32_t>(done_.load(std::memory_order_acquire) - target) >= 0;
  }
  // The owning stream: everything before is visible to whoever sees `value`. True if somebody may
  // sleep until this value: ring the bells of those who wait for this stream.
  bool Record(uint32_t value) {
    done_.store(value, std::memory_order_seq_cst);
    uint32_t wanted = wanted_.load(std::memory_order_seq_cst);
    return static_cast<int32_t>(value - wanted) >= 0 && TakeWanted(value);
  }
  // A waiter that is parking: asks for a ring at `target` (or earlier); true if it is there already.
  bool Want(uint32_t target);

 private:
  static constexpr uint32_t kNobody = 0x40000000;
  bool TakeWanted(uint32_t value);

  std::atomic<uint32_t> done_{0};
  std::atomic<uint32_t> wanted_{kNobody};  // the earliest value that a parked waiter asked for
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_SYNC_H_
