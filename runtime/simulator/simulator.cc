#include "runtime/simulator/simulator.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"
#include "runtime/schedule/describe.h"

namespace autopar {
namespace {

// Sum of times that are not negative.
int64_t Add(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

// Length of the union of intervals.
int64_t Covered(std::vector<SimulatedSpan> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const SimulatedSpan& a, const SimulatedSpan& b) { return a.start_ns < b.start_ns; });
  int64_t covered_ns = 0, end_ns = 0;
  for (const SimulatedSpan& span : spans) {
    if (span.finish_ns <= end_ns) continue;
    covered_ns += span.finish_ns - std::max(span.start_ns, end_ns);
    end_ns = span.finish_ns;
  }
  return covered_ns;
}

class Simulator {
 public:
  Simulator(const Schedule& schedule, const Function& function, const Machine& machine)
      : schedule_(schedule),
        function_(function),
        machine_(machine),
        free_ns_(function.streams.size(), 0),
        event_(function.event_count),
        engine_free_ns_(machine.engines.size(), 0),
        launches_(machine.devices.size()) {
    simulation_.commands.reserve(function.commands.size());
    simulation_.engine_busy_ns.assign(machine.engines.size(), 0);
  }

  absl::StatusOr<Simulation> Run() {
    for (const Stream& stream : function_.streams) AUTOPAR_RETURN_IF_ERROR(FindPlace(stream));
    for (const Command& command : function_.commands) {
      const SimulatedSpan span = Replay(command);
      free_ns_[command.stream.index()] = span.finish_ns;
      simulation_.commands.push_back(span);
    }
    for (std::vector<SimulatedSpan>& spans : launches_)
      simulation_.device_busy_ns.push_back(Covered(std::move(spans)));
    return std::move(simulation_);
  }

 private:
  // Where a stream of the schedule is on the machine.
  struct Place {
    DeviceId device;  // compute
    LinkId link;      // copy
  };
  struct Event {
    int64_t at_ns = 0;
    StreamId recorder;
  };

  absl::StatusOr<DeviceId> FindDevice(DeviceId planned) const {
    const std::string& name = schedule_.machine.devices[planned.index()].name;
    const DeviceId device = machine_.FindDevice(name);
    if (device.valid()) return device;
    return absl::InvalidArgumentError(absl::StrCat(
        "the schedule uses the device ", Quoted(name),
        ", which the machine does not have; its devices are ",
        absl::StrJoin(machine_.devices, ", ",
                      [](std::string* out, const Device& d) { absl::StrAppend(out, d.name); })));
  }

