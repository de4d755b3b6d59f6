#include "runtime/executor/device_map.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"

namespace autopar {
namespace {

bool ParseOrdinal(const std::string& text, uint32_t* ordinal) {
  return absl::SimpleAtoi(text, ordinal) && *ordinal <= 1000000;
}

absl::Status MapToVirtual(const std::string& number, const std::string& target, Device& device) {
  uint32_t core = 0;
  if (!ParseOrdinal(number, &core)) {
    return absl::InvalidArgumentError(absl::StrCat("device map: '", device.name, "=", target,
                                                   "' needs a core number, as in virtual:0"));
  }
  device.kind = DeviceKind::kVirtual;
  device.cores = 1;
  device.first_core = static_cast<int32_t>(core);
  // The limit was that of the device it stands for.
  device.memory_bytes = 0;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Device>> MapDevices(
    const Machine& machine, const std::map<std::string, std::string>& device_map) {
  std::vector<Device> devices = machine.devices;
  for (const auto& [name, target] : device_map) {
    DeviceId id = machine.FindDevice(name);
    if (!id.valid()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "device map: the schedule has no device '", name, "'; it has ",
          absl::StrJoin(machine.devices, ", ", [](std::string* out, const Device& device) {
            absl::StrAppend(out, device.name);
          })));
    }
    Device& device = devices[id.index()];
    if (device.kind == DeviceKind::kCpu) {
      return absl::InvalidArgumentError(absl::StrCat(
          "device map: '", name, "' is this host's CPU, which cannot be mapped to another device"));
    }
    size_t colon = target.find(':');
    std::string kind = target.substr(0, colon);
    std::string number = colon == std::string::npos ? "" : target.substr(colon + 1);
    if (kind == "virtual") {
      AUTOPAR_RETURN_IF_ERROR(MapToVirtual(number, target, device));
    } else if (kind == "cuda") {
      uint32_t ordinal = 0;
      if (!ParseOrdinal(number, &ordinal)) {
        return absl::InvalidArgumentError(absl::StrCat("device map: '", device.name, "=", target,
                                                       "' needs a GPU's number, as in cuda:0"));
      }
      device.kind = DeviceKind::kCuda;
    } else {
      return absl::InvalidArgumentError(absl::StrCat("device map: '", name, "=", target,
                                                     "' names no device; write virtual:K or cuda:K"));
    }
  }
  return devices;
}

std::vector<uint32_t> CudaOrdinals(const std::vector<Device>& devices,
                                   const std::map<std::string, std::string>& device_map) {
  std::vector<uint32_t> ordinals(devices.size(), 0);
  uint32_t number = 0;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].kind != DeviceKind::kCuda) continue;
    ordinals[i] = number++;
    const auto mapped = device_map.find(devices[i].name);
    if (mapped == device_map.end()) continue;
    ParseOrdinal(mapped->second.substr(mapped->second.find(':') + 1), &ordinals[i]);
  }
  return ordinals;
}

}  // namespace autopar
