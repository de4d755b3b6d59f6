#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"
#include "runtime/device/host/affinity.h"
#include "runtime/device/host/copy_engines.h"
#include "runtime/executor/function_binding.h"
#include "runtime/executor/poison.h"
#include "runtime/executor/program.h"
#include "runtime/executor/program_impl.h"

namespace autopar {
namespace {

// Looks for the end of a call, with a pause between them, before the caller's thread sleeps: only if
// it takes no stream's core meanwhile.
constexpr int kCallerSpins = 1000;

using StreamKey = std::tuple<DeviceId, LinkId, uint32_t>;

StreamKey KeyOf(const Stream& stream) {
  return {stream.device, stream.kind == StreamKind::kCopy ? stream.link : LinkId(), stream.ordinal};
}

// A byte range of the caller's, for finding overlaps.
struct CallerBytes {
  const uint8_t* begin;
  const uint8_t* end;
  bool is_output;
  size_t number;
};

absl::Status CheckOverlap(absl::Span<const absl::Span<const uint8_t>> inputs,
                          absl::Span<const absl::Span<uint8_t>> outputs) {
  std::vector<CallerBytes> ranges;
  ranges.reserve(inputs.size() + outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    ranges.push_back({inputs[i].data(), inputs[i].data() + inputs[i].size(), false, i});
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    ranges.push_back({outputs[i].data(), outputs[i].data() + outputs[i].size(), true, i});
  }
  ranges.erase(std::remove_if(ranges.begin(), ranges.end(),
                              [](const CallerBytes& range) { return range.begin == range.end; }),
               ranges.end());
  std::sort(ranges.begin(), ranges.end(), [](const CallerBytes& a, const CallerBytes& b) {
    return std::less<const uint8_t*>()(a.begin, b.begin);
  });
  // The furthest ends seen so far: of anything, and of an output.
  const CallerBytes* furthest = nullptr;
  const CallerBytes* furthest_output = nullptr;
  for (const CallerBytes& range : ranges) {
    const CallerBytes* other = range.is_output ? furthest : furthest_output;
    if (other != nullptr && range.begin < other->end) {
      auto name = [](const CallerBytes& bytes) {
        return absl::StrCat(bytes.is_output ? "output " : "input ", bytes.number);
      };
      return absl::InvalidArgumentError(absl::StrCat(
          name(*other), " and ", name(range), " share bytes; give every output its own buffer"));
    }
    if (furthest == nullptr || range.end > furthest->end) furthest = &range;
    if (range.is_output && (furthest_output == nullptr || range.end > furthest_output->end)) {
      furthest_output = &range;
    }
  }
  return absl::OkStatus();
}

template <class Buffer>
absl::Status CheckBuffers(const std::string& function, const std::vector<Port>& ports,
                          absl::Span<const Buffer> buffers, const char* noun) {
  if (buffers.size() != ports.size()) {
    return absl::InvalidArgumentError(absl::StrCat("function '", function, "' has ", ports.size(),
                                                   " ", noun, "s, but ", buffers.size(),
                                                   buffers.size() == 1 ? " was" : " were", " given"));
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    uint64_t bytes = ports[i].type.bytes();
    if (buffers[i].size() == bytes) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("function '", function, "', ", noun, " ", i, ": ", ports[i].type.ToString(),
                     " has ", bytes, " bytes, but the buffer has ", buffers[i].size()));
  }
  return absl::OkStatus();
}

}  // namespace

struct Session::Impl {
  std::shared_ptr<const Program> program;
  SessionOptions options;
  std::unique_ptr<CopyEngines> engines;
  std::vector<std::unique_ptr<DeviceMemory>> arena_memory;  // by DeviceId
  std::vector<uint64_t> arena_bytes;                        // by DeviceId
  CallState call;              // before the threads, which may be leaving it
  std::unique_ptr<CudaSessionShared> cuda;  // before the devices, which it outlives
  SessionResources resources;  // holds the threads
  std::map<std::string, std::unique_ptr<FunctionBinding>, std::less<>> functions;
  std::map<std::string, std::vector<PoisonedArena>, std::less<>> poison;
  uint32_t next_base = 0;
  int caller_spins = 0;
  std::atomic<bool> busy{false};
  std::vector<CommandTiming> timings;
  int64_t elapsed_ns = 0;

