#include "runtime/schedule/structure_checker.h"

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/schedule/describe.h"

namespace autopar {
namespace {

using uint128 = unsigned __int128;

// Generated code for GPUs loads 16 bytes at once; every space of a GPU starts at such a boundary.
constexpr uint64_t kGpuAlignment = 16;

template <class... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

template <class Tag, class T>
bool IsIn(Id<Tag> id, const std::vector<T>& owner) {
  return id.index() < owner.size();
}

uint128 RegionBytes(const Region& region) { return uint128{region.rows} * region.row_bytes; }
bool IsEmpty(const Region& region) { return region.rows == 0 || region.row_bytes == 0; }
bool IsDense(const Region& region) {
  return region.rows <= 1 || region.row_bytes == 0 || region.row_stride == region.row_bytes;
}

class FunctionStructure {
 public:
  FunctionStructure(const Schedule& schedule, const Function& function)
      : schedule_(schedule), function_(function), host_(schedule.machine.HostDevice()) {}

  absl::Status CheckSpaces(uint64_t constants_bytes) const;
  absl::Status CheckPorts(const char* word, const std::vector<Port>& ports, SpaceKind kind) const;
  absl::Status CheckStreams() const;
  absl::Status CheckRegions() const;
  absl::Status CheckCommands() const;
  absl::Status CheckTokenEdges() const;

 private:
  template <class... Parts>
  absl::Status Fail(const Parts&... parts) const {
    return Bad("function ", Quoted(function_.name), ": ", parts...);
  }
  template <class... Parts>
  absl::Status FailCommand(uint32_t command, const Parts&... parts) const {
    return Fail(DescribeCommand(schedule_, function_, command), " ", parts...);
  }
  std::string DeviceName(DeviceId device) const { return DescribeDevice(schedule_, device); }
  std::string Describe(const Region& region) const {
    return DescribeRegion(schedule_, function_, region);
  }
  const Region& RegionOf(const Command& command, size_t operand) const {
    return function_.regions[command.first_region + operand];
  }
  DeviceId DeviceOf(const Region& region) const {
    return function_.spaces[region.space.index()].device;
  }
  bool HasPtx(const Kernel& kernel) const {
    for (const KernelCode& code : kernel.codes)
      if (schedule_.modules[code.module].format == CodeFormat::kPtx) return true;
    return false;
  }
  std::string UserOf(size_t region) const;

  absl::Status CheckCommandFields(uint32_t index, const Command& command) const;
  absl::Status CheckLaunch(uint32_t index, const Command& command) const;
  absl::Status CheckCopy(uint32_t index, const Command& command) const;
  absl::Status CheckTargets(uint32_t index, const Command& command) const;

