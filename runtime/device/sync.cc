#include "runtime/device/sync.h"

#include <cerrno>
#include <climits>
#include <ctime>

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace autopar {

int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
}

void SleepUntil(int64_t deadline_ns) {
  timespec deadline;
  deadline.tv_sec = deadline_ns / 1000000000;
  deadline.tv_nsec = deadline_ns % 1000000000;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) == EINTR) {
  }
}

void UsePreciseSleep() { prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

void Bell::RingParked() {
  rings_.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&rings_), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr,
          nullptr, 0);
}

void Bell::FutexWait(uint32_t seen) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&rings_), FUTEX_WAIT_PRIVATE, seen, nullptr,
          nullptr, 0);
}

bool Progress::Want(uint32_t target) {
  uint32_t wanted = wanted_.load(std::memory_order_seq_cst);
  while (static_cast<int32_t>(target - wanted) < 0 &&
         !wanted_.compare_exchange_weak(wanted, target, std::memory_order_seq_cst)) {
  }
  return static_cast<int32_t>(done_.load(std::memory_order_seq_cst) - target) >= 0;
}

bool Progress::TakeWanted(uint32_t value) {
  // Those rung too early (they want a later value) ask again. Whoever asked between the look at
  // wanted_ and here is parked already (Bell::Park marks that before), so the ring reaches it too.
  wanted_.store(value + kNobody, std::memory_order_seq_cst);
  return true;
}

}  // namespace autopar
