// Programs and sessions: what they run, and what they refuse.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "runtime/executor/program.h"
#include "test/runtime/executor/schedule_builder.h"

namespace autopar {
namespace {

constexpr DeviceId kCpu{0};
constexpr DeviceId kGpu0{1};

TensorType Bytes(int64_t count) { return {ElementType::kI8, {count}}; }

std::string Message(const absl::Status& status) { return std::string(status.message()); }

// The argument comes back as the result.
ScheduleBuilder Echo(int64_t count) {
  ScheduleBuilder builder(TestMachine(0));
  Region from = builder.Whole(builder.Argument(Bytes(count)));
  Region to = builder.Whole(builder.Result(Bytes(count)));
  builder.Copy(builder.Compute(kCpu), from, to);
  return builder;
}

struct Loaded {
  std::shared_ptr<const Program> program;
  std::unique_ptr<Session> session;
};

Loaded Load(ScheduleBuilder& builder, const SessionOptions& options = {}) {
  auto program = builder.Build();
  EXPECT_TRUE(program.ok()) << program.status();
  if (!program.ok()) return {};
  auto session = Session::Create(*program, options);
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok()) return {};
  return {std::move(program).value(), std::move(session).value()};
}

TEST(Executor, MatmulRunsOnOneCpuStream) {
  ScheduleBuilder builder(TestMachine(0));
  SpaceId a = builder.Argument({ElementType::kF32, {3, 2}});
  SpaceId b = builder.Argument({ElementType::kF32, {2, 2}});
  SpaceId c = builder.Result({ElementType::kF32, {3, 2}});
  builder.Launch(builder.Compute(kCpu), builder.Matmul("product", {.m = 3, .n = 2, .k = 2}),
                 {builder.Whole(a), builder.Whole(b)}, {builder.Whole(c)});
  Loaded loaded = Load(builder);
  auto results = CallMain(*loaded.program, *loaded.session,
                          {BytesOf({1, 2, 3, 4, 5, 6}), BytesOf({1, 10, 100, 1000})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(FloatsOf((*results)[0]), (std::vector<float>{201, 2010, 403, 4030, 605, 6050}));
}

TEST(Executor, BuffersMayChangeFromCallToCall) {
  ScheduleBuilder builder = Echo(100);
  Loaded loaded = Load(builder);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<uint8_t> input = TestBytes(100, seed);
    auto results = CallMain(*loaded.program, *loaded.session, {input});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[0], input);
  }
}

TEST(Executor, StridedCopiesMoveTheirRowsAlone) {
  // Columns 2 and 3 of a 4x5 matrix to a dense 4x2 one, and back into another place.
  ScheduleBuilder builder(TestMachine(0));
  SpaceId from = builder.Argument(Bytes(20));
  SpaceId dense = builder.Result(Bytes(8)), spread = builder.Result(Bytes(20));
  StreamId stream = builder.Compute(kCpu);
  Region columns{.space = from, .offset = 2, .row_bytes = 2, .row_stride = 5, .rows = 4};
  Region packed{.space = dense, .offset = 0, .row_bytes = 2, .row_stride = 2, .rows = 4};
  builder.Copy(stream, columns, packed);
  builder.Copy(stream, builder.Whole(from), builder.Whole(spread));
  builder.Copy(stream, packed,
               {.space = spread, .offset = 0, .row_bytes = 2, .row_stride = 5, .rows = 4});
  Loaded loaded = Load(builder);
  std::vector<uint8_t> input(20);
  for (uint8_t i = 0; i < 20; ++i) input[i] = i;
  auto results = CallMain(*loaded.program, *loaded.session, {input});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0], (std::vector<uint8_t>{2, 3, 7, 8, 12, 13, 17, 18}));
  for (size_t row = 0; row < 4; ++row) {
    input[row * 5] = static_cast<uint8_t>(row * 5 + 2);
    input[row * 5 + 1] = static_cast<uint8_t>(row * 5 + 3);
  }
  EXPECT_EQ((*results)[1], input);
}

