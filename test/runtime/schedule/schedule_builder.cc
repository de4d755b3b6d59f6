#include "test/runtime/schedule/schedule_builder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/schedule/file_layout.h"

namespace autopar {
namespace {

const char kMachine[] = R"({
  "devices": [
    {"name": "cpu0", "kind": "cpu", "cores": 4, "streams": 16},
    {"name": "gpu0", "kind": "virtual", "streams": 16, "memory_bytes": 1099511627776},
    {"name": "gpu1", "kind": "virtual", "streams": 16}],
  "links": [
    {"from": "cpu0", "to": "gpu0", "bytes_per_s": 1000000000, "latency_ns": 1000, "engines": ["in0"]},
    {"from": "gpu0", "to": "cpu0", "bytes_per_s": 1000000000, "latency_ns": 1000, "engines": ["out0"]},
    {"from": "cpu0", "to": "gpu1", "bytes_per_s": 1000000000, "latency_ns": 1000, "engines": ["in1"]},
    {"from": "gpu1", "to": "cpu0", "bytes_per_s": 1000000000, "latency_ns": 1000, "engines": ["out1"]},
    {"from": "gpu0", "to": "gpu1", "bytes_per_s": 2000000000},
    {"from": "gpu1", "to": "gpu0", "bytes_per_s": 2000000000}]
})";

uint64_t SizeOf(const Region& region) { return region.rows * region.row_bytes; }

bool SamePort(const Port& a, const Port& b) { return a.name == b.name && a.type == b.type && a.space == b.space; }

bool SameSpace(const Space& a, const Space& b) {
  return a.kind == b.kind && a.device == b.device && a.index == b.index && a.bytes == b.bytes &&
         a.constant_offset == b.constant_offset;
}

bool SameStream(const Stream& a, const Stream& b) {
  return a.device == b.device && a.kind == b.kind && a.ordinal == b.ordinal && a.link == b.link;
}

bool SameCommand(const Command& a, const Command& b) {
  return a.kind == b.kind && a.reason == b.reason && a.stream == b.stream && a.kernel == b.kernel &&
         a.event == b.event && a.first_region == b.first_region && a.reads == b.reads && a.writes == b.writes &&
         a.scratch == b.scratch && a.label == b.label && a.start_ns == b.start_ns && a.finish_ns == b.finish_ns &&
         a.duration_ns == b.duration_ns;
}

template <class T, class Same>
bool SameAll(const std::vector<T>& a, const std::vector<T>& b, Same same) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

bool SameFunction(const Function& a, const Function& b) {
  return a.name == b.name && SameAll(a.arguments, b.arguments, SamePort) && SameAll(a.results, b.results, SamePort) &&
         SameAll(a.spaces, b.spaces, SameSpace) && SameAll(a.streams, b.streams, SameStream) &&
         a.event_count == b.event_count && SameAll(a.commands, b.commands, SameCommand) && a.regions == b.regions &&
         SameAll(a.token_edges, b.token_edges,
                 [](const TokenEdge& x, const TokenEdge& y) { return x.before == y.before && x.after == y.after; }) &&
         a.predicted_makespan_ns == b.predicted_makespan_ns && a.lower_bound_ns == b.lower_bound_ns;
}

bool SameModule(const CodeModule& a, const CodeModule& b) {
  return a.format == b.format && a.target == b.target && a.features == b.features && a.image == b.image;
}

bool SameKernel(const Kernel& a, const Kernel& b) {
  const auto matmul = [](const Kernel& k) {
    const MatmulParams& p = k.matmul;
    return std::vector<int64_t>{p.batch, p.m, p.n, p.k, p.a_batch, p.b_batch, p.transpose_a, p.transpose_b, p.tile_m, p.tile_n};
  };
  return a.name == b.name && a.kind == b.kind && a.tile_count == b.tile_count && a.reads == b.reads &&
         a.writes == b.writes && a.scratch == b.scratch && a.operand_bytes == b.operand_bytes &&
         SameAll(a.codes, b.codes,
                 [](const KernelCode& x, const KernelCode& y) {
                   return x.module == y.module && x.symbol == y.symbol && x.grid == y.grid && x.block == y.block;
                 }) &&
         matmul(a) == matmul(b) && a.spin == b.spin && a.seed == b.seed;
}

}  // namespace

