// What the environment variable AUTOPAR_FAKE_CUDA says: "devices=2,seed=7,eagerness=50". Everything
// that is not named has the value below; values marked "by seed" are drawn from the seed.
#ifndef AUTOPAR_TEST_FAKE_CUDA_OPTIONS_H_
#define AUTOPAR_TEST_FAKE_CUDA_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace fake {

// How an asynchronous copy from or to pageable host memory behaves. NVIDIA's text allows all three,
// and it changed from "will return only once the copy has completed" (CUDA 11.0) to "might be
// synchronous" (12.2 and later): docs.nvidia.com/cuda/cuda-driver-api/api-sync-behavior.html. A
// program must be right under each.
enum class Pageable { kBlocking, kStaged, kAsync };
// Which of several operations that may run next is taken.
enum class Policy { kUniform, kStarveOne, kNewestFirst };
// What a host access to memory that it must not touch leads to.
enum class OnFault { kExit, kContinue };

struct Options {
  int devices = 1;  // 0: cudaErrorNoDevice
  uint64_t seed = 1;
  int eagerness =
      0;  // percent: after each call, one more operation runs with this chance; by seed 0, 50, 90
  Policy policy = Policy::kUniform;       // policy=uniform|starve|newest; by seed
  Pageable pageable = Pageable::kStaged;  // pageable=blocking|staged|async; by seed
  uint64_t memory_mb = 1024;              // of each device
  int arch = 90;                          // compute capability times ten
  int driver = 13000;  // 0: no driver (error 35); below the toolkit's version: error 35 too
  bool stub = false;   // the toolkit's stub as driver: error 34
  bool peer = true;    // whether devices can access each other
  bool peer_drops =
      false;  // peer copies with access enabled change nothing (an IOMMU that redirects)
  bool staged_drops = false;  // peer copies without access enabled change nothing
  uint64_t fail = 0;          // this call (1, 2, …) fails
  int fail_code = 0;          // with this error; 0: the call's usual one
  uint64_t late =
      0;  // the error of `fail` is reported by a later call instead, the call itself works
  uint64_t kernel_fault =
      0;  // this launched kernel (1, 2, …) reads an illegal address: error 700, which stays
  uint64_t drop_wait = 0;  // this cudaStreamWaitEvent (1, 2, …) does nothing
  uint64_t drop_sync =
      0;  // this cudaEventSynchronize or cudaStreamSynchronize (1, 2, …) returns at once
  uint64_t drop_edge = 0;  // this edge between nodes of instantiated graphs (1, 2, …) is left out
  int guard = 25;          // percent of kernels that run on copies of their operands between guards
  bool uninitialised = true;          // report reads of device bytes that nothing wrote
  bool leaks = true;                  // report what is alive at exit
  OnFault on_fault = OnFault::kExit;  // fault=exit|continue
  std::string report;                 // file that reports are appended to; "": standard error
  int strict = 0;  // the exit status of the process when something was reported; 0: leave it alone
};

// False, with a sentence in `error`, for a name or value that it does not know.
bool ParseOptions(std::string_view text, Options* options, std::string* error);

}  // namespace fake

#endif  // AUTOPAR_TEST_FAKE_CUDA_OPTIONS_H_
