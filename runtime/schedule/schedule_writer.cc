// Schedule -> file. The FlatBuffer holds no payload: images and constants go to segments of their
// own, straight from the schedule's vectors, so that writing needs no second copy of the weights.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/schedule/file_layout.h"
#include "runtime/schedule/schedule_file.h"
#include "runtime/schedule/schedule_generated.h"

namespace autopar {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
template <class T>
using VectorOffset = Offset<flatbuffers::Vector<T>>;

// FlatBuffers stops at 2 GiB (by aborting), so the size is estimated, from above, before anything
// is built.
constexpr uint64_t kMaxFlatBufferBytes = (uint64_t{1} << 31) - 4096;
// More than any one table, string header or vector header of the schema takes, with its entry in
// its parent.
constexpr uint64_t kTableBytes = 256;
constexpr uint64_t kStringBytes = 16;

uint64_t EstimateBytes(const Schedule& schedule, const std::string& machine_json) {
  uint64_t bytes = kTableBytes + machine_json.size() + schedule.producer.size();
  for (const std::string& text : schedule.strings) bytes += kStringBytes + text.size();
  for (const CodeModule& module : schedule.modules) {
    bytes += kTableBytes + module.target.size();
    for (const std::string& feature : module.features) bytes += 1 + feature.size();
  }
  for (const Kernel& kernel : schedule.kernels) {
    bytes += kTableBytes + kernel.name.size() + 8 * kernel.operand_bytes.size();
    for (const KernelCode& code : kernel.codes) bytes += kTableBytes + code.symbol.size();
  }
  for (const Function& function : schedule.functions) {
    bytes += kTableBytes + function.name.size() + function.spaces.size() * sizeof(fb::Space) +
             function.streams.size() * sizeof(fb::Stream) +
             function.commands.size() * sizeof(fb::Command) +
             function.regions.size() * sizeof(fb::Region) +
             function.token_edges.size() * sizeof(fb::TokenEdge);
    for (const auto* ports : {&function.arguments, &function.results}) {
      for (const Port& port : *ports)
        bytes += kTableBytes + port.name.size() + 8 * port.type.shape.size();
    }
  }
  return bytes;
}

// A vector of structs, built in place: `make` turns one element into its struct.
template <class Struct, class Element, class Make>
VectorOffset<const Struct*> Structs(FlatBufferBuilder& builder,
                                    const std::vector<Element>& elements, Make make) {
  Struct* out = nullptr;
  const auto offset = builder.CreateUninitializedVectorOfStructs(elements.size(), &out);
  std::transform(elements.begin(), elements.end(), out, make);
  return offset;
}

template <class Element, class Make>
auto Tables(FlatBufferBuilder& builder, const std::vector<Element>& elements, Make make) {
  std::vector<decltype(make(elements[0]))> offsets;
  offsets.reserve(elements.size());
  for (const Element& element : elements) offsets.push_back(make(element));
  return builder.CreateVector(offsets);
}

fb::Space ToFile(const Space& space) {
  return fb::Space(space.bytes, space.constant_offset, space.device.value, space.index,
                   static_cast<uint8_t>(space.kind));
}

fb::Region ToFile(const Region& region) {
  return fb::Region(region.offset, region.row_bytes, region.row_stride, region.rows,
                    region.space.value);
}

fb::Stream ToFile(const Stream& stream) {
  return fb::Stream(stream.device.value, stream.ordinal, stream.link.value,
                    static_cast<uint8_t>(stream.kind));
}

fb::Command ToFile(const Command& command) {
  return fb::Command(command.start_ns, command.finish_ns, command.duration_ns, command.stream.value,
                     command.kernel.value, command.event.value, /*callee=*/0xffffffffu,
                     command.first_region, command.label, command.reads, command.writes,
                     command.scratch, static_cast<uint8_t>(command.kind),
                     static_cast<uint8_t>(command.reason));
}

Offset<fb::CodeModule> WriteModule(FlatBufferBuilder& builder, const CodeModule& module) {
  const auto target = builder.CreateString(module.target);
  const auto features = builder.CreateString(absl::StrJoin(module.features, " "));
  return fb::CreateCodeModule(builder, static_cast<fb::CodeFormat>(module.format), target,
                              features);
}

Offset<fb::Kernel> WriteKernel(FlatBufferBuilder& builder, const Kernel& kernel) {
  const auto codes = Tables(builder, kernel.codes, [&](const KernelCode& code) {
    const auto symbol = builder.CreateString(code.symbol);
    return fb::CreateKernelCode(builder, code.module, symbol, code.grid, code.block);
  });
  const auto name = builder.CreateString(kernel.name);
  const auto operand_bytes = builder.CreateVector(kernel.operand_bytes);
  const MatmulParams& p = kernel.matmul;
  const fb::MatmulParams matmul(p.batch, p.m, p.n, p.k, p.a_batch, p.b_batch, p.tile_m, p.tile_n,
                                p.transpose_a, p.transpose_b);
  return fb::CreateKernel(
      builder, name, static_cast<fb::KernelKind>(kernel.kind), kernel.tile_count, kernel.reads,
      kernel.writes, kernel.scratch, operand_bytes, codes,
      kernel.kind == KernelKind::kMatmul ? &matmul : nullptr, kernel.spin, kernel.seed);
}

Offset<fb::Port> WritePort(FlatBufferBuilder& builder, const Port& port) {
  const auto name = builder.CreateString(port.name);
  const auto shape = builder.CreateVector(port.type.shape);
  return fb::CreatePort(builder, name, static_cast<uint8_t>(port.type.element), shape,
                        port.space.value);
}

Offset<fb::Function> WriteFunction(FlatBufferBuilder& builder, const Function& function) {
  const auto write_port = [&](const Port& port) { return WritePort(builder, port); };
  const auto to_file = [](const auto& element) { return ToFile(element); };
  const auto name = builder.CreateString(function.name);
  const auto arguments = Tables(builder, function.arguments, write_port);
  const auto results = Tables(builder, function.results, write_port);
  const auto spaces = Structs<fb::Space>(builder, function.spaces, to_file);
  const auto streams = Structs<fb::Stream>(builder, function.streams, to_file);
  const auto commands = Structs<fb::Command>(builder, function.commands, to_file);
  const auto regions = Structs<fb::Region>(builder, function.regions, to_file);
  const auto edges = Structs<fb::TokenEdge>(
      builder, function.token_edges,
      [](const TokenEdge& edge) { return fb::TokenEdge(edge.before, edge.after); });
  return fb::CreateFunction(builder, name, arguments, results, spaces, streams,
                            function.event_count, commands, regions, edges,
                            function.predicted_makespan_ns, function.lower_bound_ns);
}

absl::StatusOr<flatbuffers::DetachedBuffer> BuildFlatBuffer(const Schedule& schedule) {
  const std::string machine_json = PrintMachine(schedule.machine);
  const uint64_t estimate = EstimateBytes(schedule, machine_json);
  if (estimate > kMaxFlatBufferBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the commands of the schedule would take about ", estimate,
                     " bytes and a schedule file holds ", kMaxFlatBufferBytes,
                     " (constants and code aside); split the program"));
  }
  FlatBufferBuilder builder(estimate);
  const auto producer = builder.CreateString(schedule.producer);
  const auto machine = builder.CreateString(machine_json);
  const auto strings = Tables(builder, schedule.strings,
                              [&](const std::string& text) { return builder.CreateString(text); });
  const auto modules = Tables(builder, schedule.modules, [&](const CodeModule& module) {
    return WriteModule(builder, module);
  });
  const auto kernels = Tables(builder, schedule.kernels,
                              [&](const Kernel& kernel) { return WriteKernel(builder, kernel); });
  const auto functions = Tables(builder, schedule.functions, [&](const Function& function) {
    return WriteFunction(builder, function);
  });
  fb::FinishScheduleBuffer(
      builder, fb::CreateSchedule(builder, producer, machine, MachineFingerprint(schedule.machine),
                                  strings, modules, kernels, functions));
  return builder.Release();
}

