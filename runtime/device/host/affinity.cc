#include "runtime/device/host/affinity.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace autopar {
namespace {

// Large enough for any host: the kernel wants a mask at least as long as its own.
constexpr int kMaxCores = 16384;

std::vector<int> ReadHostCores() {
  std::vector<int> cores;
  cpu_set_t* mask = CPU_ALLOC(kMaxCores);
  size_t bytes = CPU_ALLOC_SIZE(kMaxCores);
  if (mask != nullptr && sched_getaffinity(0, bytes, mask) == 0) {
    for (int core = 0; core < kMaxCores; ++core) {
      if (CPU_ISSET_S(core, bytes, mask)) cores.push_back(core);
    }
  }
  CPU_FREE(mask);
  if (cores.empty()) {
    long count = std::max(1L, sysconf(_SC_NPROCESSORS_ONLN));
    for (int core = 0; core < count; ++core) cores.push_back(core);
  }
  return cores;
}

bool SetThreadCores(const int* cores, size_t count) {
  cpu_set_t* mask = CPU_ALLOC(kMaxCores);
  if (mask == nullptr) return false;
  size_t bytes = CPU_ALLOC_SIZE(kMaxCores);
  CPU_ZERO_S(bytes, mask);
  for (size_t i = 0; i < count; ++i) CPU_SET_S(cores[i], bytes, mask);
  bool done = pthread_setaffinity_np(pthread_self(), bytes, mask) == 0;
  CPU_FREE(mask);
  return done;
}

}  // namespace

const std::vector<int>& HostCores() {
  static const std::vector<int>* cores = new std::vector<int>(ReadHostCores());
  return *cores;
}

bool PinThread(size_t index) {
  const std::vector<int>& cores = HostCores();
  return SetThreadCores(&cores[index % cores.size()], 1);
}

void UnpinThread() { SetThreadCores(HostCores().data(), HostCores().size()); }

}  // namespace autopar
