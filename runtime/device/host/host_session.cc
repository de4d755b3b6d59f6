#include "runtime/device/host/host_session.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/device/host/affinity.h"

namespace autopar {
namespace {

// Looks at a condition before a thread sleeps: about 0.1 ms where every thread has a core, next to
// nothing where others wait for this one's.
constexpr int kSpinsAlone = 4000;
constexpr int kSpinsCrowded = 40;

// The lists of all streams of a device for one function.
class HostFunction : public DeviceFunction {
 public:
  struct Part {
    StreamThread* thread = nullptr;
    HostStreamCode code;
  };

  uint32_t participants() const override { return static_cast<uint32_t>(parts.size()); }
  void Start(CallState* call) override {
    for (Part& part : parts) part.thread->Start(&part.code, call);
  }

  std::vector<Part> parts;
  std::deque<HostLaunch> launches;  // of all parts; commands point at them
};

bool IsEmulated(const Schedule& schedule, const Stream& stream) {
  return stream.kind == StreamKind::kCopy && stream.link.valid() &&
         schedule.machine.links[stream.link.index()].emulated;
}

// Whether any launch on the device can be dealt over threads.
bool HasTiledLaunches(const Schedule& schedule, DeviceId device, const HostKernels& kernels) {
  for (const Function& function : schedule.functions) {
    for (const Command& command : function.commands) {
      if (command.kind != CommandKind::kLaunch) continue;
      if (function.streams[command.stream.index()].device != device) continue;
      const HostKernel* kernel = kernels.Find(command.kernel);
      if (kernel != nullptr && kernel->tiles > 1) return true;
    }
  }
  return false;
}

// Whether a launch takes tens of microseconds at least, going by its size: 4 MFLOP of a product,
// 256 KiB of anything.
bool IsLong(const HostKernel& kernel, absl::Span<const Region> regions) {
  if (kernel.kind == KernelKind::kMatmul) {
    const MatmulParams& p = kernel.matmul.params;
    return 2.0 * static_cast<double>(p.batch) * static_cast<double>(p.m) *
               static_cast<double>(p.n) * static_cast<double>(p.k) >= 4e6;
  }
  uint64_t bytes = 0;
  for (const Region& region : regions) bytes += region.rows * region.row_bytes;
  return bytes >= uint64_t{256} << 10;
}

}  // namespace

HostSession::Key HostSession::StreamKey(const Stream& stream) {
  return {stream.kind == StreamKind::kCopy ? stream.link : LinkId(), stream.ordinal};
}

HostSession::HostSession(const HostDevice& device, const DeviceSessionOptions& options)
    : schedule_(*options.schedule) {
  group_.matmuls = &device.kernels().matmuls();
  group_.engines = options.engines;
  group_.delay_seed = options.delay_seed;
}

void HostSession::AddThread(StreamThreadOptions options) {
  options.random_seed = group_.delay_seed * 0x9e3779b97f4a7c15u + threads_.size() + 1;
  if (options.random_seed == 0) options.random_seed = 1;
  bool is_worker = options.worker >= 0;
  threads_.push_back(std::make_unique<StreamThread>(&group_, std::move(options)));
  if (is_worker) group_.workers.push_back(threads_.back().get());
}

absl::StatusOr<std::unique_ptr<HostSession>> HostSession::Open(
    const HostDevice& device, const DeviceSessionOptions& options) {
  std::unique_ptr<HostSession> session(new HostSession(device, options));
  const Device& description = device.description();
  size_t host_cores = HostCores().size();
  int spins = options.compute_streams <= host_cores ? kSpinsAlone : kSpinsCrowded;
  auto add_worker = [&] {
    uint32_t worker = static_cast<uint32_t>(session->group_.workers.size());
    session->AddThread({.name = absl::StrCat(description.name, ".", worker),
                        .core = device.WorkerCore(worker),
                        .worker = static_cast<int>(worker),
                        .spins = spins});
  };
  for (const Stream& stream : options.streams) {
    if (stream.kind != StreamKind::kCompute) continue;
    auto [entry, is_new] = session->streams_.try_emplace(StreamKey(stream));
    if (!is_new) continue;
    add_worker();
    entry->second = session->threads_.back().get();
  }
  // Cores beyond the streams only help.
  size_t cores = std::min<size_t>(std::max(1u, description.cores), host_cores);
  if (cores > 1 && HasTiledLaunches(session->schedule_, options.device, device.kernels())) {
    while (session->group_.workers.size() < cores) add_worker();
    session->group_.slots = std::make_unique<HostTileSlot[]>(session->group_.workers.size());
  }
  bool alone = options.compute_streams + options.copy_streams <= host_cores;
  for (const Stream& stream : options.streams) {
    if (stream.kind != StreamKind::kCopy) continue;
    auto [entry, is_new] = session->streams_.try_emplace(StreamKey(stream));
    if (!is_new) continue;
    session->AddThread({.name = absl::StrCat(description.name, ".copy"),
                        .spins = alone ? kSpinsAlone : kSpinsCrowded});
    entry->second = session->threads_.back().get();
  }
  for (auto& thread : session->threads_) AUTOPAR_RETURN_IF_ERROR(thread->Launch());
  absl::Status status;
  for (auto& thread : session->threads_) status.Update(thread->Ready());
  if (!status.ok()) return status;
  return session;
}

HostSession::~HostSession() {
  for (auto& thread : threads_) thread->Stop();
}

Bell* HostSession::StreamBell(const Stream& stream) {
  return &streams_.at(StreamKey(stream))->bell();
}

bool HostSession::SharesTiles(const HostKernel& kernel, const Stream& stream) const {
  return stream.kind == StreamKind::kCompute && kernel.tiles > 1 && group_.workers.size() > 1 &&
         group_.slots != nullptr && kernel.tiles <= std::numeric_limits<int32_t>::max();
}

absl::StatusOr<std::unique_ptr<DeviceFunction>> HostSession::Prepare(
    const Function&, std::vector<StreamWork> work) {
  auto function = std::make_unique<HostFunction>();
  for (StreamWork& stream : work) {
    HostFunction::Part& part = function->parts.emplace_back();
    part.thread = streams_.at(StreamKey(stream.stream));
    HostStreamCode& code = part.code;
    code.waiters = std::move(stream.waiters);
    code.span = stream.span;
    code.commands.reserve(stream.commands.size());
    bool noted = std::any_of(stream.commands.begin(), stream.commands.end(),
                             [](const DeviceCommand& command) { return command.span != nullptr; });
    for (const DeviceCommand& command : stream.commands) {
      HostCommand& hot = code.commands.emplace_back();
      if (noted) code.spans.push_back(command.span);
      if (command.kind == CommandKind::kRecord || command.kind == CommandKind::kWait) {
        bool is_record = command.kind == CommandKind::kRecord;
        bool timed = command.event_ns != nullptr;
        code.timed |= timed;
        hot.op = is_record ? (timed ? HostOp::kTimedRecord : HostOp::kRecord)
                           : (timed ? HostOp::kTimedWait : HostOp::kWait);
        hot.target = command.target;
        hot.progress = command.progress;
        hot.event_ns = command.event_ns;
        continue;
      }
      HostLaunch& launch = function->launches.emplace_back();
      launch.buffers = command.buffers;
      launch.regions = command.regions;
      launch.duration_ns = command.duration_ns;
      hot.launch = &launch;
      if (command.kind == CommandKind::kCopy) {
        hot.op = HostOp::kCopy;
        if (IsEmulated(schedule_, stream.stream)) {
          launch.link = stream.stream.link;
          code.timed = true;
        }
        continue;
      }
      const HostKernel& kernel = *static_cast<const HostKernel*>(command.kernel);
      launch.kernel = &kernel;
      launch.tiles = kernel.tiles;
      if (kernel.kind == KernelKind::kSynthetic) {
        hot.op = HostOp::kSynthetic;
        code.timed |= !kernel.description->spin;
      } else if (kernel.tiles <= 0) {
        hot.op = HostOp::kNothing;
      } else if (SharesTiles(kernel, stream.stream)) {
        hot.op = HostOp::kShared;
        launch.is_long = IsLong(kernel, command.regions);
      } else if (kernel.kind == KernelKind::kNative) {
        hot.op = HostOp::kNative;
        hot.native = kernel.native;
        hot.buffers = command.buffers;
        hot.tiles = kernel.tiles;
      } else {
        hot.op = HostOp::kLaunch;
      }
    }
  }
  return function;
}

}  // namespace autopar
