#include "runtime/trace/chrome_trace.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"

namespace autopar {
namespace {

constexpr uint32_t kNone = 0xffffffffu;

// A JSON string with its quotes. What is not UTF-8 is replaced.
std::string Quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// The format counts microseconds, with fractions.
std::string Microseconds(int64_t ns) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%" PRId64 ".%03d", ns / 1000, static_cast<int>(ns % 1000));
  return buffer;
}

bool DoesSomething(const Command& command) {
  return command.kind == CommandKind::kLaunch || command.kind == CommandKind::kCopy;
}

const char* ReasonName(WaitReason reason) {
  switch (reason) {
    case WaitReason::kData:
      return "data";
    case WaitReason::kReuse:
      return "reuse";
    case WaitReason::kToken:
      return "token";
    case WaitReason::kCapacity:
      return "capacity";
  }
  return "unknown";
}

class TraceWriter {
 public:
  TraceWriter(const Schedule& schedule, const Function& function)
      : schedule_(schedule), function_(function), spans_(function.commands.size(), nullptr) {}

  std::string Write(absl::Span<const MeasuredSpan> measured) {
    int64_t makespan_ns = 0;
    for (const MeasuredSpan& span : measured) {
      if (span.command >= spans_.size() || !DoesSomething(function_.commands[span.command]))
        continue;
      spans_[span.command] = &span;
      makespan_ns = std::max(makespan_ns, span.finish_ns);
    }
    text_ = "{\"displayTimeUnit\": \"ns\", \"otherData\": {";
    absl::StrAppend(&text_, "\"producer\": ", Quoted(schedule_.producer),
                    ", \"function\": ", Quoted(function_.name),
                    ", \"predicted_makespan_ns\": ", function_.predicted_makespan_ns,
                    ", \"measured_makespan_ns\": ", makespan_ns, "},\n\"traceEvents\": [");
    NameRows();
    for (uint32_t i = 0; i < function_.commands.size(); ++i) {
      const Command& command = function_.commands[i];
      if (!DoesSomething(command)) continue;
      if (spans_[i] != nullptr) AddSpan(i, spans_[i]->start_ns, spans_[i]->finish_ns, true);
      AddSpan(i, command.start_ns, command.finish_ns, false);
    }
    AddArrows();
    text_ += "\n]}\n";
    return std::move(text_);
  }

 private:
  // Adds one event: its members without the braces.
  template <class... Parts>
  void Add(const Parts&... parts) {
    absl::StrAppend(&text_, is_first_ ? "\n{" : ",\n{", parts..., "}");
    is_first_ = false;
  }

  const Stream* StreamOf(const Command& command) const {
    return command.stream.index() < function_.streams.size()
               ? &function_.streams[command.stream.index()]
               : nullptr;
  }

  // "pid": the device, "tid": the row.
  std::string Row(StreamId id, bool is_measured) const {
    const DeviceId device = function_.streams[id.index()].device;
    return absl::StrCat("\"pid\": ", device.index() + 1,
                        ", \"tid\": ", 2 * id.index() + (is_measured ? 1 : 2));
  }

  std::string DeviceName(DeviceId id) const {
    return id.index() < schedule_.machine.devices.size()
               ? schedule_.machine.devices[id.index()].name
               : "?";
  }

  std::string StreamName(const Stream& stream) const {
    if (stream.kind == StreamKind::kCompute) return absl::StrCat("compute ", stream.ordinal);
    if (stream.link.index() >= schedule_.machine.links.size())
      return absl::StrCat("copy ", stream.ordinal);
    const Link& link = schedule_.machine.links[stream.link.index()];
    return absl::StrCat("copy ", DeviceName(link.from), " to ", DeviceName(link.to),
                        stream.ordinal == 0 ? "" : absl::StrCat(" ", stream.ordinal));
  }

  void NameRows() {
    std::vector<bool> stream_used(function_.streams.size()), device_used;
    for (const Command& command : function_.commands) {
      if (DoesSomething(command) && StreamOf(command)) stream_used[command.stream.index()] = true;
    }
    for (size_t i = 0; i < function_.streams.size(); ++i) {
      if (!stream_used[i]) continue;
      const Stream& stream = function_.streams[i];
      const size_t device = stream.device.index();
      if (device >= device_used.size()) device_used.resize(device + 1);
      if (!device_used[device]) {
        device_used[device] = true;
        Add("\"ph\": \"M\", \"name\": \"process_name\", \"pid\": ", device + 1,
            ", \"args\": {\"name\": ", Quoted(DeviceName(stream.device)), "}");
        Add("\"ph\": \"M\", \"name\": \"process_sort_index\", \"pid\": ", device + 1,
            ", \"args\": {\"sort_index\": ", device, "}");
      }
      for (const bool is_measured : {true, false}) {
        const std::string row = Row(StreamId(i), is_measured);
        const std::string name = StreamName(stream) + (is_measured ? " measured" : " predicted");
        Add("\"ph\": \"M\", \"name\": \"thread_name\", ", row,
            ", \"args\": {\"name\": ", Quoted(name), "}");
        Add("\"ph\": \"M\", \"name\": \"thread_sort_index\", ", row,
            ", \"args\": {\"sort_index\": ", 2 * i + (is_measured ? 0 : 1), "}");
      }
    }
  }

