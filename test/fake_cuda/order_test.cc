// Rules of order: streams, events, the legacy stream, memory of the host and its copies.
#include <atomic>
#include <cstring>
#include <thread>

#include "test/fake_cuda/fixture.h"

namespace fake_test {
namespace {

TEST_F(Rules, WritesOfTwoStreamsRaceUnlessAnEventOrdersThem) {
  void* x = Malloc(64);
  cudaStream_t a = Stream(), b = Stream();
  cudaEvent_t e = Event();
  Write(x, 64, a);
  cuda.cudaEventRecord(e, a);
  cuda.cudaStreamWaitEvent(b, e, 0);
  Write(x, 64, b);
  EXPECT_EQ(Count(""), 0u) << First();
  Write(x, 64, a);
  EXPECT_EQ(Count("race:"), 1u);
  EXPECT_EQ(First("race:"),
            "race: #5 fill of 64 bytes on stream 1 (gpu 0) writes bytes [0, 64) of device memory 1 "
            "(gpu 0, 64 bytes), which #4 "
            "fill of 64 bytes on stream 2 (gpu 0) writes, and nothing orders them");
}

TEST_F(Rules, AccessesToOtherBytesDoNotRace) {
  std::byte* x = static_cast<std::byte*>(Malloc(64));
  cudaStream_t a = Stream(), b = Stream();
  Write(x, 32, a);
  Write(x + 32, 32, b);
  EXPECT_EQ(Count(""), 0u) << First();
}

TEST_F(Rules, ReadersDoNotRace) {
  void* x = Malloc(64);
  float *h = Pinned(16), *g = Pinned(16);
  cudaStream_t a = Stream(), b = Stream();
  Write(x, 64, a);
  cuda.cudaStreamSynchronize(a);
  cuda.cudaMemcpyAsync(h, x, 64, cudaMemcpyDeviceToHost, a);
  cuda.cudaMemcpyAsync(g, x, 64, cudaMemcpyDeviceToHost, b);
  EXPECT_EQ(Count(""), 0u) << First();
}

TEST_F(Rules, RowsOfAStridedCopyAreCountedByThemselves) {
  std::byte* x = static_cast<std::byte*>(Malloc(64));
  float* h = Pinned(16);
  cudaStream_t a = Stream(), b = Stream();
  // Even columns on one stream, odd ones on the other.
  cuda.cudaMemcpy2DAsync(x, 16, h, 8, 8, 4, cudaMemcpyHostToDevice, a);
  cuda.cudaMemcpy2DAsync(x + 8, 16, h, 8, 8, 4, cudaMemcpyHostToDevice, b);
  EXPECT_EQ(Count(""), 0u) << First();
  cuda.cudaMemcpy2DAsync(x + 4, 16, h, 8, 8, 4, cudaMemcpyHostToDevice, b);
  EXPECT_EQ(Count("race:"), 1u);
}

// H:2221.
TEST_F(Rules, AWaitIsForTheRecordAtTheCall) {
  void* x = Malloc(64);
  cudaStream_t a = Stream(), b = Stream();
  cudaEvent_t e = Event();
  cuda.cudaEventRecord(e, a);
  cuda.cudaStreamWaitEvent(b, e, 0);
  Write(x, 64, a);
  cuda.cudaEventRecord(e, a);
  Write(x, 64, b);
  EXPECT_EQ(Count("race:"), 1u);
}

TEST_F(Rules, AnEventThatWasNeverRecordedIsNoWork) {
  cudaEvent_t e = Event();
  EXPECT_EQ(cuda.cudaEventQuery(e), cudaSuccess);
  EXPECT_EQ(cuda.cudaEventSynchronize(e), cudaSuccess);
  EXPECT_EQ(cuda.cudaStreamWaitEvent(Stream(), e, 0), cudaSuccess);
  EXPECT_EQ(Count("misuse: stream 1 (gpu 0) waits for event 1, which was never recorded"), 1u);
}

TEST_F(Rules, EventsAreRecordedOnTheirOwnDeviceAndWaitedForOnAny) {
  cudaEvent_t e = Event(0);
  cudaStream_t a = Stream(0), b = Stream(1);
  EXPECT_EQ(cuda.cudaEventRecord(e, b), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cuda.cudaEventRecord(e, a), cudaSuccess);
  EXPECT_EQ(cuda.cudaStreamWaitEvent(b, e, 0), cudaSuccess);
  EXPECT_EQ(cuda.cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cuda.cudaEventSynchronize(e), cudaSuccess);
}

TEST_F(Rules, ElapsedTimeNeedsTwoTimedEventsThatHappened) {
  cudaStream_t a = Stream();
  cudaEvent_t e = Event(0, cudaEventDefault), f = Event(0, cudaEventDefault), untimed = Event(0);
  float ms = -1;
  EXPECT_EQ(cuda.cudaEventElapsedTime(&ms, e, f), cudaErrorInvalidResourceHandle);
  for (cudaEvent_t event : {e, f, untimed}) cuda.cudaEventRecord(event, a);
  EXPECT_EQ(cuda.cudaEventElapsedTime(&ms, e, f), cudaErrorNotReady);
  cuda.cudaStreamSynchronize(a);
  EXPECT_EQ(cuda.cudaEventElapsedTime(&ms, e, f), cudaSuccess);
  EXPECT_GT(ms, 0);
  EXPECT_EQ(cuda.cudaEventElapsedTime(&ms, e, untimed), cudaErrorInvalidResourceHandle);
}

// STREAM.
TEST_F(Rules, TheLegacyStreamOrdersBlockingStreamsOnly) {
  for (bool blocking : {true, false}) {
    SetUp();
    void* x = Malloc(64);
    cudaStream_t a = Stream(0, blocking ? cudaStreamDefault : cudaStreamNonBlocking);
    Write(x, 64, a);
    ::cudaMemset(x, 2, 64);
    Write(x, 64, a);
    EXPECT_EQ(Count("race:"), blocking ? 0u : 2u);
  }
}

TEST_F(Rules, AQueryThatSaysReadyIsASynchronisation) {
  void* x = Malloc(64);
  cudaStream_t a = Stream(), b = Stream();
  Write(x, 64, a);
  int looks = 0;
  while (::cudaStreamQuery(a) == cudaErrorNotReady) ++looks;
  Write(x, 64, b);
  EXPECT_EQ(Count(""), 0u) << First();
  EXPECT_EQ(cuda.cudaGetLastError(), cudaSuccess) << "600 is no error";
  EXPECT_LT(looks, 200);
}

TEST_F(Rules, PinnedMemoryIsProtectedWhileACopyIsPending) {
  void* x = Malloc(4096);
  float *source = Pinned(2048), *target = Pinned(1024);
  source[0] = 5;
  cudaStream_t a = Stream();
  cuda.cudaMemcpyAsync(x, source, 4096, cudaMemcpyHostToDevice, a);
  EXPECT_EQ(source[0], 5) << "a source may be read";
  source[1024] = 1;
  EXPECT_EQ(Count(""), 0u) << "the next page is free";
  source[0] = 6;
  EXPECT_EQ(Count("host access: the host touches byte 0 of pinned memory"), 1u) << First();
  cuda.cudaMemcpyAsync(target, x, 64, cudaMemcpyDeviceToHost, a);
  target[500] = 1;
  EXPECT_EQ(Count("host access:"), 1u) << "other bytes of the page are free";
  cuda.cudaMemcpyAsync(target, x, 64, cudaMemcpyDeviceToHost, a);
  volatile float early = target[3];
  EXPECT_EQ(Count("host access:"), 2u);
  cuda.cudaStreamSynchronize(a);
  EXPECT_EQ(target[0], 6) << "the copy was pending: it takes what was written last";
  (void)early;
}

// SYNC.
TEST_F(Rules, CopiesOfPageableMemoryBehaveInThreeWays) {
  for (const char* pageable : {"blocking", "staged", "async"}) {
    Configure(std::string("eagerness=0,pageable=") + pageable);
    void* x = Malloc(64);
    cudaStream_t a = Stream();
    std::vector<float> source(16, 1), target(16, 0);
    cuda.cudaMemcpyAsync(x, source.data(), 64, cudaMemcpyHostToDevice, a);
    source[0] = 2;
    cuda.cudaMemcpyAsync(target.data(), x, 64, cudaMemcpyDeviceToHost, a);
    bool is_blocking = std::string(pageable) == "blocking";
    EXPECT_EQ(target[1] == 1, is_blocking);
    cuda.cudaStreamSynchronize(a);
    EXPECT_EQ(target[0], std::string(pageable) == "async" ? 2 : 1) << pageable;
    EXPECT_EQ(autopar_fake_stat("host_blocks"), is_blocking ? 2u : 0u);
  }
}

TEST_F(Rules, HostToHostIsSynchronous) {
  float *a = Pinned(16), *b = Pinned(16);
  a[3] = 7;
  cuda.cudaMemcpyAsync(b, a, 64, cudaMemcpyHostToHost, Stream());
  EXPECT_EQ(b[3], 7);
  EXPECT_EQ(Count(""), 0u) << First();
}

TEST_F(Rules, FreeingMemoryNeedsAHostThatKnows) {
  void *x = Malloc(64), *y = Malloc(64);
  cudaStream_t a = Stream(), b = Stream();
  cudaEvent_t e = Event();
  Write(x, 64, a);
  cuda.cudaEventRecord(e, a);
  Write(y, 64, b);
  cuda.cudaEventSynchronize(e);
  EXPECT_EQ(cuda.cudaFree(x), cudaSuccess);
  EXPECT_EQ(Count("freed:"), 0u);
  EXPECT_EQ(cuda.cudaFree(y), cudaSuccess);
  EXPECT_EQ(Count("freed:"), 1u);
  EXPECT_EQ(Write(x, 64, a), cudaErrorInvalidValue);
  EXPECT_NE(First("error: memset").find("which was freed"), std::string::npos);
  EXPECT_EQ(cuda.cudaFree(x), cudaErrorInvalidValue);
}

TEST_F(Rules, ReadsOfBytesThatNothingWroteAreReported) {
  std::byte* x = static_cast<std::byte*>(Malloc(64));
  float* h = Pinned(16);
  cudaStream_t a = Stream();
  Write(x, 32, a);
  cuda.cudaMemcpyAsync(h, x, 32, cudaMemcpyDeviceToHost, a);
  EXPECT_EQ(Count(""), 0u);
  cuda.cudaMemcpyAsync(h, x, 36, cudaMemcpyDeviceToHost, a);
  EXPECT_NE(First("uninitialised:").find("reads byte 32 of device memory 1"), std::string::npos)
      << First();
}

TEST_F(Rules, HostFunctionsRunInTheirStreamsOrderAndMayNotCallCuda) {
  struct Seen {
    float* bytes;
    float value = 0;
    cudaError_t error = cudaSuccess;
  } seen{Pinned(16)};
  void* x = Malloc(64);
  cudaStream_t a = Stream();
  cuda.cudaMemsetAsync(x, 0, 64, a);
  cuda.cudaMemcpyAsync(seen.bytes, x, 64, cudaMemcpyDeviceToHost, a);
  auto look = [](void* data) {
    Seen* seen = static_cast<Seen*>(data);
    seen->value = seen->bytes[0] + 1;
    seen->error = ::cudaStreamSynchronize(nullptr);
  };
  EXPECT_EQ(::cudaLaunchHostFunc(a, look, &seen), cudaSuccess);
  EXPECT_EQ(seen.value, 0) << "not yet: eagerness is 0";
  cuda.cudaStreamSynchronize(a);
  EXPECT_EQ(seen.value, 1);
  EXPECT_EQ(seen.error, cudaErrorNotPermitted);
  EXPECT_EQ(Count("misuse: a host function calls cudaStreamSynchronize"), 1u);
}

TEST_F(Rules, TheCurrentDeviceAndTheLastErrorAreEachThreadsOwn) {
  cuda.cudaSetDevice(1);
  EXPECT_EQ(cuda.cudaSetDevice(9), cudaErrorInvalidDevice);
  std::thread([&] {
    int device = -1;
    ::cudaGetDevice(&device);
    EXPECT_EQ(device, 0);
    EXPECT_EQ(cuda.cudaGetLastError(), cudaSuccess);
  }).join();
  int device = -1;
  ::cudaGetDevice(&device);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cuda.cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cuda.cudaGetLastError(), cudaSuccess) << "read once";
}

TEST_F(Rules, ADestroyedStreamOrEventIsRecognised) {
  void* x = Malloc(64);
  cudaStream_t a = Stream();
  cudaEvent_t e = Event();
  Write(x, 64, a);
  EXPECT_EQ(cuda.cudaStreamDestroy(a), cudaSuccess);
  EXPECT_EQ(Count("misuse: stream 1 (gpu 0) is destroyed before its work"), 1u);
  EXPECT_EQ(Write(x, 64, a), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cuda.cudaEventDestroy(e), cudaSuccess);
  EXPECT_EQ(cuda.cudaEventDestroy(e), cudaErrorInvalidResourceHandle);
}

}  // namespace
}  // namespace fake_test
