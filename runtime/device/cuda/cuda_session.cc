#include "runtime/device/cuda/cuda_session.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace autopar {
namespace {

// What kernels may assume of the addresses that they are given.
constexpr uintptr_t kOperandAlignment = 16;

class CudaFunction : public DeviceFunction {
 public:
  // The group outlives it.
  void Join(CudaFunctionGroup& group, CudaIssuer& issuer, bool is_delayed) {
    group_ = &group;
    member_ = group.Add(&code, &issuer, is_delayed);
    group.SetRunner(member_, [this, &issuer] {
      CallState* call = group_->call();
      issuer.RunCommands(code, staging, *call);
      call->Finish();
    });
  }
  uint32_t participants() const override { return group_->Participants(member_); }
  void Start(CallState* call) override { group_->Start(member_, call); }

  CudaDeviceCode code;
  StagingSlots* staging = nullptr;

 private:
  CudaFunctionGroup* group_ = nullptr;
  size_t member_ = 0;
};

const Space& SpaceOf(const Function& function, const DeviceCommand& command, size_t operand) {
  return function.spaces[command.regions[operand].space.index()];
}

uint64_t ExtentOf(const Region& region) {
  if (region.rows == 0 || region.row_bytes == 0) return 0;
  return (region.rows - 1) * region.row_stride + region.row_bytes;
}

}  // namespace

absl::Status CudaShared::Seal() {
  for (auto& [function, group] : groups_) AUTOPAR_RETURN_IF_ERROR(group->Seal());
  return absl::OkStatus();
}

std::string CudaShared::WhyNoGraph(const Function& function) const {
  const auto found = groups_.find(&function);
  return found == groups_.end() ? "" : found->second->why_not();
}

CudaFunctionGroup& CudaShared::Group(const Function& function) {
  std::unique_ptr<CudaFunctionGroup>& group = groups_[&function];
  if (group == nullptr) group = std::make_unique<CudaFunctionGroup>(program_);
  return *group;
}

absl::StatusOr<SharedEvent*> CudaShared::Event(const Function& function, EventId event,
                                               const CudaContext& recorder) {
  std::unique_ptr<SharedEvent>& slot = events_[{&function, event}];
  if (slot == nullptr) {
    auto made = std::make_unique<SharedEvent>();
    AUTOPAR_ASSIGN_OR_RETURN(made->event, CudaEvent::Create(recorder));
    AUTOPAR_ASSIGN_OR_RETURN(made->captured, CudaEvent::Create(recorder));
    slot = std::move(made);
  }
  return slot.get();
}

CudaSession::CudaSession(CudaDevice& device, const DeviceSessionOptions& options)
    : device_(device),
      program_(device.program()),
      shared_(static_cast<CudaShared&>(*options.cuda)),
      is_delayed_(options.delay_seed != 0),
      issuer_(device.program(), device.context(), options.delay_seed) {}

absl::StatusOr<std::unique_ptr<CudaSession>> CudaSession::Open(CudaDevice& device,
                                                               const DeviceSessionOptions& options) {
  std::unique_ptr<CudaSession> session(new CudaSession(device, options));
  for (const Stream& stream : options.streams) {
    auto [entry, is_new] = session->streams_.try_emplace(KeyOf(stream));
    if (!is_new) continue;
    AUTOPAR_ASSIGN_OR_RETURN(entry->second.stream, device.TakeStream());
  }
  AUTOPAR_RETURN_IF_ERROR(session->issuer_.Launch());
  return session;
}

CudaSession::~CudaSession() {
  for (auto& [key, open] : streams_) {
    open.blas.reset();
    if (open.stream.get() != nullptr) device_.GiveStreamBack(std::move(open.stream));
  }
}

CudaSession::Key CudaSession::KeyOf(const Stream& stream) {
  return {stream.kind == StreamKind::kCopy ? stream.link : LinkId(), stream.ordinal};
}

absl::StatusOr<std::unique_ptr<DeviceFunction>> CudaSession::Prepare(const Function& function,
                                                                     std::vector<StreamWork> work) {
  auto prepared = std::make_unique<CudaFunction>();
  CudaDeviceCode& code = prepared->code;
  code.context = &device_.context();
  const std::vector<EventUse> uses = UsesOfEvents(function);
  code.streams.reserve(work.size());  // events in it do not move
  for (const StreamWork& stream : work) {
    AUTOPAR_RETURN_IF_ERROR(CompileStream(function, uses, stream, &code));
  }
  for (uint32_t i = 0; i < code.streams.size(); ++i) {
    for (uint32_t j = 0; j < code.streams[i].commands.size(); ++j) code.order.push_back({i, j});
  }
  std::sort(code.order.begin(), code.order.end(), [&](CudaDeviceCode::Place a, CudaDeviceCode::Place b) {
    return code.streams[a.stream].commands[a.index].command < code.streams[b.stream].commands[b.index].command;
  });
  if (code.noted) {
    AUTOPAR_ASSIGN_OR_RETURN(code.origin, CudaEvent::Create(device_.context(), true));
  }
  prepared->staging = staging_.get();
  prepared->Join(shared_.Group(function), issuer_, is_delayed_);
  return prepared;
}