  absl::Status FindPlace(const Stream& stream) {
    Place place;
    if (stream.kind == StreamKind::kCompute) {
      AUTOPAR_ASSIGN_OR_RETURN(place.device, FindDevice(stream.device));
      const Device& device = machine_.devices[place.device.index()];
      if (stream.ordinal >= device.streams) {
        return absl::InvalidArgumentError(
            absl::StrCat("the schedule uses compute stream ", stream.ordinal, " of the device ",
                         Quoted(device.name), ", which has ", device.streams,
                         " on this machine; plan again with autopar-opt --machine="));
      }
    } else {
      const Link& planned = schedule_.machine.links[stream.link.index()];
      AUTOPAR_ASSIGN_OR_RETURN(const DeviceId from, FindDevice(planned.from));
      AUTOPAR_ASSIGN_OR_RETURN(const DeviceId to, FindDevice(planned.to));
      place.link = machine_.FindLink(from, to);
      if (!place.link.valid()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the schedule copies from ", Quoted(machine_.devices[from.index()].name), " to ",
            Quoted(machine_.devices[to.index()].name),
            ", and the machine has no link there; add one, or plan again with autopar-opt "
            "--machine="));
      }
    }
    places_.push_back(place);
    return absl::OkStatus();
  }

  SimulatedSpan Replay(const Command& command) {
    const size_t stream = command.stream.index();
    const Place& place = places_[stream];
    const int64_t now_ns = free_ns_[stream];
    switch (command.kind) {
      case CommandKind::kRecord:
        event_[command.event.index()] = {now_ns, command.stream};
        return {now_ns, now_ns};
      case CommandKind::kWait: {
        const Event& event = event_[command.event.index()];
        const int64_t past_ns = std::max(now_ns, Add(event.at_ns, WaitNs(place, event)));
        return {past_ns, past_ns};
      }
      case CommandKind::kLaunch: {
        const SimulatedSpan span = {now_ns, Add(now_ns, LaunchNs(command, place))};
        launches_[place.device.index()].push_back(span);
        return Note(span);
      }
      case CommandKind::kCopy:
        return Note(place.link.valid() ? Transfer(command, place, now_ns)
                                       : SimulatedSpan{now_ns, Add(now_ns, PlannedNs(command))});
    }
    return {now_ns, now_ns};
  }

  SimulatedSpan Note(SimulatedSpan span) {
    simulation_.makespan_ns = std::max(simulation_.makespan_ns, span.finish_ns);
    return span;
  }

  // What it takes to hear of an event.
  int64_t WaitNs(const Place& waiter, const Event& event) const {
    if (waiter.link.valid() || !event.recorder.valid()) return 0;
    const Place& recorder = places_[event.recorder.index()];
    const bool is_foreign = recorder.link.valid() || recorder.device != waiter.device;
    return is_foreign ? machine_.devices[waiter.device.index()].wait_ns : 0;
  }

  static int64_t PlannedNs(const Command& command) {
    int64_t planned_ns = 0;
    if (__builtin_sub_overflow(command.finish_ns, command.start_ns, &planned_ns)) return 0;
    return std::max<int64_t>(0, planned_ns);
  }

  int64_t LaunchNs(const Command& command, const Place& place) const {
    int64_t work_ns = command.duration_ns;
    if (schedule_.kernels[command.kernel.index()].kind != KernelKind::kSynthetic) {
      const DeviceId planned = function_.streams[command.stream.index()].device;
      work_ns = std::max<int64_t>(
          0, PlannedNs(command) - schedule_.machine.devices[planned.index()].launch_ns);
    }
    return Add(work_ns, machine_.devices[place.device.index()].launch_ns);
  }

  SimulatedSpan Transfer(const Command& command, const Place& place, int64_t ready_ns) {
    const Region& region = function_.regions[command.first_region];
    const uint64_t bytes = region.rows * region.row_bytes;
    if (bytes == 0) return {ready_ns, ready_ns};
    const Link& link = machine_.links[place.link.index()];
    SimulatedSpan span = {ready_ns, 0};
    for (uint32_t engine : link.engines)
      span.start_ns = std::max(span.start_ns, engine_free_ns_[engine]);
    span.finish_ns = Add(span.start_ns, TransferNs(link, bytes));
    for (uint32_t engine : link.engines) {
      engine_free_ns_[engine] = span.finish_ns;
      int64_t& busy_ns = simulation_.engine_busy_ns[engine];
      busy_ns = Add(busy_ns, span.finish_ns - span.start_ns);
    }
    return span;
  }

  const Schedule& schedule_;
  const Function& function_;
  const Machine& machine_;
  std::vector<Place> places_;            // by stream
  std::vector<int64_t> free_ns_;         // by stream: when it is done with what came so far
  std::vector<Event> event_;             // by event
  std::vector<int64_t> engine_free_ns_;  // by engine of the machine
  std::vector<std::vector<SimulatedSpan>> launches_;  // by device of the machine
  Simulation simulation_;
};

}  // namespace

absl::StatusOr<Simulation> Simulate(const Schedule& schedule, const Function& function,
                                    const Machine& machine) {
  return Simulator(schedule, function, machine).Run();
}

}  // namespace autopar
