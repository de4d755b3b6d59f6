// What a Machine knows without its file: look-ups, transfer times and the limits of every number.
#include "runtime/machine/machine.h"

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/element_type.h"
#include "runtime/base/status.h"
#include "runtime/machine/limits.h"

namespace autopar {
namespace {

absl::Status CheckName(const std::string& field, const std::string& name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  bool good = !name.empty() && name.size() <= 255 && is_letter(name[0]);
  for (char c : name)
    good = good && (is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-');
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      field, ": '", PrintableText(name),
      "' is not a name; begin with a letter or _ and go on with letters, digits, '_', '.' or '-'"));
}

absl::Status CheckDevice(const std::string& field, const Device& device) {
  AUTOPAR_RETURN_IF_ERROR(CheckName(field + ".name", device.name));
  if (device.kind > DeviceKind::kVirtual) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ".kind: unknown; use cpu, cuda or virtual"));
  }
  AUTOPAR_RETURN_IF_ERROR(CheckLimits(field + ".host", device.host, kHostLimits));
  AUTOPAR_RETURN_IF_ERROR(CheckLimits(field + ".cores", device.cores, kCoreLimits));
  AUTOPAR_RETURN_IF_ERROR(CheckLimits(field + ".first_core", device.first_core, kFirstCoreLimits));
  if (device.kind == DeviceKind::kCuda && (device.cores != 1 || device.first_core != -1)) {
    return NoCoresOfGpu(absl::StrCat(field, device.cores != 1 ? ".cores" : ".first_core"));
  }
  AUTOPAR_RETURN_IF_ERROR(CheckLimits(field + ".streams", device.streams, kStreamLimits));
  AUTOPAR_RETURN_IF_ERROR(CheckLimits(field + ".memory_bytes", device.memory_bytes, kMemoryLimits));
  AUTOPAR_RETURN_IF_ERROR(
      CheckLimits(field + ".memory_bytes_per_s", device.memory_bytes_per_s, kMemoryRateLimits));
  AUTOPAR_RETURN_IF_ERROR(CheckLimits(field + ".launch_ns", device.launch_ns, kTimeLimits));
  AUTOPAR_RETURN_IF_ERROR(CheckLimits(field + ".wait_ns", device.wait_ns, kTimeLimits));
  if (!device.arch.empty()) {
    const std::string& arch = device.arch;
    if (device.kind != DeviceKind::kCuda) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, ".arch: only a device of kind cuda has one; leave it out"));
    }
    bool good = arch.rfind("sm_", 0) == 0 && arch.size() >= 5 && arch.size() <= 8;
    for (size_t i = 3; good && i < arch.size(); ++i) {
      good = (arch[i] >= '0' && arch[i] <= '9') || (arch[i] == 'a' && i + 1 == arch.size());
    }
    if (!good) {
      return absl::InvalidArgumentError(absl::StrCat(field, ".arch: '", PrintableText(arch),
                                                     "' is not an architecture such as sm_90"));
    }
  }
  for (const auto& [type, rate] : device.peak_flops) {
    const std::string rate_field = absl::StrCat(field, ".peak_flops.", PrintableText(type));
    if (!ParseElementType(type)) {
      return absl::InvalidArgumentError(absl::StrCat(
          rate_field, ": no element type; use f32, f64, f16, bf16, i1, i8, i32 or i64"));
    }
    if (!std::isfinite(rate) || rate < 1.0 || rate > 1e21) {
      return absl::InvalidArgumentError(absl::StrCat(
          rate_field, ": ", rate, " is out of range; give operations per second from 1 to 1e21"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLink(const std::string& field, const Machine& machine, const Link& link) {
  for (const auto& [end, id] : {std::pair{"from", link.from}, std::pair{"to", link.to}}) {
    if (id.index() >= machine.devices.size()) {
      return absl::InvalidArgumentError(absl::StrCat(field, ".", end, ": no such device"));
    }
  }
  if (link.from == link.to) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": leads from '", machine.devices[link.from.index()].name,
                     "' to itself; a device needs no link to its own memory"));
  }
  AUTOPAR_RETURN_IF_ERROR(CheckLimits(field + ".bytes_per_s", link.bytes_per_s, kLinkRateLimits));
  AUTOPAR_RETURN_IF_ERROR(CheckLimits(field + ".latency_ns", link.latency_ns, kTimeLimits));
  std::set<uint32_t> seen;
  for (size_t i = 0; i < link.engines.size(); ++i) {
    const std::string engine_field = absl::StrCat(field, ".engines[", i, "]");
    if (link.engines[i] >= machine.engines.size()) {
      return absl::InvalidArgumentError(absl::StrCat(engine_field, ": no such engine"));
    }
    if (!seen.insert(link.engines[i]).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          engine_field, ": '", machine.engines[link.engines[i]], "' stands twice; name it once"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view DeviceKindName(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kCpu:
      return "cpu";
    case DeviceKind::kCuda:
      return "cuda";
    case DeviceKind::kVirtual:
      return "virtual";
  }
  return "unknown";
}

DeviceId Machine::FindDevice(std::string_view name) const {
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].name == name) return DeviceId(i);
  }
  return DeviceId();
}

