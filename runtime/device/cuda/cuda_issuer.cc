#include "runtime/device/cuda/cuda_issuer.h"

#include <pthread.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/device/cuda/cuda_status.h"

namespace autopar {
namespace {

// Looks at what is awaited, with a pause between them, before the thread sleeps.
constexpr int kSpins = 2000;
// Between looks at CUDA's events: nobody rings for those.
constexpr int64_t kNapNs = 20000;
// Commands between looks at CUDA's events while there is something to issue.
constexpr size_t kCommandsPerPoll = 8;

}  // namespace

CudaIssuer::CudaIssuer(CudaProgram& program, const CudaContext& context, uint64_t delay_seed)
    : program_(program), context_(context), random_(delay_seed) {}

CudaIssuer::~CudaIssuer() {
  if (!thread_.joinable()) return;
  stop_.store(true, std::memory_order_seq_cst);
  bell_.Ring();
  thread_.join();
}

absl::Status CudaIssuer::Launch() {
  try {
    thread_ = std::thread([this] { Main(); });
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the system refuses a thread for ", context_.name, ": ", error.what()));
  }
  return absl::OkStatus();
}

void CudaIssuer::Start(const std::function<void()>* work) {
  work_ = work;
  started_.fetch_add(1, std::memory_order_seq_cst);
  bell_.Ring();
}

void CudaIssuer::Main() {
  pthread_setname_np(pthread_self(), absl::StrCat(context_.name, ".issue").substr(0, 15).c_str());
  UsePreciseSleep();
  int looks = 0;
  for (;;) {
    if (started_.load(std::memory_order_acquire) != seen_) {
      ++seen_;
      (*work_)();
      looks = 0;
    } else if (stop_.load(std::memory_order_acquire)) {
      return;
    } else if (looks < kSpins) {
      ++looks;
      CpuPause();
    } else {
      bell_.Park([this] {
        return started_.load(std::memory_order_seq_cst) != seen_ || stop_.load(std::memory_order_seq_cst);
      });
    }
  }
}

absl::StatusOr<bool> CudaIssuer::ResolveHostMemory(CudaDeviceCode& code) {
  bool all = true;
  for (CudaCopy* copy : code.changing) {
    AUTOPAR_ASSIGN_OR_RETURN(copy->pinned, program_.IsPinned(context_, copy->buffers[copy->host_side],
                                                             copy->host_bytes));
    all = all && copy->pinned;
  }
  return all;
}

void CudaIssuer::RunCommands(CudaDeviceCode& code, StagingSlots* staging, CallState& call) {
  code_ = &code;
  staging_ = staging;
  call_ = &call;
  failed_ = false;
  looks_ = 0;
  blocked_ = publications_ = 0;
  states_.resize(code.streams.size());
  for (size_t i = 0; i < states_.size(); ++i) {
    StreamState& state = states_[i];
    state.cursor = 0;
    state.blocked = state.idle_asked = false;
    state.issued_pieces = 0;
    code.streams[i].span->start_ns = NowNs();
  }
  absl::Status status;
  if (program_.IsLost(context_.device)) {
    status = absl::FailedPreconditionError(absl::StrCat(
        context_.name, " failed in an earlier call and cannot be used by this process any more; start it again"));
  }
  if (status.ok()) status = context_.MakeCurrent();
  if (status.ok()) status = ResolveHostMemory(code).status();
  if (status.ok() && code.noted) status = BeginNoting();
  if (!status.ok()) Fail(std::move(status));
  IssueAll();
  Finish();
}

// The order in which commands are tried is the file's; streams that could not go on are tried again
// after each command.
void CudaIssuer::IssueAll() {
  size_t at = 0;
  while (!failed_ && (at < code_->order.size() || blocked_ > 0)) {
    bool moved = false;
    if (at < code_->order.size()) {
      const CudaDeviceCode::Place place = code_->order[at++];
      StreamState& state = states_[place.stream];
      moved = true;
      if (!state.blocked) {
        if (random_ != 0) Delay();
        if (Try(place.stream) == Step::kDone) {
          ++state.cursor;
        } else {
          state.blocked = true;
          ++blocked_;
        }
      }
    }
    if (!failed_ && blocked_ > 0) moved |= CatchUp(at);
    if (!failed_ && publications_ > 0 && (!moved || at % kCommandsPerPoll == 0)) moved |= Poll();
    if (moved) {
      looks_ = 0;
    } else if (!failed_) {
      Rest();
    }
  }
}

// Streams that were passed over, up to the command before `at` of the file's order.
bool CudaIssuer::CatchUp(size_t at) {
  const uint32_t limit = at < code_->order.size()
                             ? code_->streams[code_->order[at].stream].commands[code_->order[at].index].command
                             : 0xffffffffu;
  bool moved = false;
  for (uint32_t i = 0; i < states_.size() && !failed_; ++i) {
    StreamState& state = states_[i];
    if (!state.blocked) continue;
    const std::vector<CudaCommand>& commands = code_->streams[i].commands;
    for (;;) {
      if (state.cursor >= commands.size() || commands[state.cursor].command >= limit) {
        state.blocked = false;
        --blocked_;
        break;
      }
      const Step step = Try(i);
      if (failed_) return true;
      moved |= step != Step::kBlocked;
      if (step != Step::kDone) break;  // one piece of a copy at a time: others wait too
      ++state.cursor;
    }
  }
  return moved;
}

CudaIssuer::Step CudaIssuer::Try(uint32_t stream) {
  const CudaStreamCode& code = code_->streams[stream];
  const CudaCommand& command = code.commands[states_[stream].cursor];
  if (command.timer < 0) {
    const Step step = Issue(stream, command);
    // What it waited for was let go, or what it reads was never made: nothing that follows makes sense.
    if (!failed_ && call_->failed.load(std::memory_order_acquire)) Abandon();
    return step;
  }
  const CudaStreamCode::Timer& timer = code.timers[static_cast<size_t>(command.timer)];
  if (states_[stream].issued_pieces == 0) {
    const cudaError_t error = context_.cuda->cudaEventRecord(timer.begin.get(), code.stream);
    if (error != cudaSuccess) return FailWith(command, error, "noting the time");
  }
  const Step step = Issue(stream, command);
  if (step != Step::kDone || failed_) return step;
  const cudaError_t error = context_.cuda->cudaEventRecord(timer.end.get(), code.stream);
  return error == cudaSuccess ? step : FailWith(command, error, "noting the time");
}

CudaIssuer::Step CudaIssuer::Issue(uint32_t stream, const CudaCommand& command) {
  switch (command.op) {
    case CudaOp::kNothing:
      return Step::kDone;
    case CudaOp::kRecord:
      return IssueRecord(stream, command);
    case CudaOp::kWaitDevice:
    case CudaOp::kWaitHost:
      return IssueWait(stream, command);
    case CudaOp::kCopyIn:
      if (!command.copy->pinned) return CopyIn(stream, command);
      break;
    case CudaOp::kCopyOut:
      if (!command.copy->pinned) return CopyOut(stream, command);
      break;
    default:
      break;
  }
  absl::Status status =
      EnqueueCommand(context_, command, code_->streams[stream].stream, call_->number, false);
  if (!status.ok()) Fail(std::move(status));
  return Step::kDone;
}

CudaIssuer::Step CudaIssuer::IssueRecord(uint32_t stream, const CudaCommand& command) {
  const CudaStreamCode& code = code_->streams[stream];
  const cudaError_t error = context_.cuda->cudaEventRecord(command.event->event.get(), code.stream);
  if (error != cudaSuccess) return FailWith(command, error, "recording an event");
  command.event->issued.store(call_->number, std::memory_order_seq_cst);
  if (command.host_waits) {
    states_[stream].publications.push_back({&command, &code});
    ++publications_;
  }
  for (Bell* waiter : code.waiters) waiter->Ring();
  return Step::kDone;
}

CudaIssuer::Step CudaIssuer::IssueWait(uint32_t stream, const CudaCommand& command) {
  if (command.op == CudaOp::kWaitHost) {
    return command.progress->Reached(call_->base + command.target) ? Step::kDone : Step::kBlocked;
  }
  // A wait for an event that is not recorded yet would wait for nothing.
  if (command.event->issued.load(std::memory_order_acquire) != call_->number) return Step::kBlocked;
  if (call_->failed.load(std::memory_order_acquire)) {  // and said to be issued for that reason alone
    Abandon();
    return Step::kDone;
  }
  const cudaError_t error =
      context_.cuda->cudaStreamWaitEvent(code_->streams[stream].stream, command.event->event.get(), 0);
  return error == cudaSuccess ? Step::kDone : FailWith(command, error, "waiting for an event");
}

// One piece per step.
CudaIssuer::Step CudaIssuer::CopyIn(uint32_t stream, const CudaCommand& command) {
  StreamState& state = states_[stream];
  const CudaStreamCode& code = code_->streams[stream];
  const CudaApi& cuda = *context_.cuda;
  const CudaCopy& copy = *command.copy;
  cudaError_t error = cudaSuccess;
  if (!copy.settled && state.issued_pieces == 0) {
    // The host reads what commands before this one may have written: they must have ended.
    if (!state.idle_asked) {
      error = cuda.cudaEventRecord(code.idle.get(), code.stream);
      if (error != cudaSuccess) return FailWith(command, error, "staging a copy");
      state.idle_asked = true;
    }
    error = cuda.cudaEventQuery(code.idle.get());
    if (error == cudaErrorNotReady) return Step::kBlocked;
    if (error != cudaSuccess) return FailWith(command, error, "staging a copy");
  }
  StagingSlots::Slot* slot = staging_->TryTake(&error);
  if (error != cudaSuccess) return FailWith(command, error, "staging a copy");
  if (slot == nullptr) return Step::kBlocked;
  const CopyShape& shape = copy.shape;
  const CopyPiece piece = PieceOf(shape, StagingSlots::kSlotBytes, state.issued_pieces);
  CopyRows(slot->memory, piece.row_bytes, static_cast<const std::byte*>(copy.buffers[0]) + piece.from_offset,
           shape.from_stride, piece.rows, piece.row_bytes);
  error = EnqueueRows(cuda, static_cast<std::byte*>(copy.buffers[1]) + piece.to_offset, shape.to_stride,
                      slot->memory, piece.row_bytes, piece.rows, piece.row_bytes, cudaMemcpyHostToDevice,
                      code.stream);
  if (error == cudaSuccess) error = cuda.cudaEventRecord(slot->done.get(), code.stream);
  if (error != cudaSuccess) return FailWith(command, error, "staging a copy");
  slot->state = StagingSlots::Slot::kUntilDone;
  if (++state.issued_pieces < CountPieces(shape, StagingSlots::kSlotBytes)) return Step::kMoved;
  state.issued_pieces = 0;
  state.idle_asked = false;
  return Step::kDone;
}

// Up to one piece on its way and one piece unpacked per step. The stream goes on when all are unpacked.
CudaIssuer::Step CudaIssuer::CopyOut(uint32_t stream, const CudaCommand& command) {
  StreamState& state = states_[stream];
  const CudaStreamCode& code = code_->streams[stream];
  const CudaApi& cuda = *context_.cuda;
  const CudaCopy& copy = *command.copy;
  const CopyShape& shape = copy.shape;
  const uint64_t pieces = CountPieces(shape, StagingSlots::kSlotBytes);
  bool moved = false;
  cudaError_t error = cudaSuccess;
  if (state.issued_pieces < pieces) {
    StagingSlots::Slot* slot = staging_->TryTake(&error);
    if (slot != nullptr) {
      const CopyPiece piece = PieceOf(shape, StagingSlots::kSlotBytes, state.issued_pieces);
      error = EnqueueRows(cuda, slot->memory, piece.row_bytes,
                          static_cast<const std::byte*>(copy.buffers[0]) + piece.from_offset,
                          shape.from_stride, piece.rows, piece.row_bytes, cudaMemcpyDeviceToHost, code.stream);
      if (error == cudaSuccess) error = cuda.cudaEventRecord(slot->done.get(), code.stream);
      state.flights.push_back({slot, piece});
      ++state.issued_pieces;
      moved = true;
    }
    if (error != cudaSuccess) return FailWith(command, error, "staging a copy");
  }
  if (!state.flights.empty()) {
    const Flight flight = state.flights.front();
    error = cuda.cudaEventQuery(flight.slot->done.get());
    if (error == cudaSuccess) {
      CopyRows(static_cast<std::byte*>(copy.buffers[1]) + flight.piece.to_offset, shape.to_stride,
               flight.slot->memory, flight.piece.row_bytes, flight.piece.rows, flight.piece.row_bytes);
      flight.slot->state = StagingSlots::Slot::kFree;
      state.flights.pop_front();
      moved = true;
    } else if (error != cudaErrorNotReady) {
      return FailWith(command, error, "staging a copy");
    }
  }
  if (state.issued_pieces == pieces && state.flights.empty()) {
    state.issued_pieces = 0;
    return Step::kDone;
  }
  return moved ? Step::kMoved : Step::kBlocked;
}

bool CudaIssuer::Poll() {
  bool moved = false;
  for (StreamState& state : states_) {
    while (!state.publications.empty()) {
      const Publication publication = state.publications.front();
      const cudaError_t error = context_.cuda->cudaEventQuery(publication.record->event->event.get());
      if (error == cudaErrorNotReady) break;
      if (error != cudaSuccess) {
        FailWith(*publication.record, error, "waiting for the GPU");
        return true;
      }
      Publish(publication);
      state.publications.pop_front();
      --publications_;
      moved = true;
    }
  }
  return moved;
}

void CudaIssuer::Publish(const Publication& publication) {
  const CudaCommand& record = *publication.record;
  if (record.event_ns != nullptr) *record.event_ns = NowNs();
  if (record.progress->Record(call_->base + record.target)) {
    for (Bell* waiter : publication.stream->waiters) waiter->Ring();
  }
}

void CudaIssuer::PublishRest() {
  for (size_t i = 0; i < states_.size(); ++i) {
    StreamState& state = states_[i];
    const CudaStreamCode& stream = code_->streams[i];
    for (const Publication& publication : state.publications) Publish(publication);
    publications_ -= state.publications.size();
    state.publications.clear();
    for (; state.cursor < stream.commands.size(); ++state.cursor) {
      const CudaCommand& command = stream.commands[state.cursor];
      if (command.op != CudaOp::kRecord) continue;
      command.event->issued.store(call_->number, std::memory_order_seq_cst);
      Publish({&command, &stream});
    }
    for (Bell* waiter : stream.waiters) waiter->Ring();
    state.flights.clear();
    state.blocked = false;
  }
  blocked_ = 0;
}

// Nothing can go on: looks again, sleeps a moment, or until somebody rings.
void CudaIssuer::Rest() {
  if (looks_ < kSpins) {
    ++looks_;
    CpuPause();
    return;
  }
  const bool polls = publications_ > 0 || std::any_of(states_.begin(), states_.end(), [&](StreamState& state) {
    if (!state.blocked) return false;
    const CudaOp op = code_->streams[static_cast<size_t>(&state - states_.data())].commands[state.cursor].op;
    return op != CudaOp::kWaitHost && op != CudaOp::kWaitDevice;
  });
  if (polls) {
    SleepUntil(NowNs() + kNapNs);
  } else {
    bell_.Park([this] { return SomethingReady(); });
  }
}

bool CudaIssuer::SomethingReady() {
  for (size_t i = 0; i < states_.size(); ++i) {
    if (!states_[i].blocked) continue;
    const CudaCommand& command = code_->streams[i].commands[states_[i].cursor];
    if (command.op == CudaOp::kWaitHost && command.progress->Want(call_->base + command.target)) return true;
    if (command.op == CudaOp::kWaitDevice &&
        command.event->issued.load(std::memory_order_seq_cst) == call_->number) {
      return true;
    }
  }
  return false;
}

void CudaIssuer::Fail(absl::Status status) {
  if (absl::IsAborted(status)) program_.MarkLost(context_.device);
  call_->Fail(std::move(status));
  Abandon();
}

void CudaIssuer::Abandon() {
  bool lost = false;
  failed_ = true;
  const auto settle = [&](cudaStream_t stream) { lost |= SettleStream(*context_.cuda, stream); };
  for (const CudaStreamCode& stream : code_->streams) settle(stream.stream);
  for (const CudaCopy& copy : code_->copies) {
    if (copy.stage != nullptr) settle(copy.stage->landing());
  }
  if (lost) program_.MarkLost(context_.device);
  if (staging_ != nullptr) staging_->FreeAll();
  PublishRest();
}

CudaIssuer::Step CudaIssuer::FailWith(const CudaCommand& command, cudaError_t code, const char* what) {
  Fail(context_.Error(code, absl::StrCat("command ", command.command, ", ", what, ",")));
  return Step::kDone;
}

void CudaIssuer::Finish() {
  while (!failed_ && publications_ > 0) {
    if (Poll()) {
      looks_ = 0;
    } else {
      Rest();
    }
  }
  for (size_t i = 0; i < code_->streams.size(); ++i) {
    const CudaStreamCode& stream = code_->streams[i];
    if (!failed_) {
      const cudaError_t error = context_.cuda->cudaStreamSynchronize(stream.stream);
      if (error != cudaSuccess) Fail(context_.Error(error, "running the call"));
    }
    stream.span->finish_ns = NowNs();
  }
  if (code_->noted && !failed_) NoteTimes();
}

absl::Status CudaIssuer::BeginNoting() {
  const CudaApi& cuda = *context_.cuda;
  cudaError_t error = cuda.cudaEventRecord(code_->origin.get(), code_->streams.front().stream);
  if (error == cudaSuccess) error = cuda.cudaEventSynchronize(code_->origin.get());
  origin_ns_ = NowNs();
  return context_.Error(error, "noting the time");
}

void CudaIssuer::NoteTimes() {
  const auto since_origin = [&](const CudaEvent& event) {
    float ms = 0;
    const cudaError_t error = context_.cuda->cudaEventElapsedTime(&ms, code_->origin.get(), event.get());
    if (error != cudaSuccess) call_->Fail(context_.Error(error, "reading the noted times"));
    return origin_ns_ + static_cast<int64_t>(static_cast<double>(ms) * 1e6);
  };
  for (const CudaStreamCode& stream : code_->streams) {
    for (const CudaCommand& command : stream.commands) {
      if (command.timer < 0) continue;
      const CudaStreamCode::Timer& timer = stream.timers[static_cast<size_t>(command.timer)];
      *command.span = {since_origin(timer.begin), since_origin(timer.end)};
    }
  }
}

void CudaIssuer::Delay() {
  random_ = random_ * 6364136223846793005u + 1442695040888963407u;
  if ((random_ >> 60) < 4) SleepUntil(NowNs() + static_cast<int64_t>((random_ >> 33) % 20000));
}

}  // namespace autopar
