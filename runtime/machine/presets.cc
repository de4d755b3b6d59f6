// The machines that need no file: host, virtual:N, cuda:N. Their rates are tabled, not measured, so
// that a plan for them depends on nothing but the program (autopar-run --describe-machine
// measures).
#include <charconv>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"
#include "runtime/machine/limits.h"
#include "runtime/machine/machine.h"
#include "runtime/machine/probe.h"

namespace autopar {
namespace {

// One core of a current server processor: what oneDNN's f32 product and a plain copy reach on it.
constexpr double kCoreF32Flops = 1.0e11;
constexpr uint64_t kCoreBytesPerSecond = 10'000'000'000;
constexpr uint32_t kCoresThatFillMemory = 8;
constexpr int64_t kCpuLaunchNs = 500;
constexpr int64_t kCpuWaitNs = 200;
// A copy between two virtual devices is a memcpy by a thread that has to be woken.
constexpr uint64_t kMemcpyBytesPerSecond = 10'000'000'000;
constexpr int64_t kMemcpyLatencyNs = 2'000;
// A small data-centre GPU of the baseline architecture on PCIe 4.0 x16.
constexpr uint64_t kPcieBytesPerSecond = 25'000'000'000;
constexpr int64_t kPcieLatencyNs = 8'000;

constexpr uint32_t kMaxPresetGpus = 64;
constexpr uint64_t kMaxMachineFileBytes = 64 << 20;

void SetCoreRates(uint32_t cores, Device* device) {
  device->peak_flops = {{"f32", kCoreF32Flops * cores}, {"f64", kCoreF32Flops / 2 * cores}};
  device->memory_bytes_per_s =
      kCoreBytesPerSecond * (cores < kCoresThatFillMemory ? cores : kCoresThatFillMemory);
  device->launch_ns = kCpuLaunchNs;
  device->wait_ns = kCpuWaitNs;
}

Device HostCpu(uint32_t cores) {
  Device device;
  device.name = "cpu0";
  device.kind = DeviceKind::kCpu;
  device.cores = cores;
  device.streams = cores < kStreamLimits.max ? cores : static_cast<uint32_t>(kStreamLimits.max);
  device.memory_bytes = UsableMemoryBytes();
  SetCoreRates(cores, &device);
  return device;
}

Device VirtualGpu(uint32_t number, uint32_t cores, uint64_t memory_bytes) {
  Device device;
  device.name = absl::StrCat("gpu", number);
  device.kind = DeviceKind::kVirtual;
  device.cores = 1;
  device.first_core = static_cast<int32_t>(number % cores);
  device.streams = 8;
  device.memory_bytes = memory_bytes;  // backed by the host's memory
  SetCoreRates(1, &device);
  return device;
}

Device CudaGpu(uint32_t number) {
  Device device;
  device.name = absl::StrCat("gpu", number);
  device.kind = DeviceKind::kCuda;
  device.streams = 8;
  device.arch = "sm_75";
  device.memory_bytes = 16'000'000'000;
  device.peak_flops = {{"f32", 8.0e12}, {"f64", 2.5e11}, {"f16", 6.0e13}, {"i8", 1.2e14}};
  device.memory_bytes_per_s = 300'000'000'000;
  device.launch_ns = 2'500;
  device.wait_ns = 1'500;
  return device;
}

// Every GPU has one engine for what comes in and one for what goes out, as PCIe devices do.
void AddLinks(uint64_t bytes_per_s, int64_t latency_ns, Machine* machine) {
  const auto add = [&](size_t from, size_t to) {
    Link link;
    link.from = DeviceId(from);
    link.to = DeviceId(to);
    link.bytes_per_s = bytes_per_s;
    link.latency_ns = latency_ns;
    for (const auto& [device, suffix] : {std::pair{from, ".out"}, std::pair{to, ".in"}}) {
      if (device == 0) continue;  // the host's memory feeds all links at once
      const std::string name = machine->devices[device].name + suffix;
      size_t engine = 0;
      while (engine < machine->engines.size() && machine->engines[engine] != name) ++engine;
      if (engine == machine->engines.size()) machine->engines.push_back(name);
      link.engines.push_back(static_cast<uint32_t>(engine));
    }
    machine->links.push_back(std::move(link));
  };
  const size_t count = machine->devices.size();
  for (size_t gpu = 1; gpu < count; ++gpu) {
    add(0, gpu);
    add(gpu, 0);
  }
  for (size_t from = 1; from < count; ++from) {
    for (size_t to = 1; to < count; ++to) {
      if (from != to) add(from, to);
    }
  }
}

Machine VirtualMachine(uint32_t gpus) {
  const uint32_t cores = UsableCores();
  Machine machine;
  machine.devices.push_back(HostCpu(cores));
  for (uint32_t i = 0; i < gpus; ++i) {
    machine.devices.push_back(VirtualGpu(i, cores, machine.devices[0].memory_bytes));
  }
  AddLinks(kMemcpyBytesPerSecond, kMemcpyLatencyNs, &machine);
  return machine;
}

Machine CudaMachine(uint32_t gpus) {
  Machine machine = HostMachine();
  for (uint32_t i = 0; i < gpus; ++i) machine.devices.push_back(CudaGpu(i));
  AddLinks(kPcieBytesPerSecond, kPcieLatencyNs, &machine);
  return machine;
}

}  // namespace

Machine HostMachine() {
  Machine machine;
  machine.devices.push_back(HostCpu(UsableCores()));
  return machine;
}

absl::StatusOr<Machine> LoadMachine(std::string_view spec) {
  constexpr std::string_view kForms =
      "; give host, virtual:N, cuda:N (N from 1 to 64) or the path of a machine file (JSON)";
  if (spec == "host") return HostMachine();
  for (const std::string_view preset : {std::string_view("virtual"), std::string_view("cuda")}) {
    if (spec.substr(0, preset.size()) != preset) continue;
    std::string_view rest = spec.substr(preset.size());
    if (!rest.empty() && rest[0] != ':') continue;  // a file called virtual-box.json
    uint32_t count = 0;
    if (!rest.empty()) rest.remove_prefix(1);
    const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), count);
    const bool whole = result.ec == std::errc() && result.ptr == rest.data() + rest.size();
    if (!whole || count < 1 || count > kMaxPresetGpus) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", PrintableText(spec), "' is not a machine", std::string(kForms)));
    }
    return preset == "virtual" ? VirtualMachine(count) : CudaMachine(count);
  }
  const std::string path(spec);
  absl::StatusOr<std::string> text = ReadFile(path, kMaxMachineFileBytes);
  if (!text.ok()) {
    const bool missing = absl::IsNotFound(text.status());
    return absl::Status(text.status().code(),
                        absl::StrCat(missing ? "" : "machine file: ", text.status().message(),
                                     missing ? std::string(kForms) : ""));
  }
  absl::StatusOr<Machine> machine = ParseMachine(*text);
  if (machine.ok()) return machine;
  return absl::Status(machine.status().code(),
                      absl::StrCat("machine file '", path, "': ", machine.status().message()));
}

}  // namespace autopar
