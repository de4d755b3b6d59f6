// The CUDA device on a library that imitates CUDA and judges how it is used (test/fake_cuda). Each test begins
// that library anew; a fault that it reports fails the test.
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "test/runtime/device/cuda/gpu_program.h"
#include "test/runtime/device/cuda/mix.h"

namespace autopar {
namespace {

constexpr DeviceId kCpu{0}, kGpu0{1}, kGpu1{2};

std::string Message(const absl::Status& status) { return std::string(status.message()); }

void ExpectNoFaults(bool leaks = true) {
  const std::vector<std::string> faults = FakeCuda::Faults(leaks);
  EXPECT_TRUE(faults.empty()) << absl::StrJoin(faults, "\n");
}

using Results = std::vector<std::vector<uint8_t>>;

// Calls with buffers of the program's own, which GPUs copy from and to directly.
absl::StatusOr<Results> CallPinned(const Program& program, Session& session, const Results& inputs) {
  std::vector<std::unique_ptr<HostBuffer>> buffers;
  std::vector<absl::Span<const uint8_t>> input_spans;
  std::vector<absl::Span<uint8_t>> output_spans;
  const auto allocate = [&](uint64_t bytes) {
    auto buffer = program.AllocateBuffer(bytes);
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    EXPECT_TRUE((*buffer)->is_pinned());
    buffers.push_back(std::move(buffer).value());
    return buffers.back()->bytes();
  };
  for (const std::vector<uint8_t>& input : inputs) {
    const absl::Span<uint8_t> bytes = allocate(input.size());
    std::copy(input.begin(), input.end(), bytes.begin());
    input_spans.push_back(bytes);
  }
  for (const Port& port : program.schedule().functions[0].results) {
    output_spans.push_back(allocate(port.type.bytes()));
  }
  absl::Status status = session.Call("main", input_spans, output_spans);
  if (!status.ok()) return status;
  Results results;
  for (absl::Span<uint8_t> bytes : output_spans) results.emplace_back(bytes.begin(), bytes.end());
  return results;
}

struct Run {
  CudaGraphMode graph = CudaGraphMode::kOff;
  bool pinned = false;
  int calls = 2;
  SessionOptions session{};
  std::map<std::string, std::string> device_map{};
  std::string* why_no_graph = nullptr;
};

// The results of the first call; all calls must agree.
Results RunProgram(ScheduleBuilder& builder, const Results& inputs, const Run& run) {
  LoadOptions options = FakeCuda::Options(run.graph);
  options.device_map = run.device_map;
  auto program = builder.Build(options);
  EXPECT_TRUE(program.ok()) << program.status();
  if (!program.ok()) return {};
  auto session = Session::Create(*program, run.session);
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok()) return {};
  Results first;
  for (int call = 0; call < run.calls; ++call) {
    auto results = run.pinned ? CallPinned(**program, **session, inputs) : CallMain(**program, **session, inputs);
    EXPECT_TRUE(results.ok()) << results.status();
    if (!results.ok()) return {};
    if (call == 0) first = *results;
    EXPECT_EQ(*results, first) << "call " << call;
  }
  if (run.why_no_graph != nullptr) *run.why_no_graph = (*session)->WhyNoCudaGraph("main");
  return first;
}

Results MixInput() { return {TestBytes(kMixBytes, 5)}; }

Results Oracle(uint64_t graph_seed, uint32_t tasks) {
  ScheduleBuilder serial = RandomGpuProgram(graph_seed, tasks, {});
  return RunProgram(serial, MixInput(), {});
}

// ---- whole programs ----

class RandomPrograms : public testing::TestWithParam<const char*> {};

TEST_P(RandomPrograms, GiveTheBitsOfTheCpuOnStreams) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Results expected = Oracle(seed, 30);
    for (uint32_t gpus : {1u, 2u, 4u}) {
      FakeCuda::Configure(absl::StrCat("devices=", gpus, ",seed=", seed, GetParam()));
      ScheduleBuilder builder = RandomGpuProgram(seed, 30, {.gpus = gpus, .streams = 3, .seed = seed * 10 + gpus});
      EXPECT_EQ(RunProgram(builder, MixInput(), {.pinned = seed % 2 == 0}), expected) << gpus << " GPUs, seed " << seed;
      EXPECT_EQ(FakeCuda::Stat("pageable_copies"), 0u);
      EXPECT_EQ(FakeCuda::Stat("host_blocks"), 0u);
      ExpectNoFaults();
    }
  }
}

