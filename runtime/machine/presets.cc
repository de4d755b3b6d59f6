// The machines that need no file: host, virtual:N, cuda:N, and those of data_sheets.cc. Their rates
// are tabled, not measured, so that a plan for them depends on nothing but the program (autopar-run
// --describe-machine measures).
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"
#include "runtime/machine/data_sheets.h"
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
// Of a copy from or to a GPU, a launch on it, a wait on it: estimates for all GPUs; no data sheet
// gives them.
constexpr int64_t kGpuCopyLatencyNs = 8'000;
constexpr int64_t kGpuLaunchNs = 2'500;
constexpr int64_t kGpuWaitNs = 1'500;
constexpr uint32_t kGpuStreams = 8;

constexpr uint32_t kMaxPresetGpus = 64;
constexpr uint64_t kMaxMachineFileBytes = 64 << 20;

void SetCoreRates(uint32_t cores, Device* device) {
  device->peak_flops = {{"f32", kCoreF32Flops * cores}, {"f64", kCoreF32Flops / 2 * cores}};
  device->memory_bytes_per_s =
      kCoreBytesPerSecond * (cores < kCoresThatFillMemory ? cores : kCoresThatFillMemory);
  device->launch_ns = kCpuLaunchNs;
  device->wait_ns = kCpuWaitNs;
}

Device Cpu(uint32_t cores, uint64_t memory_bytes) {
  Device device;
  device.name = "cpu0";
  device.kind = DeviceKind::kCpu;
  device.cores = cores;
  device.streams = cores < kStreamLimits.max ? cores : static_cast<uint32_t>(kStreamLimits.max);
  device.memory_bytes = memory_bytes;
  SetCoreRates(cores, &device);
  return device;
}

Device HostCpu(uint32_t cores) { return Cpu(cores, UsableMemoryBytes()); }

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

Device Gpu(uint32_t number, const char* arch) {
  Device device;
  device.name = absl::StrCat("gpu", number);
  device.kind = DeviceKind::kCuda;
  device.streams = kGpuStreams;
  device.arch = arch;
  device.launch_ns = kGpuLaunchNs;
  device.wait_ns = kGpuWaitNs;
  return device;
}

Device CudaGpu(uint32_t number) {
  Device device = Gpu(number, "sm_75");
  device.memory_bytes = 16'000'000'000;
  device.peak_flops = {{"f32", 8.0e12}, {"f64", 2.5e11}, {"f16", 6.0e13}, {"i8", 1.2e14}};
  device.memory_bytes_per_s = 300'000'000'000;
  return device;
}

Device SheetGpu(uint32_t number, const DataSheet& sheet) {
  Device device = Gpu(number, sheet.arch);
  device.memory_bytes = sheet.memory_bytes;
  device.peak_flops = {{"f32", sheet.f32},
                       {"f64", sheet.f64},
                       {"f16", sheet.f16},
                       {"bf16", sheet.f16},
                       {"i8", sheet.i8}};
  device.memory_bytes_per_s = sheet.memory_bytes_per_s;
  return device;
}

// How two GPUs are joined.
struct Peering {
  uint64_t bytes_per_s = 0;  // 0: not at all, but over the host
  std::string_view suffix;   // of the names of its engines
};

Peering PeeringOf(const DataSheet* from, const DataSheet* to) {
  const bool has_nvlink = from != nullptr && to != nullptr && from->nvlink_bytes_per_s != 0 &&
                          to->nvlink_bytes_per_s != 0;
  if (has_nvlink) return {std::min(from->nvlink_bytes_per_s, to->nvlink_bytes_per_s), ".nvlink"};
  uint64_t bytes_per_s = kPcieBytesPerSecond;
  for (const DataSheet* sheet : {from, to}) {
    if (sheet == nullptr) continue;
    if (!sheet->has_pcie_peers) return {};
    bytes_per_s = std::min(bytes_per_s, sheet->pcie_bytes_per_s);
  }
  return {bytes_per_s, ""};
}

// A link that takes the engines "FROM<suffix>.out" and "TO<suffix>.in" of its ends; the host,
// device 0, has none: its memory feeds all links at once.
void AddLink(size_t from, size_t to, uint64_t bytes_per_s, int64_t latency_ns,
             std::string_view suffix, Machine* machine) {
  Link link;
  link.from = DeviceId(from);
  link.to = DeviceId(to);
  link.bytes_per_s = bytes_per_s;
  link.latency_ns = latency_ns;
  for (const auto& [device, end] : {std::pair{from, ".out"}, std::pair{to, ".in"}}) {
    if (device == 0) continue;
    const std::string name = absl::StrCat(machine->devices[device].name, std::string(suffix), end);
    size_t engine = 0;
    while (engine < machine->engines.size() && machine->engines[engine] != name) ++engine;
    if (engine == machine->engines.size()) machine->engines.push_back(name);
    link.engines.push_back(static_cast<uint32_t>(engine));
  }
  machine->links.push_back(std::move(link));
}

// Every GPU has one engine for what comes in and one for what goes out, as PCIe devices do. NVLink has
// engines of its own, so that copies between GPUs and copies to the host do not queue for each other.
// Per GPU its PCIe rate and, between any two, what `peers` says.
template <class HostRate, class Peers>
void AddLinks(HostRate host_bytes_per_s, Peers peers, int64_t latency_ns, Machine* machine) {
  const size_t count = machine->devices.size();
  for (size_t gpu = 1; gpu < count; ++gpu) {
    AddLink(0, gpu, host_bytes_per_s(gpu), latency_ns, "", machine);
    AddLink(gpu, 0, host_bytes_per_s(gpu), latency_ns, "", machine);
  }
  for (size_t from = 1; from < count; ++from) {
    for (size_t to = 1; to < count; ++to) {
      if (from == to) continue;
      const Peering peering = peers(from, to);
      if (peering.bytes_per_s != 0) {
        AddLink(from, to, peering.bytes_per_s, latency_ns, peering.suffix, machine);
      }
    }
  }
}

