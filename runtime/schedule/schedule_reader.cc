// File -> schedule. In this order: layout and checksums, the FlatBuffers verifier, unpacking within
// a budget (so that a file of n bytes makes the reader allocate O(n)), the machine, and last the
// checker.
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/schedule/checker.h"
#include "runtime/schedule/describe.h"
#include "runtime/schedule/file_layout.h"
#include "runtime/schedule/mapped_file.h"
#include "runtime/schedule/schedule_file.h"
#include "runtime/schedule/schedule_generated.h"

namespace autopar {
namespace {

template <class... Parts>
absl::Status Damaged(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("the schedule file is damaged: ", parts...,
                                                 "; write it again with autopar-opt"));
}

// Turns the verified FlatBuffer into a Schedule. Every step takes the bytes that it copies from a
// budget of the buffer's own size: a well-formed file shares nothing, and one whose fields point at
// the same bytes again and again runs out. The first error sticks; after it nothing more is copied.
class Unpacker {
 public:
  explicit Unpacker(uint64_t budget_bytes) : budget_bytes_(budget_bytes) {}

  absl::StatusOr<Schedule> Unpack(const fb::Schedule& from) {
    Schedule schedule;
    schedule.producer = String(from.producer());
    const std::string machine_json = String(from.machine_json());
    Each(from.strings(),
         [&](const flatbuffers::String* text) { schedule.strings.push_back(String(text)); });
    Each(from.modules(),
         [&](const fb::CodeModule* module) { schedule.modules.push_back(Module(*module)); });
    Each(from.kernels(),
         [&](const fb::Kernel* kernel) { schedule.kernels.push_back(UnpackKernel(*kernel)); });
    Each(from.functions(),
         [&](const fb::Function* f) { schedule.functions.push_back(UnpackFunction(*f)); });
    if (!status_.ok()) return status_;
    auto machine = ParseMachine(machine_json);
    if (!machine.ok())
      return Damaged("its machine does not parse (", std::string(machine.status().message()), ")");
    if (MachineFingerprint(*machine) != from.machine_fingerprint()) {
      return Damaged("its machine does not have the fingerprint that it states");
    }
    schedule.machine = *std::move(machine);
    return schedule;
  }

 private:
  bool Take(uint64_t bytes) {
    if (!status_.ok()) return false;
    if (bytes > budget_bytes_) {
      status_ = Damaged("several of its fields share the same bytes");
      return false;
    }
    budget_bytes_ -= bytes;
    return true;
  }

  std::string String(const flatbuffers::String* text) {
    return text != nullptr && Take(text->size()) ? text->str() : std::string();
  }

  // Calls `visit` for every table or string of an optional vector.
  template <class T, class Visit>
  void Each(const flatbuffers::Vector<flatbuffers::Offset<T>>* vector, Visit visit) {
    if (vector == nullptr || !Take(vector->size() * sizeof(uint32_t))) return;
    for (const T* element : *vector) {
      visit(element);
      if (!status_.ok()) return;
    }
  }

  // Takes the elements of an optional vector. The verifier looks at the alignment of a vector's
  // length only.
  template <class T>
  bool TakeElements(const flatbuffers::Vector<T>* vector, size_t element_bytes, size_t alignment) {
    if (vector == nullptr || !Take(vector->size() * element_bytes)) return false;
    if (vector->size() != 0 && reinterpret_cast<uintptr_t>(vector->Data()) % alignment != 0) {
      status_ = Damaged("the elements of a vector are not aligned");
      return false;
    }
    return true;
  }

  // Copies an optional vector of structs.
  template <class Struct, class T, class Convert>
  void Structs(const flatbuffers::Vector<const Struct*>* vector, std::vector<T>& to,
               Convert convert) {
    if (!TakeElements(vector, sizeof(Struct), alignof(Struct))) return;
    to.reserve(vector->size());
    for (const Struct* element : *vector) to.push_back(convert(*element));
  }

