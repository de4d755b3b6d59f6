#include "tools/autopar-run/describe_machine.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/device/cuda/cuda.h"
#include "runtime/executor/program.h"

namespace autopar {
namespace {

using Clock = std::chrono::steady_clock;

// How programs are loaded, and what was seen of them.
struct Bench {
  LoadOptions options;
  double spread = 1;  // the largest ratio of a median to the shortest of the same calls
};

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

// Floats from 0.5 to 1.5 without a pattern: a GPU takes less power, and is faster, on equal numbers.
void FillWithNumbers(absl::Span<uint8_t> bytes) {
  uint32_t state = 1;
  for (size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float)) {
    state = state * 1664525u + 1013904223u;
    const float value = 0.5f + static_cast<float>(state >> 8) * 0x1p-24f;
    std::memcpy(bytes.data() + at, &value, sizeof(value));
  }
}

// The median of several calls after a first one (at least 3, and for about 100 ms).
absl::StatusOr<int64_t> MedianCallNs(const Schedule& schedule, Bench* bench) {
  AUTOPAR_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, SerializeSchedule(schedule));
  AUTOPAR_ASSIGN_OR_RETURN(std::shared_ptr<const ScheduleFile> file, ReadScheduleBytes(bytes));
  AUTOPAR_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program,
                           Program::Create(std::move(file), bench->options));
  AUTOPAR_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, Session::Create(program));
  const Function& function = program->schedule().functions[0];
  std::vector<std::unique_ptr<HostBuffer>> buffers;  // pinned where GPUs copy from and to them
  std::vector<absl::Span<const uint8_t>> inputs;
  std::vector<absl::Span<uint8_t>> outputs;
  for (const std::vector<Port>* ports : {&function.arguments, &function.results}) {
    for (const Port& port : *ports) {
      AUTOPAR_ASSIGN_OR_RETURN(std::unique_ptr<HostBuffer> buffer,
                               program->AllocateBuffer(port.type.bytes()));
      const absl::Span<uint8_t> bytes = buffer->bytes();
      FillWithNumbers(bytes);
      if (ports == &function.arguments) {
        inputs.push_back(bytes);
      } else {
        outputs.push_back(bytes);
      }
      buffers.push_back(std::move(buffer));
    }
  }
  AUTOPAR_RETURN_IF_ERROR(session->Bind(function.name, inputs, outputs));
  AUTOPAR_RETURN_IF_ERROR(session->Run(function.name));
  std::vector<int64_t> call_ns;
  const auto start = Clock::now();
  while (call_ns.size() < 3 || NsSince(start) < 100'000'000) {
    const auto call_start = Clock::now();
    AUTOPAR_RETURN_IF_ERROR(session->Run(function.name));
    call_ns.push_back(NsSince(call_start));
  }
  std::sort(call_ns.begin(), call_ns.end());
  const int64_t median_ns = call_ns[call_ns.size() / 2];
  bench->spread = std::max(bench->spread, static_cast<double>(median_ns) /
                                              static_cast<double>(std::max<int64_t>(call_ns[0], 1)));
  return median_ns;
}

bool IsGpu(const Machine& machine, DeviceId device) {
  return machine.devices[device.index()].kind == DeviceKind::kCuda;
}

// A product of two square matrices: one of several, each of its own operands, as a program has them,
// so that they are not in the caches yet.
absl::StatusOr<int64_t> MeasureProductNs(const Machine& machine, Bench* bench,
                                         DeviceId device, int64_t size) {
  constexpr uint32_t kProducts = 8;
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
  for (uint32_t i = 0; i < kProducts; ++i) {
    AddPort(SpaceKind::kArgument, device, type, &function);
    AddPort(SpaceKind::kArgument, device, type, &function);
    AddPort(SpaceKind::kResult, device, type, &function);
    AddCommand(CommandKind::kLaunch, 0, 0, &function);
    function.commands[i].first_region = 3 * i;
    function.commands[i].reads = 2;
    function.commands[i].writes = 1;
  }
  AUTOPAR_ASSIGN_OR_RETURN(const int64_t call_ns, MedianCallNs(schedule, bench));
  return call_ns / kProducts;
}

