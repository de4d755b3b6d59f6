#include "tools/autopar-run/measurements.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/trace/chrome_trace.h"

namespace autopar {
namespace {

// Of an even count the mean of the two in the middle. Sorts.
int64_t Median(std::vector<int64_t>* values) {
  std::sort(values->begin(), values->end());
  const size_t half = values->size() / 2;
  return values->size() % 2 == 1 ? (*values)[half] : ((*values)[half - 1] + (*values)[half]) / 2;
}

// Whether a task takes as long on one as on the other.
bool AreAlike(const Device& a, const Device& b) {
  return a.cores == b.cores && a.arch == b.arch && a.peak_flops == b.peak_flops &&
         a.memory_bytes_per_s == b.memory_bytes_per_s;
}

}  // namespace

std::string TimeLine(std::vector<int64_t> call_ns) {
  const int64_t median = Median(&call_ns);
  char line[160];
  std::snprintf(line, sizeof(line), "time_ms min=%.6f median=%.6f max=%.6f calls=%zu\n",
                static_cast<double>(call_ns.front()) / 1e6, static_cast<double>(median) / 1e6,
                static_cast<double>(call_ns.back()) / 1e6, call_ns.size());
  return line;
}

std::string MakespanLine(int64_t predicted_ns, std::vector<int64_t> elapsed_ns) {
  const double predicted = static_cast<double>(predicted_ns);
  const double measured = static_cast<double>(Median(&elapsed_ns));
  char line[160];
  int length = std::snprintf(line, sizeof(line), "makespan_ms predicted=%.6f measured=%.6f",
                             predicted / 1e6, measured / 1e6);
  std::string text(line, static_cast<size_t>(length));
  if (predicted_ns > 0) {
    length = std::snprintf(line, sizeof(line), " ratio=%.3f", measured / predicted);
    text.append(line, static_cast<size_t>(length));
  }
  return text + "\n";
}

TaskProfile::TaskProfile(const Schedule& schedule, const Function& function,
                         const std::map<std::string, std::string>& device_map)
    : schedule_(schedule), function_(function) {
  const std::vector<Device>& devices = schedule.machine.devices;
  for (const Device& device : devices) {
    const auto mapped = device_map.find(device.name);
    if (mapped != device_map.end()) {
      keys_.push_back(mapped->second.substr(0, mapped->second.find(':')));
    } else {
      const bool all_alike = std::all_of(devices.begin(), devices.end(), [&](const Device& other) {
        return other.kind != device.kind || AreAlike(other, device);
      });
      keys_.push_back(all_alike ? std::string(DeviceKindName(device.kind)) : device.name);
    }
  }
}

void TaskProfile::Add(absl::Span<const CommandTiming> timings) {
  for (const CommandTiming& timing : timings) {
    const Command& command = function_.commands[timing.command];
    if (command.kind != CommandKind::kLaunch) continue;
    const DeviceId device = function_.streams[command.stream.index()].device;
    times_ns_[{schedule_.strings[command.label], keys_[device.index()]}].push_back(
        timing.finish_ns - timing.start_ns);
  }
}

std::string TaskProfile::ToJson() const {
  nlohmann::ordered_json tasks = nlohmann::ordered_json::object();
  for (const auto& [key, times] : times_ns_) {
    std::vector<int64_t> sorted = times;
    tasks[key.first][key.second] = Median(&sorted);
  }
  return nlohmann::ordered_json{{"function", function_.name}, {"tasks", tasks}}.dump(1, ' ', true,
                                                       nlohmann::json::error_handler_t::replace) +
         "\n";
}

std::string TraceOfCall(const Schedule& schedule, const Function& function,
                        absl::Span<const CommandTiming> timings) {
  std::vector<MeasuredSpan> spans;
  spans.reserve(timings.size());
  for (const CommandTiming& timing : timings)
    spans.push_back({timing.command, timing.start_ns, timing.finish_ns});
  return ChromeTrace(schedule, function, spans);
}

}  // namespace autopar