  template <class From, class T>
  void Numbers(const flatbuffers::Vector<From>* vector, std::vector<T>& to) {
    if (!TakeElements(vector, sizeof(From), sizeof(From))) return;
    to.assign(vector->begin(), vector->end());
  }

  CodeModule Module(const fb::CodeModule& from) {
    CodeModule module;
    module.format = static_cast<CodeFormat>(from.format());
    module.target = String(from.target());
    const std::string features = String(from.features());
    module.features = absl::StrSplit(features, ' ', absl::SkipEmpty());
    return module;
  }

  Kernel UnpackKernel(const fb::Kernel& from) {
    Kernel kernel;
    kernel.name = String(from.name());
    kernel.kind = static_cast<KernelKind>(from.kind());
    kernel.tile_count = from.tile_count();
    kernel.reads = from.reads();
    kernel.writes = from.writes();
    kernel.scratch = from.scratch();
    Numbers(from.operand_bytes(), kernel.operand_bytes);
    Each(from.codes(), [&](const fb::KernelCode* code) {
      kernel.codes.push_back({.module = code->module_(),
                              .symbol = String(code->symbol()),
                              .grid = code->grid(),
                              .block = code->block()});
    });
    if (const fb::MatmulParams* p = from.matmul();
        p != nullptr && kernel.kind == KernelKind::kMatmul) {
      kernel.matmul = {.batch = p->batch(),
                       .m = p->m(),
                       .n = p->n(),
                       .k = p->k(),
                       .a_batch = p->a_batch(),
                       .b_batch = p->b_batch(),
                       .transpose_a = p->transpose_a(),
                       .transpose_b = p->transpose_b(),
                       .tile_m = p->tile_m(),
                       .tile_n = p->tile_n()};
    }
    kernel.spin = from.spin();
    kernel.seed = from.seed();
    return kernel;
  }

  Port UnpackPort(const fb::Port& from) {
    Port port;
    port.name = String(from.name());
    port.type.element = static_cast<ElementType>(from.element());
    Numbers(from.shape(), port.type.shape);
    port.space.value = from.space();
    return port;
  }

  Command UnpackCommand(const fb::Command& from) {
    if (from.kind() == static_cast<uint8_t>(fb::CommandKind::Call) && status_.ok()) {
      status_ = absl::FailedPreconditionError(
          "the schedule calls a function as a sub-schedule, which format version 1 reserves and "
          "this program does not "
          "run; use a newer autopar-run, or write the file with this version's autopar-opt");
    }
    Command command;
    command.kind = static_cast<CommandKind>(from.kind());
    command.reason = static_cast<WaitReason>(from.reason());
    command.stream.value = from.stream();
    command.kernel.value = from.kernel();
    command.event.value = from.event();
    command.first_region = from.first_region();
    command.reads = from.reads();
    command.writes = from.writes();
    command.scratch = from.scratch();
    command.label = from.label();
    command.start_ns = from.start_ns();
    command.finish_ns = from.finish_ns();
    command.duration_ns = from.duration_ns();
    return command;
  }

  Function UnpackFunction(const fb::Function& from) {
    Function function;
    function.name = String(from.name());
    Each(from.arguments(),
         [&](const fb::Port* port) { function.arguments.push_back(UnpackPort(*port)); });
    Each(from.results(),
         [&](const fb::Port* port) { function.results.push_back(UnpackPort(*port)); });
    Structs(from.spaces(), function.spaces, [](const fb::Space& space) {
      return Space{.kind = static_cast<SpaceKind>(space.kind()),
                   .device = DeviceId(space.device()),
                   .index = space.index(),
                   .bytes = space.bytes(),
                   .constant_offset = space.constant_offset()};
    });
    Structs(from.streams(), function.streams, [](const fb::Stream& stream) {
      return Stream{.device = DeviceId(stream.device()),
                    .kind = static_cast<StreamKind>(stream.kind()),
                    .ordinal = stream.ordinal(),
                    .link = LinkId(stream.link())};
    });
    function.event_count = from.event_count();
    Structs(from.commands(), function.commands,
            [&](const fb::Command& command) { return UnpackCommand(command); });
    Structs(from.regions(), function.regions, [](const fb::Region& region) {
      return Region{.space = SpaceId(region.space()),
                    .offset = region.offset(),
                    .row_bytes = region.row_bytes(),
                    .row_stride = region.row_stride(),
                    .rows = region.rows()};
    });
    Structs(from.token_edges(), function.token_edges, [](const fb::TokenEdge& edge) {
      return TokenEdge{.before = edge.before(), .after = edge.after()};
    });
    function.predicted_makespan_ns = from.predicted_makespan_ns();
    function.lower_bound_ns = from.lower_bound_ns();
    return function;
  }