Machine TestMachine() {
  auto machine = ParseMachine(kMachine);
  if (!machine.ok()) std::abort();
  return *machine;
}

Region Bytes(SpaceId space, uint64_t offset, uint64_t bytes) {
  return {.space = space, .offset = offset, .row_bytes = bytes, .row_stride = bytes, .rows = 1};
}

Region Strided(SpaceId space, uint64_t offset, uint64_t row_bytes, uint64_t row_stride, uint64_t rows) {
  return {.space = space, .offset = offset, .row_bytes = row_bytes, .row_stride = row_stride, .rows = rows};
}

ScheduleBuilder::ScheduleBuilder() {
  schedule_.producer = "schedule_builder";
  schedule_.machine = TestMachine();
  schedule_.functions.emplace_back().name = "main";
}

StreamId ScheduleBuilder::Compute(DeviceId device, uint32_t ordinal) {
  auto& streams = function().streams;
  for (size_t i = 0; i < streams.size(); ++i) {
    if (streams[i].kind == StreamKind::kCompute && streams[i].device == device && streams[i].ordinal == ordinal) {
      return StreamId(i);
    }
  }
  streams.push_back({.device = device, .kind = StreamKind::kCompute, .ordinal = ordinal, .link = LinkId()});
  return StreamId(streams.size() - 1);
}

StreamId ScheduleBuilder::Copying(DeviceId from, DeviceId to) {
  const LinkId link = schedule_.machine.FindLink(from, to);
  auto& streams = function().streams;
  for (size_t i = 0; i < streams.size(); ++i) {
    if (streams[i].kind == StreamKind::kCopy && streams[i].link == link) return StreamId(i);
  }
  streams.push_back({.device = from == kCpu ? to : from, .kind = StreamKind::kCopy, .ordinal = 0, .link = link});
  return StreamId(streams.size() - 1);
}

SpaceId ScheduleBuilder::Arena(DeviceId device, uint64_t bytes) {
  function().spaces.push_back(
      {.kind = SpaceKind::kArena, .device = device, .index = 0, .bytes = bytes, .constant_offset = 0});
  return SpaceId(function().spaces.size() - 1);
}

SpaceId ScheduleBuilder::Argument(DeviceId device, uint64_t bytes, const std::string& name) {
  const SpaceId space(function().spaces.size());
  function().spaces.push_back({.kind = SpaceKind::kArgument, .device = device,
                               .index = static_cast<uint32_t>(function().arguments.size()), .bytes = bytes,
                               .constant_offset = 0});
  function().arguments.push_back({name, {ElementType::kI8, {static_cast<int64_t>(bytes)}}, space});
  return space;
}

SpaceId ScheduleBuilder::Result(DeviceId device, uint64_t bytes, const std::string& name) {
  const SpaceId space(function().spaces.size());
  function().spaces.push_back({.kind = SpaceKind::kResult, .device = device,
                               .index = static_cast<uint32_t>(function().results.size()), .bytes = bytes,
                               .constant_offset = 0});
  function().results.push_back({name, {ElementType::kI8, {static_cast<int64_t>(bytes)}}, space});
  return space;
}

SpaceId ScheduleBuilder::Constant(DeviceId device, uint64_t bytes) {
  const uint64_t offset = schedule_.constants.size();
  for (uint64_t i = 0; i < bytes; ++i) schedule_.constants.push_back(static_cast<uint8_t>(i * 7 + 1));
  function().spaces.push_back(
      {.kind = SpaceKind::kConstant, .device = device, .index = 0, .bytes = bytes, .constant_offset = offset});
  return SpaceId(function().spaces.size() - 1);
}

