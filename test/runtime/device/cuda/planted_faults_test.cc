// The faults that matter in a CUDA device, planted between it and the library that imitates CUDA (entries of the table
// of calls are replaced): each is reported in every seed, or ends the call in an error. So a mistake of these kinds in
// the device would fail the tests of cuda_test.cc, which ask for no report at all. AUTOPAR_FULL_TESTS: more seeds.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"
#include "runtime/device/cuda/cuda_api.h"
#include "test/fake_cuda/fake_cuda.h"
#include "test/runtime/device/cuda/gpu_program.h"
#include "test/runtime/device/cuda/mix.h"

namespace autopar {
namespace {

constexpr DeviceId kCpu{0}, kGpu0{1}, kGpu1{2};

int Seeds() {
  const char* full = std::getenv("AUTOPAR_FULL_TESTS");
  return full != nullptr && *full != '\0' ? 100 : 5;
}

// x and y come to GPU 0 one after the other through the same bytes, the mixture goes to GPU 1 and home; products beside
// it on both. The waits: data, but for the second copy's, which lets the first bytes be read before they are overwritten.
ScheduleBuilder TwoGpuProgram() {
  ScheduleBuilder builder(GpuMachine(2));
  const std::vector<KernelId> mix = AddMixKernels(builder);
  const TensorType bytes{ElementType::kI8, {kMixBytes}}, matrix{ElementType::kF32, {16, 16}};
  const SpaceId x = builder.Argument(bytes), y = builder.Argument(bytes), result = builder.Result(bytes);
  const KernelId product = builder.Matmul("product", {.m = 16, .n = 16, .k = 16});
  const SpaceId arena0 = builder.Arena(kGpu0, 3 * 1024), arena1 = builder.Arena(kGpu1, 2 * 1024);
  const auto piece = [&](SpaceId arena, uint64_t index) { return builder.Piece(arena, index * 1024, kMixBytes); };
  const Region brought = piece(arena0, 0), once = piece(arena0, 1), mixed = piece(arena0, 2);
  const Region there = piece(arena1, 0), again = piece(arena1, 1);
  const StreamId in = builder.CopyStream(kCpu, kGpu0), across = builder.CopyStream(kGpu0, kGpu1);
  const StreamId out = builder.CopyStream(kGpu1, kCpu);
  const StreamId compute0 = builder.Compute(kGpu0), compute1 = builder.Compute(kGpu1);
  for (DeviceId gpu : {kGpu0, kGpu1}) {
    const SpaceId factor = builder.Argument(matrix, gpu);
    for (uint32_t stream : {1u, 2u}) {
      builder.Launch(builder.Compute(gpu, stream), product, {builder.Whole(factor), builder.Whole(factor)},
                     {builder.Whole(builder.Result(matrix, gpu))});
    }
  }
  builder.Copy(in, builder.Whole(x), brought);
  builder.Wait(compute0, builder.Record(in));
  builder.Launch(compute0, mix[0], {brought}, {once});
  builder.Wait(in, builder.Record(compute0));
  builder.Copy(in, builder.Whole(y), brought);
  builder.Wait(compute0, builder.Record(in));
  builder.Launch(compute0, mix[1], {brought, once}, {mixed});
  builder.Wait(across, builder.Record(compute0));
  builder.Copy(across, mixed, there);
  builder.Wait(compute1, builder.Record(across));
  builder.Launch(compute1, mix[0], {there}, {again});
  builder.Wait(out, builder.Record(compute1));
  builder.Copy(out, again, builder.Whole(result));
  return builder;
}

// ---- the table ----

CudaApi& Api() {
  static CudaApi* const api = *CudaApi::Open(FakeCuda::Path());
  return *api;
}

// What the replaced entries know. They are called from several threads.
CudartCalls cuda;
CublasCalls blas;
std::thread::id test_thread;
std::mutex mutex;  // of the two below
std::set<const void*> seen;
std::map<cudaEvent_t, cudaStream_t> unrecorded;
std::atomic<const void*> remembered = nullptr;
thread_local int current = 0;

// The entries as they were, again at the end.
class Table {
 public:
  Table() {
    cuda = Api();
    blas = Blas();
    test_thread = std::this_thread::get_id();
    seen.clear();
    unrecorded.clear();
    remembered = nullptr;
  }
  ~Table() {
    static_cast<CudartCalls&>(Api()) = cuda;
    Blas() = blas;
  }
  static CublasCalls& Blas() { return const_cast<CublasCalls&>(**Api().Cublas()); }
};

// ---- the faults ----

// The copy that overwrites what a kernel still reads does not wait for it.
void EarlyReuse() {
  Api().cudaMemcpyAsync = [](void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    if (kind == cudaMemcpyHostToDevice && bytes == kMixBytes) remembered = stream;
    return cuda.cudaMemcpyAsync(to, from, bytes, kind, stream);
  };
  Api().cudaStreamWaitEvent = [](cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    return stream == remembered ? cudaSuccess : cuda.cudaStreamWaitEvent(stream, event, flags);
  };
}

bool IsFirst(const void* object) {
  std::lock_guard<std::mutex> lock(mutex);
  return seen.insert(object).second;
}

// Each event is recorded in the first call only.
void StaleEvent() {
  Api().cudaEventRecord = [](cudaEvent_t event, cudaStream_t stream) {
    return IsFirst(event) ? cuda.cudaEventRecord(event, stream) : cudaSuccess;
  };
}

void RecordAfterWait() {
  Api().cudaEventRecord = [](cudaEvent_t event, cudaStream_t stream) {
    std::lock_guard<std::mutex> lock(mutex);
    unrecorded[event] = stream;
    return cudaSuccess;
  };
  Api().cudaStreamWaitEvent = [](cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    const cudaError_t error = cuda.cudaStreamWaitEvent(stream, event, flags);
    std::lock_guard<std::mutex> lock(mutex);
    return error == cudaSuccess ? cuda.cudaEventRecord(event, unrecorded[event]) : error;
  };
}

// The threads that hand out commands forget to name their GPU.
void WrongCurrentDevice() {
  Api().cudaSetDevice = [](int device) {
    return std::this_thread::get_id() == test_thread ? cuda.cudaSetDevice(device) : cudaSuccess;
  };
}

void OneHandleForAll() {
  Table::Blas().cublasCreate = [](cublasHandle_t* handle) {
    const cublasStatus_t status = blas.cublasCreate(handle);
    if (remembered == nullptr) remembered = *handle;
    return status;
  };
  Table::Blas().cublasSgemm_64 = [](cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int64_t m,
                                    int64_t n, int64_t k, const float* alpha, const float* a, int64_t lda,
                                    const float* b, int64_t ldb, const float* beta, float* c, int64_t ldc) {
    const auto first = static_cast<cublasHandle_t>(const_cast<void*>(remembered.load()));
    return blas.cublasSgemm_64(first, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  };
}

void OneWorkspaceForAllStreams() {
  Table::Blas().cublasSetWorkspace = [](cublasHandle_t handle, void* workspace, size_t bytes) {
    if (current == 0 && remembered == nullptr) remembered = workspace;
    return blas.cublasSetWorkspace(handle, current == 0 ? const_cast<void*>(remembered.load()) : workspace, bytes);
  };
  Api().cudaSetDevice = [](int device) { return cuda.cudaSetDevice(current = device); };
}

void StreamSetAfterWorkspace() {
  Table::Blas().cublasSetMathMode = [](cublasHandle_t handle, cublasMath_t mode) {
    blas.cublasSetStream(handle, nullptr);
    return blas.cublasSetMathMode(handle, mode);
  };
}

// A kernel of GPU 1 reads what lies on GPU 0, and neither may reach the other.
void NoPeerAccess() {
  Api().cudaDeviceEnablePeerAccess = [](int, unsigned) { return cudaSuccess; };
  Api().cudaSetDevice = [](int device) { return cuda.cudaSetDevice(current = device); };
  Api().cudaLaunchKernelExC = [](const cudaLaunchConfig_t* config, const void* kernel, void** parameters) {
    if (current == 0) {
      remembered = *static_cast<void**>(parameters[0]);
      return cuda.cudaLaunchKernelExC(config, kernel, parameters);
    }
    void* foreign = const_cast<void*>(remembered.load());
    void* changed[] = {&foreign, parameters[1]};
    return cuda.cudaLaunchKernelExC(config, kernel, changed);
  };
}

void EverythingSaysItIsPinned() {
  Api().cudaPointerGetAttributes = [](cudaPointerAttributes* attributes, const void* pointer) {
    const cudaError_t error = cuda.cudaPointerGetAttributes(attributes, pointer);
    attributes->type = cudaMemoryTypeHost;
    return error;
  };
}

// Nobody waits for the GPUs once they have something to do.
void ResultReadEarly() {
  Api().cudaLaunchKernelExC = [](const cudaLaunchConfig_t* config, const void* kernel, void** parameters) {
    remembered = kernel;
    return cuda.cudaLaunchKernelExC(config, kernel, parameters);
  };
  Api().cudaStreamSynchronize = [](cudaStream_t stream) {
    return remembered == nullptr ? cuda.cudaStreamSynchronize(stream) : cudaSuccess;
  };
  Api().cudaEventSynchronize = [](cudaEvent_t event) {
    return remembered == nullptr ? cuda.cudaEventSynchronize(event) : cudaSuccess;
  };
  Api().cudaEventQuery = [](cudaEvent_t event) {
    return remembered == nullptr ? cuda.cudaEventQuery(event) : cudaSuccess;
  };
}

// A staged copy is taken for finished at once.
void StagingUsedEarly() {
  Api().cudaEventQuery = [](cudaEvent_t) { return cudaSuccess; };
}

// What a kernel writes begins 16 bytes too late.
void ParameterShifted() {
  Api().cudaLaunchKernelExC = [](const cudaLaunchConfig_t* config, const void* kernel, void** parameters) {
    if (!IsFirst(config->stream)) return cuda.cudaLaunchKernelExC(config, kernel, parameters);
    void* shifted = *static_cast<std::byte**>(parameters[1]) + 16;
    void* changed[] = {parameters[0], &shifted};
    return cuda.cudaLaunchKernelExC(config, kernel, changed);
  };
}

// The code of a kernel writes a byte in front of what is its own.
void KernelBeyondItsRange() {
  void* const library = dlopen(FakeCuda::Path().c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto add =
      reinterpret_cast<decltype(&autopar_fake_register_kernel)>(dlsym(library, "autopar_fake_register_kernel"));
  const autopar_fake_operand operands[] = {{kMixBytes, AUTOPAR_FAKE_READ}, {kMixBytes, AUTOPAR_FAKE_WRITE}};
  add("mix1", operands, 2, [](void* const* buffers) {
    Mix(buffers, 1);
    static_cast<uint8_t*>(buffers[1])[-1] = 1;
  });
}

void HostMemoryLeaks() {
  Api().cudaFreeHost = [](void*) { return cudaSuccess; };
}
void MemoryLeaks() {
  Api().cudaFree = [](void*) { return cudaSuccess; };
}
void StreamsLeak() {
  Api().cudaStreamDestroy = [](cudaStream_t) { return cudaSuccess; };
}
void EventsLeak() {
  Api().cudaEventDestroy = [](cudaEvent_t) { return cudaSuccess; };
}
void LibrariesLeak() {
  Api().cudaLibraryUnload = [](cudaLibrary_t) { return cudaSuccess; };
}
void GraphsLeak() {
  Api().cudaGraphExecDestroy = [](cudaGraphExec_t) { return cudaSuccess; };
}
void HandlesLeak() {
  Table::Blas().cublasDestroy = [](cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; };
}

// ---- running ----

enum class Memory { kPinned, kPageable };

// Two calls, and everything closed. The first error.
absl::Status RunTwice(CudaGraphMode graph, Memory memory) {
  ScheduleBuilder builder = TwoGpuProgram();
  AUTOPAR_ASSIGN_OR_RETURN(const auto program, builder.Build(FakeCuda::Options(graph)));
  AUTOPAR_ASSIGN_OR_RETURN(const auto session, Session::Create(program));
  std::vector<std::unique_ptr<HostBuffer>> pinned;
  std::vector<std::vector<uint8_t>> pageable;
  const auto allocate = [&](uint64_t bytes) -> absl::StatusOr<absl::Span<uint8_t>> {
    if (memory == Memory::kPageable) return absl::MakeSpan(pageable.emplace_back(bytes));
    AUTOPAR_ASSIGN_OR_RETURN(std::unique_ptr<HostBuffer> buffer, program->AllocateBuffer(bytes));
    return pinned.emplace_back(std::move(buffer))->bytes();
  };
  std::vector<absl::Span<const uint8_t>> inputs;
  std::vector<absl::Span<uint8_t>> outputs;
  for (const Port& port : program->schedule().functions[0].arguments) {
    AUTOPAR_ASSIGN_OR_RETURN(const absl::Span<uint8_t> bytes, allocate(port.type.bytes()));
    std::fill(bytes.begin(), bytes.end(), static_cast<uint8_t>(inputs.size() + 1));
    inputs.push_back(bytes);
  }
  for (const Port& port : program->schedule().functions[0].results) {
    AUTOPAR_ASSIGN_OR_RETURN(const absl::Span<uint8_t> bytes, allocate(port.type.bytes()));
    outputs.push_back(bytes);
  }
  for (int call = 0; call < 2; ++call) {
    AUTOPAR_RETURN_IF_ERROR(session->Call("main", inputs, outputs));
    // The caller looks at its results.
    unsigned sum = 0;
    for (const absl::Span<uint8_t> output : outputs) {
      for (uint8_t byte : output) sum += byte;
    }
    volatile unsigned used = sum;
    static_cast<void>(used);
  }
  return absl::OkStatus();
}

std::string NameOf(CudaGraphMode graph) { return graph == CudaGraphMode::kOff ? "streams" : "graphs"; }

struct Fault {
  const char* name;
  void (*plant)();
  // How it is caught: a report that begins so; or, "error:", an error of the call that holds `error`.
  const char* report;
  const char* error = "";
  const char* options = "";
  std::vector<CudaGraphMode> modes = {CudaGraphMode::kOff, CudaGraphMode::kAuto};
  Memory memory = Memory::kPinned;
};

const std::vector<CudaGraphMode> kStreams = {CudaGraphMode::kOff}, kGraphs = {CudaGraphMode::kAuto};

class PlantedFaults : public testing::TestWithParam<Fault> {};

TEST_P(PlantedFaults, AreCaughtInEverySeed) {
  const Fault& fault = GetParam();
  for (const CudaGraphMode graph : fault.modes) {
    for (int seed = 1; seed <= Seeds(); ++seed) {
      FakeCuda::Configure(
          absl::StrCat("devices=2,report=/dev/null,fault=continue,seed=", seed, ",", fault.options));
      absl::Status status;
      {
        const Table table;
        fault.plant();
        status = RunTwice(graph, fault.memory);
      }
      const std::vector<std::string> reports = FakeCuda::Faults(true);
      const auto said = [&](const std::string& begin) {
        return std::any_of(reports.begin(), reports.end(),
                           [&](const std::string& report) { return absl::StartsWith(report, begin); });
      };
      const std::string what = absl::StrCat(NameOf(graph), ", seed ", seed, ": ", status.ToString(), "\n",
                                            absl::StrJoin(reports, "\n"));
      if (*fault.error != '\0') {
        ASSERT_FALSE(status.ok()) << what;
        ASSERT_TRUE(absl::StrContains(std::string(status.message()), fault.error)) << what;
      } else {
        ASSERT_TRUE(said(fault.report)) << what;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cuda, PlantedFaults,
    testing::Values(
        Fault{"EarlyReuse", EarlyReuse, "race:"},
        Fault{"StaleEvent", StaleEvent, "race:", "", "", kStreams},
        Fault{"RecordAfterWait", RecordAfterWait, "misuse: stream ", "", "", kStreams},
        Fault{"RecordAfterWaitIsARace", RecordAfterWait, "race:", "", "", kStreams},
        Fault{"WrongCurrentDevice", WrongCurrentDevice, "error:", "gpu1"},
        Fault{"OneHandleForAll", OneHandleForAll, "error:", "a product of 16x16x16"},
        Fault{"OneWorkspaceForAllStreams", OneWorkspaceForAllStreams, "race:"},
        Fault{"StreamSetAfterWorkspace", StreamSetAfterWorkspace, "misuse: cublasSetStream after"},
        Fault{"NoPeerAccess", NoPeerAccess, "error:", "cannot be used by this process any more"},
        Fault{"ResultReadEarly", ResultReadEarly, "host access: the host touches", "", "eagerness=0"},
        Fault{"BuffersFreedEarly", ResultReadEarly, "freed:", "", "eagerness=0"},
        Fault{"StagingUsedEarly", StagingUsedEarly, "host access: the host touches", "", "eagerness=0", kStreams,
              Memory::kPageable},
        Fault{"ParameterShifted", ParameterShifted, "uninitialised:"},
        Fault{"KernelBeyondItsRange", KernelBeyondItsRange, "range:", "", "guard=100"},
        Fault{"HostMemoryLeaks", HostMemoryLeaks, "leak: pinned memory"},
        Fault{"MemoryLeaks", MemoryLeaks, "leak: device memory"},
        Fault{"StreamsLeak", StreamsLeak, "leak: stream"}, Fault{"EventsLeak", EventsLeak, "leak: event"},
        Fault{"LibrariesLeak", LibrariesLeak, "leak: a library"},
        Fault{"GraphsLeak", GraphsLeak, "leak: an executable graph", "", "", kGraphs},
        Fault{"HandlesLeak", HandlesLeak, "leak: a cuBLAS handle"}),
    [](const testing::TestParamInfo<Fault>& info) { return info.param.name; });

TEST(PlantedFaultsTest, WithoutAFaultNothingIsReported) {
  for (const CudaGraphMode graph : {CudaGraphMode::kOff, CudaGraphMode::kAuto}) {
    for (const Memory memory : {Memory::kPinned, Memory::kPageable}) {
      for (int seed = 1; seed <= Seeds(); ++seed) {
        FakeCuda::Configure(absl::StrCat("devices=2,guard=100,seed=", seed));
        const Table table;
        const absl::Status status = RunTwice(graph, memory);
        ASSERT_TRUE(status.ok()) << status;
        ASSERT_EQ(absl::StrJoin(FakeCuda::Faults(true), "\n"), "") << NameOf(graph) << ", seed " << seed;
        ASSERT_EQ(FakeCuda::Stat("pageable_copies") + FakeCuda::Stat("host_blocks"), 0u);
      }
    }
  }
}

// CUDA allows all of it, so it is counted: what cuda_test.cc wants to be zero.
TEST(PlantedFaultsTest, PageableMemoryTakenForPinnedIsCounted) {
  for (const char* pageable : {"blocking", "staged", "async"}) {
    for (int seed = 1; seed <= Seeds(); ++seed) {
      FakeCuda::Configure(absl::StrCat("devices=2,seed=", seed, ",pageable=", pageable));
      const Table table;
      EverythingSaysItIsPinned();
      const absl::Status status = RunTwice(CudaGraphMode::kOff, Memory::kPageable);
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_GT(FakeCuda::Stat("pageable_copies"), 0u) << pageable << ", seed " << seed;
      ASSERT_EQ(FakeCuda::Stat("host_blocks") > 0, std::string(pageable) == "blocking");
    }
  }
}

// Peer access that was never given: a pattern is tried at load, and bytes go through the host.
TEST(PlantedFaultsTest, PeerAccessThatIsNotThereIsFoundAtLoad) {
  for (int seed = 1; seed <= Seeds(); ++seed) {
    FakeCuda::Configure(absl::StrCat("devices=2,staged_drops=1,seed=", seed));
    const Table table;
    Api().cudaDeviceEnablePeerAccess = [](int, unsigned) { return cudaSuccess; };
    const absl::Status status = RunTwice(CudaGraphMode::kOff, Memory::kPinned);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(absl::StrJoin(FakeCuda::Faults(true), "\n"), "") << "seed " << seed;
    ASSERT_EQ(FakeCuda::Stat("staged_peer_copies"), 2u) << "the two patterns, and nothing else";
  }
}

}  // namespace
}  // namespace autopar