  uint64_t budget_bytes_;
  absl::Status status_;
};

absl::StatusOr<Schedule> ReadScheduleSegment(absl::Span<const uint8_t> bytes) {
  // Structs are read in place, so their alignment must hold in memory; a mapping has it, a caller's
  // bytes may not.
  std::vector<uint64_t> aligned;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) != 0) {
    aligned.resize((bytes.size() + 7) / 8);
    std::memcpy(aligned.data(), bytes.data(), bytes.size());
    bytes = {reinterpret_cast<const uint8_t*>(aligned.data()), bytes.size()};
  }
  // A table takes at least 8 bytes with the reference to it, so more tables than that are one table
  // many times over.
  const auto max_tables = static_cast<flatbuffers::uoffset_t>(bytes.size() / 8 + 16);
  // The verifier only asserts that this holds.
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return Damaged("its schedule segment is larger than 2 GiB");
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), /*max_depth=*/16, max_tables);
  if (bytes.size() < 16 || !fb::VerifyScheduleBuffer(verifier))
    return Damaged("its schedule segment does not verify");
  return Unpacker(bytes.size()).Unpack(*fb::GetSchedule(bytes.data()));
}

class ScheduleFileImpl final : public ScheduleFile {
 public:
  const Schedule& schedule() const override { return schedule_; }
  absl::Span<const uint8_t> constants() const override { return constants_; }

  // `bytes` must outlive this object: they are in `mapping_`, or the caller's.
  absl::Status Read(absl::Span<const uint8_t> bytes) {
    auto segments = DecodeFile(bytes);
    if (!segments.ok()) return segments.status();
    auto schedule = ReadScheduleSegment(SegmentBytes(bytes, segments->front()));
    if (!schedule.ok()) return schedule.status();
    schedule_ = *std::move(schedule);

    const bool has_constants = segments->back().kind == SegmentKind::kConstants;
    const size_t images = segments->size() - 1 - (has_constants ? 1 : 0);
    if (images != schedule_.modules.size()) {
      return Damaged("it has ", schedule_.modules.size(), " code modules and ", images,
                     " code segments");
    }
    for (size_t i = 0; i < images; ++i) {
      const absl::Span<const uint8_t> image = SegmentBytes(bytes, (*segments)[1 + i]);
      schedule_.modules[i].image.assign(image.begin(), image.end());
    }
    if (has_constants) constants_ = SegmentBytes(bytes, segments->back());
    return CheckSchedule(schedule_, constants_.size());
  }

  MappedFile mapping;  // empty when the bytes are the caller's

 private:
  Schedule schedule_;
  absl::Span<const uint8_t> constants_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const ScheduleFile>> ReadScheduleFile(const std::string& path) {
  auto mapping = MappedFile::Open(path);
  if (!mapping.ok()) return mapping.status();
  auto file = std::make_shared<ScheduleFileImpl>();
  file->mapping = *std::move(mapping);
  if (absl::Status status = file->Read(file->mapping.bytes()); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(path, ": ", std::string(status.message())));
  }
  return file;
}

absl::StatusOr<std::shared_ptr<const ScheduleFile>> ReadScheduleBytes(
    absl::Span<const uint8_t> bytes) {
  auto file = std::make_shared<ScheduleFileImpl>();
  if (absl::Status status = file->Read(bytes); !status.ok()) return status;
  return file;
}

}  // namespace autopar