uint32_t ScheduleBuilder::Add(Command command, const std::vector<std::vector<Region>>& operands) {
  command.first_region = static_cast<uint32_t>(function().regions.size());
  for (const auto& regions : operands) {
    function().regions.insert(function().regions.end(), regions.begin(), regions.end());
  }
  const auto number = static_cast<uint32_t>(function().commands.size());
  command.start_ns = 1500 * number;
  command.finish_ns = 1500 * number + 1000;
  function().commands.push_back(command);
  return number;
}

KernelId ScheduleBuilder::AddKernel(Kernel kernel) {
  for (size_t i = 0; i < schedule_.kernels.size(); ++i) {
    if (schedule_.kernels[i].name == kernel.name) return KernelId(i);
  }
  schedule_.kernels.push_back(std::move(kernel));
  return KernelId(schedule_.kernels.size() - 1);
}

uint32_t ScheduleBuilder::Launch(StreamId stream, const std::vector<Region>& reads, const std::vector<Region>& writes,
                                 const std::vector<Region>& scratch, const std::string& label) {
  Kernel kernel;
  // Native, because those may take strided operands.
  kernel.kind = KernelKind::kNative;
  kernel.codes = {{.module = 0, .symbol = "kernel"}};
  if (schedule_.modules.empty()) schedule_.modules.push_back({CodeFormat::kElf, "x86-64-v3", {"avx2"}, {0x7f, 'E', 'L', 'F'}});
  kernel.name = "kernel";
  for (const auto* regions : {&reads, &writes, &scratch}) {
    kernel.name += "_";
    for (const Region& region : *regions) {
      kernel.operand_bytes.push_back(SizeOf(region));
      absl::StrAppend(&kernel.name, ".", SizeOf(region));
    }
  }
  kernel.reads = static_cast<uint32_t>(reads.size());
  kernel.writes = static_cast<uint32_t>(writes.size());
  kernel.scratch = static_cast<uint32_t>(scratch.size());
  return Launch(AddKernel(kernel), stream, reads, writes, scratch, label);
}

uint32_t ScheduleBuilder::Launch(KernelId kernel, StreamId stream, const std::vector<Region>& reads,
                                 const std::vector<Region>& writes, const std::vector<Region>& scratch,
                                 const std::string& label) {
  auto& strings = schedule_.strings;
  const auto found = std::find(strings.begin(), strings.end(), label);
  Command command;
  command.kind = CommandKind::kLaunch;
  command.stream = stream;
  command.kernel = kernel;
  command.reads = static_cast<uint32_t>(reads.size());
  command.writes = static_cast<uint32_t>(writes.size());
  command.scratch = static_cast<uint32_t>(scratch.size());
  command.label = static_cast<uint32_t>(found - strings.begin());
  if (found == strings.end()) strings.push_back(label);
  if (schedule_.kernels[kernel.index()].kind == KernelKind::kSynthetic) command.duration_ns = 1000;
  return Add(command, {reads, writes, scratch});
}

uint32_t ScheduleBuilder::Copy(StreamId stream, const Region& from, const Region& to, const std::string& label) {
  auto& strings = schedule_.strings;
  const auto found = std::find(strings.begin(), strings.end(), label);
  Command command;
  command.kind = CommandKind::kCopy;
  command.stream = stream;
  command.reads = command.writes = 1;
  command.label = static_cast<uint32_t>(found - strings.begin());
  if (found == strings.end()) strings.push_back(label);
  return Add(command, {{from}, {to}});
}

uint32_t ScheduleBuilder::Record(StreamId stream, EventId* event) {
  *event = EventId(function().event_count++);
  Command command;
  command.kind = CommandKind::kRecord;
  command.stream = stream;
  command.event = *event;
  return Add(command, {});
}