void AddEqualLinks(uint64_t bytes_per_s, int64_t latency_ns, Machine* machine) {
  AddLinks([=](size_t) { return bytes_per_s; },
           [=](size_t, size_t) { return Peering{bytes_per_s, ""}; }, latency_ns, machine);
}

Machine VirtualMachine(uint32_t gpus) {
  const uint32_t cores = UsableCores();
  Machine machine;
  machine.devices.push_back(HostCpu(cores));
  for (uint32_t i = 0; i < gpus; ++i) {
    machine.devices.push_back(VirtualGpu(i, cores, machine.devices[0].memory_bytes));
  }
  AddEqualLinks(kMemcpyBytesPerSecond, kMemcpyLatencyNs, &machine);
  return machine;
}

// GPUs beside device 0; null: one that no data sheet is known of.
void AddGpus(const std::vector<const DataSheet*>& sheets, Machine* machine) {
  for (uint32_t i = 0; i < sheets.size(); ++i) {
    machine->devices.push_back(sheets[i] != nullptr ? SheetGpu(i, *sheets[i]) : CudaGpu(i));
  }
  AddLinks(
      [&](size_t gpu) {
        return sheets[gpu - 1] != nullptr ? sheets[gpu - 1]->pcie_bytes_per_s : kPcieBytesPerSecond;
      },
      [&](size_t from, size_t to) { return PeeringOf(sheets[from - 1], sheets[to - 1]); },
      kGpuCopyLatencyNs, machine);
}

Machine CudaMachine(uint32_t gpus) {
  Machine machine;
  machine.devices.push_back(HostCpu(UsableCores()));
  AddGpus(std::vector<const DataSheet*>(gpus, nullptr), &machine);
  return machine;
}

Machine SheetMachine(const DataSheet& sheet, uint32_t gpus) {
  Machine machine;
  machine.devices.push_back(Cpu(sheet.host_cores, sheet.host_memory_bytes));
  if (sheet.host_bytes_per_s != 0) machine.devices[0].memory_bytes_per_s = sheet.host_bytes_per_s;
  AddGpus(std::vector<const DataSheet*>(gpus, &sheet), &machine);
  return machine;
}

// A preset with a number of GPUs.
struct Preset {
  std::string_view name;
  uint32_t most = 0;
  const DataSheet* sheet = nullptr;  // else virtual or cuda
};

std::vector<Preset> Presets() {
  std::vector<Preset> presets = {{"virtual", kMaxPresetGpus}, {"cuda", kMaxPresetGpus}};
  for (const DataSheet& sheet : DataSheets())
    presets.push_back({sheet.preset, kMostDataSheetGpus, &sheet});
  return presets;
}

// "; give host, virtual:N, cuda:N (N from 1 to 64), a100-sxm:N, ... (N from 1 to 8) or the path of
// a machine file (JSON)".
std::string Forms() {
  std::string text = "; give host";
  const std::vector<Preset> presets = Presets();
  for (size_t i = 0; i < presets.size(); ++i) {
    absl::StrAppend(&text, ", ", std::string(presets[i].name), ":N");
    if (i + 1 == presets.size() || presets[i + 1].most != presets[i].most)
      absl::StrAppend(&text, " (N from 1 to ", presets[i].most, ")");
  }
  return text + " or the path of a machine file (JSON)";
}

}  // namespace

Machine HostMachineWith(const std::vector<InstalledGpu>& gpus) {
  Machine machine;
  machine.devices.push_back(HostCpu(UsableCores()));
  std::vector<const DataSheet*> sheets(std::min<size_t>(gpus.size(), kMaxPresetGpus), nullptr);
  for (size_t i = 0; i < sheets.size(); ++i) {
    for (const DataSheet& sheet : DataSheets()) {
      if (sheet.model == gpus[i].model) sheets[i] = &sheet;
    }
  }
  AddGpus(sheets, &machine);
  return machine;
}

Machine HostMachine() { return HostMachineWith(VisibleGpus()); }

absl::StatusOr<Machine> LoadMachine(std::string_view spec) {
  if (spec == "host") return HostMachine();
  for (const Preset& preset : Presets()) {
    if (spec.substr(0, preset.name.size()) != preset.name) continue;
    std::string_view rest = spec.substr(preset.name.size());
    if (!rest.empty() && rest[0] != ':') continue;  // a file called virtual-box.json
    uint32_t count = 0;
    if (!rest.empty()) rest.remove_prefix(1);
    const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), count);
    const bool whole = result.ec == std::errc() && result.ptr == rest.data() + rest.size();
    if (!whole || count < 1 || count > preset.most) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", PrintableText(spec), "' is not a machine", Forms()));
    }
    if (preset.sheet != nullptr) return SheetMachine(*preset.sheet, count);
    return preset.name == "virtual" ? VirtualMachine(count) : CudaMachine(count);
  }
  const std::string path(spec);
  absl::StatusOr<std::string> text = ReadFile(path, kMaxMachineFileBytes);
  if (!text.ok()) {
    const bool missing = absl::IsNotFound(text.status());
    return absl::Status(text.status().code(),
                        absl::StrCat(missing ? "" : "machine file: ", text.status().message(),
                                     missing ? Forms() : ""));
  }
  absl::StatusOr<Machine> machine = ParseMachine(*text);
  if (machine.ok()) return machine;
  return absl::Status(machine.status().code(),
                      absl::StrCat("machine file '", path, "': ", machine.status().message()));
}

}  // namespace autopar
