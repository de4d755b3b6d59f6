#include "runtime/executor/program.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/virtual/virtual_device.h"
#include "runtime/executor/device_map.h"
#include "runtime/executor/program_impl.h"

namespace autopar {

Program::Program() = default;
Program::~Program() = default;

const Schedule& Program::schedule() const { return impl_->schedule(); }

absl::StatusOr<std::shared_ptr<const Program>> Program::Load(const std::string& path,
                                                             const LoadOptions& options) {
  AUTOPAR_ASSIGN_OR_RETURN(std::shared_ptr<const ScheduleFile> file, ReadScheduleFile(path));
  return Create(std::move(file), options);
}

absl::StatusOr<std::shared_ptr<const Program>> Program::Create(
    std::shared_ptr<const ScheduleFile> file, const LoadOptions& options) {
  std::shared_ptr<Program> program(new Program);
  program->impl_ = std::make_unique<Impl>();
  program->impl_->file = std::move(file);
  AUTOPAR_RETURN_IF_ERROR(program->impl_->Load(options));
  return program;
}

absl::Status Program::Impl::Load(const LoadOptions& options) {
  host = schedule().machine.HostDevice();
  AUTOPAR_RETURN_IF_ERROR(OpenDevices(options));
  AUTOPAR_RETURN_IF_ERROR(LoadKernels());
  return LoadConstants();
}

absl::Status Program::Impl::OpenDevices(const LoadOptions& options) {
  AUTOPAR_ASSIGN_OR_RETURN(devices, MapDevices(schedule().machine, options.device_map));
  // A device that nothing uses need not be there.
  std::vector<bool> used(devices.size(), false);
  for (const Function& function : schedule().functions) {
    for (const Space& space : function.spaces) used[space.device.index()] = true;
    for (const Stream& stream : function.streams) used[stream.device.index()] = true;
  }
  backends.resize(devices.size());
  auto kernels = std::make_shared<HostKernels>(schedule());
  for (size_t i = 0; i < devices.size(); ++i) {
    if (!used[i]) continue;
    switch (devices[i].kind) {
      case DeviceKind::kCpu:
        backends[i] = std::make_unique<CpuDevice>(devices[i], kernels);
        break;
      case DeviceKind::kVirtual:
        backends[i] = std::make_unique<VirtualDevice>(devices[i], kernels);
        break;
      case DeviceKind::kCuda:
        return absl::FailedPreconditionError(
            absl::StrCat(devices[i].name, " is a CUDA device; this build has no CUDA device: map it with --device=",
                         devices[i].name, "=virtual:0"));
    }
  }
  return absl::OkStatus();
}

absl::Status Program::Impl::LoadKernels() {
  for (const Function& function : schedule().functions) {
    for (const Command& command : function.commands) {
      if (command.kind != CommandKind::kLaunch) continue;
      DeviceId device = function.streams[command.stream.index()].device;
      auto [entry, is_new] = kernels.try_emplace({device, command.kernel}, nullptr);
      if (!is_new) continue;
      AUTOPAR_ASSIGN_OR_RETURN(entry->second,
                               backends[device.index()]->PrepareKernel(command.kernel));
    }
  }
  return absl::OkStatus();
}

absl::Status Program::Impl::LoadConstants() {
  for (const Function& function : schedule().functions) {
    for (const Space& space : function.spaces) {
      if (space.kind == SpaceKind::kState) {
        return absl::UnimplementedError(absl::StrCat(
            "function '", function.name,
            "' keeps state between calls, which this version cannot run; pass it as an argument"));
      }
      if (space.kind != SpaceKind::kConstant || space.device == host) continue;
      auto [entry, is_new] =
          constants.try_emplace({space.device, space.constant_offset, space.bytes}, nullptr);
      if (!is_new) continue;
      DeviceBackend& backend = *backends[space.device.index()];
      AUTOPAR_ASSIGN_OR_RETURN(entry->second, backend.Allocate(space.bytes));
      AUTOPAR_RETURN_IF_ERROR(backend.CopyIn(
          entry->second->base(), file->constants().data() + space.constant_offset, space.bytes));
    }
  }
  return absl::OkStatus();
}

std::byte* Program::Impl::ConstantBase(const Space& space) const {
  if (space.device == host) {
    const uint8_t* bytes = file->constants().data() + space.constant_offset;
    return reinterpret_cast<std::byte*>(const_cast<uint8_t*>(bytes));
  }
  return constants.at({space.device, space.constant_offset, space.bytes})->base();
}

}  // namespace autopar