uint32_t ScheduleBuilder::Wait(StreamId stream, EventId event, WaitReason reason) {
  Command command;
  command.kind = CommandKind::kWait;
  command.reason = reason;
  command.stream = stream;
  command.event = event;
  return Add(command, {});
}

void ScheduleBuilder::Join(StreamId from, StreamId to, WaitReason reason) {
  EventId event;
  Record(from, &event);
  Wait(to, event, reason);
}

void ScheduleBuilder::Order(uint32_t before, uint32_t after) {
  function().token_edges.push_back({.before = before, .after = after});
}

Schedule SampleSchedule() {
  ScheduleBuilder b;
  const DeviceId cpu = ScheduleBuilder::kCpu, gpu0 = ScheduleBuilder::kGpu0, gpu1 = ScheduleBuilder::kGpu1;
  Schedule& schedule = b.schedule();
  schedule.producer = "autopar-opt \"0.1.0\"";
  schedule.modules = {{CodeFormat::kElf, "x86-64-v3", {"avx2", "fma"}, {0x7f, 'E', 'L', 'F', 1, 2, 3}},
                      {CodeFormat::kPtx, "sm_75", {"ptx75"}, {'.', 'v', 'e', 'r', 0}}};
  Kernel add{.name = "add", .tile_count = 3, .reads = 2, .writes = 1, .scratch = 1, .operand_bytes = {256, 256, 256, 64},
             .codes = {{0, "add_cpu"}, {1, "add_ptx", 4, 128}}, .matmul = {}};
  const KernelId add_kernel = b.AddKernel(add);
  Kernel product{.name = "matmul_0", .kind = KernelKind::kMatmul, .tile_count = 2, .reads = 2, .writes = 1, .scratch = 0,
                 .operand_bytes = {256, 256, 256}, .codes = {{0, "relu"}},
                 .matmul = {.batch = 1, .m = 8, .n = 8, .k = 8, .a_batch = 1, .b_batch = 1, .transpose_a = true,
                            .transpose_b = false, .tile_m = 4, .tile_n = 8}};
  const KernelId matmul = b.AddKernel(product);
  Kernel task{.name = "task", .kind = KernelKind::kSynthetic, .reads = 1, .writes = 1, .scratch = 0,
              .operand_bytes = {256, 256}, .codes = {}, .matmul = {}, .spin = true, .seed = 42};
  const KernelId synthetic = b.AddKernel(task);

  const SpaceId x = b.Argument(cpu, 256, "x"), y = b.Argument(gpu0, 256), none = b.Argument(cpu, 0, "none");
  const SpaceId weights = b.Constant(gpu0, 256), bias = b.Constant(cpu, 256);
  const SpaceId out = b.Result(cpu, 512, "out"), empty = b.Result(cpu, 0);
  const SpaceId arena0 = b.Arena(gpu0, 1024), arena1 = b.Arena(gpu1, 512), arena_cpu = b.Arena(cpu, 1024);
  const StreamId s0 = b.Compute(gpu0, 0), s1 = b.Compute(gpu0, 1), p0 = b.Compute(gpu1, 0), c0 = b.Compute(cpu, 0);
  const StreamId in = b.Copying(cpu, gpu0), across = b.Copying(gpu0, gpu1), back = b.Copying(gpu1, cpu);

  // x to gpu0, a product there, its columns to gpu1 in two interleaved halves, a task there, home.
  b.Copy(in, Bytes(x, 0, 256), Bytes(arena0, 0, 256), "x to gpu0");
  b.Join(in, s0);
  b.Launch(matmul, s0, {Bytes(arena0, 0, 256), Bytes(weights, 0, 256)}, {Bytes(arena0, 256, 256)}, {}, "layer 1");
  b.Join(s0, across);
  b.Copy(across, Strided(arena0, 256, 16, 32, 8), Strided(arena1, 0, 16, 32, 8), "left half");
  b.Copy(across, Strided(arena0, 272, 16, 32, 8), Strided(arena1, 16, 16, 32, 8), "right half");
  EventId crossed;
  b.Record(across, &crossed);
  b.Wait(p0, crossed);
  b.Launch(synthetic, p0, {Bytes(arena1, 0, 256)}, {Bytes(arena1, 256, 256)}, {}, "layer 2");
  b.Join(p0, back);
  b.Copy(back, Bytes(arena1, 256, 256), Bytes(out, 0, 256), "out");
  // The second stream of gpu0 reuses the product's bytes after they were sent.
  b.Wait(s1, crossed, WaitReason::kReuse);
  b.Launch(add_kernel, s1, {Bytes(y, 0, 256), Bytes(weights, 0, 256)}, {Bytes(arena0, 256, 256)}, {Bytes(arena0, 512, 64)},
           "unused sum");
  // Beside all that, the CPU; its second task is ordered behind the first copy by a token.
  const uint32_t first =
      b.Launch(add_kernel, c0, {Bytes(x, 0, 256), Bytes(bias, 0, 256)}, {Bytes(arena_cpu, 0, 256)}, {Bytes(arena_cpu, 256, 64)},
               "sum");
  Kernel move{.name = "move", .reads = 2, .writes = 2, .scratch = 0, .operand_bytes = {0, 256, 256, 0},
              .codes = {{0, "move"}}, .matmul = {}};
  b.Launch(b.AddKernel(move), c0, {Bytes(none, 0, 0), Bytes(arena_cpu, 0, 256)},
           {Bytes(out, 256, 256), Bytes(empty, 0, 0)}, {}, "moved sum");
  b.Join(c0, s0, WaitReason::kToken);
  const uint32_t last = b.Launch(synthetic, s0, {Bytes(y, 0, 256)}, {Bytes(arena0, 0, 256)}, {}, "after the sum");
  b.Order(first, last);
  b.function().predicted_makespan_ns = 123456;
  b.function().lower_bound_ns = 120000;
  return schedule;
}