absl::StatusOr<double> MeasureF32Flops(const Machine& machine, Bench* bench,
                                       DeviceId device) {
  constexpr int64_t kLongEnoughNs = 5'000'000, kLargestOnGpu = 8192;
  const bool is_gpu = IsGpu(machine, device);
  int64_t size = is_gpu ? 256 : machine.devices[device.index()].cores <= 16 ? 1024 : 2048;
  while (true) {
    AUTOPAR_ASSIGN_OR_RETURN(const int64_t call_ns,
                             MeasureProductNs(machine, bench, device, size));
    if (!is_gpu || call_ns >= kLongEnoughNs || size >= kLargestOnGpu) {
      const double length = static_cast<double>(size);
      return 2 * length * length * length / static_cast<double>(std::max<int64_t>(call_ns, 1)) *
             1e9;
    }
    size *= 2;
  }
}

// A kernel that does nothing, for CPUs and virtual devices or for GPUs.
void AddNothing(bool is_gpu, Schedule* schedule) {
  Kernel kernel;
  kernel.name = "nothing";
  if (is_gpu) {
    constexpr std::string_view kPtx =
        ".version 7.5\n.target sm_75\n.address_size 64\n"
        ".visible .entry nothing()\n.maxntid 32, 1, 1\n{\n  ret;\n}\n";
    CodeModule module;
    module.format = CodeFormat::kPtx;
    module.target = "sm_75";
    module.features = {"ptx75"};
    module.image.assign(kPtx.begin(), kPtx.end());
    module.image.push_back(0);
    schedule->modules.push_back(std::move(module));
    kernel.codes.push_back({0, "nothing", 1, 32});
  } else {
    kernel.kind = KernelKind::kSynthetic;
    kernel.spin = true;
  }
  schedule->kernels.push_back(kernel);
}

// Launches that do nothing. `hand_over`: each on the other of two streams, waiting for the one
// before.
absl::StatusOr<int64_t> MeasureLaunchNs(const Machine& machine, Bench* bench, DeviceId device,
                                        bool hand_over) {
  constexpr size_t kLaunches = 2000;
  Schedule schedule = ComputeSchedule(machine, device);
  AddNothing(IsGpu(machine, device), &schedule);
  Function& function = schedule.functions[0];
  for (size_t i = 0; i < kLaunches; ++i) {
    const size_t stream = hand_over ? i % 2 : 0;
    if (hand_over && i > 0) AddCommand(CommandKind::kWait, stream, i - 1, &function);
    AddCommand(CommandKind::kLaunch, stream, 0, &function);
    if (hand_over) AddCommand(CommandKind::kRecord, stream, i, &function);
  }
  function.event_count = hand_over ? kLaunches : 0;
  AUTOPAR_ASSIGN_OR_RETURN(const int64_t call_ns, MedianCallNs(schedule, bench));
  return call_ns / static_cast<int64_t>(kLaunches);
}

// Three significant digits: the rest is noise.
double Rounded(double value) {
  double unit = 1;
  while (value / unit >= 1000) unit *= 10;
  return static_cast<double>(static_cast<int64_t>(value / unit + 0.5)) * unit;
}

// `copies` copies of `bytes` over a link, one after the other.
absl::StatusOr<int64_t> MeasureCopiesNs(const Machine& machine, Bench* bench,
                                        LinkId link, int64_t bytes, size_t copies) {
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
  return MedianCallNs(schedule, bench);
}

// Speed and latency of a link: from many small copies and a few large ones.
absl::Status MeasureLink(const Machine& machine, Bench* bench, LinkId id, Link* link) {
  constexpr size_t kSmallCopies = 200, kLargeCopies = 4;
  constexpr int64_t kSmallBytes = 64, kLargeBytes = 32 << 20;
  AUTOPAR_ASSIGN_OR_RETURN(const int64_t small_ns,
                           MeasureCopiesNs(machine, bench, id, kSmallBytes, kSmallCopies));
  AUTOPAR_ASSIGN_OR_RETURN(const int64_t large_ns,
                           MeasureCopiesNs(machine, bench, id, kLargeBytes, kLargeCopies));
  link->latency_ns = small_ns / static_cast<int64_t>(kSmallCopies);
  link->bytes_per_s = static_cast<uint64_t>(
      Rounded(static_cast<double>(kLargeBytes) * kLargeCopies /
              static_cast<double>(std::max<int64_t>(large_ns, 1)) * 1e9));
  return absl::OkStatus();
}

