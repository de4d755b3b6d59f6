#include "runtime/schedule/describe.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace autopar {
namespace {

template <class T, size_t n>
std::string NameOf(const char* const (&names)[n], T value) {
  const auto index = static_cast<size_t>(value);
  return index < n ? names[index] : absl::StrCat("?", index);
}

std::string LabelOf(const Schedule& schedule, const Command& command) {
  return command.label < schedule.strings.size() ? schedule.strings[command.label] : std::string();
}

}  // namespace

std::string SpaceKindName(SpaceKind kind) {
  static constexpr const char* kNames[] = {"arena", "argument", "result", "constant", "state"};
  return NameOf(kNames, kind);
}

std::string KernelKindName(KernelKind kind) {
  static constexpr const char* kNames[] = {"native", "matmul", "synthetic"};
  return NameOf(kNames, kind);
}

std::string WaitReasonName(WaitReason reason) {
  static constexpr const char* kNames[] = {"data", "reuse", "token", "capacity"};
  return NameOf(kNames, reason);
}

std::string Quoted(const std::string& name) {
  return absl::StrCat("'", absl::Utf8SafeCHexEscape(name), "'");
}

std::string Symbol(const std::string& name) {
  const bool is_plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '$' || c == '-';
  });
  return is_plain ? absl::StrCat("@", name)
                  : absl::StrCat("@\"", absl::Utf8SafeCHexEscape(name), "\"");
}

std::string DescribeDevice(const Schedule& schedule, DeviceId device) {
  const auto& devices = schedule.machine.devices;
  return device.index() < devices.size() ? Symbol(devices[device.index()].name)
                                         : absl::StrCat("@device?", device.value);
}

std::string DescribeStream(const Schedule& schedule, const Function& function, StreamId id) {
  if (id.index() >= function.streams.size()) return absl::StrCat("@stream?", id.value);
  const Stream& stream = function.streams[id.index()];
  const std::string device = DescribeDevice(schedule, stream.device);
  if (stream.kind == StreamKind::kCompute) return absl::StrCat(device, "[", stream.ordinal, "]");
  const Machine& machine = schedule.machine;
  if (stream.link.index() >= machine.links.size())
    return absl::StrCat(device, "[link?", stream.link.value, "]");
  const Link& link = machine.links[stream.link.index()];
  const DeviceId host = machine.HostDevice();
  const std::string number = stream.ordinal == 0 ? "]" : absl::StrCat(" ", stream.ordinal, "]");
  if (link.to == stream.device && link.from == host) return absl::StrCat(device, "[in", number);
  if (link.from == stream.device && link.to == host) return absl::StrCat(device, "[out", number);
  if (link.from == stream.device) {
    return absl::StrCat(device, "[to ", DescribeDevice(schedule, link.to).substr(1), number);
  }
  return absl::StrCat(device, "[from ", DescribeDevice(schedule, link.from).substr(1), number);
}

std::string DescribeSpace(const Schedule& schedule, const Function& function, SpaceId id) {
  if (id.index() >= function.spaces.size()) return absl::StrCat("space?", id.value);
  const Space& space = function.spaces[id.index()];
  switch (space.kind) {
    case SpaceKind::kArena:
      return DescribeDevice(schedule, space.device);
    case SpaceKind::kArgument:
      return absl::StrCat("arg", space.index);
    case SpaceKind::kResult:
      return absl::StrCat("result", space.index);
    case SpaceKind::kConstant:
      return "const";
    case SpaceKind::kState:
      return absl::StrCat("state", space.index);
  }
  return absl::StrCat("space?", id.value);
}

std::string DescribeRegion(const Schedule& schedule, const Function& function,
                           const Region& region) {
  uint64_t offset = region.offset;
  if (region.space.index() < function.spaces.size()) {
    const Space& space = function.spaces[region.space.index()];
    if (space.kind == SpaceKind::kConstant) offset += space.constant_offset;
  }
  std::string text = absl::StrCat(DescribeSpace(schedule, function, region.space), "[", offset,
                                  " for ", region.row_bytes);
  if (region.rows != 1) absl::StrAppend(&text, " x ", region.rows, " by ", region.row_stride);
  return absl::StrCat(text, "]");
}

std::string DescribeBytes(const Schedule& schedule, const Function& function, SpaceId space,
                          uint64_t begin, uint64_t end) {
  return DescribeRegion(schedule, function,
                        {.space = space,
                         .offset = begin,
                         .row_bytes = end - begin,
                         .row_stride = end - begin,
                         .rows = 1});
}

std::string DescribeCommand(const Schedule& schedule, const Function& function, uint32_t index) {
  if (index >= function.commands.size()) return absl::StrCat("command ", index);
  const Command& command = function.commands[index];
  std::string what;
  switch (command.kind) {
    case CommandKind::kLaunch:
      what = absl::StrCat("launch ", command.kernel.index() < schedule.kernels.size()
                                         ? Symbol(schedule.kernels[command.kernel.index()].name)
                                         : absl::StrCat("@kernel?", command.kernel.value));
      break;
    case CommandKind::kCopy:
      what = "copy";
      break;
    case CommandKind::kRecord:
      what = absl::StrCat("record #", command.event.value);
      break;
    case CommandKind::kWait:
      what = absl::StrCat("wait #", command.event.value);
      break;
    default:
      what = absl::StrCat("kind ", static_cast<int>(command.kind));
  }
  const bool has_label = command.kind == CommandKind::kLaunch || command.kind == CommandKind::kCopy;
  const std::string label = has_label ? LabelOf(schedule, command) : "";
  return absl::StrCat("command ", index, " (", what,
                      label.empty() ? "" : absl::StrCat(" ", Quoted(label)), " on ",
                      DescribeStream(schedule, function, command.stream), ")");
}

}  // namespace autopar