void RepairChecksums(std::vector<uint8_t>& file) {
  if (file.size() < kSegmentTableOffset) return;
  const auto load = [&](uint64_t at) {
    uint64_t value;
    std::memcpy(&value, file.data() + at, sizeof(value));
    return value;
  };
  const auto store = [&](uint64_t at, uint64_t value) { std::memcpy(file.data() + at, &value, sizeof(value)); };
  const uint64_t count = load(kSegmentCountOffset) & 0xffffffffu;
  const uint64_t header_bytes = kSegmentTableOffset + count * kSegmentEntryBytes;
  if (header_bytes > file.size()) return;
  for (uint64_t at = kSegmentTableOffset; at < header_bytes; at += kSegmentEntryBytes) {
    const uint64_t offset = load(at + 8), bytes = load(at + 16);
    if (offset > file.size() || bytes > file.size() - offset) continue;
    store(at + 24, ScheduleChecksum(absl::MakeConstSpan(file).subspan(offset, bytes)));
  }
  store(kHeaderChecksumOffset, 0);
  store(kHeaderChecksumOffset, ScheduleChecksum(absl::MakeConstSpan(file).subspan(0, header_bytes)));
}

bool WantsFullTests() {
  const char* value = std::getenv("AUTOPAR_FULL_TESTS");
  return value != nullptr && *value != '\0';
}

bool SameSchedule(const Schedule& a, const Schedule& b) {
  return a.producer == b.producer && PrintMachine(a.machine) == PrintMachine(b.machine) && a.strings == b.strings &&
         SameAll(a.modules, b.modules, SameModule) && SameAll(a.kernels, b.kernels, SameKernel) &&
         SameAll(a.functions, b.functions, SameFunction);
}

}  // namespace autopar