std::vector<CudaSession::EventUse> CudaSession::UsesOfEvents(const Function& function) const {
  std::vector<EventUse> uses(function.event_count);
  for (const Command& command : function.commands) {
    if (command.kind == CommandKind::kRecord) uses[command.event.index()].recorder = command.stream;
    if (command.kind != CommandKind::kWait) continue;
    EventUse& use = uses[command.event.index()];
    if (command.stream == use.recorder) continue;
    const DeviceId waiter = function.streams[command.stream.index()].device;
    (program_.Find(waiter) != nullptr ? use.device_waits : use.host_waits) = true;
  }
  return uses;
}

absl::Status CudaSession::CompileStream(const Function& function, const std::vector<EventUse>& uses,
                                        const StreamWork& work, CudaDeviceCode* code) {
  OpenStream& open = streams_.at(KeyOf(work.stream));
  CudaStreamCode& stream = code->streams.emplace_back();
  stream.stream = open.stream.get();
  stream.device = work.stream.device;
  stream.waiters = work.waiters;
  stream.span = work.span;
  for (const DeviceCommand& command : work.commands) {
    CudaCommand compiled;
    compiled.command = command.command;
    switch (command.kind) {
      case CommandKind::kRecord:
      case CommandKind::kWait:
        AUTOPAR_RETURN_IF_ERROR(CompileEvent(function, uses, command, &compiled));
        break;
      case CommandKind::kLaunch:
        AUTOPAR_RETURN_IF_ERROR(CompileLaunch(function, command, open, code, &compiled));
        break;
      case CommandKind::kCopy:
        AUTOPAR_RETURN_IF_ERROR(CompileCopy(function, work.stream, command, code, &compiled));
        break;
    }
    const bool from_host = compiled.op == CudaOp::kCopyIn || compiled.op == CudaOp::kCopyOut;
    if (from_host && stream.idle.get() == nullptr) {
      AUTOPAR_ASSIGN_OR_RETURN(stream.idle, CudaEvent::Create(device_.context()));
    }
    if (command.span != nullptr) {
      code->noted = true;
      compiled.span = command.span;
      compiled.timer = static_cast<int32_t>(stream.timers.size());
      CudaStreamCode::Timer& timer = stream.timers.emplace_back();
      AUTOPAR_ASSIGN_OR_RETURN(timer.begin, CudaEvent::Create(device_.context(), true));
      AUTOPAR_ASSIGN_OR_RETURN(timer.end, CudaEvent::Create(device_.context(), true));
    }
    stream.commands.push_back(compiled);
  }
  return absl::OkStatus();
}

absl::Status CudaSession::CompileEvent(const Function& function, const std::vector<EventUse>& uses,
                                       const DeviceCommand& command, CudaCommand* compiled) {
  const EventId event = function.commands[command.command].event;
  const EventUse& use = uses[event.index()];
  compiled->progress = command.progress;
  compiled->target = command.target;
  compiled->event_ns = command.event_ns;
  if (command.kind == CommandKind::kRecord) {
    if (!use.host_waits && !use.device_waits) return absl::OkStatus();
    compiled->op = CudaOp::kRecord;
    compiled->host_waits = use.host_waits;
    AUTOPAR_ASSIGN_OR_RETURN(compiled->event, shared_.Event(function, event, device_.context()));
    return absl::OkStatus();
  }
  const CudaContext* recorder = program_.Find(function.streams[use.recorder.index()].device);
  compiled->op = recorder != nullptr ? CudaOp::kWaitDevice : CudaOp::kWaitHost;
  if (recorder == nullptr) return absl::OkStatus();
  AUTOPAR_ASSIGN_OR_RETURN(compiled->event, shared_.Event(function, event, *recorder));
  return absl::OkStatus();
}

absl::Status CudaSession::CheckOwner(const Function& function, const DeviceCommand& command,
                                     size_t operand) const {
  const uint64_t bytes = ExtentOf(command.regions[operand]);
  if (bytes == 0) return absl::OkStatus();
  const DeviceId device = SpaceOf(function, command, operand).device;
  const CudaMemoryMap::Owner owner = program_.memory().Find(command.buffers[operand], bytes);
  if (owner.known && owner.device == device) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      "function '", function.name, "', command ", command.command, ", operand ", operand, ": ", bytes,
      " bytes are said to lie in the memory of ", program_.schedule().machine.devices[device.index()].name,
      ", but do not"));
}

