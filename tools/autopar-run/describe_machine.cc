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

// A schedule on the host's CPU with as many compute streams as the machine has, one function `main`
// and no commands yet.
Schedule EmptySchedule(const Machine& machine) {
  Schedule schedule;
  schedule.producer = "autopar-run --describe-machine";
  schedule.machine = machine;
  schedule.strings = {"measure"};
  Function function;
  function.name = "main";
  for (uint32_t i = 0; i < machine.devices[0].streams; ++i) {
    function.streams.push_back({DeviceId(0), StreamKind::kCompute, i, LinkId()});
  }
  schedule.functions.push_back(std::move(function));
  return schedule;
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
  const auto start = Clock::now();
  int64_t shortest_ns = 0;
  for (int calls = 0; calls < 3 || NsSince(start) < 100'000'000; ++calls) {
    const auto call_start = Clock::now();
    AUTOPAR_RETURN_IF_ERROR(session->Call(function.name, inputs, outputs));
    const int64_t call_ns = NsSince(call_start);
    shortest_ns = calls == 0 ? call_ns : std::min(shortest_ns, call_ns);
  }
  return shortest_ns;
}

absl::StatusOr<double> MeasureF32Flops(const Machine& machine) {
  const int64_t size = machine.devices[0].cores <= 16 ? 1024 : 2048;
  const auto bytes = static_cast<uint64_t>(size * size) * sizeof(float);
  Schedule schedule = EmptySchedule(machine);
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
  const TensorType type{ElementType::kF32, {size, size}};
  for (uint32_t i = 0; i < 3; ++i) {
    Space space;
    space.kind = i < 2 ? SpaceKind::kArgument : SpaceKind::kResult;
    space.device = DeviceId(0);
    space.index = i < 2 ? i : 0;
    space.bytes = bytes;
    function.spaces.push_back(space);
    (i < 2 ? function.arguments : function.results).push_back({"", type, SpaceId(i)});
    function.regions.push_back({SpaceId(i), 0, bytes, bytes, 1});
  }
  AddCommand(CommandKind::kLaunch, 0, 0, &function);
  function.commands[0].reads = 2;
  function.commands[0].writes = 1;
  AUTOPAR_ASSIGN_OR_RETURN(const int64_t call_ns, ShortestCallNs(schedule));
  return 2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size) /
         static_cast<double>(std::max<int64_t>(call_ns, 1)) * 1e9;
}

// Launches that do nothing. `hand_over`: each on the other of two streams, waiting for the one
// before.
absl::StatusOr<int64_t> MeasureLaunchNs(const Machine& machine, bool hand_over) {
  constexpr size_t kLaunches = 2000;
  Schedule schedule = EmptySchedule(machine);
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

// Bytes read and written per second by copies on all cores, out of the caches.
uint64_t MeasureMemoryBytesPerSecond(uint32_t cores) {
  constexpr size_t kBytes = 32 << 20;
  constexpr int kRounds = 4;
  struct Buffers {
    std::vector<char> source = std::vector<char>(kBytes, 1), target = std::vector<char>(kBytes, 2);
  };
  const uint32_t threads = std::min<uint32_t>(cores, 16);  // 1 GiB in all; more cores add little
  std::vector<Buffers> buffers(threads);
  const auto start = Clock::now();
  std::vector<std::thread> workers;
  for (Buffers& own : buffers) {
    workers.emplace_back([&own] {
      for (int round = 0; round < kRounds; ++round)
        std::memcpy(own.target.data(), own.source.data(), kBytes);
    });
  }
  for (std::thread& worker : workers) worker.join();
  const double seconds = static_cast<double>(std::max<int64_t>(NsSince(start), 1)) / 1e9;
  return static_cast<uint64_t>(2.0 * kBytes * kRounds * threads / seconds);
}

// Three significant digits: the rest is noise.
double Rounded(double value) {
  double unit = 1;
  while (value / unit >= 1000) unit *= 10;
  return static_cast<double>(static_cast<int64_t>(value / unit + 0.5)) * unit;
}

}  // namespace

absl::StatusOr<Machine> MeasureHost() {
  Machine machine = HostMachine();
  Device& cpu = machine.devices[0];
  AUTOPAR_ASSIGN_OR_RETURN(const double flops, MeasureF32Flops(machine));
  cpu.peak_flops["f32"] = Rounded(flops);
  cpu.peak_flops["f64"] = Rounded(flops / 2);
  AUTOPAR_ASSIGN_OR_RETURN(cpu.launch_ns, MeasureLaunchNs(machine, false));
  if (cpu.streams > 1) {
    AUTOPAR_ASSIGN_OR_RETURN(const int64_t step_ns, MeasureLaunchNs(machine, true));
    cpu.wait_ns = std::max<int64_t>(step_ns - cpu.launch_ns, 0);
  }
  cpu.memory_bytes_per_s =
      static_cast<uint64_t>(Rounded(static_cast<double>(MeasureMemoryBytesPerSecond(cpu.cores))));
  return machine;
}

}  // namespace autopar
