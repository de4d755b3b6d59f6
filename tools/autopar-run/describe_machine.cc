#include "tools/autopar-run/describe_machine.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/executor/program.h"
#include "runtime/io/tensor.h"

namespace autopar {
namespace {

using Clock = std::chrono::steady_clock;

int64_t NsSince(Clock::time_point start) {
  return std::chrono::nanoseconds(Clock::now() - start).count();
}

// A schedule of one function `main` on `machine`, without streams and commands yet.
Schedule EmptySchedule(const Machine& machine) {
  Schedule schedule;
  schedule.producer = "autopar-run --describe-machine";
  schedule.machine = machine;
  schedule.strings = {"measure"};
  Function function;
  function.name = "main";
  schedule.functions.push_back(std::move(function));
  return schedule;
}

// The same, with all compute streams of `device`.
Schedule ComputeSchedule(const Machine& machine, DeviceId device) {
  Schedule schedule = EmptySchedule(machine);
  for (uint32_t i = 0; i < machine.devices[device.index()].streams; ++i) {
    schedule.functions[0].streams.push_back({device, StreamKind::kCompute, i, LinkId()});
  }
  return schedule;
}

// An argument or result of the function, with a region that is all of it.
void AddPort(SpaceKind kind, DeviceId device, const TensorType& type, Function* function) {
  std::vector<Port>& ports =
      kind == SpaceKind::kArgument ? function->arguments : function->results;
  Space space;
  space.kind = kind;
  space.device = device;
  space.index = static_cast<uint32_t>(ports.size());
  space.bytes = type.bytes();
  ports.push_back({"", type, SpaceId(function->spaces.size())});
  function->regions.push_back({SpaceId(function->spaces.size()), 0, space.bytes, space.bytes, 1});
  function->spaces.push_back(space);
}

void AddCommand(CommandKind kind, size_t stream, size_t event, Function* function) {
  Command command;
  command.kind = kind;
  command.stream = StreamId(stream);
  if (kind == CommandKind::kLaunch) {
    command.kernel = KernelId(0);
  } else {
    command.event = EventId(event);
  }
  function->commands.push_back(command);
}

// The shortest of several calls (at least 3, and for about 100 ms). Inputs are ones.
absl::StatusOr<int64_t> ShortestCallNs(const Schedule& schedule) {
  AUTOPAR_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, SerializeSchedule(schedule));
  AUTOPAR_ASSIGN_OR_RETURN(std::shared_ptr<const ScheduleFile> file, ReadScheduleBytes(bytes));
  AUTOPAR_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program,
                           Program::Create(std::move(file)));
  AUTOPAR_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, Session::Create(program));
  const Function& function = program->schedule().functions[0];
  std::vector<Tensor> tensors;
  std::vector<absl::Span<const uint8_t>> inputs;
  std::vector<absl::Span<uint8_t>> outputs;
  for (const std::vector<Port>* ports : {&function.arguments, &function.results}) {
    for (const Port& port : *ports) {
      AUTOPAR_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(port.type));
      const float one = 1.0f;
      for (size_t at = 0; at < tensor.bytes().size(); at += sizeof(one)) {
        std::memcpy(tensor.bytes().data() + at, &one, sizeof(one));
      }
      if (ports == &function.arguments) {
        inputs.push_back(tensor.bytes());
      } else {
        outputs.push_back(tensor.bytes());
      }
      tensors.push_back(std::move(tensor));
    }
  }
  AUTOPAR_RETURN_IF_ERROR(session->Bind(function.name, inputs, outputs));
  const auto start = Clock::now();
  int64_t shortest_ns = 0;
  for (int calls = 0; calls < 3 || NsSince(start) < 100'000'000; ++calls) {
    const auto call_start = Clock::now();
    AUTOPAR_RETURN_IF_ERROR(session->Run(function.name));
    const int64_t call_ns = NsSince(call_start);
    shortest_ns = calls == 0 ? call_ns : std::min(shortest_ns, call_ns);
  }
  return shortest_ns;
}