  absl::Status Open();
  absl::Status OpenArenas();
  absl::Status OpenDevices();
  absl::Status BindFunctions();
  template <class Step>
  absl::Status WithFunction(std::string_view function, Step step);
  absl::StatusOr<FunctionBinding*> Find(std::string_view function);
  absl::Status Bind(FunctionBinding& binding, absl::Span<const absl::Span<const uint8_t>> inputs,
                    absl::Span<const absl::Span<uint8_t>> outputs);
  absl::Status Run(const FunctionBinding& binding);
  void Execute(const FunctionBinding& binding);
  void NoteTimes(const FunctionBinding& binding);
};

Session::Session() : impl_(std::make_unique<Impl>()) {}
Session::~Session() = default;

absl::StatusOr<std::unique_ptr<Session>> Session::Create(std::shared_ptr<const Program> program,
                                                         const SessionOptions& options) {
  std::unique_ptr<Session> session(new Session);
  session->impl_->program = std::move(program);
  session->impl_->options = options;
  AUTOPAR_RETURN_IF_ERROR(session->impl_->Open());
  return session;
}

absl::Status Session::Impl::Open() {
  const Program::Impl& loaded = program->impl();
  resources.program = &loaded;
  engines = std::make_unique<CopyEngines>(loaded.schedule().machine);
  if (loaded.cuda != nullptr) cuda = loaded.cuda->OpenShared();
  for (const Function& function : loaded.schedule().functions) {
    resources.progress_count = std::max(resources.progress_count, function.streams.size());
    std::set<StreamKey> keys;
    for (const Stream& stream : function.streams) {
      if (!keys.insert(KeyOf(stream)).second) {
        return absl::InvalidArgumentError(absl::StrCat(
            "function '", function.name, "' names the same stream of ",
            loaded.devices[stream.device.index()].name, " twice"));
      }
    }
  }
  resources.progress = std::make_unique<Progress[]>(resources.progress_count);
  AUTOPAR_RETURN_IF_ERROR(OpenArenas());
  AUTOPAR_RETURN_IF_ERROR(OpenDevices());
  AUTOPAR_RETURN_IF_ERROR(BindFunctions());
  return cuda != nullptr ? cuda->Seal() : absl::OkStatus();
}

absl::Status Session::Impl::OpenArenas() {
  const Program::Impl& loaded = program->impl();
  size_t count = loaded.devices.size();
  arena_bytes.assign(count, 0);
  arena_memory.resize(count);
  resources.arenas.assign(count, nullptr);
  // Calls are serial, so all functions share the arena of a device.
  for (const Function& function : loaded.schedule().functions) {
    for (const Space& space : function.spaces) {
      if (space.kind != SpaceKind::kArena) continue;
      uint64_t& bytes = arena_bytes[space.device.index()];
      bytes = std::max(bytes, space.bytes);
    }
  }
  uint64_t margin = options.poison ? kPoisonMargin : 0;
  for (size_t i = 0; i < count; ++i) {
    if (loaded.backends[i] == nullptr) continue;
    // Of the host's arena GPUs copy from and to: pinned if the system allows it, staged otherwise.
    if (loaded.cuda != nullptr && loaded.devices[i].kind == DeviceKind::kCpu) {
      auto pinned = loaded.cuda->AllocatePinned(arena_bytes[i] + 2 * margin);
      if (pinned.ok()) arena_memory[i] = std::move(pinned).value();
    }
    if (arena_memory[i] == nullptr) {
      AUTOPAR_ASSIGN_OR_RETURN(arena_memory[i],
                               loaded.backends[i]->Allocate(arena_bytes[i] + 2 * margin));
    }
    resources.arenas[i] = arena_memory[i]->base() + margin;
  }
  return absl::OkStatus();
}

