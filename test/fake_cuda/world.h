// Everything the fake knows: devices, streams, events, operations. One World at a time, behind one
// lock; a call holds the lock from begin to end (api.h), so the state needs none of its own.
//
// An API call that CUDA would enqueue makes an Operation whose predecessors are known at the call:
// the last one of its stream, those of waited events, the legacy stream's rules, a graph's edges.
// Its clock is therefore known too, and races are looked for at the call. It *runs* later, when the
// scheduler picks it: after random calls, and while the host waits for something.
#ifndef AUTOPAR_TEST_FAKE_CUDA_WORLD_H_
#define AUTOPAR_TEST_FAKE_CUDA_WORLD_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "test/fake_cuda/clocks.h"
#include "test/fake_cuda/kernels.h"
#include "test/fake_cuda/memory.h"
#include "test/fake_cuda/options.h"
#include "test/fake_cuda/random.h"
#include "test/fake_cuda/reports.h"
#include "test/fake_cuda/work.h"

namespace fake {

struct Capture;
struct GraphNode;

struct Operation {
  uint64_t number = 0;  // in the order of issue
  std::shared_ptr<const std::string> label;
  int device = 0;
  Work work;
  std::vector<Access> accesses;
  uint32_t chain = 0, count = 0;
  Clock clock;
  std::vector<std::shared_ptr<Operation>> successors;  // that wait for this one
  uint32_t missing = 0;                                // predecessors that have not finished
  bool is_done = false;
  uint64_t done_at = 0;  // number of operations done before: a clock for cudaEventElapsedTime
};
using OperationPtr = std::shared_ptr<Operation>;

// Handles point to these objects; they live until the World ends, so that a destroyed one is
// recognised.
struct Stream {
  uint64_t number = 0;
  int device = 0;
  bool is_blocking = false;  // synchronises with the legacy stream
  bool is_destroyed = false;
  uint32_t chain = 0;
  OperationPtr last;
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> capture_last;  // what the next captured node comes after
  std::string Describe() const;
};

struct Event {
  uint64_t number = 0;
  int device = 0;
  bool has_timing = true;
  bool is_destroyed = false;
  OperationPtr recorded;  // of the latest record outside of captures
  // The latest record was inside this capture, after these nodes.
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> captured_nodes;
  bool was_waited_unrecorded = false;
  std::string Describe() const { return "event " + std::to_string(number); }
};

struct Library;
// A loaded kernel: what cudaKernel_t points to.
struct LoadedKernel {
  Library* library = nullptr;
  PtxEntry entry;
  const KernelCodeOnHost* host = nullptr;  // null: no CPU code is known
  std::set<int> loaded_on;                 // devices
};
struct Library {
  std::map<std::string, std::unique_ptr<LoadedKernel>> kernels;
  bool is_unloaded = false;
};

struct Device {
  uint64_t used_bytes = 0;
  cudaError_t sticky = cudaSuccess;
  std::unique_ptr<Stream> legacy;
  std::set<int> peers;  // whose memory this one may access
};

struct Graph;
struct GraphExec;
struct BlasHandle;

class World {
 public:
  explicit World(const Options& options);
  ~World();
  // The one of this process; made from the environment at first use.
  static World& Get();
  // Starts anew; what was alive is forgotten. No other thread is in a call.
  static void Reset(const Options& options);

  // ---- operations (operations.cc) ----
  // Enqueues work on a stream, which is not capturing; `after` are predecessors besides the
  // stream's order.
  OperationPtr Issue(Stream* stream, Work work, const std::string& label,
                     const std::vector<OperationPtr>& after = {});
  // Enqueues work on a chain of a graph, on no stream.
  OperationPtr IssueOnChain(uint32_t chain, int device, Work work, const std::string& label,
                            const std::vector<OperationPtr>& after);
  uint32_t NewChain() {
    return static_cast<uint32_t>(chain_counts_.size() + (chain_counts_.push_back(0), 0) - 1);
  }
  // Whether everything before `operation` is before whatever the stream gets next, without a
  // further wait.
  bool IsImplied(const Stream* stream, const OperationPtr& operation) const;
  // The label of an unfinished operation that a read, or a write, of this byte disturbs; "" if
  // there is none.
  std::string PendingUserOf(const Allocation& allocation, uint64_t offset, bool is_write) const;
  // Predecessors that the legacy stream's rules add for new work on this stream.
  std::vector<OperationPtr> LegacyPredecessors(Stream* stream) const;

  // ---- scheduler (scheduler.cc) ----
  // Runs one operation that may run, if there is one.
  bool RunOne();
  // Runs operations until this one is done; the host knows then what was before it.
  void WaitFor(const OperationPtr& operation);
  void WaitForStream(Stream* stream) { WaitFor(stream->last); }
  void WaitForDevice(int device);
  // Random progress, as other hardware would make while the host is between calls.
  void Progress();

  void Note(ReportKind kind, std::string text) { reports.Add(kind, std::move(text)); }
  // Says why a call fails, and returns the code.
  cudaError_t Refuse(cudaError_t code, std::string why) {
    Note(ReportKind::kError, std::move(why));
    return code;
  }
  // A context error: everything on the device fails from here on.
  void Break(int device, cudaError_t code, const std::string& why);
  void ReportLeaks();

  Stream* FindStream(
      cudaStream_t handle);  // null if it is not alive; 0 is the current device's legacy stream
  Event* FindEvent(cudaEvent_t handle);
  LoadedKernel* FindKernel(const void* function);

  const Options options;
  Random random;
  Reports reports;
  Stats stats;
  Memory memory;
  HostCode host_code;
  std::vector<Device> devices;
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Event>> events;
  std::vector<std::unique_ptr<Library>> libraries;
  std::vector<std::unique_ptr<Graph>> graphs;
  std::vector<std::unique_ptr<GraphExec>> execs;
  std::vector<std::unique_ptr<BlasHandle>> blas_handles;
  std::vector<std::shared_ptr<Capture>> captures;  // open ones
  Clock host;                                      // what the host knows to be finished
  cudaError_t late_error = cudaSuccess;            // to be returned by some later call
  uint64_t launches = 0;                           // kernels, for kernel_fault

 private:
  void Prepare(Operation* operation, const std::vector<OperationPtr>& after);
  void CheckAccesses(const Operation& operation);
  void Run(const OperationPtr& operation);
  OperationPtr PickReady();

  std::vector<uint32_t> chain_counts_;
  std::vector<OperationPtr> ready_;           // missing == 0, not run
  std::map<uint64_t, OperationPtr> pending_;  // all that have not run, by number
  uint64_t issued_ = 0, done_ = 0;
};

// The current device of this host thread: 0 at first (H:1659).
int CurrentDevice();
void SetCurrentDevice(int device);

// Held while a call runs. Recursive: host functions run within a call, and their forbidden calls
// must come to an answer.
std::recursive_mutex& WorldMutex();

}  // namespace fake

#endif  // AUTOPAR_TEST_FAKE_CUDA_WORLD_H_