TEST_P(RandomPrograms, GiveTheSameBitsAsGraphs) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Results expected = Oracle(seed, 30);
    for (uint32_t gpus : {1u, 2u, 4u}) {
      for (bool only_gpus : {true, false}) {
        FakeCuda::Configure(absl::StrCat("devices=", gpus, ",seed=", seed, GetParam()));
        ScheduleBuilder builder = RandomGpuProgram(
            seed, 30, {.gpus = gpus, .streams = 3, .seed = seed * 10 + gpus, .only_gpus = only_gpus});
        std::string why_not;
        EXPECT_EQ(RunProgram(builder, MixInput(), {.graph = only_gpus ? CudaGraphMode::kAuto : CudaGraphMode::kOn,
                                                   .pinned = true, .calls = 3, .why_no_graph = &why_not}),
                  expected)
            << gpus << " GPUs, seed " << seed;
        EXPECT_EQ(why_not, "");
        EXPECT_GT(FakeCuda::Stat("graph_launches"), 0u);
        EXPECT_EQ(FakeCuda::Stat("host_blocks"), 0u);
        ExpectNoFaults();
      }
    }
  }
}

std::string PeerName(const testing::TestParamInfo<const char*>& info) {
  return info.index == 0 ? "Direct" : info.index == 1 ? "Apart" : "Dropping";
}

// GPUs that reach each other; that do not; that claim to and drop what is written.
INSTANTIATE_TEST_SUITE_P(Peers, RandomPrograms,
                         testing::Values("", ",peer=0,staged_drops=1", ",peer_drops=1"),
                         PeerName);

TEST(Cuda, TwoDevicesOfAScheduleShareAGpu) {
  for (CudaGraphMode graph : {CudaGraphMode::kOff, CudaGraphMode::kOn}) {
    FakeCuda::Configure("devices=1,seed=4");
    const Results expected = Oracle(3, 40);
    ScheduleBuilder builder = RandomGpuProgram(3, 40, {.gpus = 2, .streams = 2, .seed = 8});
    EXPECT_EQ(RunProgram(builder, MixInput(),
                         {.graph = graph, .pinned = true, .device_map = {{"gpu0", "cuda:0"}, {"gpu1", "cuda:0"}}}),
              expected);
    ExpectNoFaults();
  }
}

TEST(Cuda, DevicesMayBeVirtual) {
  FakeCuda::Configure("devices=1,seed=2");
  const Results expected = Oracle(3, 40);
  ScheduleBuilder builder = RandomGpuProgram(3, 40, {.gpus = 2, .streams = 2, .seed = 8});
  LoadOptions mixed = FakeCuda::Options();
  mixed.device_map = {{"gpu0", "virtual:0"}, {"gpu1", "cuda:0"}};
  EXPECT_EQ(Message(builder.Build(mixed).status()),
            "function 'main' copies from gpu0, a virtual device, to gpu1, a CUDA device; map both to devices of one "
            "kind with --device");
  ExpectNoFaults();
  EXPECT_EQ(RunProgram(builder, MixInput(), {.device_map = {{"gpu0", "virtual:0"}, {"gpu1", "virtual:1"}}}), expected);
}

TEST(Cuda, PoisonDelaysAndNotedTimesChangeNoBits) {
  const Results expected = Oracle(6, 40);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    FakeCuda::Configure(absl::StrCat("devices=2,seed=", seed));
    ScheduleBuilder builder = RandomGpuProgram(6, 40, {.gpus = 2, .streams = 3, .seed = seed});
    const SessionOptions session{.record_timings = seed % 2 == 0, .delay_seed = seed, .poison = true};
    EXPECT_EQ(RunProgram(builder, MixInput(), {.session = session}), expected);
    ExpectNoFaults();
  }
}

