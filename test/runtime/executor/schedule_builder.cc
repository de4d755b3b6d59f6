#include "test/runtime/executor/schedule_builder.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace autopar {

Machine TestMachine(uint32_t gpus, uint32_t cpu_cores, uint32_t gpu_cores) {
  Machine machine;
  Device cpu;
  cpu.name = "cpu0";
  cpu.cores = cpu_cores;
  cpu.streams = 16;
  machine.devices.push_back(cpu);
  for (uint32_t i = 0; i < gpus; ++i) {
    Device gpu;
    gpu.name = absl::StrCat("gpu", i);
    gpu.kind = DeviceKind::kVirtual;
    gpu.cores = gpu_cores;
    gpu.first_core = static_cast<int32_t>(i);
    gpu.streams = 16;
    machine.devices.push_back(gpu);
  }
  for (size_t from = 0; from < machine.devices.size(); ++from) {
    for (size_t to = 0; to < machine.devices.size(); ++to) {
      if (from == to) continue;
      Link link;
      link.from = DeviceId(from);
      link.to = DeviceId(to);
      link.bytes_per_s = 10000000000;
      link.engines = {static_cast<uint32_t>(machine.engines.size())};
      machine.engines.push_back(
          absl::StrCat(machine.devices[from].name, ".to.", machine.devices[to].name));
      machine.links.push_back(link);
    }
  }
  return machine;
}

ScheduleBuilder::ScheduleBuilder(Machine machine) {
  schedule_.producer = "test";
  schedule_.machine = std::move(machine);
  schedule_.strings.push_back("test command");
  schedule_.functions.emplace_back().name = "main";
}

SpaceId ScheduleBuilder::AddSpace(Space space) {
  function().spaces.push_back(space);
  return SpaceId(function().spaces.size() - 1);
}

SpaceId ScheduleBuilder::Argument(TensorType type, DeviceId device) {
  uint32_t index = static_cast<uint32_t>(function().arguments.size());
  SpaceId space = AddSpace({.kind = SpaceKind::kArgument,
                            .device = device,
                            .index = index,
                            .bytes = type.bytes()});
  function().arguments.push_back({absl::StrCat("a", index), std::move(type), space});
  return space;
}

SpaceId ScheduleBuilder::Result(TensorType type, DeviceId device) {
  uint32_t index = static_cast<uint32_t>(function().results.size());
  SpaceId space = AddSpace(
      {.kind = SpaceKind::kResult, .device = device, .index = index, .bytes = type.bytes()});
  function().results.push_back({absl::StrCat("r", index), std::move(type), space});
  return space;
}

SpaceId ScheduleBuilder::Arena(DeviceId device, uint64_t bytes) {
  return AddSpace({.kind = SpaceKind::kArena, .device = device, .bytes = bytes});
}

SpaceId ScheduleBuilder::Constant(const std::vector<uint8_t>& bytes, DeviceId device) {
  while (schedule_.constants.size() % 64 != 0) schedule_.constants.push_back(0);
  uint64_t offset = schedule_.constants.size();
  schedule_.constants.insert(schedule_.constants.end(), bytes.begin(), bytes.end());
  return AddSpace({.kind = SpaceKind::kConstant,
                   .device = device,
                   .bytes = bytes.size(),
                   .constant_offset = offset});
}

StreamId ScheduleBuilder::Compute(DeviceId device, uint32_t ordinal) {
  function().streams.push_back({.device = device, .ordinal = ordinal, .link = LinkId()});
  return StreamId(function().streams.size() - 1);
}

StreamId ScheduleBuilder::CopyStream(DeviceId from, DeviceId to) {
  DeviceId driver = from == schedule_.machine.HostDevice() ? to : from;
  function().streams.push_back({.device = driver,
                                .kind = StreamKind::kCopy,
                                .link = schedule_.machine.FindLink(from, to)});
  return StreamId(function().streams.size() - 1);
}

KernelId ScheduleBuilder::AddKernel(Kernel kernel) {
  schedule_.kernels.push_back(std::move(kernel));
  return KernelId(schedule_.kernels.size() - 1);
}

KernelId ScheduleBuilder::Synthetic(const std::string& name, std::vector<uint64_t> read_bytes,
                                    std::vector<uint64_t> write_bytes, bool spin) {
  Kernel kernel;
  kernel.name = name;
  kernel.kind = KernelKind::kSynthetic;
  kernel.reads = static_cast<uint32_t>(read_bytes.size());
  kernel.writes = static_cast<uint32_t>(write_bytes.size());
  kernel.operand_bytes = std::move(read_bytes);
  kernel.operand_bytes.insert(kernel.operand_bytes.end(), write_bytes.begin(), write_bytes.end());
  kernel.spin = spin;
  kernel.seed = schedule_.kernels.size() + 1;
  return AddKernel(std::move(kernel));
}

KernelId ScheduleBuilder::Matmul(const std::string& name, const MatmulParams& params,
                                 const std::string& epilogue, std::vector<uint64_t> more_reads) {
  Kernel kernel;
  kernel.name = name;
  kernel.kind = KernelKind::kMatmul;
  kernel.matmul = params;
  kernel.tile_count = params.batch * ((params.m + params.tile_m - 1) / params.tile_m) *
                      ((params.n + params.tile_n - 1) / params.tile_n);
  kernel.reads = 2 + static_cast<uint32_t>(more_reads.size());
  kernel.writes = 1;
  kernel.operand_bytes = {static_cast<uint64_t>(params.a_batch * params.m * params.k) * 4,
                          static_cast<uint64_t>(params.b_batch * params.k * params.n) * 4};
  for (uint64_t bytes : more_reads) kernel.operand_bytes.push_back(bytes);
  kernel.operand_bytes.push_back(static_cast<uint64_t>(params.batch * params.m * params.n) * 4);
  if (!epilogue.empty()) kernel.codes.push_back({0, epilogue});
  return AddKernel(std::move(kernel));
}

