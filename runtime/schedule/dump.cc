// The schedule as text. One line a command, close to the schedule ops of the dialect; the order is
// the file's, and nothing in it depends on addresses, time or hashing, so that FileCheck can read
// it.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/schedule/describe.h"
#include "runtime/schedule/schedule_file.h"

namespace autopar {
namespace {

void DumpMachine(const Schedule& schedule, std::string& out) {
  const Machine& machine = schedule.machine;
  absl::StrAppendFormat(&out, "machine fingerprint = 0x%016x {\n", MachineFingerprint(machine));
  for (const Device& device : machine.devices) {
    absl::StrAppend(&out, "  device ", Symbol(device.name), " ",
                    std::string(DeviceKindName(device.kind)));
    if (!device.arch.empty()) absl::StrAppend(&out, " arch ", device.arch);
    absl::StrAppend(&out, " cores = ", device.cores, " streams = ", device.streams);
    if (device.memory_bytes != 0) absl::StrAppend(&out, " bytes = ", device.memory_bytes);
    out += "\n";
  }
  for (const Link& link : machine.links) {
    absl::StrAppend(&out, "  link ", DescribeDevice(schedule, link.from), " to ",
                    DescribeDevice(schedule, link.to), " bytes_per_s = ", link.bytes_per_s,
                    " latency_ns = ", link.latency_ns, link.emulated ? " emulated" : "", "\n");
  }
  out += "}\n";
}

void DumpModules(const Schedule& schedule, std::string& out) {
  for (size_t i = 0; i < schedule.modules.size(); ++i) {
    const CodeModule& module = schedule.modules[i];
    absl::StrAppend(&out, "module #", i, module.format == CodeFormat::kElf ? " elf " : " ptx ",
                    module.target, " features(", absl::StrJoin(module.features, ", "),
                    ") bytes = ", module.image.size(), "\n");
  }
}

// "4096, 4096": the bytes of `count` operands from `first` on.
std::string OperandBytes(const Kernel& kernel, size_t first, size_t count) {
  std::string text;
  for (size_t i = first; i < first + count && i < kernel.operand_bytes.size(); ++i) {
    absl::StrAppend(&text, i == first ? "" : ", ", kernel.operand_bytes[i]);
  }
  return text;
}

void DumpKernel(const Kernel& kernel, std::string& out) {
  absl::StrAppend(&out, "kernel ", Symbol(kernel.name), " ", KernelKindName(kernel.kind),
                  " tiles = ", kernel.tile_count, " reads(", OperandBytes(kernel, 0, kernel.reads),
                  ") writes(", OperandBytes(kernel, kernel.reads, kernel.writes), ")");
  if (kernel.scratch != 0) {
    absl::StrAppend(&out, " scratch(",
                    OperandBytes(kernel, size_t{kernel.reads} + kernel.writes, kernel.scratch),
                    ")");
  }
  if (kernel.kind == KernelKind::kMatmul) {
    const MatmulParams& p = kernel.matmul;
    absl::StrAppend(&out, " batch = ", p.batch, " m = ", p.m, " n = ", p.n, " k = ", p.k,
                    " a_batch = ", p.a_batch, " b_batch = ", p.b_batch,
                    p.transpose_a ? " transpose_a" : "", p.transpose_b ? " transpose_b" : "",
                    " tile = ", p.tile_m, "x", p.tile_n);
  }
  if (kernel.kind == KernelKind::kSynthetic) {
    absl::StrAppend(&out, kernel.spin ? " spin" : "", " seed = ", kernel.seed);
  }
  for (const KernelCode& code : kernel.codes) {
    absl::StrAppend(&out, " code #", code.module, " ", Symbol(code.symbol));
    if (code.grid != 0 || code.block != 0)
      absl::StrAppend(&out, " grid = ", code.grid, " block = ", code.block);
  }
  out += "\n";
}

void DumpPorts(const char* word, const Schedule& schedule, const Function& function,
               const std::vector<Port>& ports, std::string& out) {
  for (size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    absl::StrAppend(&out, "  ", word, " ", i);
    if (!port.name.empty()) absl::StrAppend(&out, " ", Quoted(port.name));
    absl::StrAppend(&out, " ", port.type.ToString());
    if (port.space.index() < function.spaces.size()) {
      absl::StrAppend(&out, " on ",
                      DescribeDevice(schedule, function.spaces[port.space.index()].device));
    }
    out += "\n";
  }
}

void DumpSpaces(const Schedule& schedule, const Function& function, std::string& out) {
  for (size_t i = 0; i < function.spaces.size(); ++i) {
    const Space& space = function.spaces[i];
    if (space.kind == SpaceKind::kArgument || space.kind == SpaceKind::kResult) continue;
    absl::StrAppend(&out, "  ", SpaceKindName(space.kind), " ");
    if (space.kind != SpaceKind::kArena) {
      absl::StrAppend(&out, DescribeBytes(schedule, function, SpaceId(i), 0, space.bytes), " on ");
    }
    absl::StrAppend(&out, DescribeDevice(schedule, space.device), " bytes = ", space.bytes, "\n");
  }
}

// The regions of a command from number `first` on.
std::string Regions(const Schedule& schedule, const Function& function, const Command& command,
                    size_t first, size_t count) {
  std::string text;
  for (size_t i = first; i < first + count; ++i) {
    const size_t at = command.first_region + i;
    absl::StrAppend(&text, i == first ? "" : ", ",
                    at < function.regions.size()
                        ? DescribeRegion(schedule, function, function.regions[at])
                        : absl::StrCat("region?", at));
  }
  return text;
}

std::string Microseconds(int64_t ns) {
  const uint64_t size = ns < 0 ? -static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  return absl::StrFormat("%s%d.%03dus", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

void DumpCommand(const Schedule& schedule, const Function& function, const Command& command,
                 std::string& out) {
  const std::string stream = DescribeStream(schedule, function, command.stream);
  switch (command.kind) {
    case CommandKind::kRecord:
      absl::StrAppend(&out, "  record #", command.event.value, " on ", stream, "\n");
      return;
    case CommandKind::kWait:
      absl::StrAppend(&out, "  wait #", command.event.value, " on ", stream, " because ",
                      WaitReasonName(command.reason), "\n");
      return;
    case CommandKind::kLaunch: {
      const bool known = command.kernel.index() < schedule.kernels.size();
      absl::StrAppend(&out, "  launch ",
                      known ? Symbol(schedule.kernels[command.kernel.index()].name)
                            : absl::StrCat("@kernel?", command.kernel.value),
                      " on ", stream, " reads(",
                      Regions(schedule, function, command, 0, command.reads), ") writes(",
                      Regions(schedule, function, command, command.reads, command.writes), ")");
      if (command.scratch != 0) {
        absl::StrAppend(&out, " scratch(",
                        Regions(schedule, function, command, size_t{command.reads} + command.writes,
                                command.scratch),
                        ")");
      }
      if (known && schedule.kernels[command.kernel.index()].kind == KernelKind::kSynthetic) {
        absl::StrAppend(&out, " for ", Microseconds(command.duration_ns));
      }
      break;
    }
    case CommandKind::kCopy:
      absl::StrAppend(&out, "  copy on ", stream, " ",
                      Regions(schedule, function, command, 0, command.reads), " to ",
                      Regions(schedule, function, command, command.reads, command.writes));
      break;
    default:
      absl::StrAppend(&out, "  command of kind ", static_cast<int>(command.kind), " on ", stream,
                      "\n");
      return;
  }
  absl::StrAppend(&out, " at ", Microseconds(command.start_ns), "..",
                  Microseconds(command.finish_ns));
  if (command.label < schedule.strings.size() && !schedule.strings[command.label].empty()) {
    absl::StrAppend(&out, " label ", Quoted(schedule.strings[command.label]));
  }
  out += "\n";
}

void DumpFunction(const Schedule& schedule, const Function& function, std::string& out) {
  absl::StrAppend(&out, "schedule ", Symbol(function.name), " {\n");
  DumpPorts("argument", schedule, function, function.arguments, out);
  DumpPorts("result", schedule, function, function.results, out);
  DumpSpaces(schedule, function, out);
  absl::StrAppend(&out, "  predicted ", Microseconds(function.predicted_makespan_ns), " bound ",
                  Microseconds(function.lower_bound_ns), "\n");
  for (const Command& command : function.commands) DumpCommand(schedule, function, command, out);
  for (const TokenEdge& edge : function.token_edges) {
    absl::StrAppend(&out, "  order ", edge.before, " before ", edge.after, "\n");
  }
  out += "}\n";
}

}  // namespace

std::string DumpSchedule(const Schedule& schedule) {
  std::string out = absl::StrCat("producer ", Quoted(schedule.producer), "\n");
  DumpMachine(schedule, out);
  DumpModules(schedule, out);
  for (const Kernel& kernel : schedule.kernels) DumpKernel(kernel, out);
  for (const Function& function : schedule.functions) DumpFunction(schedule, function, out);
  return out;
}

}  // namespace autopar
