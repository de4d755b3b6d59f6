#include "test/runtime/device/cuda/gpu_program.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "test/fake_cuda/fake_cuda.h"
#include "test/runtime/device/cuda/mix.h"

namespace autopar {
namespace {

constexpr DeviceId kCpu{0};

// A text that a driver would take for the kernels; the imitation reads their names and parameters.
std::string MixPtx() {
  std::string text = ".version 7.5\n.target sm_75\n.address_size 64\n";
  for (int reads = 1; reads <= kMostMixed; ++reads) {
    absl::StrAppend(&text, ".visible .entry mix", reads, "(");
    for (int i = 0; i <= reads; ++i) absl::StrAppend(&text, i == 0 ? "" : ",", " .param .u64 p", i);
    text += ") { ret; }\n";
  }
  return text;
}

class Generator {
 public:
  Generator(uint64_t graph_seed, const GpuPlacement& placement)
      : builder_(GpuMachine(placement.gpus)),
        placement_(placement),
        graph_random_(graph_seed),
        place_random_(placement.seed),
        kernels_(AddMixKernels(builder_)) {}

  ScheduleBuilder Generate(uint32_t tasks) {
    TensorType type{ElementType::kI8, {kMixBytes}};
    const Region argument = builder_.Whole(builder_.Argument(type));
    values_.push_back({{kCpu, {argument, StreamId(), EventId()}}});
    const Region result = builder_.Whole(builder_.Result(type));
    for (uint32_t i = 0; i <= placement_.gpus; ++i) {
      arenas_.push_back(builder_.Arena(DeviceId(i), 0));
      arena_bytes_.push_back(0);
    }
    for (uint32_t i = 0; i < tasks; ++i) AddTask(ChooseOperands(), nullptr);
    // Everything that nobody read flows into the result.
    std::vector<size_t> unread;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (!read_.count(i)) unread.push_back(i);
    }
    while (unread.size() > kMostMixed) {
      AddTask({unread.end() - kMostMixed, unread.end()}, nullptr);
      unread.resize(unread.size() - kMostMixed);
      unread.insert(unread.begin(), values_.size() - 1);
    }
    AddTask(unread, &result);
    for (size_t i = 0; i < arenas_.size(); ++i) {
      builder_.function().spaces[arenas_[i].index()].bytes = arena_bytes_[i];
    }
    return std::move(builder_);
  }

 private:
  struct Located {
    Region region;
    StreamId stream;
    EventId event;  // invalid: there from the start
  };
  using Value = std::map<DeviceId, Located>;

  std::vector<size_t> ChooseOperands() {
    std::vector<size_t> operands;
    const uint64_t count = 1 + graph_random_() % kMostMixed;
    for (uint64_t i = 0; i < count; ++i) {
      operands.push_back(values_.size() - 1 - graph_random_() % std::min<size_t>(values_.size(), 10));
    }
    return operands;
  }

  StreamId Stream(DeviceId device) {
    const uint32_t ordinal = placement_.seed == 0 ? 0 : static_cast<uint32_t>(place_random_() % placement_.streams);
    auto [entry, is_new] = compute_.try_emplace({device, ordinal});
    if (is_new) entry->second = builder_.Compute(device, ordinal);
    return entry->second;
  }

  Region Reserve(DeviceId device) {
    uint64_t& end = arena_bytes_[device.index()];
    const Region region = builder_.Piece(arenas_[device.index()], end, kMixBytes);
    end += (kMixBytes + 63) / 64 * 64;
    return region;
  }

  void WaitFor(StreamId stream, const Located& located) {
    if (located.event.valid() && located.stream != stream && !placement_.drop_waits) {
      builder_.Wait(stream, located.event);
    }
  }

  Located Bring(Value& value, DeviceId device) {
    const auto found = value.find(device);
    if (found != value.end()) return found->second;
    const auto [from_device, from] = *value.rbegin();
    auto [entry, is_new] = copies_.try_emplace({from_device, device});
    if (is_new) entry->second = builder_.CopyStream(from_device, device);
    WaitFor(entry->second, from);
    Located to{Reserve(device), entry->second, EventId()};
    builder_.Copy(to.stream, from.region, to.region);
    to.event = builder_.Record(to.stream);
    value[device] = to;
    return to;
  }

  void AddTask(std::vector<size_t> operands, const Region* result) {
    DeviceId device = kCpu;
    if (placement_.seed != 0) {
      device = DeviceId(placement_.only_gpus ? 1 + place_random_() % placement_.gpus
                                             : place_random_() % (placement_.gpus + 1));
    }
    const StreamId stream = Stream(device);
    std::vector<Region> reads;
    for (size_t operand : operands) {
      read_[operand] = true;
      const Located located = Bring(values_[operand], device);
      WaitFor(stream, located);
      reads.push_back(located.region);
    }
    const bool is_here = result != nullptr && device == kCpu;
    const Region output = is_here ? *result : Reserve(device);
    builder_.Launch(stream, kernels_[operands.size() - 1], reads, {output});
    Value value = {{device, {output, stream, builder_.Record(stream)}}};
    if (result != nullptr && !is_here) {
      const StreamId copies = CopyHome(device);
      WaitFor(copies, value.begin()->second);
      builder_.Copy(copies, output, *result);
    }
    values_.push_back(std::move(value));
  }