TEST(Cuda, MissingWaitsAreSeen) {
  // The tests above can fail: without its waits the same placement is reported.
  FakeCuda::Configure("devices=2,seed=1,report=/dev/null");
  ScheduleBuilder builder = RandomGpuProgram(7, 40, {.gpus = 2, .streams = 3, .seed = 1, .only_gpus = true,
                                                     .drop_waits = true});
  EXPECT_FALSE(builder.Build(FakeCuda::Options()).ok()) << "the checker lets it pass";
  {
    auto program = builder.BuildUnchecked(FakeCuda::Options());
    ASSERT_TRUE(program.ok()) << program.status();
    auto session = Session::Create(*program);
    ASSERT_TRUE(session.ok()) << session.status();
    CallPinned(**program, **session, MixInput()).IgnoreError();
  }
  EXPECT_FALSE(FakeCuda::Faults(false).empty());
}

// ---- copies ----

TensorType Bytes(int64_t count) { return {ElementType::kI8, {count}}; }

// An argument to a GPU and back, in pieces and by rows.
TEST(Cuda, LargeAndStridedCopiesArriveFromAnyMemory) {
  constexpr int64_t kRows = 700, kStride = 3000, kRowBytes = 2001;  // 1.4 MB of 2.1 MB
  for (bool pinned : {false, true}) {
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      FakeCuda::Configure(absl::StrCat("devices=2,peer=", seed % 2, ",staged_drops=1,seed=", seed));
      ScheduleBuilder builder(GpuMachine(2));
      const SpaceId from = builder.Argument(Bytes(kRows * kStride));
      const SpaceId dense = builder.Result(Bytes(kRows * kRowBytes));
      const SpaceId spread = builder.Result(Bytes(kRows * kStride));
      const SpaceId here = builder.Arena(kGpu0, kRows * kStride), there = builder.Arena(kGpu1, kRows * kStride);
      const auto rows = [&](SpaceId space, int64_t stride) {
        return Region{.space = space, .offset = 0, .row_bytes = kRowBytes, .row_stride = static_cast<uint64_t>(stride),
                      .rows = kRows};
      };
      const StreamId in = builder.CopyStream(kCpu, kGpu0), across = builder.CopyStream(kGpu0, kGpu1);
      const StreamId out = builder.CopyStream(kGpu1, kCpu);
      builder.Copy(in, builder.Whole(from), builder.Whole(here));
      const EventId arrived = builder.Record(in);
      builder.Wait(across, arrived);
      // Whole rows first, then the same again by columns: the second copy overwrites what the first brought.
      builder.Copy(across, builder.Whole(here), builder.Whole(there));
      builder.Copy(across, rows(here, kStride), rows(there, kStride));
      const EventId crossed = builder.Record(across);
      builder.Wait(out, crossed);
      builder.Copy(out, rows(there, kStride), rows(dense, kRowBytes));
      builder.Copy(out, builder.Whole(there), builder.Whole(spread));
      const Results inputs = {TestBytes(kRows * kStride, seed)};
      const Results results = RunProgram(builder, inputs, {.pinned = pinned});
      ASSERT_EQ(results.size(), 2u);
      EXPECT_EQ(results[1], inputs[0]);
      for (int64_t row = 0; row < kRows; ++row) {
        ASSERT_TRUE(std::equal(results[0].begin() + row * kRowBytes, results[0].begin() + (row + 1) * kRowBytes,
                               inputs[0].begin() + row * kStride))
            << "row " << row;
      }
      EXPECT_EQ(FakeCuda::Stat("pageable_copies"), 0u);
      ExpectNoFaults();
    }
  }
}

