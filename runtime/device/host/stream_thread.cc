#include "runtime/device/host/stream_thread.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/device/host/affinity.h"
#include "runtime/device/host/synthetic.h"

namespace autopar {
namespace {

// How far emulated time may lag behind the clock: a stream that was held up longer than this by the
// machine does not catch up.
constexpr int64_t kMaxLagNs = 10000000;
// Looks without a pause between them, for events that are about to happen.
constexpr int kEagerLooks = 64;
// What must be left of a launch for a sleeping thread to be worth waking: that takes microseconds, of
// both threads.
constexpr int64_t kWorthWakingNs = 15000;
// Synthetic results are written at this rate at least, at the end of the task's time.
constexpr uint64_t kFillBytesPerNs = 2;

// Row by row; the two regions have equal bytes, and equal rows or one of them has a single row.
void CopyRegion(const Region& from, const Region& to, const std::byte* source, std::byte* target) {
  uint64_t row_bytes = std::min(from.row_bytes, to.row_bytes);
  uint64_t rows = std::max(from.rows, to.rows);
  if (row_bytes == 0 || rows == 0) return;
  uint64_t source_stride = from.rows == rows ? from.row_stride : row_bytes;
  uint64_t target_stride = to.rows == rows ? to.row_stride : row_bytes;
  if (rows == 1 || (source_stride == row_bytes && target_stride == row_bytes)) {
    std::memcpy(target, source, rows * row_bytes);
    return;
  }
  for (uint64_t row = 0; row < rows; ++row) {
    std::memcpy(target + row * target_stride, source + row * source_stride, row_bytes);
  }
}

uint64_t RegionBytes(const Region& region) { return region.rows * region.row_bytes; }

}  // namespace

StreamThread::StreamThread(HostThreadGroup* group, StreamThreadOptions options)
    : group_(group), options_(std::move(options)), random_(options_.random_seed) {}

StreamThread::~StreamThread() { Stop(); }

void StreamThread::Stop() {
  if (!thread_.joinable()) return;
  stop_.store(true, std::memory_order_seq_cst);
  bell_.Ring();
  thread_.join();
}

absl::Status StreamThread::Launch() {
  try {
    thread_ = std::thread([this] { Main(); });
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the system refuses a thread for ", options_.name, ": ", error.what()));
  }
  return absl::OkStatus();
}

void StreamThread::Start(const HostStreamCode* code, CallState* call) {
  code_ = code;
  call_ = call;
  started_.fetch_add(1, std::memory_order_seq_cst);
  bell_.Ring();
}

void StreamThread::Main() {
  pthread_setname_np(pthread_self(), options_.name.substr(0, 15).c_str());
  if (options_.core >= 0) {
    PinThread(static_cast<size_t>(options_.core));
  } else {
    UnpinThread();
  }
  UsePreciseSleep();
  absl::Status status;
  if (options_.worker >= 0) {
    auto matmuls = MatmulThread::Create(*group_->matmuls);
    if (matmuls.ok()) matmuls_ = std::move(matmuls).value();
    status = matmuls.status();
  }
  bool failed = !status.ok();
  ready_.set_value(std::move(status));
  if (!failed) Idle();
}

void StreamThread::Idle() {
  int looks = 0;
  for (;;) {
    if (started_.load(std::memory_order_acquire) != seen_) {
      ++seen_;
      RunCall();
      looks = 0;
    } else if (stop_.load(std::memory_order_acquire)) {
      return;
    } else if (HelpOnce(2)) {
      looks = 0;
    } else if (looks < options_.spins) {
      ++looks;
      CpuPause();
    } else {
      bell_.Park([this] {
        return started_.load(std::memory_order_seq_cst) != seen_ ||
               stop_.load(std::memory_order_seq_cst) || SomeTiles();
      });
    }
  }
}

void StreamThread::RunCall() {
  CallState* call = call_;
  StreamSpan* span = code_->span;
  clock_ns_ = code_->timed ? call->start_ns : 0;
  span->start_ns = code_->timed ? call->start_ns : NowNs();
  if (!code_->spans.empty() || group_->delay_seed != 0) {
    RunCommands<true>();
  } else {
    RunCommands<false>();
  }
  span->finish_ns = NowNs();
  call->Finish();
}

template <bool kInstrumented>
void StreamThread::RunCommands() {
  const HostStreamCode& code = *code_;
  const uint32_t base = call_->base;
  const HostCommand* const begin = code.commands.data();
  const HostCommand* const end = begin + code.commands.size();
  for (const HostCommand* c = begin; c != end; ++c) {
    CommandSpan* span = nullptr;
    if constexpr (kInstrumented) {
      if (group_->delay_seed != 0) Delay();
      if (!code.spans.empty()) span = code.spans[static_cast<size_t>(c - begin)];
      if (span != nullptr) span->start_ns = NowNs();
    }
    // After an error the operands may never have been delivered: only the order is kept up.
    const bool has_failed = call_->failed.load(std::memory_order_acquire);
    switch (c->op) {
      case HostOp::kNothing:
        clock_ns_ = 0;
        break;
      case HostOp::kNative:
        if (!has_failed) c->native(c->buffers, 0, c->tiles);
        clock_ns_ = 0;
        break;
      case HostOp::kLaunch:
        if (!has_failed) RunLaunch(*c->launch, 0, c->launch->tiles);
        clock_ns_ = 0;
        break;
      case HostOp::kShared:
        if (!has_failed) RunShared(*c->launch);
        clock_ns_ = 0;
        break;
      case HostOp::kSynthetic:
        if (!has_failed) RunSynthetic(*c->launch);
        break;
      case HostOp::kCopy:
        if (!has_failed) RunCopy(*c->launch);
        break;
      case HostOp::kTimedRecord:
        *c->event_ns = clock_ns_ != 0 ? clock_ns_ : NowNs();
        [[fallthrough]];
      case HostOp::kRecord:
        if (c->progress->Record(base + c->target)) {
          for (Bell* waiter : code.waiters) waiter->Ring();
        }
        break;
      case HostOp::kWait:
        if (!c->progress->Reached(base + c->target)) AwaitEvent(*c->progress, base + c->target);
        break;
      case HostOp::kTimedWait:
        if (!c->progress->Reached(base + c->target)) AwaitEvent(*c->progress, base + c->target);
        if (clock_ns_ != 0) clock_ns_ = std::max(clock_ns_, *c->event_ns);
        break;
    }
    if constexpr (kInstrumented) {
      if (span != nullptr && clock_ns_ != 0) {
        *span = {emulated_start_ns_, clock_ns_};
      } else if (span != nullptr) {
        span->finish_ns = NowNs();
      }
    }
  }
}

void StreamThread::RunLaunch(const HostLaunch& launch, int64_t tile_begin, int64_t tile_end) {
  const HostKernel& kernel = *launch.kernel;
  if (kernel.kind == KernelKind::kNative) {
    kernel.native(launch.buffers, tile_begin, tile_end);
    return;
  }
  absl::Status status = matmuls_->Run(kernel.matmul, launch.buffers, kernel.description->reads,
                                      tile_begin, tile_end);
  if (!status.ok()) call_->Fail(std::move(status));
}

void StreamThread::RunShared(const HostLaunch& launch) {
  HostTileSlot& slot = group_->slots[options_.worker];
  slot.Publish(&launch);
  int64_t done = 0;
  if (launch.is_long) {
    RingWorkers(launch.tiles - 1);
  } else {
    // The first tile shows how long the others will take. Threads that are awake help anyway.
    int64_t start_ns = NowNs();
    HostTileSlot::Share share = slot.Take(std::numeric_limits<uint32_t>::max());
    if (!share.empty()) RunLaunch(launch, share.begin, share.end);
    done += share.end - share.begin;
    int64_t left = launch.tiles - 1;
    if ((NowNs() - start_ns) * left > kWorthWakingNs) RingWorkers(left);
  }
  uint32_t parts = 2 * static_cast<uint32_t>(group_->workers.size());
  for (;;) {
    HostTileSlot::Share share = slot.Take(parts);
    if (share.empty()) break;
    RunLaunch(launch, share.begin, share.end);
    done += share.end - share.begin;
  }
  slot.Complete(done, launch.tiles, bell_);
  for (int looks = 0; !slot.Done(); ++looks) {
    if (looks < options_.spins) {
      CpuPause();
    } else {
      bell_.Park([&slot] { return slot.Done(); });
    }
  }
}

void StreamThread::RingWorkers(int64_t tiles) {
  for (StreamThread* worker : group_->workers) {
    if (tiles == 0) break;
    if (worker == this) continue;
    worker->bell_.Ring();
    --tiles;
  }
}

bool StreamThread::SomeTiles() const {
  if (options_.worker < 0 || group_->slots == nullptr) return false;
  for (size_t i = 0; i < group_->workers.size(); ++i) {
    if (group_->slots[i].HasTiles()) return true;
  }
  return false;
}

bool StreamThread::HelpOnce(uint32_t parts) {
  if (options_.worker < 0 || group_->slots == nullptr) return false;
  size_t count = group_->workers.size();
  for (size_t i = 1; i < count; ++i) {
    size_t other = (static_cast<size_t>(options_.worker) + i) % count;
    HostTileSlot& slot = group_->slots[other];
    if (!slot.HasTiles()) continue;
    HostTileSlot::Share share = slot.Take(parts * static_cast<uint32_t>(count));
    if (share.empty()) continue;
    int64_t tiles = share.launch->tiles;
    RunLaunch(*share.launch, share.begin, share.end);
    slot.Complete(share.end - share.begin, tiles, group_->workers[other]->bell_);
    return true;
  }
  return false;
}

void StreamThread::AwaitEvent(Progress& progress, uint32_t target) {
  for (int looks = 0; looks < kEagerLooks; ++looks) {
    if (progress.Reached(target)) return;
  }
  // Smaller shares than an idle thread takes: the event may come at any moment.
  constexpr uint32_t kParts = 4;
  for (int looks = 0; !progress.Reached(target); ++looks) {
    if (HelpOnce(kParts)) {
      looks = 0;
    } else if (looks < options_.spins) {
      CpuPause();
    } else {
      bell_.Park([&] { return progress.Want(target) || SomeTiles(); });
    }
  }
}

void StreamThread::RunSynthetic(const HostLaunch& launch) {
  const Kernel& kernel = *launch.kernel->description;
  int64_t start_ns = clock_ns_ != 0 && !kernel.spin ? clock_ns_ : NowNs();
  int64_t deadline_ns = start_ns + launch.duration_ns;
  absl::Span<const Region> reads = launch.regions.subspan(0, kernel.reads);
  absl::Span<const Region> writes = launch.regions.subspan(kernel.reads, kernel.writes);
  uint64_t digest = DigestOperands(kernel.seed, reads, launch.buffers);
  // The results appear at the end, as late as writing them allows: whoever does not wait for the task
  // sees what was there before.
  uint64_t result_bytes = 0;
  for (const Region& region : writes) result_bytes += RegionBytes(region);
  int64_t fill_ns = deadline_ns - static_cast<int64_t>(result_bytes / kFillBytesPerNs);
  auto pass_time = [&](int64_t until_ns) {
    if (kernel.spin) {
      while (NowNs() < until_ns) CpuPause();
    } else if (NowNs() < until_ns) {
      SleepUntil(until_ns);
    }
  };
  pass_time(fill_ns);
  FillResults(digest, writes, launch.buffers + kernel.reads);
  pass_time(deadline_ns);
  emulated_start_ns_ = start_ns;
  clock_ns_ = kernel.spin ? 0 : std::max(deadline_ns, NowNs() - kMaxLagNs);
}

void StreamThread::RunCopy(const HostLaunch& launch) {
  const Region& from = launch.regions[0];
  const Region& to = launch.regions[1];
  if (RegionBytes(from) == 0) {  // takes no time and no engine
    emulated_start_ns_ = clock_ns_;
    return;
  }
  CopyEngines::Slot slot;
  if (launch.link.valid()) {
    slot = group_->engines->Reserve(launch.link, RegionBytes(from),
                                    clock_ns_ != 0 ? clock_ns_ : NowNs());
  }
  CopyRegion(from, to, static_cast<const std::byte*>(launch.buffers[0]),
             static_cast<std::byte*>(launch.buffers[1]));
  clock_ns_ = 0;
  if (launch.link.valid()) {
    if (NowNs() < slot.finish_ns) SleepUntil(slot.finish_ns);
    emulated_start_ns_ = slot.start_ns;
    clock_ns_ = std::max(slot.finish_ns, NowNs() - kMaxLagNs);
  }
}

void StreamThread::Delay() {
  // xorshift64*: any generator will do, as long as the seed decides.
  random_ ^= random_ >> 12;
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  uint64_t value = random_ * 0x2545f4914f6cdd1du;
  int64_t now_ns = NowNs();
  if (value >> 60 == 0) {
    SleepUntil(now_ns + 20000 + static_cast<int64_t>(value % 40000));
  } else if (value >> 63 == 1) {
    int64_t until_ns = now_ns + static_cast<int64_t>(value % 5000);
    while (NowNs() < until_ns) CpuPause();
  }
}

}  // namespace autopar
