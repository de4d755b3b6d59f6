// Rules of devices, memory, kernels, products and graphs.
#include <cmath>
#include <thread>

#include "test/fake_cuda/fixture.h"

namespace fake_test {
namespace {

// Measured with the toolkit's own library, 13.0, without a driver and with its stub.
TEST_F(Rules, WithoutADriverEveryCallSaysSo) {
  struct {
    const char* options;
    cudaError_t error;
    int version;
  } cases[] = {{"driver=0", cudaErrorInsufficientDriver, 0},
               {"driver=12040", cudaErrorInsufficientDriver, 12040},
               {"stub=1", cudaErrorStubLibrary, 0},
               {"devices=0", cudaErrorNoDevice, 13000}};
  for (const auto& c : cases) {
    Configure(c.options);
    int count = -1, version = -1;
    EXPECT_EQ(cuda.cudaGetDeviceCount(&count), c.error) << c.options;
    EXPECT_EQ(count, -1) << "untouched";
    EXPECT_EQ(cuda.cudaDriverGetVersion(&version), cudaSuccess);
    EXPECT_EQ(version, c.version);
    void* pointer = nullptr;
    EXPECT_EQ(cuda.cudaMalloc(&pointer, 4), c.error);
    EXPECT_EQ(cuda.cudaGetLastError(), c.error);
    EXPECT_EQ(cuda.cudaGetLastError(), c.error) << "reading does not clear it";
    cublasHandle_t handle = nullptr;
    EXPECT_EQ(cublas.cublasCreate(&handle), CUBLAS_STATUS_NOT_INITIALIZED);
  }
}

TEST_F(Rules, MemoryEnds) {
  Configure("memory_mb=1");
  void *a = Malloc(1 << 20), *b = nullptr;
  EXPECT_EQ(cuda.cudaMalloc(&b, 1), cudaErrorMemoryAllocation);
  size_t free = 1, total = 0;
  EXPECT_EQ(cuda.cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, 0u);
  EXPECT_EQ(total, size_t{1} << 20);
  EXPECT_EQ(cuda.cudaFree(a), cudaSuccess);
  EXPECT_EQ(cuda.cudaMalloc(&b, 1), cudaSuccess);
}

TEST_F(Rules, PeerAccessIsAskedForOnceAndOneWay) {
  cuda.cudaSetDevice(0);
  EXPECT_EQ(cuda.cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
  EXPECT_EQ(cuda.cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(cuda.cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice) << "itself";
  Configure("devices=2,peer=0");
  int can = 1;
  EXPECT_EQ(cuda.cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(cuda.cudaDeviceEnablePeerAccess(1, 0), cudaErrorInvalidDevice);
}

// A24, A25: hardware that does not do what it says.
TEST_F(Rules, PeerCopiesCanBeMadeToDropTheirBytes) {
  for (const char* options : {"", "peer_drops=1", "staged_drops=1"}) {
    for (bool access : {true, false}) {
      Configure(std::string("devices=2,") + options);
      void *x = Malloc(64, 0), *y = Malloc(64, 1);
      cuda.cudaSetDevice(0);
      if (access) {
        EXPECT_EQ(cuda.cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
      }
      cudaStream_t a = Stream(0);
      float* h = Pinned(16);
      cuda.cudaMemsetAsync(x, 0, 64, a);
      EXPECT_EQ(cuda.cudaMemcpyPeerAsync(y, 1, x, 0, 64, a), cudaSuccess);
      cuda.cudaMemcpyAsync(h, y, 64, cudaMemcpyDeviceToHost, a);
      cuda.cudaStreamSynchronize(a);
      bool drops = std::string(options) == (access ? "peer_drops=1" : "staged_drops=1");
      EXPECT_EQ(std::isnan(h[0]), drops) << options << " " << access;
      EXPECT_EQ(autopar_fake_stat("staged_peer_copies"), access ? 0u : 1u);
    }
  }
}

void Nothing(void* const*) {}

TEST_F(Rules, LaunchesAreChecked) {
  cudaKernel_t kernel = Kernel("k", {{64, AUTOPAR_FAKE_WRITE}}, Nothing);
  void* x = Malloc(128);
  cudaStream_t a = Stream(0), b = Stream(1);
  EXPECT_EQ(Launch(kernel, {x}, a), cudaErrorInvalidResourceHandle) << "gpu 1 is current";
  EXPECT_EQ(Launch(kernel, {x}, b), cudaSuccess) << "another device's memory shows when it runs";
  EXPECT_EQ(cuda.cudaStreamSynchronize(b), cudaErrorIllegalAddress);
  SetUp();
  kernel = Kernel("k", {{64, AUTOPAR_FAKE_WRITE}}, Nothing);
  x = Malloc(128);
  a = Stream(0);
  EXPECT_EQ(Launch(kernel, {x}, a, dim3(0)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(Launch(kernel, {x}, a, dim3(1, 65536)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(Launch(kernel, {x}, a, dim3(1), dim3(1025)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(Launch(kernel, {x}, a, dim3(1), dim3(256)), cudaErrorInvalidValue) << ".maxntid";
  EXPECT_EQ(Launch(nullptr, {x}, a), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(Launch(kernel, {x}, a), cudaSuccess);
  EXPECT_EQ(cuda.cudaStreamSynchronize(a), cudaSuccess);
  EXPECT_EQ(Launch(kernel, {static_cast<std::byte*>(x) + 8}, a), cudaSuccess);
  EXPECT_EQ(cuda.cudaStreamSynchronize(a), cudaErrorMisalignedAddress);
}

TEST_F(Rules, AKernelWithoutCpuCodeOrPtxIsRefused) {
  cudaLibrary_t library = nullptr;
  auto load = [&](const char* text) {
    return cuda.cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0);
  };
  EXPECT_EQ(load("\x7f"
                 "ELF"),
            cudaErrorInvalidPtx);
  EXPECT_EQ(load(".version 8.7\n.target sm_120\n.entry k() { ret; }"), cudaErrorInvalidPtx)
      << "the device is sm_90";
  EXPECT_EQ(load(".version 7.5\n.target sm_75\n.entry unknown(.param .u64 p) { ret; }"),
            cudaSuccess);
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(cuda.cudaLibraryGetKernel(&kernel, library, "other"), cudaErrorSymbolNotFound);
  EXPECT_EQ(cuda.cudaLibraryGetKernel(&kernel, library, "unknown"), cudaSuccess);
  EXPECT_EQ(Launch(kernel, {nullptr}, Stream()), cudaErrorNotSupported);
  EXPECT_EQ(cuda.cudaLibraryUnload(library), cudaSuccess);
  EXPECT_EQ(cuda.cudaLibraryUnload(library), cudaErrorInvalidResourceHandle);
}

void WritesBefore(void* const* b) { static_cast<float*>(b[0])[-1] = 3; }
void WritesItsInput(void* const* b) { static_cast<float*>(b[0])[0] = 3; }

// Operands end at the guard page if they end at a multiple of 64 bytes; what lies before them is
// compared.
TEST_F(Rules, GuardsCatchKernelsThatLeaveTheirOperands) {
  struct {
    void (*run)(void* const*);
    int access;
    const char* report;
  } cases[] = {
      {WritesBefore, AUTOPAR_FAKE_WRITE, "writes up to 4 bytes before parameter 0"},
      {WritesItsInput, AUTOPAR_FAKE_READ, "writes to parameter 0, which it may only read"}};
  for (const auto& c : cases) {
    Configure("guard=100");
    cudaKernel_t kernel = Kernel("k", {{64, c.access}}, c.run);
    void* x = Malloc(256);
    cudaStream_t a = Stream();
    Write(x, 256, a);
    EXPECT_EQ(Launch(kernel, {static_cast<std::byte*>(x) + 64}, a), cudaSuccess);
    cuda.cudaStreamSynchronize(a);
    EXPECT_EQ(Count("range:"), 1u);
    EXPECT_NE(First("range:").find(c.report), std::string::npos) << First();
  }
}

TEST_F(Rules, FirstLaunchWithoutLoadingIsCounted) {
  cudaKernel_t kernel = Kernel("k", {{64, AUTOPAR_FAKE_WRITE}}, Nothing);
  cudaFuncAttributes attributes;
  cuda.cudaSetDevice(1);
  EXPECT_EQ(cuda.cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)),
            cudaSuccess);
  void *x = Malloc(64, 0), *y = Malloc(64, 1);
  cudaStream_t a = Stream(0), b = Stream(1);
  Launch(kernel, {y}, b);
  EXPECT_EQ(autopar_fake_stat("lazy_loads"), 0u);
  cuda.cudaSetDevice(0);
  Launch(kernel, {x}, a);
  EXPECT_EQ(autopar_fake_stat("lazy_loads"), 1u);
}

TEST_F(Rules, LeaksAreCounted) {
  cudaStream_t a = Stream();
  cudaEvent_t e = Event();
  void *x = Malloc(64), *h = Pinned(4);
  cublasHandle_t handle = nullptr;
  cublas.cublasCreate(&handle);
  autopar_fake_report_leaks();
  EXPECT_EQ(Count("leak:"), 5u);
  cuda.cudaStreamDestroy(a);
  cuda.cudaEventDestroy(e);
  cuda.cudaFree(x);
  cuda.cudaFreeHost(h);
  cublas.cublasDestroy(handle);
  autopar_fake_report_leaks();
  EXPECT_EQ(Count("leak:"), 5u);
}

// ---- products ----

TEST_F(Rules, ProductsAreThoseOfCublas) {
  // Column-major, leading dimensions larger than needed, both kinds of transposition, batches,
  // alpha and beta.
  const int m = 3, n = 4, k = 5, ld = 7, batch = 2;
  const size_t size = ld * 7 * batch;
  for (int transposed = 0; transposed < 4; ++transposed) {
    SetUp();
    bool ta = transposed & 1, tb = transposed & 2;
    auto* device = static_cast<double*>(Malloc(3 * size * sizeof(double)));
    double* host = Pinned<double>(3 * size);
    for (size_t i = 0; i < 3 * size; ++i) host[i] = static_cast<double>((i * 37 + 11) % 17) - 8;
    std::vector<double> before(host, host + 3 * size);
    cudaStream_t a = Stream();
    cublasHandle_t handle = nullptr;
    cublas.cublasCreate(&handle);
    cublas.cublasSetStream(handle, a);
    cuda.cudaMemcpyAsync(device, host, 3 * size * sizeof(double), cudaMemcpyHostToDevice, a);
    const double alpha = 2, beta = -1;
    EXPECT_EQ(cublas.cublasDgemmStridedBatched_64(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N,
                                                  tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k, &alpha,
                                                  device, ld, ld * 7, device + size, ld, 0, &beta,
                                                  device + 2 * size, ld, ld * 7, batch),
              CUBLAS_STATUS_SUCCESS);
    cuda.cudaMemcpyAsync(host, device, 3 * size * sizeof(double), cudaMemcpyDeviceToHost, a);
    cuda.cudaStreamSynchronize(a);
    std::vector<double> want = before;
    for (int item = 0; item < batch; ++item) {
      const double *pa = &before[item * ld * 7], *pb = &before[size];
      double* pc = &want[2 * size + item * ld * 7];
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
          double sum = 0;
          for (int p = 0; p < k; ++p)
            sum += (ta ? pa[i * ld + p] : pa[p * ld + i]) * (tb ? pb[p * ld + j] : pb[j * ld + p]);
          pc[j * ld + i] = alpha * sum + beta * pc[j * ld + i];
        }
      }
    }
    EXPECT_EQ(std::vector<double>(host, host + 3 * size), want) << transposed;
    EXPECT_EQ(Count(""), 0u) << First();
  }
}

TEST_F(Rules, BetaZeroDoesNotReadAndTf32Rounds) {
  auto* x = static_cast<float*>(Malloc(3 * 64));
  float* h = Pinned(48);
  for (int i = 0; i < 48; ++i) h[i] = 1 + 1.0f / 8192;  // not a TF32 number
  cudaStream_t a = Stream();
  cublasHandle_t handle = nullptr;
  cublas.cublasCreate(&handle);
  cublas.cublasSetStream(handle, a);
  cuda.cudaMemcpyAsync(x, h, 128, cudaMemcpyHostToDevice, a);
  const float one = 1, zero = 0;
  auto product = [&] {
    EXPECT_EQ(cublas.cublasSgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, x, 4, x + 16,
                                    4, &zero, x + 32, 4),
              CUBLAS_STATUS_SUCCESS);
    cuda.cudaMemcpyAsync(h, x + 32, 64, cudaMemcpyDeviceToHost, a);
    cuda.cudaStreamSynchronize(a);
    return h[0];
  };
  EXPECT_GT(product(), 4.0f) << "f32";
  EXPECT_EQ(Count(""), 0u) << "C held no value: " << First();
  cublas.cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
  EXPECT_EQ(product(), 4.0f) << "TF32";
}

TEST_F(Rules, OneHandleOnTwoStreamsRacesInItsWorkspace) {
  auto* x = static_cast<float*>(Malloc(4 * 64));
  cudaStream_t a = Stream(), b = Stream();
  Write(x, 256, a);
  cuda.cudaStreamSynchronize(a);
  cublasHandle_t handle = nullptr;
  cublas.cublasCreate(&handle);
  const float one = 1, zero = 0;
  for (int i = 0; i < 2; ++i) {
    cublas.cublasSetStream(handle, i == 0 ? a : b);
    cublas.cublasSgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, x, 4, x, 4, &zero,
                          x + 16 * (i + 1), 4);
  }
  EXPECT_EQ(Count("race:"), 1u);
}

}  // namespace
}  // namespace fake_test