// What one GPU brings to the host, in memory of the caller's, another one reads from there.
TEST(Cuda, AResultIsReadAgainAfterItsStagedCopy) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    FakeCuda::Configure(absl::StrCat("devices=2,seed=", seed));
    ScheduleBuilder builder(GpuMachine(2));
    constexpr int64_t kBytes = 1500000;
    const SpaceId from = builder.Argument(Bytes(kBytes), kGpu0);
    const SpaceId first = builder.Result(Bytes(kBytes)), second = builder.Result(Bytes(kBytes));
    const SpaceId arena = builder.Arena(kGpu1, kBytes);
    const StreamId out = builder.CopyStream(kGpu0, kCpu), in = builder.CopyStream(kCpu, kGpu1);
    const StreamId back = builder.CopyStream(kGpu1, kCpu);
    builder.Copy(out, builder.Whole(from), builder.Whole(first));
    builder.Wait(in, builder.Record(out));
    builder.Copy(in, builder.Whole(first), builder.Whole(arena));
    builder.Wait(back, builder.Record(in));
    builder.Copy(back, builder.Whole(arena), builder.Whole(second));
    const Results inputs = {TestBytes(kBytes, seed)};
    EXPECT_EQ(RunProgram(builder, inputs, {}), (Results{inputs[0], inputs[0]}));
    ExpectNoFaults();
  }
}

TEST(Cuda, ArgumentsResultsAndConstantsLiveOnGpus) {
  FakeCuda::Configure("devices=1,seed=3");
  ScheduleBuilder builder(GpuMachine(1));
  const std::vector<uint8_t> constant = TestBytes(77, 9);
  const SpaceId argument = builder.Argument(Bytes(50), kGpu0), near = builder.Result(Bytes(50), kGpu0);
  const SpaceId on_device = builder.Result(Bytes(77), kGpu0), on_host = builder.Result(Bytes(77));
  const StreamId gpu = builder.Compute(kGpu0), home = builder.CopyStream(kGpu0, kCpu);
  builder.Copy(gpu, builder.Whole(argument), builder.Whole(near));
  const SpaceId placed = builder.Constant(constant, kGpu0);
  builder.Copy(gpu, builder.Whole(placed), builder.Whole(on_device));
  builder.Copy(home, builder.Whole(placed), builder.Whole(on_host));
  const Results inputs = {TestBytes(50, 2)};
  EXPECT_EQ(RunProgram(builder, inputs, {}), (Results{inputs[0], constant, constant}));
  ExpectNoFaults();
}

TEST(Cuda, EmptyTensorsAreLegal) {
  FakeCuda::Configure("devices=1");
  ScheduleBuilder builder(GpuMachine(1));
  const SpaceId from = builder.Argument(Bytes(0)), to = builder.Result(Bytes(0));
  const SpaceId arena = builder.Arena(kGpu0, 0);
  builder.Copy(builder.CopyStream(kCpu, kGpu0), builder.Whole(from), builder.Whole(arena));
  builder.Copy(builder.CopyStream(kGpu0, kCpu), builder.Whole(arena), builder.Whole(to));
  EXPECT_EQ(RunProgram(builder, {{}}, {}), (Results{{}}));
  ExpectNoFaults();
}

// ---- products ----

std::vector<float> Reference(const MatmulParams& p, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> c;
  for (int64_t batch = 0; batch < p.batch; ++batch) {
    const float* left = a.data() + (p.a_batch == 1 ? 0 : batch * p.m * p.k);
    const float* right = b.data() + (p.b_batch == 1 ? 0 : batch * p.k * p.n);
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < p.k; ++l) {
          sum += static_cast<double>(left[p.transpose_a ? l * p.m + i : i * p.k + l]) *
                 static_cast<double>(right[p.transpose_b ? j * p.k + l : l * p.n + j]);
        }
        c.push_back(static_cast<float>(sum));
      }
    }
  }
  return c;
}