  const Schedule& schedule_;
  const Function& function_;
  const DeviceId host_;
};

absl::Status FunctionStructure::CheckSpaces(uint64_t constants_bytes) const {
  absl::flat_hash_set<DeviceId> devices_with_arena;
  for (size_t i = 0; i < function_.spaces.size(); ++i) {
    const Space& space = function_.spaces[i];
    if (space.kind > SpaceKind::kState)
      return Fail("space ", i, " has unknown kind ", static_cast<int>(space.kind));
    if (!IsIn(space.device, schedule_.machine.devices)) {
      return Fail("space ", i, " is on device ", space.device.value, " of ",
                  schedule_.machine.devices.size());
    }
    const uint64_t capacity = schedule_.machine.devices[space.device.index()].memory_bytes;
    switch (space.kind) {
      case SpaceKind::kArena:
        if (!devices_with_arena.insert(space.device).second) {
          return Fail("device ", DeviceName(space.device), " has two arenas; give it one");
        }
        if (capacity != 0 && space.bytes > capacity) {
          return Fail("the arena of ", DeviceName(space.device), " has ", space.bytes,
                      " bytes and the device ", capacity, "; plan for a device with more memory");
        }
        break;
      case SpaceKind::kConstant:
        if (space.bytes > constants_bytes ||
            space.constant_offset > constants_bytes - space.bytes) {
          return Fail("space ", i, " is constant, ", space.bytes, " bytes at ",
                      space.constant_offset, ", and the file has ", constants_bytes,
                      " bytes of constants");
        }
        break;
      case SpaceKind::kState:
        return Fail("space ", i,
                    " is state, which this version does not run; pass the values as arguments");
      case SpaceKind::kArgument:
      case SpaceKind::kResult: {
        const auto& ports =
            space.kind == SpaceKind::kArgument ? function_.arguments : function_.results;
        if (space.index >= ports.size() || ports[space.index].space != SpaceId(i)) {
          return Fail("space ", i, " is said to be ", SpaceKindName(space.kind), " ", space.index,
                      ", which has another space or does not exist");
        }
        break;
      }
    }
  }
  return absl::OkStatus();
}

absl::Status FunctionStructure::CheckPorts(const char* word, const std::vector<Port>& ports,
                                           SpaceKind kind) const {
  for (size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    if (!IsIn(port.space, function_.spaces))
      return Fail(word, " ", i, " has space ", port.space.value, ", which does not exist");
    const Space& space = function_.spaces[port.space.index()];
    if (space.kind != kind || space.index != i) {
      return Fail(word, " ", i, " has space ", port.space.value, ", which is ",
                  SpaceKindName(space.kind), " ", space.index);
    }
    if (port.type.element > ElementType::kI64) {
      return Fail(word, " ", i, " has unknown element type ", static_cast<int>(port.type.element));
    }
    const std::optional<uint64_t> bytes = CheckedBytes(port.type);
    if (!bytes)
      return Fail(word, " ", i, " has a shape that is negative or has more than 2^63 bytes");
    if (*bytes != space.bytes) {
      return Fail(word, " ", i, " has type ", port.type.ToString(), " of ", *bytes,
                  " bytes and a space of ", space.bytes);
    }
  }
  return absl::OkStatus();
}

absl::Status FunctionStructure::CheckStreams() const {
  if (function_.streams.size() > kMaxStreams) {
    return Fail("it has ", function_.streams.size(), " streams; the most is ", kMaxStreams);
  }
  const Machine& machine = schedule_.machine;
  absl::flat_hash_set<std::pair<uint32_t, uint32_t>> compute_streams;
  absl::flat_hash_set<std::pair<uint32_t, uint32_t>> copy_streams;
  for (size_t i = 0; i < function_.streams.size(); ++i) {
    const Stream& stream = function_.streams[i];
    if (stream.kind > StreamKind::kCopy)
      return Fail("stream ", i, " has unknown kind ", static_cast<int>(stream.kind));
    if (!IsIn(stream.device, machine.devices)) {
      return Fail("stream ", i, " is on device ", stream.device.value, " of ",
                  machine.devices.size());
    }
    const std::string name = DescribeStream(schedule_, function_, StreamId(i));
    if (stream.kind == StreamKind::kCompute) {
      const Device& device = machine.devices[stream.device.index()];
      if (stream.ordinal >= device.streams) {
        return Fail("stream ", name, " does not exist; the device has ", device.streams,
                    " streams");
      }
      if (!compute_streams.insert({stream.device.value, stream.ordinal}).second)
        return Fail("stream ", name, " stands twice");
      continue;
    }
    if (!IsIn(stream.link, machine.links)) {
      return Fail("copy stream ", i, " uses link ", stream.link.value, " of ",
                  machine.links.size());
    }
    const Link& link = machine.links[stream.link.index()];
    const DeviceId driver = link.from == host_ ? link.to : link.from;
    if (stream.device != driver) {
      return Fail("copy stream ", i, " uses the link from ", DeviceName(link.from), " to ",
                  DeviceName(link.to), " and is driven by ", DeviceName(stream.device), ", not ",
                  DeviceName(driver));
    }
    if (!copy_streams.insert({stream.link.value, stream.ordinal}).second)
      return Fail("stream ", name, " stands twice");
  }
  return absl::OkStatus();
}

std::string FunctionStructure::UserOf(size_t region) const {
  for (uint32_t i = 0; i < function_.commands.size(); ++i) {
    const Command& command = function_.commands[i];
    const size_t operands = size_t{command.reads} + command.writes + command.scratch;
    if (region >= command.first_region && region - command.first_region < operands) {
      return absl::StrCat(DescribeCommand(schedule_, function_, i), " touches region ", region);
    }
  }
  return absl::StrCat("region ", region, " is touched by no command");
}

absl::Status FunctionStructure::CheckRegions() const {
  for (size_t i = 0; i < function_.regions.size(); ++i) {
    const Region& region = function_.regions[i];
    if (!IsIn(region.space, function_.spaces)) {
      return Fail(UserOf(i), " and is in space ", region.space.value, ", which does not exist");
    }
    const uint64_t space_bytes = function_.spaces[region.space.index()].bytes;
    const auto out_of_bounds = [&] {
      return Fail(UserOf(i), ", ", Describe(region), ", which is out of bounds: its space has ",
                  space_bytes, " bytes");
    };
    if (region.offset > space_bytes) return out_of_bounds();
    if (IsEmpty(region)) continue;
    if (region.rows > 1 && region.row_stride < region.row_bytes) {
      return Fail(UserOf(i), ", ", Describe(region), ", whose rows overlap");
    }
    const uint128 extent =
        (region.rows > 1 ? uint128{region.rows - 1} * region.row_stride : 0) + region.row_bytes;
    if (extent > space_bytes - region.offset) return out_of_bounds();
  }
  return absl::OkStatus();
}

absl::Status FunctionStructure::CheckCommandFields(uint32_t index, const Command& command) const {
  if (command.kind > CommandKind::kWait) {
    return Fail("command ", index, " has unknown kind ", static_cast<int>(command.kind));
  }
  if (!IsIn(command.stream, function_.streams)) {
    return FailCommand(index, "is on stream ", command.stream.value, " of ",
                       function_.streams.size());
  }
  const size_t operands = size_t{command.reads} + command.writes + command.scratch;
  if (command.kind == CommandKind::kRecord || command.kind == CommandKind::kWait) {
    if (operands != 0)
      return FailCommand(index, "touches ", operands, " regions; it must touch none");
    if (command.event.value >= function_.event_count) {
      return FailCommand(index, "names event ", command.event.value, " of ", function_.event_count);
    }
    if (command.kind == CommandKind::kWait && command.reason > WaitReason::kCapacity) {
      return FailCommand(index, "has unknown reason ", static_cast<int>(command.reason));
    }
    return absl::OkStatus();
  }
  if (size_t{command.first_region} + operands > function_.regions.size()) {
    return FailCommand(index, "touches regions ", command.first_region, " to ",
                       command.first_region + operands, " of ", function_.regions.size());
  }
  if (command.label >= schedule_.strings.size()) {
    return FailCommand(index, "has label ", command.label, " of ", schedule_.strings.size());
  }
  if (command.duration_ns < 0) return FailCommand(index, "takes ", command.duration_ns, " ns");
  return absl::OkStatus();
}

absl::Status FunctionStructure::CheckLaunch(uint32_t index, const Command& command) const {
  if (!IsIn(command.kernel, schedule_.kernels)) {
    return FailCommand(index, "launches kernel ", command.kernel.value, " of ",
                       schedule_.kernels.size());
  }
  const Stream& stream = function_.streams[command.stream.index()];
  if (stream.kind != StreamKind::kCompute)
    return FailCommand(index, "is a launch on a copy stream");
  const Kernel& kernel = schedule_.kernels[command.kernel.index()];
  if (command.reads != kernel.reads || command.writes != kernel.writes ||
      command.scratch != kernel.scratch) {
    return FailCommand(index, "has ", command.reads, " reads, ", command.writes, " writes and ",
                       command.scratch, " scratch regions; the kernel takes ", kernel.reads, ", ",
                       kernel.writes, " and ", kernel.scratch);
  }
  const bool is_gpu =
      schedule_.machine.devices[stream.device.index()].kind == DeviceKind::kCuda;
  if (is_gpu && !kernel.codes.empty() && !HasPtx(kernel)) {
    return FailCommand(index, "runs on the GPU ", DeviceName(stream.device),
                       " and its kernel has no PTX; compile the program again for this machine");
  }
  for (size_t write = 0; is_gpu && !kernel.codes.empty() && write < kernel.writes; ++write) {
    for (size_t read = 0; read < kernel.reads; ++read) {
      const Region& region = RegionOf(command, kernel.reads + write);
      if (!IsEmpty(region) && region == RegionOf(command, read)) {
        return FailCommand(index, "works in place on ", Describe(region),
                           "; code for GPUs reads through a cache that does not see its writes");
      }
    }
  }
  for (size_t i = 0; i < kernel.operand_bytes.size(); ++i) {
    const Region& region = RegionOf(command, i);
    if (RegionBytes(region) != kernel.operand_bytes[i]) {
      return FailCommand(index, "passes ", Describe(region), " as operand ", i,
                         ", which must have ", kernel.operand_bytes[i], " bytes");
    }
    if (kernel.kind != KernelKind::kNative && !IsDense(region)) {
      return FailCommand(index, "passes ", Describe(region), " as operand ", i, "; a ",
                         KernelKindName(kernel.kind), " kernel takes contiguous operands only");
    }
    if (is_gpu && !kernel.codes.empty() && !IsEmpty(region) &&
        (!IsDense(region) || region.offset % kGpuAlignment != 0)) {
      return FailCommand(index, "passes ", Describe(region), " as operand ", i,
                         "; code for GPUs takes contiguous operands at multiples of ",
                         kGpuAlignment, " bytes");
    }
    if (DeviceOf(region) != stream.device) {
      return FailCommand(index, "runs on ", DeviceName(stream.device), " and touches ",
                         Describe(region), ", which is on ", DeviceName(DeviceOf(region)),
                         "; copy it there first");
    }
  }
  return absl::OkStatus();
}

absl::Status FunctionStructure::CheckCopy(uint32_t index, const Command& command) const {
  if (command.reads != 1 || command.writes != 1 || command.scratch != 0) {
    return FailCommand(index, "has ", command.reads, " reads, ", command.writes, " writes and ",
                       command.scratch, " scratch regions; a copy has one read and one write");
  }
  const Region& from = RegionOf(command, 0);
  const Region& to = RegionOf(command, 1);
  if (from.rows != to.rows || from.row_bytes != to.row_bytes) {
    return FailCommand(index, "copies ", Describe(from), " to ", Describe(to),
                       "; rows and bytes of a row must be equal");
  }
  const Stream& stream = function_.streams[command.stream.index()];
  DeviceId source = stream.device, target = stream.device;
  if (stream.kind == StreamKind::kCopy) {
    const Link& link = schedule_.machine.links[stream.link.index()];
    source = link.from;
    target = link.to;
  }
  if (DeviceOf(from) != source || DeviceOf(to) != target) {
    return FailCommand(index, "copies from ", DeviceName(DeviceOf(from)), " to ",
                       DeviceName(DeviceOf(to)), "; its stream copies from ", DeviceName(source),
                       " to ", DeviceName(target));
  }
  return absl::OkStatus();
}

absl::Status FunctionStructure::CheckTargets(uint32_t index, const Command& command) const {
  for (size_t i = command.reads; i < size_t{command.reads} + command.writes + command.scratch;
       ++i) {
    const Region& region = RegionOf(command, i);
    const SpaceKind kind = function_.spaces[region.space.index()].kind;
    if (kind == SpaceKind::kArgument || kind == SpaceKind::kConstant) {
      return FailCommand(index, "writes ", Describe(region), "; ", SpaceKindName(kind),
                         "s are read-only");
    }
  }
  return absl::OkStatus();
}

absl::Status FunctionStructure::CheckCommands() const {
  const size_t count = function_.commands.size();
  if (count >= 0xffffffffu) return Fail("it has ", count, " commands; the most is 4294967294");
  if (function_.event_count > count)
    return Fail("it has ", function_.event_count, " events and only ", count, " commands");
  std::vector<bool> is_recorded(function_.event_count);
  for (uint32_t i = 0; i < count; ++i) {
    const Command& command = function_.commands[i];
    AUTOPAR_RETURN_IF_ERROR(CheckCommandFields(i, command));
    switch (command.kind) {
      case CommandKind::kLaunch:
        AUTOPAR_RETURN_IF_ERROR(CheckLaunch(i, command));
        AUTOPAR_RETURN_IF_ERROR(CheckTargets(i, command));
        break;
      case CommandKind::kCopy:
        AUTOPAR_RETURN_IF_ERROR(CheckCopy(i, command));
        AUTOPAR_RETURN_IF_ERROR(CheckTargets(i, command));
        break;
      case CommandKind::kRecord:
        if (is_recorded[command.event.index()])
          return FailCommand(i, "records an event that was recorded before");
        is_recorded[command.event.index()] = true;
        break;
      case CommandKind::kWait:
        if (!is_recorded[command.event.index()]) {
          return FailCommand(i, "waits for an event that no earlier command records");
        }
        break;
    }
  }
  for (size_t event = 0; event < is_recorded.size(); ++event) {
    if (!is_recorded[event]) return Fail("event ", event, " is recorded by no command");
  }
  return absl::OkStatus();
}

absl::Status FunctionStructure::CheckTokenEdges() const {
  for (size_t i = 0; i < function_.token_edges.size(); ++i) {
    const TokenEdge& edge = function_.token_edges[i];
    if (edge.before >= edge.after || edge.after >= function_.commands.size()) {
      return Fail("token edge ", i, " leads from command ", edge.before, " to command ", edge.after,
                  "; it must lead forward in issue order, within ", function_.commands.size(),
                  " commands");
    }
    for (uint32_t end : {edge.before, edge.after}) {
      const CommandKind kind = function_.commands[end].kind;
      if (kind != CommandKind::kLaunch && kind != CommandKind::kCopy) {
        return FailCommand(end, "is ordered by a token; tokens order launches and copies only");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFunctionStructure(const Schedule& schedule, const Function& function,
                                    uint64_t constants_bytes) {
  const FunctionStructure structure(schedule, function);
  AUTOPAR_RETURN_IF_ERROR(structure.CheckSpaces(constants_bytes));
  AUTOPAR_RETURN_IF_ERROR(
      structure.CheckPorts("argument", function.arguments, SpaceKind::kArgument));
  AUTOPAR_RETURN_IF_ERROR(structure.CheckPorts("result", function.results, SpaceKind::kResult));
  AUTOPAR_RETURN_IF_ERROR(structure.CheckStreams());
  AUTOPAR_RETURN_IF_ERROR(structure.CheckRegions());
  AUTOPAR_RETURN_IF_ERROR(structure.CheckCommands());
  return structure.CheckTokenEdges();
}

}  // namespace autopar
