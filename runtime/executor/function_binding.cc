#include "runtime/executor/function_binding.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace autopar {
namespace {

bool IsDense(const Region& region) {
  return region.rows <= 1 || region.row_stride == region.row_bytes;
}

// Whether the function keeps emulated time: some command sleeps to a deadline.
bool IsTimed(const Function& function, const Schedule& schedule) {
  for (const Stream& stream : function.streams) {
    if (stream.link.valid() && schedule.machine.links[stream.link.index()].emulated) return true;
  }
  for (const Command& command : function.commands) {
    if (command.kind != CommandKind::kLaunch) continue;
    const Kernel& kernel = schedule.kernels[command.kernel.index()];
    if (kernel.kind == KernelKind::kSynthetic && !kernel.spin) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FunctionBinding>> FunctionBinding::Create(
    const Function& function, const SessionResources& resources, bool noted) {
  std::unique_ptr<FunctionBinding> binding(new FunctionBinding(function, resources));
  AUTOPAR_RETURN_IF_ERROR(binding->ResolvePorts());
  binding->ResolveRegions();
  AUTOPAR_RETURN_IF_ERROR(binding->ResolveCommands(noted));
  return binding;
}

absl::Status FunctionBinding::ResolvePorts() {
  auto resolve = [&](const std::vector<Port>& ports, std::vector<BoundPort>& bound) -> absl::Status {
    for (const Port& port : ports) {
      const Space& space = function_.spaces[port.space.index()];
      BoundPort& result = bound.emplace_back();
      result.device = space.device;
      if (space.device == resources_.program->host) continue;
      AUTOPAR_ASSIGN_OR_RETURN(
          result.memory, resources_.program->backends[space.device.index()]->Allocate(space.bytes));
    }
    return absl::OkStatus();
  };
  AUTOPAR_RETURN_IF_ERROR(resolve(function_.arguments, arguments_));
  return resolve(function_.results, results_);
}

void FunctionBinding::ResolveRegions() {
  // The port that a space belongs to, if it is one whose address changes from call to call.
  std::vector<BoundPort*> ports(function_.spaces.size(), nullptr);
  std::vector<std::byte*> bases(function_.spaces.size(), nullptr);
  for (size_t i = 0; i < function_.spaces.size(); ++i) {
    const Space& space = function_.spaces[i];
    if (space.kind == SpaceKind::kArena) bases[i] = resources_.arenas[space.device.index()];
    if (space.kind == SpaceKind::kConstant) bases[i] = resources_.program->ConstantBase(space);
  }
  auto add_ports = [&](const std::vector<Port>& declared, std::vector<BoundPort>& bound) {
    for (size_t i = 0; i < declared.size(); ++i) {
      size_t space = declared[i].space.index();
      if (bound[i].memory != nullptr) {
        bases[space] = bound[i].memory->base();
      } else {
        ports[space] = &bound[i];
      }
    }
  };
  add_ports(function_.arguments, arguments_);
  add_ports(function_.results, results_);
  buffers_.resize(function_.regions.size(), nullptr);
  for (uint32_t i = 0; i < function_.regions.size(); ++i) {
    const Region& region = function_.regions[i];
    size_t space = region.space.index();
    if (ports[space] != nullptr) {
      ports[space]->regions.push_back(i);
    } else {
      buffers_[i] = bases[space] + region.offset;
    }
  }
}

absl::Status FunctionBinding::CheckLaunch(uint32_t index, const Kernel& kernel) const {
  const Command& command = function_.commands[index];
  if (command.reads != kernel.reads || command.writes != kernel.writes ||
      command.scratch != kernel.scratch) {
    return absl::InvalidArgumentError(
        absl::StrCat("function '", function_.name, "', command ", index, ": the launch of '",
                     kernel.name, "' has another number of operands than the kernel"));
  }
  if (kernel.kind != KernelKind::kMatmul) return absl::OkStatus();
  for (uint32_t i : {0u, 1u, kernel.reads}) {
    if (!IsDense(function_.regions[command.first_region + i])) {
      return absl::InvalidArgumentError(
          absl::StrCat("function '", function_.name, "', command ", index, ": operand ", i,
                       " of the matmul '", kernel.name, "' is not contiguous"));
    }
  }
  return absl::OkStatus();
}

absl::Status FunctionBinding::ResolveCommands(bool noted) {
  const Schedule& schedule = resources_.program->schedule();
  size_t stream_count = function_.streams.size();
  stream_spans_.resize(stream_count);
  if (noted) command_spans_.resize(function_.commands.size());
  if (IsTimed(function_, schedule)) event_ns_.resize(function_.event_count, 0);

  std::vector<StreamWork> work(stream_count);
  for (size_t i = 0; i < stream_count; ++i) {
    work[i].stream = function_.streams[i];
    work[i].progress = &resources_.progress[i];
    work[i].span = &stream_spans_[i];
  }
  struct RecordedEvent {
    StreamId stream;
    uint32_t target = 0;
  };
  std::vector<RecordedEvent> events(function_.event_count);
  std::vector<uint32_t> recorded(stream_count, 0);
  for (uint32_t i = 0; i < function_.commands.size(); ++i) {
    const Command& command = function_.commands[i];
    DeviceCommand resolved{.kind = command.kind, .command = i};
    StreamWork& stream = work[command.stream.index()];
    switch (command.kind) {
      case CommandKind::kRecord: {
        RecordedEvent& event = events[command.event.index()];
        event = {command.stream, ++recorded[command.stream.index()]};
        resolved.progress = stream.progress;
        resolved.target = event.target;
        break;
      }
      case CommandKind::kWait: {
        const RecordedEvent& event = events[command.event.index()];
        // A stream's own events have happened by its order.
        if (!event.stream.valid() || event.stream == command.stream) continue;
        resolved.progress = work[event.stream.index()].progress;
        resolved.target = event.target;
        std::vector<Bell*>& waiters = work[event.stream.index()].waiters;
        Bell* bell = resources_.devices[stream.stream.device.index()]->StreamBell(stream.stream);
        if (std::find(waiters.begin(), waiters.end(), bell) == waiters.end()) {
          waiters.push_back(bell);
        }
        break;
      }
      case CommandKind::kLaunch:
        AUTOPAR_RETURN_IF_ERROR(CheckLaunch(i, schedule.kernels[command.kernel.index()]));
        resolved.kernel =
            resources_.program->kernels.at({stream.stream.device, command.kernel});
        [[fallthrough]];
      case CommandKind::kCopy: {
        size_t count = size_t{command.reads} + command.writes + command.scratch;
        resolved.buffers = buffers_.data() + command.first_region;
        resolved.regions = absl::MakeConstSpan(function_.regions).subspan(command.first_region, count);
        resolved.duration_ns = command.duration_ns;
        if (noted) resolved.span = &command_spans_[i];
        break;
      }
    }
    bool is_event = command.kind == CommandKind::kRecord || command.kind == CommandKind::kWait;
    if (is_event && !event_ns_.empty()) resolved.event_ns = &event_ns_[command.event.index()];
    stream.commands.push_back(std::move(resolved));
  }
  if (!recorded.empty()) max_records_ = *std::max_element(recorded.begin(), recorded.end());

  std::vector<std::vector<StreamWork>> by_device(resources_.devices.size());
  for (StreamWork& stream : work) {
    if (stream.commands.empty()) continue;
    by_device[stream.stream.device.index()].push_back(std::move(stream));
  }
  for (size_t device = 0; device < by_device.size(); ++device) {
    if (by_device[device].empty()) continue;
    AUTOPAR_ASSIGN_OR_RETURN(parts_.emplace_back(),
                             resources_.devices[device]->Prepare(function_, std::move(by_device[device])));
  }
  return absl::OkStatus();
}

void FunctionBinding::BindHostPort(BoundPort& port, std::byte* base) {
  if (port.bound == base) return;
  port.bound = base;
  for (uint32_t region : port.regions) buffers_[region] = base + function_.regions[region].offset;
}

absl::Status FunctionBinding::BindArguments(absl::Span<const absl::Span<const uint8_t>> inputs,
                                            absl::Span<const absl::Span<uint8_t>> outputs) {
  bound_ = false;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    BoundPort& port = arguments_[i];
    if (port.memory == nullptr) {
      // Arguments are only read: the checker has seen to that.
      BindHostPort(port, reinterpret_cast<std::byte*>(const_cast<uint8_t*>(inputs[i].data())));
    } else {
      AUTOPAR_RETURN_IF_ERROR(resources_.program->backends[port.device.index()]->CopyIn(
          port.memory->base(), inputs[i].data(), inputs[i].size()));
    }
  }
  outputs_.assign(outputs.begin(), outputs.end());
  bound_ = true;
  for (size_t i = 0; i < results_.size(); ++i) {
    if (results_[i].memory != nullptr) continue;
    BindHostPort(results_[i], reinterpret_cast<std::byte*>(outputs[i].data()));
  }
  return absl::OkStatus();
}

absl::Status FunctionBinding::FetchResults() const {
  for (size_t i = 0; i < results_.size(); ++i) {
    const BoundPort& port = results_[i];
    if (port.memory == nullptr) continue;
    AUTOPAR_RETURN_IF_ERROR(resources_.program->backends[port.device.index()]->CopyOut(
        outputs_[i].data(), port.memory->base(), outputs_[i].size()));
  }
  return absl::OkStatus();
}

}  // namespace autopar