absl::Status Session::Impl::OpenDevices() {
  const Program::Impl& loaded = program->impl();
  std::map<StreamKey, Stream> streams;
  for (const Function& function : loaded.schedule().functions) {
    for (const Stream& stream : function.streams) streams.emplace(KeyOf(stream), stream);
  }
  uint32_t compute_streams = 0, copy_streams = 0;
  for (const auto& [key, stream] : streams) {
    (stream.kind == StreamKind::kCompute ? compute_streams : copy_streams) += 1;
  }
  caller_spins = compute_streams < HostCores().size() ? kCallerSpins : 0;
  resources.devices.resize(loaded.devices.size());
  for (size_t i = 0; i < loaded.devices.size(); ++i) {
    if (loaded.backends[i] == nullptr) continue;
    DeviceSessionOptions device_options{.device = DeviceId(i),
                                        .schedule = &loaded.schedule(),
                                        .engines = engines.get(),
                                        .cuda = cuda.get(),
                                        .compute_streams = compute_streams,
                                        .copy_streams = copy_streams,
                                        .delay_seed = options.delay_seed};
    for (const auto& [key, stream] : streams) {
      if (stream.device.index() == i) device_options.streams.push_back(stream);
    }
    AUTOPAR_ASSIGN_OR_RETURN(resources.devices[i], loaded.backends[i]->OpenSession(device_options));
  }
  return absl::OkStatus();
}

absl::Status Session::Impl::BindFunctions() {
  const Program::Impl& loaded = program->impl();
  for (const Function& function : loaded.schedule().functions) {
    AUTOPAR_ASSIGN_OR_RETURN(
        functions[function.name],
        FunctionBinding::Create(function, resources, options.record_timings));
    if (!options.poison) continue;
    std::vector<PoisonedArena>& arenas = poison[function.name];
    for (size_t i = 0; i < arena_memory.size(); ++i) {
      if (arena_memory[i] == nullptr) continue;
      arenas.emplace_back(loaded.schedule(), function, DeviceId(i), *loaded.backends[i],
                          *arena_memory[i], arena_bytes[i]);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<FunctionBinding*> Session::Impl::Find(std::string_view function) {
  auto found = functions.find(function);
  if (found != functions.end()) return found->second.get();
  return absl::NotFoundError(absl::StrCat(
      "the schedule has no function '", std::string(function), "'; it has ",
      functions.empty() ? "none"
                        : absl::StrJoin(functions, ", ", [](std::string* out, const auto& entry) {
                            absl::StrAppend(out, "'", entry.first, "'");
                          })));
}

absl::Status Session::Impl::Bind(FunctionBinding& binding,
                                 absl::Span<const absl::Span<const uint8_t>> inputs,
                                 absl::Span<const absl::Span<uint8_t>> outputs) {
  const Function& description = binding.function();
  AUTOPAR_RETURN_IF_ERROR(CheckBuffers(description.name, description.arguments, inputs, "input"));
  AUTOPAR_RETURN_IF_ERROR(CheckBuffers(description.name, description.results, outputs, "output"));
  AUTOPAR_RETURN_IF_ERROR(CheckOverlap(inputs, outputs));
  return binding.BindArguments(inputs, outputs);
}

absl::Status Session::Impl::Run(const FunctionBinding& binding) {
  if (!binding.is_bound()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "function '", binding.function().name, "' has no buffers yet; call Bind first"));
  }
  auto poisoned = poison.find(binding.function().name);
  if (poisoned != poison.end()) {
    for (PoisonedArena& arena : poisoned->second) AUTOPAR_RETURN_IF_ERROR(arena.Fill());
  }
  Execute(binding);
  NoteTimes(binding);
  AUTOPAR_RETURN_IF_ERROR(std::exchange(call.error, absl::OkStatus()));
  if (poisoned != poison.end()) {
    for (PoisonedArena& arena : poisoned->second) AUTOPAR_RETURN_IF_ERROR(arena.Verify());
  }
  return absl::OkStatus();
}

// Steps are serial: `step` runs unless another thread is in one.
template <class Step>
absl::Status Session::Impl::WithFunction(std::string_view function, Step step) {
  if (busy.exchange(true, std::memory_order_acquire)) {
    return absl::FailedPreconditionError(
        "this session is running a call already; wait for it, or make a session for each thread");
  }
  absl::StatusOr<FunctionBinding*> binding = Find(function);
  absl::Status status = binding.ok() ? step(**binding) : binding.status();
  busy.store(false, std::memory_order_release);
  return status;
}

absl::Status Session::Call(std::string_view function,
                           absl::Span<const absl::Span<const uint8_t>> inputs,
                           absl::Span<const absl::Span<uint8_t>> outputs) {
  return impl_->WithFunction(function, [&](FunctionBinding& binding) -> absl::Status {
    AUTOPAR_RETURN_IF_ERROR(impl_->Bind(binding, inputs, outputs));
    absl::Status status = impl_->Run(binding);
    if (status.ok()) status = binding.FetchResults();
    binding.Unbind();  // from here on the buffers are the caller's alone
    return status;
  });
}

absl::Status Session::Bind(std::string_view function,
                           absl::Span<const absl::Span<const uint8_t>> inputs,
                           absl::Span<const absl::Span<uint8_t>> outputs) {
  return impl_->WithFunction(function, [&](FunctionBinding& binding) {
    return impl_->Bind(binding, inputs, outputs);
  });
}

absl::Status Session::Run(std::string_view function) {
  return impl_->WithFunction(function, [&](FunctionBinding& binding) { return impl_->Run(binding); });
}

absl::Status Session::Fetch(std::string_view function) {
  return impl_->WithFunction(function, [](FunctionBinding& binding) -> absl::Status {
    if (!binding.is_bound()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "function '", binding.function().name, "' has no buffers yet; call Bind first"));
    }
    return binding.FetchResults();
  });
}

