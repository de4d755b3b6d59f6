// Writes small schedule files, made by hand, into a folder: what the tests of autopar-run run.
#include <cstdio>
#include <string>
#include <vector>

#include "runtime/schedule/schedule_file.h"

namespace autopar {
namespace {

// One function under construction.
class FunctionBuilder {
 public:
  explicit FunctionBuilder(std::string name) { function_.name = std::move(name); }

  StreamId AddStream(DeviceId device, StreamKind kind = StreamKind::kCompute,
                     LinkId link = LinkId()) {
    uint32_t ordinal = 0;
    for (const Stream& stream : function_.streams)
      ordinal += stream.device == device && stream.kind == kind;
    function_.streams.push_back({device, kind, ordinal, link});
    return StreamId(function_.streams.size() - 1);
  }
  SpaceId AddArgument(const std::string& name, TensorType type, DeviceId device = DeviceId(0)) {
    const SpaceId space =
        AddSpace(SpaceKind::kArgument, device, type.bytes(), function_.arguments.size());
    function_.arguments.push_back({name, std::move(type), space});
    return space;
  }
  SpaceId AddResult(const std::string& name, TensorType type, DeviceId device = DeviceId(0)) {
    const SpaceId space =
        AddSpace(SpaceKind::kResult, device, type.bytes(), function_.results.size());
    function_.results.push_back({name, std::move(type), space});
    return space;
  }
  SpaceId AddSpace(SpaceKind kind, DeviceId device, uint64_t bytes, size_t index = 0) {
    Space space;
    space.kind = kind;
    space.device = device;
    space.index = static_cast<uint32_t>(index);
    space.bytes = bytes;
    function_.spaces.push_back(space);
    return SpaceId(function_.spaces.size() - 1);
  }
  Region Whole(SpaceId space) const {
    const uint64_t bytes = function_.spaces[space.index()].bytes;
    return {space, 0, bytes, bytes, 1};
  }
  Command& AddWork(CommandKind kind, StreamId stream, std::vector<Region> reads,
                   std::vector<Region> writes) {
    Command command;
    command.kind = kind;
    command.stream = stream;
    command.first_region = static_cast<uint32_t>(function_.regions.size());
    command.reads = static_cast<uint16_t>(reads.size());
    command.writes = static_cast<uint16_t>(writes.size());
    command.start_ns = predicted_ns_;
    command.finish_ns = predicted_ns_ += 1000;
    function_.predicted_makespan_ns = predicted_ns_;
    function_.regions.insert(function_.regions.end(), reads.begin(), reads.end());
    function_.regions.insert(function_.regions.end(), writes.begin(), writes.end());
    function_.commands.push_back(command);
    return function_.commands.back();
  }
  void AddOrder(StreamId before, StreamId after) {
    Command record, wait;
    record.kind = CommandKind::kRecord;
    record.stream = before;
    wait.kind = CommandKind::kWait;
    wait.stream = after;
    record.event = wait.event = EventId(function_.event_count++);
    function_.commands.push_back(record);
    function_.commands.push_back(wait);
  }
  Function Finish() { return std::move(function_); }

