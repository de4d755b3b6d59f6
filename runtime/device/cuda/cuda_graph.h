// The commands of all GPUs of one function as CUDA graphs.
//
// The commands, in the file's order over all GPUs, are cut into runs at each point where the host takes part:
// before a wait for a stream of another device, and after a record that such a stream waits for. A run becomes
// one graph over its streams and devices by capture: an origin stream forks into the streams and joins them
// again. Runs are launched one after the other into the origin stream, so what a run waits for in an earlier
// one is there. Graphs are built at the first call, and rebuilt (updated in place where CUDA can) when
// arguments or results of the host are elsewhere; they need those to be pinned.
//
// What speaks against graphs at load or in a call is kept as a clause; the devices then run on streams.
#ifndef AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_GRAPH_H_
#define AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_GRAPH_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/device/cuda/cuda_commands.h"
#include "runtime/device/cuda/cuda_issuer.h"
#include "runtime/device/cuda/cuda_program.h"
#include "runtime/device/device.h"

namespace autopar {

// The GPUs' shares of one function. Made while functions are prepared; the first member's thread leads.
class CudaFunctionGroup {
 public:
  struct Member {
    CudaDeviceCode* code = nullptr;
    CudaIssuer* issuer = nullptr;
    std::function<void()> run_streams;  // this member's commands, on streams, with CallState::Finish
  };

  explicit CudaFunctionGroup(CudaProgram& program) : program_(program) {}
  ~CudaFunctionGroup();

  // Returns the member's number. `is_delayed`: delays are injected.
  size_t Add(CudaDeviceCode* code, CudaIssuer* issuer, bool is_delayed);
  void SetRunner(size_t member, std::function<void()> run) { members_[member].run_streams = std::move(run); }
  // All members are there: decides, and makes what graphs need. Without graphs that is no error.
  absl::Status Seal();

  // Of a call.
  uint32_t Participants(size_t member) const { return uses_graphs_ && member != 0 ? 0 : 1; }
  void Start(size_t member, CallState* call);
  CallState* call() const { return call_; }

  // Why it does not run as graphs; empty if it does.
  const std::string& why_not() const { return why_not_; }

 private:
  struct Item {
    uint32_t member = 0, stream = 0, index = 0;
  };
  struct UsedStream {
    uint32_t member = 0, stream = 0;
    CudaEvent join;
  };
  // A run of commands.
  struct Run {
    std::vector<Item> host_waits;  // before it
    std::vector<Item> items;
    std::vector<Item> publishes;   // after it
    std::vector<UsedStream> streams;
    std::vector<CudaCopy*> changing;
    std::vector<void*> addresses;  // the host's, of `changing`, that the graph was built with
    cudaGraphExec_t graph = nullptr;
    CudaEvent done;                // if it publishes
  };

  const CudaCommand& CommandOf(const Item& item) const {
    return members_[item.member].code->streams[item.stream].commands[item.index];
  }
  void CutIntoRuns();
  absl::Status CompleteRun(Run* run);
  std::string ReasonAtLoad() const;
  void RunCall();
  void RunOnStreams();
  // An empty clause, or why graphs cannot serve this call.
  absl::StatusOr<std::string> BuildGraphs();
  absl::Status BuildGraph(Run* run);
  absl::Status Capture(Run* run);
  absl::Status Replay();
  absl::Status AwaitHost(const Run& run);
  // Publishes what has been reached; all that is launched if `all`.
  absl::Status PublishReached(bool all);
  void Publish(const Item& item);
  void Settle(absl::Status status);

  CudaProgram& program_;
  std::vector<Member> members_;
  std::function<void()> lead_;
  bool is_delayed_ = false;
  bool uses_graphs_ = false;
  std::string why_not_ = "its streams are not prepared yet";
  std::vector<Run> runs_;
  CudaStream origin_;
  CudaEvent fork_;
  uint64_t captures_ = 0;
  // Of the running call.
  CallState* call_ = nullptr;
  size_t launched_ = 0, published_ = 0;  // runs
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_GRAPH_H_