TEST(Cuda, ProductsAreThoseOfRowMajorMatrices) {
  const std::vector<MatmulParams> cases = {
      {.m = 3, .n = 2, .k = 4},
      {.m = 5, .n = 7, .k = 3, .transpose_a = true},
      {.m = 5, .n = 7, .k = 3, .transpose_b = true},
      {.m = 5, .n = 7, .k = 3, .transpose_a = true, .transpose_b = true},
      {.batch = 4, .m = 3, .n = 5, .k = 2, .a_batch = 4, .b_batch = 4},
      {.batch = 4, .m = 3, .n = 5, .k = 2, .a_batch = 1, .b_batch = 4, .transpose_b = true},
      {.batch = 4, .m = 3, .n = 5, .k = 2, .a_batch = 4, .b_batch = 1, .transpose_a = true},
      {.m = 3, .n = 2, .k = 0},
      {.m = 1, .n = 1, .k = 1},
  };
  for (const MatmulParams& p : cases) {
    for (CudaGraphMode graph : {CudaGraphMode::kOff, CudaGraphMode::kOn}) {
      FakeCuda::Configure("devices=1,seed=5");
      ScheduleBuilder builder(GpuMachine(1));
      const SpaceId a = builder.Argument({ElementType::kF32, {p.a_batch * p.m * p.k}}, kGpu0);
      const SpaceId b = builder.Argument({ElementType::kF32, {p.b_batch * p.k * p.n}}, kGpu0);
      const SpaceId c = builder.Result({ElementType::kF32, {p.batch * p.m * p.n}}, kGpu0);
      builder.Launch(builder.Compute(kGpu0), builder.Matmul("product", p), {builder.Whole(a), builder.Whole(b)},
                     {builder.Whole(c)});
      const std::vector<float> left = TestFloats(static_cast<size_t>(p.a_batch * p.m * p.k), 1);
      const std::vector<float> right = TestFloats(static_cast<size_t>(p.b_batch * p.k * p.n), 2);
      const Results results = RunProgram(builder, {BytesOf(left), BytesOf(right)}, {.graph = graph});
      ASSERT_EQ(results.size(), 1u);
      const std::vector<float> product = FloatsOf(results[0]), expected = Reference(p, left, right);
      ASSERT_EQ(product.size(), expected.size());
      for (size_t i = 0; i < product.size(); ++i) EXPECT_NEAR(product[i], expected[i], 1e-5) << i;
      ExpectNoFaults();
    }
  }
}

TEST(Cuda, ProductsOfStreamsShareNoWorkspace) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    FakeCuda::Configure(absl::StrCat("devices=1,seed=", seed));
    ScheduleBuilder builder(GpuMachine(1));
    const TensorType type{ElementType::kF32, {16, 16}};
    const SpaceId a = builder.Argument(type, kGpu0);
    const KernelId product = builder.Matmul("product", {.m = 16, .n = 16, .k = 16});
    for (uint32_t stream = 0; stream < 4; ++stream) {
      const SpaceId c = builder.Result(type, kGpu0);
      builder.Launch(builder.Compute(kGpu0, stream), product, {builder.Whole(a), builder.Whole(a)}, {builder.Whole(c)});
    }
    const Results results = RunProgram(builder, {BytesOf(TestFloats(256, 3))}, {});
    ASSERT_EQ(results.size(), 4u);
    for (size_t i = 1; i < 4; ++i) EXPECT_EQ(results[i], results[0]);
    ExpectNoFaults();
  }
}

// ---- graphs ----