absl::StatusOr<double> MeasureF32Flops(const Machine& machine, DeviceId device) {
  const int64_t size = machine.devices[device.index()].cores <= 16 ? 1024 : 2048;
  const TensorType type{ElementType::kF32, {size, size}};
  const uint64_t bytes = type.bytes();
  Schedule schedule = ComputeSchedule(machine, device);
  Kernel kernel;
  kernel.name = "product";
  kernel.kind = KernelKind::kMatmul;
  kernel.reads = 2;
  kernel.writes = 1;
  kernel.operand_bytes = {bytes, bytes, bytes};
  kernel.matmul.m = kernel.matmul.n = kernel.matmul.k = size;
  kernel.tile_count = ((size + kernel.matmul.tile_m - 1) / kernel.matmul.tile_m) *
                      ((size + kernel.matmul.tile_n - 1) / kernel.matmul.tile_n);
  schedule.kernels.push_back(kernel);
  Function& function = schedule.functions[0];
  AddPort(SpaceKind::kArgument, device, type, &function);
  AddPort(SpaceKind::kArgument, device, type, &function);
  AddPort(SpaceKind::kResult, device, type, &function);
  AddCommand(CommandKind::kLaunch, 0, 0, &function);
  function.commands[0].reads = 2;
  function.commands[0].writes = 1;
  AUTOPAR_ASSIGN_OR_RETURN(const int64_t call_ns, ShortestCallNs(schedule));
  return 2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size) /
         static_cast<double>(std::max<int64_t>(call_ns, 1)) * 1e9;
}

// Launches that do nothing. `hand_over`: each on the other of two streams, waiting for the one
// before.
absl::StatusOr<int64_t> MeasureLaunchNs(const Machine& machine, DeviceId device, bool hand_over) {
  constexpr size_t kLaunches = 2000;
  Schedule schedule = ComputeSchedule(machine, device);
  Kernel kernel;
  kernel.name = "nothing";
  kernel.kind = KernelKind::kSynthetic;
  kernel.spin = true;
  schedule.kernels.push_back(kernel);
  Function& function = schedule.functions[0];
  for (size_t i = 0; i < kLaunches; ++i) {
    const size_t stream = hand_over ? i % 2 : 0;
    if (hand_over && i > 0) AddCommand(CommandKind::kWait, stream, i - 1, &function);
    AddCommand(CommandKind::kLaunch, stream, 0, &function);
    if (hand_over) AddCommand(CommandKind::kRecord, stream, i, &function);
  }
  function.event_count = hand_over ? kLaunches : 0;
  AUTOPAR_ASSIGN_OR_RETURN(const int64_t call_ns, ShortestCallNs(schedule));
  return call_ns / static_cast<int64_t>(kLaunches);
}

// Three significant digits: the rest is noise.
double Rounded(double value) {
  double unit = 1;
  while (value / unit >= 1000) unit *= 10;
  return static_cast<double>(static_cast<int64_t>(value / unit + 0.5)) * unit;
}

// `copies` copies of `bytes` over a link, one after the other.
absl::StatusOr<int64_t> MeasureCopiesNs(const Machine& machine, LinkId link, int64_t bytes,
                                        size_t copies) {
  Schedule schedule = EmptySchedule(machine);
  Function& function = schedule.functions[0];
  const Link& description = machine.links[link.index()];
  const TensorType type{ElementType::kI8, {bytes}};
  AddPort(SpaceKind::kArgument, description.from, type, &function);
  AddPort(SpaceKind::kResult, description.to, type, &function);
  const DeviceId driver =
      description.from == machine.HostDevice() ? description.to : description.from;
  function.streams.push_back({driver, StreamKind::kCopy, 0, link});
  for (size_t i = 0; i < copies; ++i) {
    Command command;
    command.kind = CommandKind::kCopy;
    command.stream = StreamId(0);
    command.reads = 1;
    command.writes = 1;
    function.commands.push_back(command);
  }
  return ShortestCallNs(schedule);
}

