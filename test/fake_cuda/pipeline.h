// A program of two devices in which faults are planted: four iterations of
//
//   x0: host A -> A0          x1: host B -> B1
//   c0: S0 = 2 A0             c1: S1 = 3 B1
//   x0: S0 -> R1 (peer)
//   c1: T1 = R1 + S1          c1: G1 = T1 T1 (cuBLAS)          x1: G1 -> host result
//
// on a compute and a copy stream of each device, over buffers, events and pinned staging that every
// iteration uses again. Ten waits: w2 w3 w5 w7 w8 for data, w0 w1 w4 w6 w9 because bytes are
// overwritten. By hand: w0 is implied by w5 (both before a copy of x0), w4 by w2, w1 by w8, w9 by
// w3.
#ifndef AUTOPAR_TEST_FAKE_CUDA_PIPELINE_H_
#define AUTOPAR_TEST_FAKE_CUDA_PIPELINE_H_

#include <string>

#include "runtime/device/cuda/cuda_api.h"

namespace fake_test {

enum class Mode { kStreams, kGraph };

enum class Fault {
  kNone,
  kMissingWait,      // number `wait`
  kEarlyReuse,       // S1 and R1 share bytes
  kRecordAfterWait,  // eP is recorded after c1 has waited for it
  kStaleEvent,       // eP is recorded in the first iteration only
  kWrongCurrentDevice,
  kWrongArenaDevice,
  kWrongHandle,
  kNoPeerAccess,    // T1's kernel reads S0 itself, without access
  kPageableResult,  // read without waiting
  kPinnedResultReadEarly,
  kStagingOverwritten,  // filled before its copy is done
  kBlockingCopy,        // cudaMemcpy instead of the copy to the result
  kHostReadsDevice,
  kHostFunctionCallsCuda,
  kFreedInUse,
  kKernelBeyondRange,
  kPinnedLeak,
  kWorkspaceShared,  // by products on two streams
  kStreamSetAfterWorkspace,
  // Graph only.
  kForkNotJoined,
  kAllocationInCapture,
  kSynchroniseInCapture,
  kNoWaitAfterLaunch,
};

struct Plan {
  Mode mode = Mode::kStreams;
  Fault fault = Fault::kNone;
  int wait = -1;  // kMissingWait
  bool blocking_streams = false;
};

struct Outcome {
  std::string error;     // the first call that failed, and how; "" if all worked
  int wrong_values = 0;  // iterations whose result is not the expected one
};

// The table, filled from the fake.
autopar::CudaApi& Cuda();
const autopar::CublasCalls& Cublas();

// Runs the program and cleans up, whatever happens. Configure the fake first: devices=2.
Outcome RunPipeline(const Plan& plan);

}  // namespace fake_test

#endif  // AUTOPAR_TEST_FAKE_CUDA_PIPELINE_H_