// Bytes read and written per second on a GPU: by a copy from one of its devices to another, beyond its
// caches.
absl::StatusOr<uint64_t> MeasureGpuMemoryBytesPerSecond(const Device& gpu, const CudaOptions& cuda,
                                                        const std::string& physical) {
  constexpr size_t kCopies = 4;
  constexpr int64_t kLongEnoughNs = 1'000'000, kMostBytes = int64_t{1} << 30;
  Machine machine;
  machine.devices = {gpu, gpu};
  machine.devices[1].name += ".copy";
  Link link;
  link.from = DeviceId(size_t{0});
  link.to = DeviceId(size_t{1});
  link.bytes_per_s = 1;
  machine.links = {link};
  Bench bench;
  bench.options.cuda = cuda;
  bench.options.device_map = {{machine.devices[0].name, physical},
                              {machine.devices[1].name, physical}};
  for (int64_t bytes = 32 << 20;; bytes *= 2) {
    AUTOPAR_ASSIGN_OR_RETURN(const int64_t call_ns, MeasureCopiesNs(machine, &bench, LinkId(size_t{0}),
                                                                    bytes, kCopies));
    if (call_ns >= kLongEnoughNs || bytes >= kMostBytes) {
      return static_cast<uint64_t>(2.0 * static_cast<double>(bytes) * kCopies /
                                   static_cast<double>(std::max<int64_t>(call_ns, 1)) * 1e9);
    }
  }
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

absl::StatusOr<MeasuredMachine> MeasureMachine(Machine machine, const CudaOptions& cuda) {
  Bench bench;
  bench.options.cuda = cuda;
  bench.options.cuda.graph = CudaGraphMode::kOff;  // launches one by one, as beside tasks of the host
  std::map<std::string, std::string>& device_map = bench.options.device_map;
  std::vector<FoundGpu> gpus;
  size_t gpu_number = 0;
  for (Device& device : machine.devices) {
    if (device.kind != DeviceKind::kCuda) continue;
    if (gpus.empty()) {
      AUTOPAR_ASSIGN_OR_RETURN(gpus, FindGpus(cuda.cudart_path));
    }
    if (gpu_number >= gpus.size()) {
      return absl::FailedPreconditionError(
          absl::StrCat("'", device.name, "' cannot be measured: CUDA finds ", gpus.size(),
                       gpus.size() == 1 ? " GPU" : " GPUs", "; give --machine=cuda:", gpus.size()));
    }
    const FoundGpu& gpu = gpus[gpu_number];
    device.arch = absl::StrCat("sm_", gpu.capability);
    device.memory_bytes = gpu.memory_bytes;
    device_map[device.name] = absl::StrCat("cuda:", gpu.ordinal);
    ++gpu_number;
  }
  const Machine described = machine;
  for (size_t i = 0; i < machine.devices.size(); ++i) {
    Device& device = machine.devices[i];
    const DeviceId id(i);
    AUTOPAR_ASSIGN_OR_RETURN(const double flops, MeasureF32Flops(described, &bench, id));
    const double f64_share = device.peak_flops["f64"] / device.peak_flops["f32"];
    device.peak_flops["f32"] = Rounded(flops);
    device.peak_flops["f64"] = Rounded(flops * f64_share);
    AUTOPAR_ASSIGN_OR_RETURN(device.launch_ns, MeasureLaunchNs(described, &bench, id, false));
    if (device.streams > 1) {
      AUTOPAR_ASSIGN_OR_RETURN(const int64_t step_ns, MeasureLaunchNs(described, &bench, id, true));
      device.wait_ns = std::max<int64_t>(step_ns - device.launch_ns, 0);
    }
    uint64_t memory_rate = 0;
    if (device.kind != DeviceKind::kCuda) {
      memory_rate = MeasureMemoryBytesPerSecond(device.cores);
    } else {
      AUTOPAR_ASSIGN_OR_RETURN(memory_rate,
                               MeasureGpuMemoryBytesPerSecond(described.devices[i], cuda,
                                                              device_map[device.name]));
    }
    device.memory_bytes_per_s = static_cast<uint64_t>(Rounded(static_cast<double>(memory_rate)));
  }
  for (size_t i = 0; i < machine.links.size(); ++i) {
    if (machine.links[i].emulated) continue;  // it is as fast as it says
    AUTOPAR_RETURN_IF_ERROR(MeasureLink(described, &bench, LinkId(i), &machine.links[i]));
  }
  return MeasuredMachine{std::move(machine), bench.spread};
}

}  // namespace autopar