KernelId ScheduleBuilder::Native(const std::string& name, const std::string& symbol, int64_t tiles,
                                 std::vector<uint64_t> read_bytes,
                                 std::vector<uint64_t> write_bytes) {
  Kernel kernel;
  kernel.name = name;
  kernel.tile_count = tiles;
  kernel.reads = static_cast<uint32_t>(read_bytes.size());
  kernel.writes = static_cast<uint32_t>(write_bytes.size());
  kernel.operand_bytes = std::move(read_bytes);
  kernel.operand_bytes.insert(kernel.operand_bytes.end(), write_bytes.begin(), write_bytes.end());
  for (uint32_t module = 0; module < schedule_.modules.size(); ++module) {
    kernel.codes.push_back({module, symbol});
  }
  return AddKernel(std::move(kernel));
}

void ScheduleBuilder::AddModule(const std::string& path, std::vector<std::string> features) {
  std::ifstream file(path, std::ios::binary);
  CodeModule module;
  module.target = "test";
  module.features = std::move(features);
  module.image.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  schedule_.modules.push_back(std::move(module));
}

Command& ScheduleBuilder::AddCommand(CommandKind kind, StreamId stream) {
  Command& command = function().commands.emplace_back();
  command.kind = kind;
  command.stream = stream;
  command.first_region = static_cast<uint32_t>(function().regions.size());
  return command;
}

uint32_t ScheduleBuilder::Launch(StreamId stream, KernelId kernel, std::vector<Region> reads,
                                 std::vector<Region> writes, int64_t duration_ns) {
  Command& command = AddCommand(CommandKind::kLaunch, stream);
  command.kernel = kernel;
  command.reads = static_cast<uint32_t>(reads.size());
  command.writes = static_cast<uint32_t>(writes.size());
  command.duration_ns = duration_ns;
  for (const Region& region : reads) function().regions.push_back(region);
  for (const Region& region : writes) function().regions.push_back(region);
  return static_cast<uint32_t>(function().commands.size() - 1);
}

uint32_t ScheduleBuilder::Copy(StreamId stream, Region from, Region to) {
  Command& command = AddCommand(CommandKind::kCopy, stream);
  command.reads = command.writes = 1;
  function().regions.push_back(from);
  function().regions.push_back(to);
  return static_cast<uint32_t>(function().commands.size() - 1);
}

EventId ScheduleBuilder::Record(StreamId stream) {
  EventId event(function().event_count++);
  AddCommand(CommandKind::kRecord, stream).event = event;
  return event;
}

void ScheduleBuilder::Wait(StreamId stream, EventId event) {
  AddCommand(CommandKind::kWait, stream).event = event;
}

Region ScheduleBuilder::Whole(SpaceId space) const {
  return Piece(space, 0, schedule_.functions[0].spaces[space.index()].bytes);
}

Region ScheduleBuilder::Piece(SpaceId space, uint64_t offset, uint64_t bytes) {
  return {.space = space, .offset = offset, .row_bytes = bytes, .row_stride = bytes, .rows = 1};
}

absl::StatusOr<std::shared_ptr<const Program>> ScheduleBuilder::Build(const LoadOptions& options) {
  AUTOPAR_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, SerializeSchedule(schedule_));
  files_.push_back(std::make_shared<std::vector<uint8_t>>(std::move(bytes)));
  AUTOPAR_ASSIGN_OR_RETURN(std::shared_ptr<const ScheduleFile> file, ReadScheduleBytes(*files_.back()));
  return Program::Create(std::move(file), options);
}

absl::StatusOr<std::shared_ptr<const Program>> ScheduleBuilder::BuildUnchecked(
    const LoadOptions& options) {
  return Program::Create(std::make_shared<UncheckedScheduleFile>(schedule_), options);
}

namespace {

uint64_t NextRandom(uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

}  // namespace

std::vector<uint8_t> TestBytes(size_t count, uint64_t seed) {
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(NextRandom(seed));
  return bytes;
}

std::vector<float> TestFloats(size_t count, uint64_t seed) {
  std::vector<float> floats(count);
  for (float& value : floats) {
    value = static_cast<float>(NextRandom(seed) % 2001) / 1000.0f - 1.0f;
  }
  return floats;
}

absl::StatusOr<std::vector<std::vector<uint8_t>>> CallMain(
    const Program& program, Session& session, const std::vector<std::vector<uint8_t>>& inputs) {
  std::vector<absl::Span<const uint8_t>> input_spans(inputs.begin(), inputs.end());
  std::vector<std::vector<uint8_t>> outputs;
  for (const Port& port : program.schedule().functions[0].results) {
    outputs.emplace_back(port.type.bytes(), 0xcd);
  }
  std::vector<absl::Span<uint8_t>> output_spans;
  for (std::vector<uint8_t>& output : outputs) output_spans.push_back(absl::MakeSpan(output));
  AUTOPAR_RETURN_IF_ERROR(session.Call("main", input_spans, output_spans));
  return outputs;
}

std::vector<uint8_t> BytesOf(const std::vector<float>& floats) {
  std::vector<uint8_t> bytes(floats.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), floats.data(), bytes.size());
  return bytes;
}

std::vector<float> FloatsOf(const std::vector<uint8_t>& bytes) {
  std::vector<float> floats(bytes.size() / sizeof(float));
  if (!floats.empty()) std::memcpy(floats.data(), bytes.data(), bytes.size());
  return floats;
}

}  // namespace autopar