// A whole file as pieces in order: where each begins and what stands there. Gaps are zeros.
struct FilePieces {
  struct Piece {
    uint64_t offset;
    absl::Span<const uint8_t> bytes;
  };
  std::vector<uint8_t> header;
  flatbuffers::DetachedBuffer flat_buffer;
  std::vector<Piece> pieces;
  uint64_t file_bytes = 0;
};

absl::StatusOr<FilePieces> AssembleFile(const Schedule& schedule) {
  FilePieces file;
  auto flat_buffer = BuildFlatBuffer(schedule);
  if (!flat_buffer.ok()) return flat_buffer.status();
  file.flat_buffer = *std::move(flat_buffer);

  std::vector<Segment> segments;
  std::vector<absl::Span<const uint8_t>> payloads;
  const auto add = [&](SegmentKind kind, absl::Span<const uint8_t> bytes) {
    segments.push_back({.kind = kind, .bytes = bytes.size(), .checksum = ScheduleChecksum(bytes)});
    payloads.push_back(bytes);
  };
  add(SegmentKind::kSchedule, {file.flat_buffer.data(), file.flat_buffer.size()});
  for (const CodeModule& module : schedule.modules) add(SegmentKind::kCode, module.image);
  if (!schedule.constants.empty()) add(SegmentKind::kConstants, schedule.constants);

  file.file_bytes = PlaceSegments(segments);
  file.header = EncodeHeader(segments, file.file_bytes);
  file.pieces.push_back({0, file.header});
  for (size_t i = 0; i < segments.size(); ++i)
    file.pieces.push_back({segments[i].offset, payloads[i]});
  return file;
}