TEST(Executor, ArgumentsResultsAndConstantsLiveOnDevices) {
  ScheduleBuilder builder(TestMachine(1));
  std::vector<uint8_t> constant = TestBytes(77, 9);
  SpaceId argument = builder.Argument(Bytes(50), kGpu0);
  SpaceId near = builder.Result(Bytes(50), kGpu0);
  SpaceId on_host = builder.Result(Bytes(77)), on_device = builder.Result(Bytes(77), kGpu0);
  StreamId cpu = builder.Compute(kCpu), gpu = builder.Compute(kGpu0);
  builder.Copy(gpu, builder.Whole(argument), builder.Whole(near));
  SpaceId host_constant = builder.Constant(constant, kCpu);
  SpaceId device_constant = builder.Constant(constant, kGpu0);
  builder.Copy(cpu, builder.Whole(host_constant), builder.Whole(on_host));
  builder.Copy(gpu, builder.Whole(device_constant), builder.Whole(on_device));
  Loaded loaded = Load(builder);
  std::vector<uint8_t> input = TestBytes(50, 2);
  auto results = CallMain(*loaded.program, *loaded.session, {input});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0], input);
  EXPECT_EQ((*results)[1], constant);
  EXPECT_EQ((*results)[2], constant);
}

TEST(Executor, BoundBuffersServeManyRuns) {
  ScheduleBuilder builder(TestMachine(1));
  SpaceId on_device = builder.Argument(Bytes(50), kGpu0), on_host = builder.Argument(Bytes(50));
  SpaceId near = builder.Result(Bytes(50), kGpu0), home = builder.Result(Bytes(50));
  StreamId cpu = builder.Compute(kCpu), gpu = builder.Compute(kGpu0);
  builder.Copy(gpu, builder.Whole(on_device), builder.Whole(near));
  builder.Copy(cpu, builder.Whole(on_host), builder.Whole(home));
  Loaded loaded = Load(builder);
  Session& session = *loaded.session;
  EXPECT_EQ(Message(session.Run("main")), "function 'main' has no buffers yet; call Bind first");
  EXPECT_EQ(Message(session.Fetch("main")), "function 'main' has no buffers yet; call Bind first");
  std::vector<uint8_t> device_input = TestBytes(50, 3), host_input = TestBytes(50, 4);
  const std::vector<uint8_t> uploaded = device_input;
  std::vector<uint8_t> device_output(50), host_output(50);
  ASSERT_TRUE(session.Bind("main", {device_input, host_input},
                           {absl::MakeSpan(device_output), absl::MakeSpan(host_output)}).ok());
  // The device has its own copy; the host's argument is read in place, at each run.
  device_input.assign(50, 0);
  host_input.assign(50, 7);
  ASSERT_TRUE(session.Run("main").ok());
  EXPECT_EQ(host_output, host_input);
  EXPECT_EQ(device_output, std::vector<uint8_t>(50)) << "before Fetch";
  host_input.assign(50, 8);
  ASSERT_TRUE(session.Run("main").ok());
  EXPECT_EQ(host_output, host_input);
  ASSERT_TRUE(session.Fetch("main").ok());
  EXPECT_EQ(device_output, uploaded);
  // A call has buffers of its own and leaves none behind.
  ASSERT_TRUE(CallMain(*loaded.program, session, {device_input, host_input}).ok());
  EXPECT_EQ(Message(session.Run("main")), "function 'main' has no buffers yet; call Bind first");
}

TEST(Executor, EmptyTensorsAndEmptyFunctionsAreLegal) {
  ScheduleBuilder nothing(TestMachine(0));
  Loaded loaded = Load(nothing, {.record_timings = true});
  EXPECT_TRUE(CallMain(*loaded.program, *loaded.session, {}).ok());
  EXPECT_EQ(loaded.session->elapsed_ns(), 0);
  EXPECT_TRUE(loaded.session->timings().empty());
  ScheduleBuilder empty = Echo(0);
  loaded = Load(empty);
  EXPECT_TRUE(CallMain(*loaded.program, *loaded.session, {{}}).ok());
}

TEST(Executor, WrongCountsAndSizesAreRefusedAndTheSessionGoesOn) {
  ScheduleBuilder builder = Echo(100);
  Loaded loaded = Load(builder);
  auto call = [&](std::vector<std::vector<uint8_t>> inputs) {
    return Message(CallMain(*loaded.program, *loaded.session, inputs).status());
  };
  EXPECT_EQ(call({}), "function 'main' has 1 inputs, but 0 were given");
  EXPECT_EQ(call({TestBytes(99, 1)}),
            "function 'main', input 0: 100xi8 has 100 bytes, but the buffer has 99");
  std::vector<uint8_t> input(100), output(101);
  EXPECT_EQ(Message(loaded.session->Call("main", {input}, {absl::MakeSpan(output)})),
            "function 'main', output 0: 100xi8 has 100 bytes, but the buffer has 101");
  EXPECT_EQ(Message(loaded.session->Call("mine", {}, {})),
            "the schedule has no function 'mine'; it has 'main'");
  EXPECT_EQ(call({input}), "");
}