TEST(Cuda, GraphsAreRebuiltForOtherBuffersOnly) {
  FakeCuda::Configure("devices=1,seed=2");
  ScheduleBuilder builder = RandomGpuProgram(5, 10, {.gpus = 1, .streams = 2, .seed = 3, .only_gpus = true});
  auto program = builder.Build(FakeCuda::Options(CudaGraphMode::kAuto));
  ASSERT_TRUE(program.ok()) << program.status();
  auto session = Session::Create(*program);
  ASSERT_TRUE(session.ok()) << session.status();
  auto input = (*program)->AllocateBuffer(kMixBytes), output = (*program)->AllocateBuffer(kMixBytes);
  ASSERT_TRUE(input.ok() && output.ok());
  const auto call = [&](HostBuffer& to) {
    const absl::Status status = (*session)->Call("main", {(*input)->bytes()}, {to.bytes()});
    EXPECT_TRUE(status.ok()) << status;
    return std::vector<uint8_t>(to.bytes().begin(), to.bytes().end());
  };
  std::fill((*input)->bytes().begin(), (*input)->bytes().end(), 3);
  const std::vector<uint8_t> first = call(**output);
  const uint64_t before = FakeCuda::Stat("calls");
  EXPECT_EQ(call(**output), first);
  const uint64_t replay_calls = FakeCuda::Stat("calls") - before;
  EXPECT_LE(replay_calls, 12u) << "a launch, a wait and what asks for the buffers";
  // The same buffer with other bytes, then another buffer.
  (*input)->bytes()[0] = 77;
  const std::vector<uint8_t> second = call(**output);
  EXPECT_NE(second, first);
  auto other = (*program)->AllocateBuffer(kMixBytes);
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(call(**other), second);
  EXPECT_EQ((*session)->WhyNoCudaGraph("main"), "");
  EXPECT_EQ(FakeCuda::Stat("graph_launches"), 4u);
  // Pageable memory: streams, and why.
  std::vector<uint8_t> pageable(kMixBytes);
  ASSERT_TRUE((*session)->Call("main", {(*input)->bytes()}, {absl::MakeSpan(pageable)}).ok());
  EXPECT_EQ(pageable, second);
  EXPECT_EQ((*session)->WhyNoCudaGraph("main"),
            "an argument or result is not in pinned memory (Program::AllocateBuffer)");
  EXPECT_EQ(FakeCuda::Stat("graph_launches"), 4u);
  EXPECT_EQ(call(**other), second);
  EXPECT_EQ(FakeCuda::Stat("graph_launches"), 5u);
}

TEST(Cuda, WhyThereIsNoGraphIsSaid) {
  const auto why = [](CudaGraphMode mode, bool only_gpus, const SessionOptions& session) {
    FakeCuda::Configure("devices=1,seed=2");
    std::string reason;
    ScheduleBuilder builder = RandomGpuProgram(5, 20, {.gpus = 1, .streams = 2, .seed = 3, .only_gpus = only_gpus});
    RunProgram(builder, MixInput(), {.graph = mode, .pinned = true, .session = session, .why_no_graph = &reason});
    return reason;
  };
  EXPECT_EQ(why(CudaGraphMode::kOff, true, {}), "graphs are switched off");
  EXPECT_EQ(why(CudaGraphMode::kOn, true, {.record_timings = true}), "the times of its commands are noted");
  EXPECT_EQ(why(CudaGraphMode::kOn, true, {.delay_seed = 1}), "delays are injected");
  EXPECT_TRUE(absl::StartsWith(why(CudaGraphMode::kAuto, false, {}), "the host takes part in the middle of it"));
  EXPECT_EQ(why(CudaGraphMode::kAuto, true, {}), "");
}

// ---- what is refused ----

std::string LoadError(const std::string& fake, LoadOptions options = FakeCuda::Options(), uint32_t gpus = 1) {
  FakeCuda::Configure(fake);
  ScheduleBuilder builder = RandomGpuProgram(1, 5, {.gpus = gpus, .streams = 1, .seed = 2, .only_gpus = true});
  return Message(builder.Build(options).status());
}

TEST(Cuda, EachReasonForNoGpuHasItsSentence) {
  EXPECT_TRUE(absl::StrContains(LoadError("driver=0"), "this machine has no NVIDIA driver"));
  EXPECT_TRUE(absl::StrContains(LoadError("driver=12020"), "the NVIDIA driver is too old: it serves CUDA 12.2"));
  EXPECT_TRUE(absl::StrContains(LoadError("stub=1"), "is the toolkit's stub"));
  EXPECT_TRUE(absl::StrContains(LoadError("devices=0"), "the NVIDIA driver finds no GPU"));
  EXPECT_TRUE(absl::StrContains(LoadError("devices=1,arch=70"), "has code for sm_75, but gpu0 is an sm_70"));
  LoadOptions options = FakeCuda::Options();
  options.cuda.cudart_path = "/no/such/libcudart.so";
  EXPECT_TRUE(absl::StrContains(LoadError("", options), "'/no/such/libcudart.so' cannot be opened"));
  options.cuda.cudart_path = AUTOPAR_MIX_KERNELS;
  EXPECT_TRUE(absl::StrContains(LoadError("", options), "is no CUDA runtime library"));
  options = FakeCuda::Options();
  options.device_map = {{"gpu0", "cuda:3"}};
  EXPECT_TRUE(absl::StrContains(LoadError("devices=2", options),
                                "gpu0 is to run on cuda:3, but this machine has 2 GPUs"));
  options.device_map = {{"gpu0", "cuda:first"}};
  EXPECT_EQ(LoadError("devices=2", options),
            "device map: 'gpu0=cuda:first' needs a GPU's number, as in cuda:0");
  ExpectNoFaults();
}