  void AddSpan(uint32_t index, int64_t start_ns, int64_t finish_ns, bool is_measured) {
    const Command& command = function_.commands[index];
    if (StreamOf(command) == nullptr) return;
    const bool is_copy = command.kind == CommandKind::kCopy;
    std::string details = absl::StrCat("\"command\": ", index);
    if (is_copy) {
      uint64_t bytes = 0;
      if (command.first_region < function_.regions.size()) {
        const Region& region = function_.regions[command.first_region];
        bytes = region.row_bytes * region.rows;
      }
      absl::StrAppend(&details, ", \"bytes\": ", bytes);
    } else if (command.kernel.index() < schedule_.kernels.size()) {
      absl::StrAppend(&details,
                      ", \"kernel\": ", Quoted(schedule_.kernels[command.kernel.index()].name));
    }
    Add("\"ph\": \"X\", \"cat\": \"", is_copy ? "copy" : "launch",
        is_measured ? ",measured" : ",predicted", "\", \"name\": ", Quoted(Label(command)), ", ",
        Row(command.stream, is_measured), ", \"ts\": ", Microseconds(start_ns),
        ", \"dur\": ", Microseconds(std::max<int64_t>(finish_ns - start_ns, 0)), ", \"args\": {",
        details, "}");
  }

  std::string Label(const Command& command) const {
    if (command.label < schedule_.strings.size() && !schedule_.strings[command.label].empty()) {
      return schedule_.strings[command.label];
    }
    if (command.kernel.index() < schedule_.kernels.size()) {
      return schedule_.kernels[command.kernel.index()].name;
    }
    return command.kind == CommandKind::kCopy ? "copy" : "launch";
  }

  // An arrow begins in the last span before the record, and ends in the first one after the wait,
  // on their streams.
  void AddArrows() {
    std::vector<uint32_t> last_on_stream(function_.streams.size(), kNone);
    std::vector<uint32_t> source_of_event(function_.event_count, kNone);
    struct Arrow {
      uint32_t source;
      WaitReason reason;
    };
    std::vector<std::vector<Arrow>> open(function_.streams.size());
    uint32_t arrows = 0;
    for (uint32_t i = 0; i < function_.commands.size(); ++i) {
      const Command& command = function_.commands[i];
      if (StreamOf(command) == nullptr) continue;
      const size_t stream = command.stream.index();
      if (command.kind == CommandKind::kRecord && command.event.index() < source_of_event.size()) {
        source_of_event[command.event.index()] = last_on_stream[stream];
      } else if (command.kind == CommandKind::kWait &&
                 command.event.index() < source_of_event.size()) {
        const uint32_t source = source_of_event[command.event.index()];
        if (source != kNone) open[stream].push_back({source, command.reason});
      } else if (DoesSomething(command)) {
        for (const Arrow& arrow : open[stream]) AddArrow(arrow.source, i, arrow.reason, arrows++);
        open[stream].clear();
        last_on_stream[stream] = i;
      }
    }
  }

  void AddArrow(uint32_t source, uint32_t target, WaitReason reason, uint32_t number) {
    if (spans_[source] == nullptr || spans_[target] == nullptr) return;
    const auto end = [&](const char* phase, uint32_t command, int64_t at_ns) {
      Add("\"ph\": \"", phase, "\", \"cat\": \"wait\", \"name\": \"", ReasonName(reason),
          "\", \"id\": ", number, ", ", Row(function_.commands[command].stream, true),
          ", \"ts\": ", Microseconds(at_ns));
    };
    // The viewer binds an end to the span that encloses its time: begin just inside the source.
    end("s", source, std::max(spans_[source]->start_ns, spans_[source]->finish_ns - 1));
    end("f\", \"bp\": \"e", target, spans_[target]->start_ns);
  }

  const Schedule& schedule_;
  const Function& function_;
  std::vector<const MeasuredSpan*> spans_;  // by command
  std::string text_;
  bool is_first_ = true;
};

}  // namespace

std::string ChromeTrace(const Schedule& schedule, const Function& function,
                        absl::Span<const MeasuredSpan> measured) {
  return TraceWriter(schedule, function).Write(measured);
}

}  // namespace autopar
