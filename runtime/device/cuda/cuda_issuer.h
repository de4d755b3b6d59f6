// The thread that issues the commands of one GPU's streams.
//
// It hands them to the driver in the file's order, and never stops for one of them: a stream whose next
// command needs something of the host (a task on the CPU, a piece of pageable memory to be packed, a record
// that another GPU's thread has not issued yet) is passed over and caught up with when that is there.
// A wait always names a record that stands earlier in the file, so whatever the threads do, something can
// go on. Between streams of GPUs a wait is cudaStreamWaitEvent, issued after the record. Progress that
// other devices wait for is published when cudaEventQuery says so. Nothing within a call allocates, loads,
// copies pageable memory through the driver or waits for a whole device.
//
// After an error, on whichever device, the device's streams are waited for, its records are published, its remaining commands
// dropped: nobody waits for ever, and the call's memory is at rest when the call ends.
#ifndef AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_ISSUER_H_
#define AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_ISSUER_H_

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/cuda/cuda_commands.h"
#include "runtime/device/cuda/cuda_program.h"
#include "runtime/device/sync.h"

namespace autopar {

class CudaIssuer {
 public:
  // `delay_seed` != 0: random moments of sleep before commands.
  CudaIssuer(CudaProgram& program, const CudaContext& context, uint64_t delay_seed);
  ~CudaIssuer();

  absl::Status Launch();
  // Runs `work` on the thread, which is idle. `work` outlives it.
  void Start(const std::function<void()>* work);
  Bell& bell() { return bell_; }

  // On the thread: a call's commands, from beginning to end. `staging` may be null if no command needs it.
  // Calls ResolveHostMemory first.
  void RunCommands(CudaDeviceCode& code, StagingSlots* staging, CallState& call);
  // Finds out which of the host's ranges are pinned in this call; true if all are.
  absl::StatusOr<bool> ResolveHostMemory(CudaDeviceCode& code);
 private:
  enum class Step { kDone, kMoved, kBlocked };
  struct Publication {
    const CudaCommand* record = nullptr;
    const CudaStreamCode* stream = nullptr;
  };
  // A staged copy on its way.
  struct Flight {
    StagingSlots::Slot* slot = nullptr;
    CopyPiece piece;
  };
  struct StreamState {
    uint32_t cursor = 0;
    bool blocked = false;
    bool idle_asked = false;   // a staged copy waits for what the stream did before it
    uint64_t issued_pieces = 0;
    std::deque<Flight> flights;
    std::deque<Publication> publications;
  };

  void Main();
  void IssueAll();
  bool CatchUp(size_t at);
  Step Try(uint32_t stream);
  Step Issue(uint32_t stream, const CudaCommand& command);
  Step IssueRecord(uint32_t stream, const CudaCommand& command);
  Step IssueWait(uint32_t stream, const CudaCommand& command);
  Step CopyIn(uint32_t stream, const CudaCommand& command);
  Step CopyOut(uint32_t stream, const CudaCommand& command);
  bool Poll();
  void Publish(const Publication& publication);
  // Everything that has not been published yet; nothing more will be issued.
  void PublishRest();
  void Rest();
  bool SomethingReady();
  void Fail(absl::Status status);
  // After an error, here or elsewhere: waits for the streams, then publishes what others wait for.
  void Abandon();
  Step FailWith(const CudaCommand& command, cudaError_t code, const char* what);
  void Finish();
  void NoteTimes();
  absl::Status BeginNoting();
  void Delay();

  CudaProgram& program_;
  const CudaContext& context_;
  Bell bell_;
  std::atomic<uint32_t> started_{0};
  std::atomic<bool> stop_{false};
  const std::function<void()>* work_ = nullptr;
  uint32_t seen_ = 0;
  std::thread thread_;
  uint64_t random_ = 0;

  // Of the running call.
  CudaDeviceCode* code_ = nullptr;
  StagingSlots* staging_ = nullptr;
  CallState* call_ = nullptr;
  std::vector<StreamState> states_;
  size_t blocked_ = 0, publications_ = 0;
  int looks_ = 0;
  bool failed_ = false;
  int64_t origin_ns_ = 0;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_ISSUER_H_