absl::Status WriteAll(int fd, absl::Span<const uint8_t> bytes, uint64_t offset) {
  constexpr size_t kMostPerCall = size_t{1} << 30;  // Linux writes at most 2 GiB - 4 KiB at once
  while (!bytes.empty()) {
    const ssize_t written =
        pwrite(fd, bytes.data(), std::min(bytes.size(), kMostPerCall), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return absl::ErrnoToStatus(errno, "cannot write");
    bytes.remove_prefix(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return absl::OkStatus();
}

absl::Status WritePieces(int fd, const FilePieces& file) {
  for (const FilePieces::Piece& piece : file.pieces) {
    if (absl::Status status = WriteAll(fd, piece.bytes, piece.offset); !status.ok()) return status;
  }
  // An empty last segment leaves the file too short; what lies between the pieces reads as zeros.
  if (ftruncate(fd, static_cast<off_t>(file.file_bytes)) != 0)
    return absl::ErrnoToStatus(errno, "cannot write");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<uint8_t>> SerializeSchedule(const Schedule& schedule) {
  auto file = AssembleFile(schedule);
  if (!file.ok()) return file.status();
  std::vector<uint8_t> bytes(file->file_bytes);
  for (const FilePieces::Piece& piece : file->pieces) {
    std::copy(piece.bytes.begin(), piece.bytes.end(),
              bytes.begin() + static_cast<ptrdiff_t>(piece.offset));
  }
  return bytes;
}

absl::Status WriteScheduleFile(const Schedule& schedule, const std::string& path) {
  auto file = AssembleFile(schedule);
  if (!file.ok()) return file.status();
  const auto fail = [&](const absl::Status& status) {
    return absl::Status(
        status.code(), absl::StrCat("schedule file '", path, "': ", std::string(status.message())));
  };
  std::string temporary = path + ".XXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return fail(absl::ErrnoToStatus(errno, "cannot create a file beside it"));
  absl::Status status = WritePieces(fd, *file);
  // mkostemp makes a file for its owner alone; a new file has the rights that the user's mask
  // leaves.
  const mode_t mask = umask(0);
  umask(mask);
  if (status.ok() && fchmod(fd, 0666 & ~mask) != 0)
    status = absl::ErrnoToStatus(errno, "cannot set its rights");
  if (close(fd) != 0 && status.ok()) status = absl::ErrnoToStatus(errno, "cannot write");
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = absl::ErrnoToStatus(errno, "cannot rename the finished file into place");
  }
  if (status.ok()) return status;
  unlink(temporary.c_str());
  return fail(status);
}

}  // namespace autopar