absl::Status CudaSession::CompileLaunch(const Function& function, const DeviceCommand& command,
                                        OpenStream& stream, CudaDeviceCode* code, CudaCommand* compiled) {
  const auto& kernel = *static_cast<const CudaKernel*>(command.kernel);
  if (kernel.description->tile_count == 0) return absl::OkStatus();
  for (size_t i = 0; i < command.regions.size(); ++i) {
    const DeviceId device = SpaceOf(function, command, i).device;
    const bool is_aligned = reinterpret_cast<uintptr_t>(command.buffers[i]) % kOperandAlignment == 0;
    if (device != device_.context().device || !is_aligned) {
      return absl::InvalidArgumentError(absl::StrCat(
          "function '", function.name, "', command ", command.command, ": operand ", i, " of '",
          kernel.description->name, "' ",
          is_aligned ? absl::StrCat("is not in the memory of ", device_.context().name, ", where it runs")
                     : absl::StrCat("does not begin at a multiple of ", kOperandAlignment, " bytes")));
    }
    AUTOPAR_RETURN_IF_ERROR(CheckOwner(function, command, i));
  }
  CudaLaunch& launch = code->launches.emplace_back();
  launch.kernel = &kernel;
  launch.buffers = command.buffers;
  for (size_t i = 0; i < command.regions.size(); ++i) {
    launch.parameters.push_back(const_cast<void**>(command.buffers + i));
  }
  compiled->op = kernel.is_product ? CudaOp::kProduct : CudaOp::kLaunch;
  compiled->launch = &launch;
  if (!kernel.is_product) return absl::OkStatus();
  if (stream.blas == nullptr) {
    AUTOPAR_ASSIGN_OR_RETURN(stream.blas,
                             CudaBlas::Create(program_.cuda(), device_.context(), program_.memory(),
                                              stream.stream.get(), program_.options().tf32));
  }
  launch.blas = stream.blas.get();
  return absl::OkStatus();
}

absl::Status CudaSession::CompileCopy(const Function& function, const Stream& stream,
                                      const DeviceCommand& command, CudaDeviceCode* code,
                                      CudaCommand* compiled) {
  CudaCopy copy;
  copy.shape = ShapeOfCopy(command.regions[0], command.regions[1]);
  copy.buffers = command.buffers;
  if (copy.shape.bytes() == 0) return absl::OkStatus();
  const CudaContext* from = program_.Find(SpaceOf(function, command, 0).device);
  const CudaContext* to = program_.Find(SpaceOf(function, command, 1).device);
  if (from != nullptr) AUTOPAR_RETURN_IF_ERROR(CheckOwner(function, command, 0));
  if (to != nullptr) AUTOPAR_RETURN_IF_ERROR(CheckOwner(function, command, 1));
  // The driver of a copy is the device that is not the host, the source of two.
  const CudaContext* driver = from != nullptr ? from : to;
  if (driver != &device_.context()) {
    return absl::InvalidArgumentError(absl::StrCat("function '", function.name, "', command ", command.command,
                                                   ": ", device_.context().name,
                                                   " is to copy what is not in its memory"));
  }
  compiled->copy = &code->copies.emplace_back(copy);
  if (from == nullptr || to == nullptr) {
    return CompileHostCopy(function, command, from == nullptr ? 0 : 1, compiled, code);
  }
  compiled->copy->from_ordinal = from->ordinal;
  compiled->copy->to_ordinal = to->ordinal;
  compiled->op = CudaOp::kCopyInside;
  if (program_.Way(*from, *to) != PeerWay::kStaged) return absl::OkStatus();
  compiled->op = CudaOp::kCopyStaged;
  std::unique_ptr<PeerStage>& stage = stages_[to->device];
  if (stage == nullptr) {
    AUTOPAR_ASSIGN_OR_RETURN(stage, PeerStage::Create(*from, *to, program_.memory()));
  }
  compiled->copy->stage = stage.get();
  return absl::OkStatus();
}

absl::Status CudaSession::CompileHostCopy(const Function& function, const DeviceCommand& command, int host_side,
                                          CudaCommand* compiled, CudaDeviceCode* code) {
  CudaCopy& copy = *compiled->copy;
  const Space& space = SpaceOf(function, command, static_cast<size_t>(host_side));
  compiled->op = host_side == 0 ? CudaOp::kCopyIn : CudaOp::kCopyOut;
  copy.host_side = host_side;
  copy.host_bytes = ExtentOf(command.regions[static_cast<size_t>(host_side)]);
  copy.settled = space.kind == SpaceKind::kArgument || space.kind == SpaceKind::kConstant;
  const bool changes = space.device == program_.schedule().machine.HostDevice() &&
                       (space.kind == SpaceKind::kArgument || space.kind == SpaceKind::kResult);
  if (changes) {
    code->changing.push_back(&copy);
  } else {
    AUTOPAR_ASSIGN_OR_RETURN(
        copy.pinned, program_.IsPinned(device_.context(), command.buffers[host_side], copy.host_bytes));
  }
  if ((changes || !copy.pinned) && staging_ == nullptr) {
    AUTOPAR_ASSIGN_OR_RETURN(staging_, StagingSlots::Create(device_.context(), program_.memory()));
  }
  return absl::OkStatus();
}

}  // namespace autopar