TEST(Executor, OverlappingBuffersAreRefused) {
  ScheduleBuilder builder = Echo(100);
  Loaded loaded = Load(builder);
  std::vector<uint8_t> buffer(150);
  absl::Span<uint8_t> all = absl::MakeSpan(buffer);
  EXPECT_EQ(Message(loaded.session->Call("main", {all.subspan(0, 100)}, {all.subspan(50, 100)})),
            "input 0 and output 0 share bytes; give every output its own buffer");
}

TEST(Executor, SecondCallAtTheSameTimeIsRefused) {
  ScheduleBuilder builder(TestMachine(0));
  SpaceId result = builder.Result(Bytes(10));
  builder.Launch(builder.Compute(kCpu), builder.Synthetic("sleep", {}, {10}), {},
                 {builder.Whole(result)}, 200000000);
  Loaded loaded = Load(builder);
  std::thread first([&] { EXPECT_TRUE(CallMain(*loaded.program, *loaded.session, {}).ok()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  absl::Status status = CallMain(*loaded.program, *loaded.session, {}).status();
  first.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(Message(status).find("running a call already"), std::string::npos) << status;
  EXPECT_TRUE(CallMain(*loaded.program, *loaded.session, {}).ok());
}

TEST(Executor, TimingsAreInOrderAndWithinTheCall) {
  ScheduleBuilder builder = Echo(100);
  StreamId stream(0);
  SpaceId arena = builder.Arena(kCpu, 100);
  for (int i = 0; i < 5; ++i) {
    builder.Copy(stream, builder.Whole(SpaceId(0)), builder.Whole(arena));
  }
  Loaded loaded = Load(builder, {.record_timings = true});
  ASSERT_TRUE(CallMain(*loaded.program, *loaded.session, {TestBytes(100, 1)}).ok());
  const std::vector<CommandTiming>& timings = loaded.session->timings();
  ASSERT_EQ(timings.size(), 6u);
  int64_t last_ns = 0;
  for (uint32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(timings[i].command, i);
    EXPECT_GE(timings[i].start_ns, last_ns);
    EXPECT_GE(timings[i].finish_ns, timings[i].start_ns);
    last_ns = timings[i].finish_ns;
  }
  EXPECT_LE(last_ns, loaded.session->elapsed_ns());
}

ScheduleBuilder OnGpu(DeviceKind kind, uint64_t arena_bytes, uint64_t memory_bytes) {
  Machine machine = TestMachine(1);
  machine.devices[1].kind = kind;
  machine.devices[1].memory_bytes = memory_bytes;
  if (kind == DeviceKind::kCuda) {
    machine.devices[1].arch = "sm_90";
    machine.devices[1].first_core = -1;
  }
  ScheduleBuilder builder(machine);
  SpaceId result = builder.Result(Bytes(8), kGpu0);
  SpaceId arena = builder.Arena(kGpu0, arena_bytes);
  (void)arena;
  builder.Launch(builder.Compute(kGpu0), builder.Synthetic("task", {}, {8}), {},
                 {builder.Whole(result)});
  return builder;
}

TEST(Executor, CudaDeviceIsRefusedUnlessMapped) {
  ScheduleBuilder builder = OnGpu(DeviceKind::kCuda, 64, 0);
  const CudaOptions no_library{.cudart_path = "/no/such/libcudart.so"};
  const std::string refused = Message(builder.Build({.cuda = no_library}).status());
  EXPECT_EQ(refused.find("gpu0 is a CUDA device, but "), 0u) << refused;
  EXPECT_NE(refused.find("; to run without it, map it with --device=gpu0=virtual:0"), std::string::npos) << refused;
  auto program = builder.Build({.device_map = {{"gpu0", "virtual:5"}}});
  ASSERT_TRUE(program.ok()) << program.status();
  auto session = Session::Create(*program);
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE(CallMain(**program, **session, {}).ok());
  ScheduleBuilder on_virtual = OnGpu(DeviceKind::kVirtual, 64, 0);
  EXPECT_EQ(Message(on_virtual.Build({.device_map = {{"gpu0", "cuda:1"}}, .cuda = no_library}).status()), refused);
}

TEST(Executor, AMapForAllMissingGpusIsSuggested) {
  Machine machine = TestMachine(2);
  for (uint32_t i = 1; i <= 2; ++i) {
    machine.devices[i].kind = DeviceKind::kCuda;
    machine.devices[i].first_core = -1;
  }
  ScheduleBuilder builder(machine);
  const KernelId task = builder.Synthetic("task", {}, {8});
  for (DeviceId gpu : {DeviceId(1), DeviceId(2)}) {
    SpaceId result = builder.Result(Bytes(8), gpu);
    builder.Launch(builder.Compute(gpu), task, {}, {builder.Whole(result)});
  }
  const std::string refused = Message(builder.Build({.cuda = {.cudart_path = "/no/such/libcudart.so"}}).status());
  EXPECT_EQ(refused.find("gpu0 is a CUDA device, but "), 0u) << refused;
  const std::string advice = "; to run without them, map them with --device=gpu0=virtual:0,gpu1=virtual:1";
  EXPECT_NE(refused.find(advice), std::string::npos) << refused;
  EXPECT_TRUE(builder.Build({.device_map = {{"gpu0", "virtual:0"}, {"gpu1", "virtual:1"}}}).ok());
}

TEST(Executor, DeviceMapNamesWhatItDoesNotKnow) {
  ScheduleBuilder builder = OnGpu(DeviceKind::kVirtual, 64, 0);
  auto build = [&](const std::string& device, const std::string& target) {
    return Message(builder.Build({.device_map = {{device, target}}}).status());
  };
  EXPECT_EQ(build("gpu7", "virtual:0"),
            "device map: the schedule has no device 'gpu7'; it has cpu0, gpu0");
  EXPECT_EQ(build("gpu0", "tpu:0"),
            "device map: 'gpu0=tpu:0' names no device; write virtual:K or cuda:K");
  EXPECT_EQ(build("gpu0", "virtual:x"),
            "device map: 'gpu0=virtual:x' needs a core number, as in virtual:0");
  EXPECT_EQ(build("gpu0", "virtual"),
            "device map: 'gpu0=virtual' needs a core number, as in virtual:0");
  EXPECT_NE(build("cpu0", "virtual:0").find("cannot be mapped"), std::string::npos);
}

TEST(Executor, TooLittleMemoryIsASentence) {
  // More than any machine has, and more than this device has.
  ScheduleBuilder huge = OnGpu(DeviceKind::kVirtual, uint64_t{1} << 50, 0);
  auto program = huge.Build();
  ASSERT_TRUE(program.ok()) << program.status();
  absl::Status status = Session::Create(*program).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(Message(status).find("the memory of gpu0: 1125899906842624 bytes are needed, but this "
                                 "machine has only"),
            std::string::npos)
      << status;
  ScheduleBuilder small = OnGpu(DeviceKind::kVirtual, 5000, 4096);
  program = small.BuildUnchecked();
  ASSERT_TRUE(program.ok()) << program.status();
  status = Session::Create(*program).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(Message(status).find("the device has 4096"), std::string::npos) << status;
  // Memory is given back: the same device serves one session after the other.
  ScheduleBuilder fitting = OnGpu(DeviceKind::kVirtual, 4000, 4096);
  Loaded loaded = Load(fitting);
  EXPECT_FALSE(Session::Create(loaded.program).ok());
  loaded.session.reset();
  EXPECT_TRUE(Session::Create(loaded.program).ok());
}

TEST(Executor, ProgramsAreLoadedFromFiles) {
  ScheduleBuilder builder = Echo(10);
  std::string path = testing::TempDir() + "/executor_test.sched";
  ASSERT_TRUE(WriteScheduleFile(builder.schedule(), path).ok());
  auto program = Program::Load(path);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ((*program)->schedule().functions[0].name, "main");
  EXPECT_FALSE(Program::Load(path + ".none").ok());
}

TEST(Executor, StateIsRefusedForNow) {
  ScheduleBuilder builder = Echo(10);
  builder.function().spaces.push_back({.kind = SpaceKind::kState, .device = kCpu, .bytes = 4});
  EXPECT_NE(Message(builder.BuildUnchecked().status()).find("keeps state between calls"),
            std::string::npos);
}

}  // namespace
}  // namespace autopar