  StreamId CopyHome(DeviceId device) {
    auto [entry, is_new] = copies_.try_emplace({device, kCpu});
    if (is_new) entry->second = builder_.CopyStream(device, kCpu);
    return entry->second;
  }

  ScheduleBuilder builder_;
  GpuPlacement placement_;
  std::mt19937_64 graph_random_, place_random_;
  std::vector<KernelId> kernels_;
  std::vector<Value> values_;
  std::map<size_t, bool> read_;
  std::vector<SpaceId> arenas_;
  std::vector<uint64_t> arena_bytes_;
  std::map<std::pair<DeviceId, uint32_t>, StreamId> compute_;
  std::map<std::pair<DeviceId, DeviceId>, StreamId> copies_;
};

// The library's own functions.
template <class Function>
Function FakeFunction(const char* name) {
  static void* const library = dlopen(FakeCuda::Path().c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const function = library != nullptr ? dlsym(library, name) : nullptr;
  if (function == nullptr) {
    std::fprintf(stderr, "%s: %s\n", FakeCuda::Path().c_str(), dlerror());
    std::abort();
  }
  return reinterpret_cast<Function>(function);
}

void Mix1(void* const* buffers) { Mix(buffers, 1); }
void Mix2(void* const* buffers) { Mix(buffers, 2); }
void Mix3(void* const* buffers) { Mix(buffers, 3); }

}  // namespace

Machine GpuMachine(uint32_t gpus) {
  Machine machine = TestMachine(gpus);
  for (uint32_t i = 1; i <= gpus; ++i) {
    Device& gpu = machine.devices[i];
    gpu.kind = DeviceKind::kCuda;
    gpu.arch = "sm_75";
    gpu.cores = 1;
    gpu.first_core = -1;
  }
  return machine;
}

std::vector<KernelId> AddMixKernels(ScheduleBuilder& builder) {
  builder.AddModule(AUTOPAR_MIX_KERNELS);
  CodeModule ptx;
  ptx.format = CodeFormat::kPtx;
  ptx.target = "sm_75";
  ptx.features = {"ptx75"};
  const std::string text = MixPtx();
  ptx.image.assign(text.c_str(), text.c_str() + text.size() + 1);
  builder.schedule().modules.push_back(std::move(ptx));
  std::vector<KernelId> kernels;
  for (int reads = 1; reads <= kMostMixed; ++reads) {
    const std::string name = absl::StrCat("mix", reads);
    kernels.push_back(builder.Native(name, name, 1, std::vector<uint64_t>(static_cast<size_t>(reads), kMixBytes),
                                     {kMixBytes}));
    KernelCode& code = builder.schedule().kernels.back().codes.back();
    code.grid = 2;
    code.block = 128;
  }
  return kernels;
}

ScheduleBuilder RandomGpuProgram(uint64_t graph_seed, uint32_t tasks, const GpuPlacement& placement) {
  return Generator(graph_seed, placement).Generate(tasks);
}

std::string FakeCuda::Path() { return AUTOPAR_FAKE_CUDA; }

void FakeCuda::Configure(const std::string& options) {
  if (FakeFunction<decltype(&autopar_fake_configure)>("autopar_fake_configure")(options.c_str()) != 0) std::abort();
  const auto add = FakeFunction<decltype(&autopar_fake_register_kernel)>("autopar_fake_register_kernel");
  constexpr void (*kRuns[])(void* const*) = {Mix1, Mix2, Mix3};
  for (int reads = 1; reads <= kMostMixed; ++reads) {
    std::vector<autopar_fake_operand> operands(static_cast<size_t>(reads), {kMixBytes, AUTOPAR_FAKE_READ});
    operands.push_back({kMixBytes, AUTOPAR_FAKE_WRITE});
    add(absl::StrCat("mix", reads).c_str(), operands.data(), operands.size(), kRuns[reads - 1]);
  }
}

std::vector<std::string> FakeCuda::Faults(bool leaks) {
  if (leaks) FakeFunction<decltype(&autopar_fake_report_leaks)>("autopar_fake_report_leaks")();
  const auto count = FakeFunction<decltype(&autopar_fake_count)>("autopar_fake_count");
  const auto report = FakeFunction<decltype(&autopar_fake_report)>("autopar_fake_report");
  std::vector<std::string> faults;
  for (const char* kind : {"race:", "host access:", "range:", "uninitialised:", "freed:", "misuse:", "leak:"}) {
    for (size_t i = 0; i < count(kind); ++i) faults.push_back(report(kind, i));
  }
  // Whatever it calls its kinds, none is lost.
  while (faults.size() < count("")) faults.push_back("a fault of another kind");
  return faults;
}

uint64_t FakeCuda::Stat(const std::string& name) {
  return FakeFunction<decltype(&autopar_fake_stat)>("autopar_fake_stat")(name.c_str());
}

LoadOptions FakeCuda::Options(CudaGraphMode graph) {
  LoadOptions options;
  options.cuda.cudart_path = Path();
  options.cuda.graph = graph;
  return options;
}

}  // namespace autopar
