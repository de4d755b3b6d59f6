#include "runtime/device/cuda/cuda_graph.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/device/cuda/cuda_status.h"

namespace autopar {
namespace {

// Between looks at what other devices and the GPUs have reached.
constexpr int kSpins = 2000;
constexpr int64_t kNapNs = 20000;
// Epochs of captures, apart from the numbers of calls.
constexpr uint64_t kFirstCapture = uint64_t{1} << 63;

void Nap(int* looks) {
  if (*looks < kSpins) {
    ++*looks;
    CpuPause();
  } else {
    SleepUntil(NowNs() + kNapNs);
  }
}

}  // namespace

CudaFunctionGroup::~CudaFunctionGroup() {
  for (Run& run : runs_) {
    if (run.graph != nullptr) program_.cuda().cudaGraphExecDestroy(run.graph);
  }
}

size_t CudaFunctionGroup::Add(CudaDeviceCode* code, CudaIssuer* issuer, bool is_delayed) {
  members_.push_back({code, issuer, nullptr});
  is_delayed_ |= is_delayed;
  return members_.size() - 1;
}

absl::Status CudaFunctionGroup::Seal() {
  CutIntoRuns();
  why_not_ = ReasonAtLoad();
  uses_graphs_ = why_not_.empty();
  if (!uses_graphs_) return absl::OkStatus();
  const CudaContext& leader = *members_.front().code->context;
  AUTOPAR_ASSIGN_OR_RETURN(origin_, CudaStream::Create(leader));
  AUTOPAR_ASSIGN_OR_RETURN(fork_, CudaEvent::Create(leader));
  for (Run& run : runs_) AUTOPAR_RETURN_IF_ERROR(CompleteRun(&run));
  lead_ = [this] { RunCall(); };
  return absl::OkStatus();
}

std::string CudaFunctionGroup::ReasonAtLoad() const {
  if (program_.options().graph == CudaGraphMode::kOff) return "graphs are switched off";
  for (const Member& member : members_) {
    if (member.code->noted) return "the times of its commands are noted";
  }
  if (is_delayed_) return "delays are injected";
  if (runs_.empty()) return "it has no commands on a GPU";
  if (program_.options().graph == CudaGraphMode::kAuto && runs_.size() > 1) {
    return absl::StrCat("the host takes part in the middle of it, so it would be ", runs_.size(), " graphs");
  }
  return "";
}

void CudaFunctionGroup::CutIntoRuns() {
  std::vector<Item> items;
  for (uint32_t member = 0; member < members_.size(); ++member) {
    for (const CudaDeviceCode::Place place : members_[member].code->order) {
      items.push_back({member, place.stream, place.index});
    }
  }
  std::sort(items.begin(), items.end(),
            [&](const Item& a, const Item& b) { return CommandOf(a).command < CommandOf(b).command; });
  Run run;
  const auto close = [&] {
    if (run.items.empty()) return;
    runs_.push_back(std::move(run));
    run = Run();
  };
  for (const Item& item : items) {
    const CudaCommand& command = CommandOf(item);
    if (command.op == CudaOp::kNothing) continue;
    if (command.op == CudaOp::kWaitHost) {
      close();
      run.host_waits.push_back(item);
      continue;
    }
    const bool publishes = command.op == CudaOp::kRecord && command.host_waits;
    if (!run.publishes.empty() && !publishes) close();
    run.items.push_back(item);
    if (publishes) run.publishes.push_back(item);
  }
  close();  // waits at the end, behind which the GPUs do nothing, are dropped
}

absl::Status CudaFunctionGroup::CompleteRun(Run* run) {
  for (const Item& item : run->items) {
    const auto known = std::find_if(run->streams.begin(), run->streams.end(), [&](const UsedStream& used) {
      return used.member == item.member && used.stream == item.stream;
    });
    if (known == run->streams.end()) {
      UsedStream& used = run->streams.emplace_back();
      used.member = item.member;
      used.stream = item.stream;
      AUTOPAR_ASSIGN_OR_RETURN(used.join, CudaEvent::Create(*members_[item.member].code->context));
    }
    const CudaCommand& command = CommandOf(item);
    if (command.op != CudaOp::kCopyIn && command.op != CudaOp::kCopyOut) continue;
    const std::vector<CudaCopy*>& changing = members_[item.member].code->changing;
    if (std::find(changing.begin(), changing.end(), command.copy) != changing.end()) {
      run->changing.push_back(command.copy);
    } else if (!command.copy->pinned) {
      uses_graphs_ = false;
      why_not_ = absl::StrCat("command ", command.command, " copies memory of the host that is not pinned");
    }
  }
  if (!run->publishes.empty()) {
    AUTOPAR_ASSIGN_OR_RETURN(run->done, CudaEvent::Create(*members_.front().code->context));
  }
  return absl::OkStatus();
}

void CudaFunctionGroup::Start(size_t member, CallState* call) {
  // The first member starts first: the others' threads only read it.
  if (member == 0) call_ = call;
  if (!uses_graphs_) {
    members_[member].issuer->Start(&members_[member].run_streams);
  } else if (member == 0) {
    members_[0].issuer->Start(&lead_);
  }
}

// On the leader's thread; the call counts one participant for the whole group.
void CudaFunctionGroup::RunCall() {
  for (const Member& member : members_) {
    for (const CudaStreamCode& stream : member.code->streams) stream.span->start_ns = NowNs();
  }
  launched_ = published_ = 0;
  bool is_lost = false;
  for (const Member& member : members_) is_lost |= program_.IsLost(member.code->context->device);
  absl::StatusOr<std::string> why_not = "a device is lost";
  if (!is_lost) why_not = BuildGraphs();
  if (!why_not.ok() || !why_not->empty()) {
    why_not_ = why_not.ok() ? *why_not : std::string(why_not.status().message());
    RunOnStreams();
    return;
  }
  why_not_.clear();
  absl::Status status = Replay();
  if (!status.ok()) Settle(std::move(status));
  for (const Member& member : members_) {
    for (const CudaStreamCode& stream : member.code->streams) stream.span->finish_ns = NowNs();
  }
  call_->Finish();
}

void CudaFunctionGroup::RunOnStreams() {
  call_->running.fetch_add(static_cast<uint32_t>(members_.size() - 1), std::memory_order_seq_cst);
  for (size_t i = 1; i < members_.size(); ++i) members_[i].issuer->Start(&members_[i].run_streams);
  members_[0].run_streams();
}

absl::StatusOr<std::string> CudaFunctionGroup::BuildGraphs() {
  for (const Member& member : members_) {
    AUTOPAR_ASSIGN_OR_RETURN(const bool pinned, member.issuer->ResolveHostMemory(*member.code));
    if (!pinned) return "an argument or result is not in pinned memory (Program::AllocateBuffer)";
  }
  for (Run& run : runs_) {
    std::vector<void*> addresses;
    for (const CudaCopy* copy : run.changing) addresses.push_back(copy->buffers[copy->host_side]);
    if (run.graph != nullptr && addresses == run.addresses) continue;
    run.addresses = std::move(addresses);
    absl::Status status = BuildGraph(&run);
    if (!status.ok()) {
      run.addresses.clear();
      if (run.graph != nullptr) program_.cuda().cudaGraphExecDestroy(std::exchange(run.graph, nullptr));
      return status;
    }
  }
  return "";
}

absl::Status CudaFunctionGroup::BuildGraph(Run* run) {
  const CudaApi& cuda = program_.cuda();
  const CudaContext& leader = *members_.front().code->context;
  AUTOPAR_RETURN_IF_ERROR(leader.MakeCurrent());
  AUTOPAR_RETURN_IF_ERROR(leader.Error(
      cuda.cudaStreamBeginCapture(origin_.get(), cudaStreamCaptureModeRelaxed), "beginning a graph"));
  absl::Status status = Capture(run);
  // Ended in any case, or the streams would stay in it.
  cudaGraph_t graph = nullptr;
  const cudaError_t end = cuda.cudaStreamEndCapture(origin_.get(), &graph);
  if (status.ok()) status = leader.Error(end, "ending a graph");
  if (end != cudaSuccess) cuda.cudaGetLastError();
  if (status.ok()) status = leader.MakeCurrent();
  if (status.ok() && run->graph != nullptr) {
    cudaGraphExecUpdateResultInfo info{};
    if (cuda.cudaGraphExecUpdate(run->graph, graph, &info) != cudaSuccess) {
      cuda.cudaGetLastError();
      cuda.cudaGraphExecDestroy(std::exchange(run->graph, nullptr));
    }
  }
  if (status.ok() && run->graph == nullptr) {
    status = leader.Error(cuda.cudaGraphInstantiate(&run->graph, graph, 0), "making a graph ready");
    if (!status.ok()) run->graph = nullptr;
  }
  if (graph != nullptr) cuda.cudaGraphDestroy(graph);
  return status;
}

absl::Status CudaFunctionGroup::Capture(Run* run) {
  const CudaApi& cuda = program_.cuda();
  const CudaContext& leader = *members_.front().code->context;
  const uint64_t epoch = kFirstCapture + ++captures_;
  const auto check = [&](cudaError_t code) { return leader.Error(code, "capturing a graph"); };
  AUTOPAR_RETURN_IF_ERROR(check(cuda.cudaEventRecord(fork_.get(), origin_.get())));
  for (const UsedStream& used : run->streams) {
    const CudaStreamCode& stream = members_[used.member].code->streams[used.stream];
    AUTOPAR_RETURN_IF_ERROR(check(cuda.cudaStreamWaitEvent(stream.stream, fork_.get(), 0)));
  }
  const CudaContext* current = &leader;
  for (const Item& item : run->items) {
    const CudaContext& context = *members_[item.member].code->context;
    const cudaStream_t stream = members_[item.member].code->streams[item.stream].stream;
    const CudaCommand& command = CommandOf(item);
    if (current != &context) AUTOPAR_RETURN_IF_ERROR(context.MakeCurrent());
    current = &context;
    if (command.op == CudaOp::kRecord) {
      AUTOPAR_RETURN_IF_ERROR(check(cuda.cudaEventRecord(command.event->captured.get(), stream)));
      command.event->captured_epoch = epoch;
    } else if (command.op == CudaOp::kWaitDevice) {
      if (command.event->captured_epoch != epoch) continue;  // recorded in an earlier run, which has ended
      AUTOPAR_RETURN_IF_ERROR(check(cuda.cudaStreamWaitEvent(stream, command.event->captured.get(), 0)));
    } else {
      AUTOPAR_RETURN_IF_ERROR(EnqueueCommand(context, command, stream, epoch, true));
    }
  }
  for (const UsedStream& used : run->streams) {
    const CudaStreamCode& stream = members_[used.member].code->streams[used.stream];
    AUTOPAR_RETURN_IF_ERROR(check(cuda.cudaEventRecord(used.join.get(), stream.stream)));
    AUTOPAR_RETURN_IF_ERROR(check(cuda.cudaStreamWaitEvent(origin_.get(), used.join.get(), 0)));
  }
  return absl::OkStatus();
}

absl::Status CudaFunctionGroup::Replay() {
  const CudaApi& cuda = program_.cuda();
  const CudaContext& leader = *members_.front().code->context;
  AUTOPAR_RETURN_IF_ERROR(leader.MakeCurrent());
  for (Run& run : runs_) {
    AUTOPAR_RETURN_IF_ERROR(AwaitHost(run));
    if (call_->failed.load(std::memory_order_acquire)) return absl::CancelledError("another device failed");
    AUTOPAR_RETURN_IF_ERROR(leader.Error(cuda.cudaGraphLaunch(run.graph, origin_.get()), "launching a graph"));
    if (!run.publishes.empty()) {
      AUTOPAR_RETURN_IF_ERROR(
          leader.Error(cuda.cudaEventRecord(run.done.get(), origin_.get()), "launching a graph"));
    }
    ++launched_;
    AUTOPAR_RETURN_IF_ERROR(PublishReached(false));
  }
  AUTOPAR_RETURN_IF_ERROR(PublishReached(true));
  return leader.Error(cuda.cudaStreamSynchronize(origin_.get()), "running the call's graphs");
}

absl::Status CudaFunctionGroup::AwaitHost(const Run& run) {
  for (const Item& item : run.host_waits) {
    const CudaCommand& command = CommandOf(item);
    for (int looks = 0; !command.progress->Reached(call_->base + command.target);) {
      AUTOPAR_RETURN_IF_ERROR(PublishReached(false));
      Nap(&looks);
    }
  }
  return absl::OkStatus();
}

absl::Status CudaFunctionGroup::PublishReached(bool all) {
  const CudaApi& cuda = program_.cuda();
  int looks = 0;
  while (published_ < launched_) {
    const Run& run = runs_[published_];
    if (!run.publishes.empty()) {
      const cudaError_t code = cuda.cudaEventQuery(run.done.get());
      if (code == cudaErrorNotReady) {
        if (!all) break;
        Nap(&looks);
        continue;
      }
      AUTOPAR_RETURN_IF_ERROR(members_.front().code->context->Error(code, "running the call's graphs"));
      for (const Item& item : run.publishes) Publish(item);
    }
    ++published_;
  }
  return absl::OkStatus();
}

void CudaFunctionGroup::Publish(const Item& item) {
  const CudaCommand& record = CommandOf(item);
  if (record.event_ns != nullptr) *record.event_ns = NowNs();
  if (record.progress->Record(call_->base + record.target)) {
    for (Bell* waiter : members_[item.member].code->streams[item.stream].waiters) waiter->Ring();
  }
}

// After an error: nothing runs any more, and nobody waits for it.
void CudaFunctionGroup::Settle(absl::Status status) {
  const CudaApi& cuda = program_.cuda();
  bool is_lost = absl::IsAborted(status);
  call_->Fail(std::move(status));
  is_lost |= SettleStream(cuda, origin_.get());
  if (is_lost) {
    for (const Member& member : members_) program_.MarkLost(member.code->context->device);
  }
  for (; published_ < runs_.size(); ++published_) {
    for (const Item& item : runs_[published_].publishes) Publish(item);
  }
}

}  // namespace autopar