void Session::Impl::Execute(const FunctionBinding& binding) {
  call.base = next_base;
  ++call.number;
  next_base += binding.max_records() + 1;
  for (size_t i = 0; i < resources.progress_count; ++i) resources.progress[i].Reset(call.base);
  uint32_t participants = 0;
  for (const auto& part : binding.parts()) participants += part->participants();
  call.running.store(participants, std::memory_order_relaxed);
  call.failed.store(false, std::memory_order_relaxed);
  call.start_ns = NowNs();
  for (const auto& part : binding.parts()) part->Start(&call);
  auto finished = [this] { return call.running.load(std::memory_order_seq_cst) == 0; };
  for (int looks = 0; !finished(); ++looks) {
    if (looks < caller_spins) {
      CpuPause();
    } else {
      call.finished.Park(finished);
    }
  }
}

void Session::Impl::NoteTimes(const FunctionBinding& binding) {
  int64_t start_ns = std::numeric_limits<int64_t>::max(), finish_ns = 0;
  for (const StreamSpan& span : binding.stream_spans()) {
    if (span.finish_ns == 0) continue;  // a stream without commands
    start_ns = std::min(start_ns, span.start_ns);
    finish_ns = std::max(finish_ns, span.finish_ns);
  }
  elapsed_ns = std::max<int64_t>(0, finish_ns - start_ns);
  if (finish_ns == 0) elapsed_ns = 0;
  timings.clear();
  for (uint32_t i = 0; i < binding.command_spans().size(); ++i) {
    CommandKind kind = binding.function().commands[i].kind;
    if (kind != CommandKind::kLaunch && kind != CommandKind::kCopy) continue;
    const CommandSpan& span = binding.command_spans()[i];
    timings.push_back({i, span.start_ns - start_ns, span.finish_ns - start_ns});
  }
}

const std::vector<CommandTiming>& Session::timings() const { return impl_->timings; }
std::string Session::WhyNoCudaGraph(std::string_view function) const {
  const auto found = impl_->functions.find(function);
  if (impl_->cuda == nullptr || found == impl_->functions.end()) return "";
  return impl_->cuda->WhyNoGraph(found->second->function());
}
int64_t Session::elapsed_ns() const { return impl_->elapsed_ns; }

}  // namespace autopar