TEST(Cuda, ManyStreamsAskForAsManyQueues) {
  const char* const kName = "CUDA_DEVICE_MAX_CONNECTIONS";
  const auto queues_for = [&](uint32_t streams, std::map<std::string, std::string> device_map) {
    FakeCuda::Configure("devices=2");
    Machine machine = GpuMachine(2);
    for (Device& device : machine.devices) device.streams = streams;
    ScheduleBuilder builder(machine);
    for (const DeviceId gpu : {kGpu0, kGpu1}) {
      for (uint32_t i = 0; i < streams; ++i) builder.Compute(gpu, i);
    }
    LoadOptions options = FakeCuda::Options();
    options.device_map = std::move(device_map);
    EXPECT_EQ(Message(builder.Build(options).status()), "");
    const char* value = getenv(kName);
    return std::string(value == nullptr ? "" : value);
  };
  unsetenv(kName);
  EXPECT_EQ(queues_for(8, {}), "");
  EXPECT_EQ(queues_for(8, {{"gpu0", "cuda:0"}, {"gpu1", "cuda:0"}}), "16") << "both on one GPU";
  EXPECT_EQ(queues_for(12, {}), "16") << "what is set stays";
  unsetenv(kName);
  EXPECT_EQ(queues_for(40, {}), "32");
  unsetenv(kName);
}

TEST(Cuda, KernelsWithoutCodeForGpusAreRefused) {
  FakeCuda::Configure("devices=1");
  ScheduleBuilder synthetic(GpuMachine(1));
  const SpaceId result = synthetic.Result(Bytes(16), kGpu0);
  synthetic.Launch(synthetic.Compute(kGpu0), synthetic.Synthetic("sleep", {}, {16}), {}, {synthetic.Whole(result)});
  EXPECT_EQ(Message(synthetic.Build(FakeCuda::Options()).status()),
            "kernel 'sleep' is synthetic, which a GPU cannot run; map gpu0 with --device=gpu0=virtual:0");
  ExpectNoFaults();
}

TEST(Cuda, MemoryThatAGpuLacksIsNamed) {
  FakeCuda::Configure("devices=1,memory_mb=16");
  ScheduleBuilder builder = RandomGpuProgram(1, 5, {.gpus = 1, .streams = 1, .seed = 2, .only_gpus = true});
  for (Space& space : builder.function().spaces) {
    if (space.kind == SpaceKind::kArena && space.device == kGpu0) space.bytes = 64 << 20;
  }
  {
    auto program = builder.Build(FakeCuda::Options());
    ASSERT_TRUE(program.ok()) << program.status();
    const absl::Status status = Session::Create(*program).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_TRUE(absl::StrContains(Message(status), "gpu0: allocating 67108864 bytes failed")) << status;
  }
  ExpectNoFaults();
}

// ---- errors ----

