// What the executor adds to the work itself. Prints each figure beside a bare loop that does the same
// without it, measured in the same run, and the budget; medians of several calls. Run it on an idle
// machine with at least two cores:
//   executor_overhead
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

#include "runtime/device/host/affinity.h"
#include "runtime/device/host/elf_library.h"
#include "runtime/device/host/matmul.h"
#include "runtime/device/sync.h"
#include "test/runtime/executor/schedule_builder.h"

namespace autopar {
namespace {

constexpr DeviceId kCpu{0};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

[[noreturn]] void Give(const absl::Status& status) {
  std::fprintf(stderr, "executor_overhead: %s\n", status.ToString().c_str());
  std::exit(1);
}

template <class T>
T Value(absl::StatusOr<T> result) {
  if (!result.ok()) Give(result.status());
  return std::move(result).value();
}

// Medians of elapsed_ns over the calls.
double MeasureCalls(ScheduleBuilder& builder, int calls,
                    const std::vector<std::vector<uint8_t>>& inputs) {
  auto program = Value(builder.BuildUnchecked());
  auto session = Value(Session::Create(program));
  std::vector<double> times;
  for (int i = 0; i < calls + 2; ++i) {
    Value(CallMain(*program, *session, inputs));
    if (i >= 2) times.push_back(static_cast<double>(session->elapsed_ns()));
  }
  return Median(times);
}

double MeasureLoop(int calls, const std::function<void()>& loop) {
  std::vector<double> times;
  for (int i = 0; i < calls + 2; ++i) {
    int64_t start_ns = NowNs();
    loop();
    if (i >= 2) times.push_back(static_cast<double>(NowNs() - start_ns));
  }
  return Median(times);
}

void PrintLine(const char* what, double value, const char* unit, double bare, const char* budget) {
  std::printf("%-58s %9.2f %-11s bare %9.2f   ratio %5.2f   budget %s\n", what, value, unit, bare,
              value / bare, budget);
}

// A list of commands that do nothing.
void MeasureNothing() {
  constexpr int kCommands = 100000;
  ScheduleBuilder builder(TestMachine(0, 1));
  builder.AddModule(AUTOPAR_TEST_KERNELS);
  StreamId stream = builder.Compute(kCpu);
  KernelId kernel = builder.Native("nothing", "nothing", 1, {}, {});
  for (int i = 0; i < kCommands; ++i) builder.Launch(stream, kernel, {}, {});
  double executor = MeasureCalls(builder, 31, {}) / kCommands;

  auto library =
      Value(ElfLibrary::Load(builder.schedule().modules[0].image, "test kernels"));
  struct Entry {
    NativeKernelFn function;
    void* const* buffers;
    int64_t tiles;
  };
  std::vector<Entry> entries(
      kCommands, {reinterpret_cast<NativeKernelFn>(Value(library->FindSymbol("nothing"))), nullptr, 1});
  double bare = MeasureLoop(31, [&] {
    for (const Entry& entry : entries) entry.function(entry.buffers, 0, entry.tiles);
  });
  PrintLine("a command with nothing to do", executor, "ns", bare / kCommands, "<= 10 ns");
}

// Two streams that wait for each other at every step.
void MeasurePingPong() {
  constexpr int kSteps = 100000;
  ScheduleBuilder builder(TestMachine(2));
  StreamId streams[2] = {builder.Compute(DeviceId(1)), builder.Compute(DeviceId(2))};
  for (int i = 0; i < kSteps; ++i) {
    EventId events[2] = {builder.Record(streams[0]), builder.Record(streams[1])};
    builder.Wait(streams[0], events[1]);
    builder.Wait(streams[1], events[0]);
  }
  double executor = MeasureCalls(builder, 15, {}) / (2 * kSteps);

  struct alignas(kCacheLine) Counter {
    std::atomic<uint32_t> value{0};
  };
  Counter counters[2];
  std::atomic<int> at_start{0};
  auto run = [&](int self) {
    PinThread(static_cast<size_t>(self));
    ++at_start;
    while (at_start.load() < 2) {
    }
    for (uint32_t i = 1; i <= kSteps; ++i) {
      counters[self].value.store(i, std::memory_order_release);
      while (counters[1 - self].value.load(std::memory_order_acquire) < i) {
      }
    }
  };
  double bare = MeasureLoop(15, [&] {
    counters[0].value = counters[1].value = 0;
    at_start = 0;
    std::thread other([&] { run(1); });
    std::thread first([&] { run(0); });
    first.join();
    other.join();
  });
  PrintLine("two streams in turn, a command", executor, "ns", bare / (2 * kSteps), "<= 60 ns");
}

// A call with next to nothing in it, while threads are still awake from the call before.
void MeasureCall() {
  ScheduleBuilder builder(TestMachine(0, 1));
  builder.AddModule(AUTOPAR_TEST_KERNELS);
  builder.Launch(builder.Compute(kCpu), builder.Native("nothing", "nothing", 1, {}, {}), {}, {});
  auto program = Value(builder.BuildUnchecked());
  auto session = Value(Session::Create(program));
  constexpr int kCalls = 1000;
  double per_call = MeasureLoop(5, [&] {
    for (int i = 0; i < kCalls; ++i) {
      absl::Status status = session->Call("main", {}, {});
      if (!status.ok()) Give(status);
    }
  }) / kCalls;
  std::printf("%-58s %9.2f us\n", "one call of one empty command, from call to return", per_call / 1e3);
}

constexpr int64_t kSize = 1024;
constexpr int kProducts = 4;
constexpr MatmulParams kProduct{.m = kSize, .n = kSize, .k = kSize};

// kProducts distinct products on each of the first `devices` virtual devices of one core each.
double MeasureProducts(const std::vector<uint32_t>& devices) {
  constexpr uint64_t kBytes = kSize * kSize * 4;
  ScheduleBuilder builder(TestMachine(2));
  TensorType type{ElementType::kF32, {kSize, kSize}};
  KernelId kernel = builder.Matmul("product", kProduct);
  std::vector<std::vector<uint8_t>> inputs;
  for (uint32_t device : devices) {
    DeviceId id(device + 1);
    StreamId stream = builder.Compute(id);
    SpaceId arena = builder.Arena(id, kBytes);
    SpaceId b = builder.Argument(type, id);
    inputs.push_back(BytesOf(TestFloats(kSize * kSize, device + 100)));
    for (int i = 0; i < kProducts; ++i) {
      SpaceId a = builder.Argument(type, id);
      inputs.push_back(BytesOf(TestFloats(kSize * kSize, device * 10 + static_cast<uint64_t>(i))));
      builder.Launch(stream, kernel, {builder.Whole(a), builder.Whole(b)}, {builder.Whole(arena)});
    }
  }
  return MeasureCalls(builder, 11, inputs);
}

double MeasureBareProducts() {
  MatmulLibrary library;
  MatmulPlan plan = Value(library.Prepare(kProduct, nullptr, "product"));
  std::vector<float> b = TestFloats(kSize * kSize, 100), c(kSize * kSize);
  std::vector<std::vector<float>> as;
  for (int i = 0; i < kProducts; ++i) as.push_back(TestFloats(kSize * kSize, static_cast<uint64_t>(i)));
  double median = 0;
  std::thread worker([&] {
    PinThread(0);
    auto thread = Value(MatmulThread::Create(library));
    median = MeasureLoop(11, [&] {
      for (const std::vector<float>& a : as) {
        void* buffers[] = {const_cast<float*>(a.data()), b.data(), c.data()};
        absl::Status status = thread->Run(plan, buffers, 2, 0, plan.tiles);
        if (!status.ok()) Give(status);
      }
    });
  });
  worker.join();
  return median;
}

void MeasureHalves() {
  double bare = MeasureBareProducts();
  double first = MeasureProducts({0}), second = MeasureProducts({1});
  double both = MeasureProducts({0, 1});
  double slower = std::max(first, second);
  double gflops = 2.0 * kSize * kSize * kSize * kProducts / bare;
  std::printf("%-58s %9.2f GFLOP/s\n", "a bare pinned loop over the products of one half", gflops);
  PrintLine("one half alone on a virtual device (the slower)", slower / 1e6, "ms", bare / 1e6, "<= 1.05");
  std::printf("%-58s %9.2f ms          alone %7.2f   ratio %5.3f   budget <= 1.05\n",
              "both halves on two virtual devices", both / 1e6, slower / 1e6, both / slower);
}

}  // namespace
}  // namespace autopar

int main() {
  if (autopar::HostCores().size() < 2) {
    std::puts("executor_overhead needs two cores");
    return 0;
  }
  autopar::MeasureNothing();
  autopar::MeasurePingPong();
  autopar::MeasureCall();
  autopar::MeasureHalves();
  return 0;
}