// Speed and latency of a link: from many small copies and a few large ones.
absl::Status MeasureLink(const Machine& machine, LinkId id, Link* link) {
  constexpr size_t kSmallCopies = 200, kLargeCopies = 4;
  constexpr int64_t kSmallBytes = 64, kLargeBytes = 32 << 20;
  AUTOPAR_ASSIGN_OR_RETURN(const int64_t small_ns,
                           MeasureCopiesNs(machine, id, kSmallBytes, kSmallCopies));
  AUTOPAR_ASSIGN_OR_RETURN(const int64_t large_ns,
                           MeasureCopiesNs(machine, id, kLargeBytes, kLargeCopies));
  link->latency_ns = small_ns / static_cast<int64_t>(kSmallCopies);
  link->bytes_per_s = static_cast<uint64_t>(
      Rounded(static_cast<double>(kLargeBytes) * kLargeCopies /
              static_cast<double>(std::max<int64_t>(large_ns, 1)) * 1e9));
  return absl::OkStatus();
}

// Bytes read and written per second by elementwise kernels on all cores, out of the caches. (A
// library's copy of this size goes past the caches when it writes; kernels do not, and get less.)
uint64_t MeasureMemoryBytesPerSecond(uint32_t cores) {
  constexpr size_t kBytes = 32 << 20;
  constexpr int kRounds = 4;
  struct Buffers {
    std::vector<float> source = std::vector<float>(kBytes / sizeof(float), 1);
    std::vector<float> target = std::vector<float>(kBytes / sizeof(float), 2);
  };
  const uint32_t threads = std::min<uint32_t>(cores, 16);  // 1 GiB in all; more cores add little
  std::vector<Buffers> buffers(threads);
  const auto start = Clock::now();
  std::vector<std::thread> workers;
  for (Buffers& own : buffers) {
    workers.emplace_back([&own] {
      for (int round = 0; round < kRounds; ++round)
        for (size_t i = 0; i < own.source.size(); ++i) own.target[i] = own.source[i] + 1.0f;
    });
  }
  for (std::thread& worker : workers) worker.join();
  const double seconds = static_cast<double>(std::max<int64_t>(NsSince(start), 1)) / 1e9;
  return static_cast<uint64_t>(2.0 * kBytes * kRounds * threads / seconds);
}

}  // namespace

absl::StatusOr<Machine> MeasureMachine(Machine machine) {
  const Machine described = machine;
  for (size_t i = 0; i < machine.devices.size(); ++i) {
    Device& device = machine.devices[i];
    const DeviceId id(i);
    AUTOPAR_ASSIGN_OR_RETURN(const double flops, MeasureF32Flops(described, id));
    device.peak_flops["f32"] = Rounded(flops);
    device.peak_flops["f64"] = Rounded(flops / 2);
    AUTOPAR_ASSIGN_OR_RETURN(device.launch_ns, MeasureLaunchNs(described, id, false));
    if (device.streams > 1) {
      AUTOPAR_ASSIGN_OR_RETURN(const int64_t step_ns, MeasureLaunchNs(described, id, true));
      device.wait_ns = std::max<int64_t>(step_ns - device.launch_ns, 0);
    }
    device.memory_bytes_per_s = static_cast<uint64_t>(
        Rounded(static_cast<double>(MeasureMemoryBytesPerSecond(device.cores))));
  }
  for (size_t i = 0; i < machine.links.size(); ++i) {
    if (machine.links[i].emulated) continue;  // it is as fast as it says
    AUTOPAR_RETURN_IF_ERROR(MeasureLink(described, LinkId(i), &machine.links[i]));
  }
  return machine;
}

}  // namespace autopar