 private:
  Function function_;
  int64_t predicted_ns_ = 0;
};

Schedule EmptySchedule(const char* machine) {
  Schedule schedule;
  schedule.producer = "make_schedules";
  schedule.machine = LoadMachine(machine).value();
  schedule.strings = {"", "product", "back"};
  return schedule;
}

// Returns its arguments, one of each element type.
Function Identity(const std::string& name, const std::vector<TensorType>& types) {
  FunctionBuilder builder(name);
  const StreamId stream = builder.AddStream(DeviceId(0));
  std::vector<SpaceId> arguments, results;
  for (size_t i = 0; i < types.size(); ++i) {
    arguments.push_back(builder.AddArgument(i == 0 ? "first" : "", types[i]));
    results.push_back(builder.AddResult("", types[i]));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    builder.AddWork(CommandKind::kCopy, stream, {builder.Whole(arguments[i])},
                    {builder.Whole(results[i])});
  }
  return builder.Finish();
}

Kernel Product(int64_t m, int64_t n, int64_t k) {
  Kernel kernel;
  kernel.name = "product";
  kernel.kind = KernelKind::kMatmul;
  kernel.reads = 2;
  kernel.writes = 1;
  kernel.operand_bytes = {static_cast<uint64_t>(m * k) * 4, static_cast<uint64_t>(k * n) * 4,
                          static_cast<uint64_t>(m * n) * 4};
  kernel.matmul.m = m;
  kernel.matmul.n = n;
  kernel.matmul.k = k;
  return kernel;
}

// main(a: 2x3, b: 3x2) = a * b on the host.
Schedule HostProduct() {
  Schedule schedule = EmptySchedule("host");
  schedule.kernels = {Product(2, 2, 3)};
  FunctionBuilder builder("main");
  const StreamId stream = builder.AddStream(DeviceId(0));
  const SpaceId a = builder.AddArgument("a", {ElementType::kF32, {2, 3}});
  const SpaceId b = builder.AddArgument("b", {ElementType::kF32, {3, 2}});
  const SpaceId c = builder.AddResult("c", {ElementType::kF32, {2, 2}});
  Command& launch = builder.AddWork(CommandKind::kLaunch, stream,
                                    {builder.Whole(a), builder.Whole(b)}, {builder.Whole(c)});
  launch.kernel = KernelId(0);
  launch.label = 1;
  schedule.functions = {builder.Finish()};
  return schedule;
}

// The same product on gpu0, whose result is copied to the host. Arguments are on gpu0 from the
// start.
Schedule VirtualProduct() {
  Schedule schedule = EmptySchedule("virtual:1");
  schedule.kernels = {Product(2, 2, 3)};
  const DeviceId gpu = schedule.machine.FindDevice("gpu0"), host = schedule.machine.HostDevice();
  FunctionBuilder builder("main");
  const StreamId compute = builder.AddStream(gpu);
  const StreamId copies =
      builder.AddStream(gpu, StreamKind::kCopy, schedule.machine.FindLink(gpu, host));
  const SpaceId a = builder.AddArgument("a", {ElementType::kF32, {2, 3}}, gpu);
  const SpaceId b = builder.AddArgument("b", {ElementType::kF32, {3, 2}}, gpu);
  const SpaceId arena = builder.AddSpace(SpaceKind::kArena, gpu, 256);
  const SpaceId c = builder.AddResult("c", {ElementType::kF32, {2, 2}}, host);
  const Region product{arena, 64, 16, 16, 1};
  Command& launch = builder.AddWork(CommandKind::kLaunch, compute,
                                    {builder.Whole(a), builder.Whole(b)}, {product});
  launch.kernel = KernelId(0);
  launch.label = 1;
  builder.AddOrder(compute, copies);
  builder.AddWork(CommandKind::kCopy, copies, {product}, {builder.Whole(c)}).label = 2;
  schedule.functions = {builder.Finish()};
  return schedule;
}

bool Write(const std::string& folder, const char* name, const Schedule& schedule) {
  const absl::Status status = WriteScheduleFile(schedule, folder + "/" + name);
  if (!status.ok()) std::fprintf(stderr, "%s: %s\n", name, std::string(status.message()).c_str());
  return status.ok();
}

bool WriteAll(const std::string& folder) {
  Schedule types = EmptySchedule("host");
  types.functions = {Identity("main", {{ElementType::kF32, {2, 2}},
                                       {ElementType::kF64, {2}},
                                       {ElementType::kF16, {2}},
                                       {ElementType::kBf16, {2}},
                                       {ElementType::kI1, {3}},
                                       {ElementType::kI8, {2}},
                                       {ElementType::kI32, {}},
                                       {ElementType::kI64, {0}}})};
  Schedule several = EmptySchedule("host");
  several.functions = {Identity("forward", {{ElementType::kF32, {2}}}),
                       Identity("backward", {{ElementType::kI32, {2}}})};
  Schedule single = EmptySchedule("host");
  single.functions = {Identity("only", {{ElementType::kF32, {40, 50}}})};
  Schedule nothing = EmptySchedule("host");
  nothing.functions = {Identity("main", {})};
  Schedule empty = EmptySchedule("host");
  return Write(folder, "types.sched", types) && Write(folder, "several.sched", several) &&
         Write(folder, "single.sched", single) && Write(folder, "nothing.sched", nothing) &&
         Write(folder, "empty.sched", empty) && Write(folder, "product.sched", HostProduct()) &&
         Write(folder, "virtual_product.sched", VirtualProduct());
}

}  // namespace
}  // namespace autopar

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_schedules FOLDER\n");
    return 1;
  }
  return autopar::WriteAll(argv[1]) ? 0 : 1;
}
