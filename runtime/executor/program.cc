#include "runtime/executor/program.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/host/host_memory.h"
#include "runtime/device/virtual/virtual_device.h"
#include "runtime/executor/device_map.h"
#include "runtime/executor/program_impl.h"

namespace autopar {

Program::Program() = default;
Program::~Program() = default;

const Schedule& Program::schedule() const { return impl_->schedule(); }
bool Program::UsesCuda() const { return impl_->cuda != nullptr; }

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

namespace {

// "; to run without them, map them with --device=gpu0=virtual:0,gpu1=virtual:1": a core for each.
std::string HowToRunWithout(const std::vector<std::string>& names) {
  const char* what = names.size() == 1 ? "it" : "them";
  std::string text = absl::StrCat("; to run without ", what, ", map ", what, " with --device=");
  for (size_t i = 0; i < names.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ",", names[i], "=virtual:", i);
  }
  return text;
}

}  // namespace

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
  const std::vector<uint32_t> ordinals = CudaOrdinals(devices, options.device_map);
  std::vector<CudaPlacement> placements;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (!used[i] || devices[i].kind != DeviceKind::kCuda) continue;
    placements.push_back({DeviceId(i), devices[i].name, ordinals[i]});
  }
  AUTOPAR_RETURN_IF_ERROR(CheckDrivers());
  if (!placements.empty()) {
    std::vector<std::string> names;
    for (const CudaPlacement& placement : placements) names.push_back(placement.name);
    auto opened = CudaDevices::Open(schedule(), options.cuda, std::move(placements));
    // What is missing for all GPUs; other errors name theirs.
    if (absl::IsFailedPrecondition(opened.status())) {
      return absl::Status(opened.status().code(),
                          absl::StrCat(names.front(), " is a CUDA device, but ", opened.status().message(),
                                       HowToRunWithout(names)));
    }
    if (!opened.ok()) return opened.status();
    cuda = std::move(opened).value();
  }
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
        backends[i] = cuda->MakeBackend(DeviceId(i));
        break;
    }
  }
  return absl::OkStatus();
}

// A copy is driven by its source, unless that is the host: a virtual device cannot reach into a GPU.
absl::Status Program::Impl::CheckDrivers() const {
  for (const Function& function : schedule().functions) {
    for (const Stream& stream : function.streams) {
      if (stream.kind != StreamKind::kCopy || !stream.link.valid()) continue;
      const Device& to = devices[schedule().machine.links[stream.link.index()].to.index()];
      if (devices[stream.device.index()].kind == DeviceKind::kCuda || to.kind != DeviceKind::kCuda) continue;
      return absl::UnimplementedError(absl::StrCat(
          "function '", function.name, "' copies from ", devices[stream.device.index()].name,
          ", a virtual device, to ", to.name, ", a CUDA device; map both to devices of one kind with --device"));
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

absl::StatusOr<std::unique_ptr<HostBuffer>> Program::AllocateBuffer(uint64_t bytes) const {
  if (impl_->cuda != nullptr) {
    auto pinned = impl_->cuda->AllocatePinned(bytes);
    if (pinned.ok()) return std::make_unique<HostBuffer>(std::move(pinned).value(), true);
  }
  AUTOPAR_ASSIGN_OR_RETURN(std::unique_ptr<DeviceMemory> memory,
                           AllocateHostMemory(bytes, "a buffer of the program"));
  return std::make_unique<HostBuffer>(std::move(memory), false);
}

HostBuffer::HostBuffer(std::unique_ptr<DeviceMemory> memory, bool is_pinned)
    : memory_(std::move(memory)), is_pinned_(is_pinned) {}
HostBuffer::~HostBuffer() = default;
absl::Span<uint8_t> HostBuffer::bytes() {
  return absl::MakeSpan(reinterpret_cast<uint8_t*>(memory_->base()), memory_->bytes());
}

std::byte* Program::Impl::ConstantBase(const Space& space) const {
  if (space.device == host) {
    const uint8_t* bytes = file->constants().data() + space.constant_offset;
    return reinterpret_cast<std::byte*>(const_cast<uint8_t*>(bytes));
  }
  return constants.at({space.device, space.constant_offset, space.bytes})->base();
}

}  // namespace autopar