// Call number n of CUDA fails, for every n: a sentence, nothing leaks, and the same session goes on or says why not.
void FailEachCall(const std::string& options, CudaGraphMode graph, bool pinned) {
  const Results expected = Oracle(4, 8);
  int failures = 0;
  for (uint64_t n = 1;; ++n) {
    ASSERT_LT(n, 5000u);
    FakeCuda::Configure(absl::StrCat(options, ",report=/dev/null,fail=", n));
    bool reached = false;
    {
      ScheduleBuilder builder = RandomGpuProgram(4, 8, {.gpus = 2, .streams = 2, .seed = 6});
      auto program = builder.Build(FakeCuda::Options(graph));
      absl::Status status = program.status();
      std::unique_ptr<Session> session;
      if (status.ok()) {
        auto opened = Session::Create(*program);
        status = opened.status();
        if (opened.ok()) session = std::move(opened).value();
      }
      for (int call = 0; session != nullptr && call < 3; ++call) {
        const absl::StatusOr<Results> results =
            pinned ? CallPinned(**program, *session, MixInput()) : CallMain(**program, *session, MixInput());
        if (results.ok()) {
          EXPECT_EQ(*results, expected) << "call " << n << " failed";
        } else {
          EXPECT_TRUE(status.ok()) << "two calls failed: " << status << "; " << results.status();
          status = results.status();
        }
      }
      failures += !status.ok();
      EXPECT_TRUE(status.ok() || Message(status).size() > 20) << status;
      reached = FakeCuda::Stat("calls") >= n;
    }
    // Where the destruction of an object failed, that object is left.
    const std::vector<std::string> faults = FakeCuda::Faults(true);
    EXPECT_LE(faults.size(), 1u) << "call " << n << ":\n" << absl::StrJoin(faults, "\n");
    for (const std::string& fault : faults) EXPECT_TRUE(absl::StartsWith(fault, "leak:")) << fault;
    if (!reached) break;
  }
  EXPECT_GT(failures, 50);
}

TEST(Cuda, EveryFailedCallEndsInASentenceOnStreams) {
  FailEachCall("devices=2,seed=3", CudaGraphMode::kOff, false);
}

TEST(Cuda, EveryFailedCallEndsInASentenceWithoutPeers) {
  FailEachCall("devices=2,seed=3,peer=0", CudaGraphMode::kOff, false);
}

TEST(Cuda, EveryFailedCallEndsInASentenceOrOnStreamsWithGraphs) {
  FailEachCall("devices=2,seed=3", CudaGraphMode::kOn, false);
}

TEST(Cuda, ALostGpuIsRefusedAfterwards) {
  for (CudaGraphMode graph : {CudaGraphMode::kOff, CudaGraphMode::kAuto}) {
    FakeCuda::Configure("devices=1,seed=3,kernel_fault=3");
    ScheduleBuilder builder = RandomGpuProgram(4, 12, {.gpus = 1, .streams = 2, .seed = 6, .only_gpus = true});
    auto program = builder.Build(FakeCuda::Options(graph));
    ASSERT_TRUE(program.ok()) << program.status();
    auto session = Session::Create(*program);
    ASSERT_TRUE(session.ok()) << session.status();
    const absl::Status first = CallMain(**program, **session, MixInput()).status();
    EXPECT_TRUE(absl::StrContains(Message(first), "the GPU cannot be used by this process any more")) << first;
    const absl::Status second = CallMain(**program, **session, MixInput()).status();
    EXPECT_TRUE(absl::StrContains(Message(second), "gpu0 failed in an earlier call")) << second;
  }
}

// The host neither works on what a lost GPU never delivered, nor frees what the others still use.
TEST(Cuda, ALostGpuEndsTheCallInOrder) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    for (uint64_t fault = 1; fault <= 6; ++fault) {
      FakeCuda::Configure(absl::StrCat("devices=2,leaks=0,seed=", seed, ",kernel_fault=", fault));
      ScheduleBuilder builder = RandomGpuProgram(seed, 14, {.gpus = 2, .streams = 2, .seed = 9, .only_gpus = false});
      {
        auto program = builder.Build(FakeCuda::Options());
        ASSERT_TRUE(program.ok()) << program.status();
        auto session = Session::Create(*program);
        ASSERT_TRUE(session.ok()) << session.status();
        (void)CallMain(**program, **session, MixInput());
      }
      for (const std::string& found : FakeCuda::Faults(/*leaks=*/false)) {
        EXPECT_TRUE(absl::StrContains(found, "illegal address")) << seed << ", " << fault << ": " << found;
      }
    }
  }
}

}  // namespace
}  // namespace autopar
