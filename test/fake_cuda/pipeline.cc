#include "test/fake_cuda/pipeline.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "test/fake_cuda/fake_cuda.h"

namespace fake_test {
namespace {
constexpr int kSide = 16, kElements = kSide * kSide, kIterations = 4;
constexpr size_t kBytes = kElements * sizeof(float);

constexpr const char* kPtx = R"(
.version 7.5
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 scale_param_0, .param .u64 scale_param_1) { ret; }
.visible .entry triple(.param .u64 a, .param .u64 b) { ret; }
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c) .maxntid 256, 1, 1 { ret; }
.visible .entry add_too_much(.param .u64 a, .param .u64 b, .param .u64 c) { ret; }
)";

void Multiply(void* const* buffers, float factor) {
  const float* a = static_cast<const float*>(buffers[0]);
  float* b = static_cast<float*>(buffers[1]);
  for (int i = 0; i < kElements; ++i) b[i] = factor * a[i];
}
void Scale(void* const* buffers) { Multiply(buffers, 2); }
void Triple(void* const* buffers) { Multiply(buffers, 3); }
void AddElements(void* const* buffers, int count) {
  const float* a = static_cast<const float*>(buffers[0]);
  const float* b = static_cast<const float*>(buffers[1]);
  float* c = static_cast<float*>(buffers[2]);
  for (int i = 0; i < kElements; ++i) c[i] = a[i] + b[i];
  for (int i = kElements; i < count; ++i) c[i] = 0;
}
void Add(void* const* buffers) { AddElements(buffers, kElements); }
void AddTooMuch(void* const* buffers) { AddElements(buffers, kElements + 1); }

float ValueA(int iteration, int i) { return static_cast<float>((i * 7 + iteration * 13) % 11 - 5); }
float ValueB(int iteration, int i) { return static_cast<float>((i * 5 + iteration * 3) % 9 - 4); }

// G = T T with T = 2 A + 3 B: small integers, exact in f32. Column-major, as cuBLAS has it.
std::vector<float> Expected(int iteration) {
  std::vector<float> t(kElements), g(kElements);
  for (int i = 0; i < kElements; ++i) t[i] = 2 * ValueA(iteration, i) + 3 * ValueB(iteration, i);
  for (int c = 0; c < kSide; ++c) {
    for (int r = 0; r < kSide; ++r) {
      for (int k = 0; k < kSide; ++k) g[c * kSide + r] += t[k * kSide + r] * t[c * kSide + k];
    }
  }
  return g;
}

struct Failed {
  std::string what;
};

class Pipeline {
 public:
  explicit Pipeline(const Plan& plan) : plan_(plan) {}

  Outcome Run() {
    Outcome outcome;
    try {
      SetUp();
      plan_.mode == Mode::kGraph ? RunGraph() : RunStreams();
      outcome.wrong_values = CountWrong();
    } catch (const Failed& failed) {
      outcome.error = failed.what;
    }
    CleanUp();
    return outcome;
  }

 private:
  void Check(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    cuda_.cudaGetLastError();
    throw Failed{std::string(what) + ": " + std::to_string(error) + " " +
                 cuda_.cudaGetErrorString(error)};
  }
  void Check(cublasStatus_t status, const char* what) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw Failed{std::string(what) + ": cuBLAS " + std::to_string(status)};
  }