LinkId Machine::FindLink(DeviceId from, DeviceId to) const {
  for (size_t i = 0; i < links.size(); ++i) {
    if (links[i].from == from && links[i].to == to) return LinkId(i);
  }
  return LinkId();
}

DeviceId Machine::HostDevice() const {
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].kind == DeviceKind::kCpu) return DeviceId(i);
  }
  return DeviceId();
}

int64_t TransferNs(const Link& link, uint64_t bytes) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  if (link.bytes_per_s == 0)
    return kMax;  // refused on reading; a plan must never prefer such a link
  __extension__ using Wide = unsigned __int128;
  const Wide duration = (Wide{bytes} * 1'000'000'000u + link.bytes_per_s - 1) / link.bytes_per_s +
                        static_cast<uint64_t>(link.latency_ns);
  return duration > static_cast<Wide>(kMax) ? kMax : static_cast<int64_t>(duration);
}

absl::Status CheckMachine(const Machine& machine) {
  if (machine.devices.empty()) {
    return absl::InvalidArgumentError(
        "devices: the list is empty; a machine has at least one device");
  }
  if (machine.devices.size() > kMaxDevices) {
    return absl::InvalidArgumentError(
        absl::StrCat("devices: ", machine.devices.size(), " are too many; at most ", kMaxDevices));
  }
  std::map<std::string_view, size_t> names;
  for (size_t i = 0; i < machine.devices.size(); ++i) {
    const std::string field = absl::StrCat("devices[", i, "]");
    AUTOPAR_RETURN_IF_ERROR(CheckDevice(field, machine.devices[i]));
    const auto [first, is_new] = names.emplace(machine.devices[i].name, i);
    if (!is_new) {
      return absl::InvalidArgumentError(absl::StrCat(field, ".name: '", machine.devices[i].name,
                                                     "' is the name of devices[", first->second,
                                                     "] already; names must be unique"));
    }
  }
  std::set<std::string_view> engines;
  for (const std::string& engine : machine.engines) {
    AUTOPAR_RETURN_IF_ERROR(CheckName("engines", engine));
    if (!engines.insert(engine).second) {
      return absl::InvalidArgumentError(absl::StrCat("engines: '", engine, "' stands twice"));
    }
  }
  std::map<std::pair<DeviceId, DeviceId>, size_t> pairs;
  for (size_t i = 0; i < machine.links.size(); ++i) {
    const Link& link = machine.links[i];
    const std::string field = absl::StrCat("links[", i, "]");
    AUTOPAR_RETURN_IF_ERROR(CheckLink(field, machine, link));
    const auto [first, is_new] = pairs.emplace(std::pair{link.from, link.to}, i);
    if (!is_new) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, ": leads from '", machine.devices[link.from.index()].name, "' to '",
                       machine.devices[link.to.index()].name, "' as links[", first->second,
                       "] does already; give one link per direction"));
    }
  }
  return absl::OkStatus();
}

}  // namespace autopar