#define CHECK(call) Check(call, #call)
  bool Has(Fault fault) const { return plan_.fault == fault; }

  float* DeviceMemory(int device, size_t bytes) {
    CHECK(cuda_.cudaSetDevice(device));
    void* pointer = nullptr;
    CHECK(cuda_.cudaMalloc(&pointer, bytes));
    device_memory_.push_back(pointer);
    return static_cast<float*>(pointer);
  }
  float* Pinned() {
    void* pointer = nullptr;
    CHECK(cuda_.cudaHostAlloc(&pointer, kBytes, cudaHostAllocPortable));
    pinned_.push_back(pointer);
    return static_cast<float*>(pointer);
  }
  cudaStream_t NewStream(int device) {
    CHECK(cuda_.cudaSetDevice(device));
    cudaStream_t stream = nullptr;
    CHECK(cuda_.cudaStreamCreateWithFlags(
        &stream, plan_.blocking_streams ? cudaStreamDefault : cudaStreamNonBlocking));
    streams_.push_back(stream);
    return stream;
  }
  cudaEvent_t NewEvent(int device) {
    CHECK(cuda_.cudaSetDevice(device));
    cudaEvent_t event = nullptr;
    CHECK(cuda_.cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    events_.push_back(event);
    return event;
  }

  void SetUp() {
    using Operand = autopar_fake_operand;
    const Operand one[] = {{kBytes, AUTOPAR_FAKE_READ}, {kBytes, AUTOPAR_FAKE_WRITE}};
    const Operand two[] = {
        {kBytes, AUTOPAR_FAKE_READ}, {kBytes, AUTOPAR_FAKE_READ}, {kBytes, AUTOPAR_FAKE_WRITE}};
    autopar_fake_register_kernel("scale", one, 2, Scale);
    autopar_fake_register_kernel("triple", one, 2, Triple);
    autopar_fake_register_kernel("add", two, 3, Add);
    autopar_fake_register_kernel("add_too_much", two, 3, AddTooMuch);
    CHECK(cuda_.cudaLibraryLoadData(&library_, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CHECK(cuda_.cudaLibraryGetKernel(&scale_, library_, "scale"));
    CHECK(cuda_.cudaLibraryGetKernel(&triple_, library_, "triple"));
    CHECK(cuda_.cudaLibraryGetKernel(&add_, library_,
                                     Has(Fault::kKernelBeyondRange) ? "add_too_much" : "add"));
    for (int device : {0, 1}) {
      CHECK(cuda_.cudaSetDevice(device));
      if (!Has(Fault::kNoPeerAccess)) CHECK(cuda_.cudaDeviceEnablePeerAccess(1 - device, 0));
      cudaFuncAttributes attributes;
      for (cudaKernel_t kernel : {scale_, triple_, add_}) {
        CHECK(cuda_.cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
      }
    }
    // Early reuse: R1 lies half over S1.
    float* reused = Has(Fault::kEarlyReuse) ? DeviceMemory(1, 2 * kBytes) : nullptr;
    a0_ = DeviceMemory(Has(Fault::kWrongArenaDevice) ? 1 : 0, kBytes);
    s0_ = DeviceMemory(Has(Fault::kWrongArenaDevice) ? 1 : 0, kBytes);
    b1_ = DeviceMemory(1, kBytes);
    s1_ = reused != nullptr ? reused : DeviceMemory(1, kBytes);
    r1_ = reused != nullptr ? reused + kElements / 2 : DeviceMemory(1, kBytes);
    t1_ = DeviceMemory(1, kBytes);
    g1_ = DeviceMemory(1, kBytes);
    c0_ = NewStream(0);
    x0_ = NewStream(0);
    c1_ = NewStream(1);
    x1_ = NewStream(1);
    for (cudaEvent_t* event : {&fork_, &a_, &s0_done_, &p_, &join0_}) *event = NewEvent(0);
    for (cudaEvent_t* event : {&b_, &s1_done_, &add_done_, &g_, &out_, &host_b_, &join1_})
      *event = NewEvent(1);
    host_a_ = NewEvent(0);
    host_out_ = NewEvent(1);
    CHECK(cuda_.cudaSetDevice(Has(Fault::kWrongHandle) ? 0 : 1));
    Check(cublas_.cublasCreate(&handle_), "cublasCreate");
    workspace_ = DeviceMemory(1, 1024);
    CHECK(cuda_.cudaSetDevice(1));
    if (!Has(Fault::kWrongHandle)) {
      Check(cublas_.cublasSetStream(handle_, c1_), "cublasSetStream");
      Check(cublas_.cublasSetWorkspace(handle_, workspace_, 1024), "cublasSetWorkspace");
      if (Has(Fault::kStreamSetAfterWorkspace))
        Check(cublas_.cublasSetStream(handle_, c1_), "cublasSetStream");
    }
    if (Has(Fault::kWorkspaceShared)) {
      Check(cublas_.cublasCreate(&second_handle_), "cublasCreate");
      Check(cublas_.cublasSetStream(second_handle_, x1_), "cublasSetStream");
      Check(cublas_.cublasSetWorkspace(second_handle_, workspace_, 1024), "cublasSetWorkspace");
      other_ = DeviceMemory(1, kBytes);
    }
    staging_a_ = Pinned();
    staging_b_ = Pinned();
    for (int i = 0; i < kIterations; ++i) {
      if (Has(Fault::kPageableResult)) pageable_.emplace_back(kElements);
      results_.push_back(Has(Fault::kPageableResult) ? pageable_[i].data() : Pinned());
    }
  }

  void Launch(int device, cudaStream_t stream, cudaKernel_t kernel, std::vector<float*> arguments) {
    CHECK(cuda_.cudaSetDevice(device));
    std::vector<void*> pointers;
    for (float*& argument : arguments) pointers.push_back(&argument);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(256);
    config.stream = stream;
    CHECK(
        cuda_.cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), pointers.data()));
  }
  void Record(cudaEvent_t event, cudaStream_t stream) {
    CHECK(cuda_.cudaEventRecord(event, stream));
  }
  void Wait(int number, cudaStream_t stream, cudaEvent_t event, int iteration,
            bool is_of_last_iteration) {
    if (Has(Fault::kMissingWait) && plan_.wait == number) return;
    if (is_of_last_iteration && iteration == 0) return;
    CHECK(cuda_.cudaStreamWaitEvent(stream, event, 0));
  }

  // One iteration's work on the devices; the bytes come from the staging buffers.
  void Issue(int i, bool reads_staging) {
    Wait(0, x0_, s0_done_, i, true);
    CHECK(cuda_.cudaMemcpyAsync(a0_, staging_a_, kBytes, cudaMemcpyHostToDevice, x0_));
    Record(a_, x0_);
    if (reads_staging) Record(host_a_, x0_);
    Wait(1, x1_, s1_done_, i, true);
    CHECK(cuda_.cudaMemcpyAsync(b1_, staging_b_, kBytes, cudaMemcpyHostToDevice, x1_));
    Record(b_, x1_);
    if (reads_staging) Record(host_b_, x1_);

    Wait(2, c0_, a_, i, false);
    Wait(4, c0_, p_, i, true);
    Launch(Has(Fault::kWrongCurrentDevice) ? 1 : 0, c0_, scale_, {a0_, s0_});
    Record(s0_done_, c0_);
    Wait(3, c1_, b_, i, false);
    Launch(1, c1_, triple_, {b1_, s1_});
    Record(s1_done_, c1_);

    Wait(5, x0_, s0_done_, i, false);
    Wait(6, x0_, add_done_, i, true);
    if (Has(Fault::kRecordAfterWait)) Wait(7, c1_, p_, i, false);
    CHECK(cuda_.cudaMemcpyPeerAsync(r1_, 1, s0_, 0, kBytes, x0_));
    if (!Has(Fault::kStaleEvent) || i == 0) Record(p_, x0_);
    if (!Has(Fault::kRecordAfterWait)) Wait(7, c1_, p_, i, false);
    Launch(1, c1_, add_, {Has(Fault::kNoPeerAccess) ? s0_ : r1_, s1_, t1_});
    Record(add_done_, c1_);

    Wait(9, c1_, out_, i, true);
    Multiply(handle_, t1_, g1_);
    if (Has(Fault::kWorkspaceShared)) Multiply(second_handle_, b1_, other_);
    Record(g_, c1_);
    Wait(8, x1_, g_, i, false);
    if (Has(Fault::kBlockingCopy)) {
      CHECK(::cudaMemcpy(results_[i], g1_, kBytes, cudaMemcpyDeviceToHost));
    } else {
      CHECK(cuda_.cudaMemcpyAsync(results_[i], g1_, kBytes, cudaMemcpyDeviceToHost, x1_));
    }
    Record(out_, x1_);
  }

  void Multiply(cublasHandle_t handle, const float* t, float* g) {
    const float one = 1, zero = 0;
    CHECK(cuda_.cudaSetDevice(1));
    Check(cublas_.cublasSgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSide, kSide, kSide, &one, t,
                                 kSide, t, kSide, &zero, g, kSide),
          "cublasSgemm");
  }

  void Fill(int iteration) {
    for (int k = 0; k < kElements; ++k) staging_a_[k] = ValueA(iteration, k);
    for (int k = 0; k < kElements; ++k) staging_b_[k] = ValueB(iteration, k);
  }

  void RunStreams() {
    for (int i = 0; i < kIterations; ++i) {
      if (i > 0 && !Has(Fault::kStagingOverwritten)) {
        CHECK(cuda_.cudaEventSynchronize(host_a_));
        CHECK(cuda_.cudaEventSynchronize(host_b_));
      }
      Fill(i);
      Issue(i, true);
    }
    if (Has(Fault::kHostFunctionCallsCuda)) {
      CHECK(::cudaLaunchHostFunc(
          x1_, [](void*) { ::cudaPeekAtLastError(), ::cudaSetDevice(0); }, nullptr));
    }
    Record(host_out_, x1_);
    if (Has(Fault::kHostReadsDevice)) sink_ += *static_cast<volatile float*>(g1_);
    if (Has(Fault::kFreedInUse)) {
      CHECK(cuda_.cudaFree(b1_));
      device_memory_.erase(std::find(device_memory_.begin(), device_memory_.end(), b1_));
    }
    if (!Has(Fault::kPinnedResultReadEarly) && !Has(Fault::kPageableResult))
      CHECK(cuda_.cudaEventSynchronize(host_out_));
  }

  // One graph over all streams of both devices, captured once and launched for each iteration: its
  // result copies go to one pinned buffer, whose bytes the host takes after each launch.
  void RunGraph() {
    CHECK(cuda_.cudaSetDevice(0));
    CHECK(cuda_.cudaStreamBeginCapture(x0_, Has(Fault::kAllocationInCapture)
                                                ? cudaStreamCaptureModeGlobal
                                                : cudaStreamCaptureModeRelaxed));
    cudaGraph_t graph = nullptr;
    try {
      Record(fork_, x0_);
      CHECK(cuda_.cudaStreamWaitEvent(c0_, fork_, 0));
      CHECK(cuda_.cudaStreamWaitEvent(c1_, fork_, 0));
      CHECK(cuda_.cudaStreamWaitEvent(x1_, fork_, 0));
      Issue(0, false);
      if (Has(Fault::kAllocationInCapture)) DeviceMemory(0, kBytes);
      if (Has(Fault::kSynchroniseInCapture)) CHECK(cuda_.cudaStreamSynchronize(c1_));
      Join(c0_, join0_);
      Join(c1_, join1_);
      if (!Has(Fault::kForkNotJoined)) Join(x1_, out_);
    } catch (const Failed&) {
      cuda_.cudaStreamEndCapture(x0_, &graph);
      throw;
    }
    cudaError_t ended = cuda_.cudaStreamEndCapture(x0_, &graph);
    graph_ = graph;
    CHECK(ended);
    CHECK(cuda_.cudaGraphInstantiate(&exec_, graph_, 0));
    std::vector<float*> results = results_;
    for (int i = 0; i < kIterations; ++i) {
      Fill(i);
      CHECK(cuda_.cudaGraphLaunch(exec_, x0_));
      Record(host_a_, x0_);
      if (!Has(Fault::kNoWaitAfterLaunch)) CHECK(cuda_.cudaEventSynchronize(host_a_));
      if (i > 0) std::memcpy(results[i], results[0], kBytes);
      if (i == 0) first_.assign(results[0], results[0] + kElements);
    }
    std::memcpy(results[0], first_.data(), kBytes);
  }

  void Join(cudaStream_t stream, cudaEvent_t event) {
    Record(event, stream);
    CHECK(cuda_.cudaStreamWaitEvent(x0_, event, 0));
  }

  int CountWrong() {
    int wrong = 0;
    for (int i = 0; i < kIterations; ++i) {
      std::vector<float> got(results_[i], results_[i] + kElements);
      wrong += got != Expected(i);
    }
    return wrong;
  }

  void CleanUp() {
    for (cudaStream_t stream : streams_) cuda_.cudaStreamSynchronize(stream);
    if (exec_ != nullptr) cuda_.cudaGraphExecDestroy(exec_);
    if (graph_ != nullptr) cuda_.cudaGraphDestroy(graph_);
    if (handle_ != nullptr) cublas_.cublasDestroy(handle_);
    if (second_handle_ != nullptr) cublas_.cublasDestroy(second_handle_);
    for (cudaEvent_t event : events_) cuda_.cudaEventDestroy(event);
    for (cudaStream_t stream : streams_) cuda_.cudaStreamDestroy(stream);
    for (void* pointer : device_memory_) cuda_.cudaFree(pointer);
    if (Has(Fault::kPinnedLeak) && !pinned_.empty()) pinned_.pop_back();
    for (void* pointer : pinned_) cuda_.cudaFreeHost(pointer);
    if (library_ != nullptr) cuda_.cudaLibraryUnload(library_);
    cuda_.cudaGetLastError();
  }

  const Plan plan_;
  autopar::CudaApi& cuda_ = Cuda();
  const autopar::CublasCalls& cublas_ = Cublas();
  std::vector<void*> device_memory_, pinned_;
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> events_;
  std::vector<std::vector<float>> pageable_;
  std::vector<float> first_;
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t scale_ = nullptr, triple_ = nullptr, add_ = nullptr;
  cublasHandle_t handle_ = nullptr, second_handle_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  float *a0_, *s0_, *b1_, *s1_, *r1_, *t1_, *g1_, *other_, *workspace_, *staging_a_, *staging_b_;
  std::vector<float*> results_;
  cudaStream_t c0_, x0_, c1_, x1_;
  cudaEvent_t fork_, a_, s0_done_, p_, join0_, b_, s1_done_, add_done_, g_, out_, host_a_, host_b_,
      join1_, host_out_;
  float sink_ = 0;
};

}  // namespace

autopar::CudaApi& Cuda() {
  static autopar::CudaApi* api = [] {
    auto opened = autopar::CudaApi::Open(AUTOPAR_FAKE_CUDA_PATH);
    if (!opened.ok()) {
      std::fprintf(stderr, "%s\n", std::string(opened.status().message()).c_str());
      std::abort();
    }
    return *opened;
  }();
  return *api;
}

const autopar::CublasCalls& Cublas() {
  static const autopar::CublasCalls* calls = [] {
    auto opened = Cuda().Cublas();
    if (!opened.ok()) std::abort();
    return *opened;
  }();
  return *calls;
}

Outcome RunPipeline(const Plan& plan) { return Pipeline(plan).Run(); }

}  // namespace fake_test
