// Rules of stream capture and graphs. GRAPH:
// docs.nvidia.com/cuda/cuda-programming-guide/04-special-topics/cuda-graphs.html.
#include <functional>
#include <thread>

#include "test/fake_cuda/fixture.h"

namespace fake_test {
namespace {

class CaptureRules : public Rules {
 protected:
  void SetUp() override {
    Rules::SetUp();
    a = Stream();
    b = Stream();
    x = Malloc(256);
    e = Event();
    f = Event();
  }
  cudaError_t Begin(cudaStream_t stream,
                    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed) {
    return cuda.cudaStreamBeginCapture(stream, mode);
  }
  cudaError_t End(cudaStream_t stream) {
    graph = reinterpret_cast<cudaGraph_t>(1);
    return cuda.cudaStreamEndCapture(stream, &graph);
  }
  // Joins stream b to a's capture.
  void Fork() {
    EXPECT_EQ(cuda.cudaEventRecord(e, a), cudaSuccess);
    EXPECT_EQ(cuda.cudaStreamWaitEvent(b, e, 0), cudaSuccess);
  }
  void Join() {
    EXPECT_EQ(cuda.cudaEventRecord(f, b), cudaSuccess);
    EXPECT_EQ(cuda.cudaStreamWaitEvent(a, f, 0), cudaSuccess);
  }

  cudaStream_t a, b;
  void* x;
  cudaEvent_t e, f;
  cudaGraph_t graph = nullptr;
};

TEST_F(CaptureRules, NothingRunsUntilTheGraphIsLaunched) {
  ASSERT_EQ(Begin(a), cudaSuccess);
  Write(x, 64, a);
  Fork();
  Write(static_cast<std::byte*>(x) + 64, 64, b);
  Join();
  ASSERT_EQ(End(a), cudaSuccess);
  size_t nodes = 0;
  EXPECT_EQ(cuda.cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 2u);
  EXPECT_EQ(autopar_fake_stat("operations"), 0u);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cuda.cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(autopar_fake_stat("edges"), 1u);
  // Launches of one exec are ordered, on whatever streams (H:12660), and behind the stream's work.
  EXPECT_EQ(cuda.cudaGraphLaunch(exec, a), cudaSuccess);
  EXPECT_EQ(cuda.cudaGraphLaunch(exec, b), cudaSuccess);
  Write(x, 256, b);
  EXPECT_EQ(Count(""), 0u) << First();
  Write(x, 256, a);
  EXPECT_EQ(Count("race:"), 1u);
  cuda.cudaStreamSynchronize(b);
  EXPECT_GE(autopar_fake_stat("operations"), 6u);
}

TEST_F(CaptureRules, NodesThatNothingOrdersRace) {
  ASSERT_EQ(Begin(a), cudaSuccess);
  Fork();
  Write(x, 64, a);
  Write(x, 64, b);
  Join();
  ASSERT_EQ(End(a), cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  cuda.cudaGraphInstantiate(&exec, graph, 0);
  EXPECT_EQ(Count("race:"), 0u);
  cuda.cudaGraphLaunch(exec, a);
  EXPECT_EQ(Count("race:"), 1u);
}

TEST_F(CaptureRules, StreamsHaveToBeJoined) {
  ASSERT_EQ(Begin(a), cudaSuccess);
  Fork();
  Write(x, 64, b);
  cuda.cudaEventRecord(f, b);  // a record is no join
  EXPECT_EQ(End(a), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(Write(x, 64, b), cudaSuccess) << "both streams are free again";
  EXPECT_EQ(autopar_fake_stat("kernels"), 0u);
}

TEST_F(CaptureRules, TheOriginEndsTheCapture) {
  ASSERT_EQ(Begin(a), cudaSuccess);
  Fork();
  EXPECT_EQ(End(b), cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(End(a), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(End(a), cudaErrorIllegalState);
  ASSERT_EQ(Begin(a, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  std::thread([&] { EXPECT_EQ(End(a), cudaErrorStreamCaptureWrongThread); }).join();
}

TEST_F(CaptureRules, WhatIsProhibitedInvalidates) {
  struct {
    const char* name;
    cudaError_t error;
    std::function<cudaError_t()> call;
  } cases[] = {
      {"synchronise", cudaErrorStreamCaptureUnsupported,
       [&] { return cuda.cudaStreamSynchronize(a); }},
      {"query", cudaErrorStreamCaptureUnsupported, [&] { return ::cudaStreamQuery(a); }},
      {"captured event", cudaErrorCapturedEvent,
       [&] {
         cuda.cudaEventRecord(e, a);
         return cuda.cudaEventSynchronize(e);
       }},
      {"event from outside", cudaErrorStreamCaptureIsolation,
       [&] {
         cuda.cudaEventRecord(e, b);
         return cuda.cudaStreamWaitEvent(a, e, 0);
       }},
      {"two captures", cudaErrorStreamCaptureMerge,
       [&] {
         EXPECT_EQ(Begin(b), cudaSuccess);
         cuda.cudaEventRecord(e, b);
         return cuda.cudaStreamWaitEvent(a, e, 0);
       }},
  };
  for (auto& c : cases) {
    SetUp();
    ASSERT_EQ(Begin(a), cudaSuccess);
    EXPECT_EQ(Write(x, 64, a), cudaSuccess);
    EXPECT_EQ(c.call(), c.error) << c.name;
    EXPECT_EQ(Write(x, 64, a), cudaErrorStreamCaptureInvalidated) << c.name;
    EXPECT_EQ(End(a), cudaErrorStreamCaptureInvalidated) << c.name;
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(Write(x, 64, a), cudaSuccess) << c.name;
  }
}

// H:2560.
TEST_F(CaptureRules, UnsafeCallsDependOnTheModes) {
  struct {
    cudaStreamCaptureMode mode;
    bool same_thread, prohibited;
  } cases[] = {{cudaStreamCaptureModeGlobal, true, true},
               {cudaStreamCaptureModeGlobal, false, true},
               {cudaStreamCaptureModeThreadLocal, true, true},
               {cudaStreamCaptureModeThreadLocal, false, false},
               {cudaStreamCaptureModeRelaxed, true, false},
               {cudaStreamCaptureModeRelaxed, false, false}};
  for (const auto& c : cases) {
    SetUp();
    ASSERT_EQ(Begin(a, c.mode), cudaSuccess);
    cudaError_t error = cudaSuccess;
    auto call = [&] {
      void* pointer = nullptr;
      error = cuda.cudaMalloc(&pointer, 64);
    };
    c.same_thread ? call() : std::thread(call).join();
    EXPECT_EQ(error, c.prohibited ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
    EXPECT_EQ(End(a), c.prohibited ? cudaErrorStreamCaptureInvalidated : cudaSuccess);
  }
}

TEST_F(CaptureRules, TheLegacyStreamStaysOutside) {
  EXPECT_EQ(Begin(nullptr), cudaErrorStreamCaptureUnsupported);
  cudaStream_t blocking = Stream(0, cudaStreamDefault);
  ASSERT_EQ(Begin(blocking), cudaSuccess);
  EXPECT_EQ(Write(x, 64, nullptr), cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(End(blocking), cudaErrorStreamCaptureInvalidated);
  ASSERT_EQ(Begin(a), cudaSuccess);
  EXPECT_EQ(Write(x, 64, nullptr), cudaSuccess) << "non-blocking streams do not mind";
  EXPECT_EQ(End(a), cudaSuccess);
}

TEST_F(CaptureRules, ACapturedEventIsOfNoUseOutside) {
  ASSERT_EQ(Begin(a), cudaSuccess);
  Fork();
  Join();
  ASSERT_EQ(End(a), cudaSuccess);
  EXPECT_EQ(cuda.cudaEventSynchronize(e), cudaErrorCapturedEvent);
  EXPECT_EQ(cuda.cudaStreamWaitEvent(b, e, 0), cudaErrorCapturedEvent);
  EXPECT_EQ(cuda.cudaEventRecord(e, a), cudaSuccess);
  EXPECT_EQ(cuda.cudaEventSynchronize(e), cudaSuccess);
}

TEST_F(CaptureRules, UpdatesKeepTheGraphsShape) {
  auto *pinned = Pinned(16), *other = Pinned(16);
  std::vector<float> pageable(16);
  void* far = Malloc(256, 1);
  auto capture = [&](void* target, const void* source, int nodes) {
    EXPECT_EQ(Begin(a), cudaSuccess);
    for (int i = 0; i < nodes; ++i)
      EXPECT_EQ(cuda.cudaMemcpyAsync(target, source, 64, cudaMemcpyDefault, a), cudaSuccess);
    EXPECT_EQ(End(a), cudaSuccess);
    return graph;
  };
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cuda.cudaGraphInstantiate(&exec, capture(x, pinned, 1), 0), cudaSuccess);
  auto update = [&](cudaGraph_t to) {
    cudaGraphExecUpdateResultInfo info;
    return cuda.cudaGraphExecUpdate(exec, to, &info);
  };
  other[5] = 9;
  EXPECT_EQ(update(capture(x, other, 1)), cudaSuccess);
  EXPECT_EQ(update(capture(x, other, 2)), cudaErrorGraphExecUpdateFailure) << "another node";
  EXPECT_EQ(update(capture(x, pageable.data(), 1)), cudaErrorGraphExecUpdateFailure)
      << "pageable instead of pinned";
  EXPECT_EQ(update(capture(far, other, 1)), cudaErrorGraphExecUpdateFailure) << "another device";
  EXPECT_EQ(cuda.cudaGraphLaunch(exec, a), cudaSuccess);
  cuda.cudaMemcpyAsync(pinned, x, 64, cudaMemcpyDeviceToHost, a);
  cuda.cudaStreamSynchronize(a);
  EXPECT_EQ(pinned[5], 9) << "the updated source";
}

TEST_F(CaptureRules, GraphsMadeNodeByNodeRunLikeCapturedOnes) {
  cudaGraph_t made = nullptr;
  cudaGraphNode_t in = nullptr, out = nullptr;
  float *from = Pinned(16), *to = Pinned(16), *next = Pinned(16);
  from[2] = 4;
  next[2] = 8;
  ASSERT_EQ(::cudaGraphCreate(&made, 0), cudaSuccess);
  ASSERT_EQ(::cudaGraphAddMemcpyNode1D(&in, made, nullptr, 0, x, from, 64, cudaMemcpyHostToDevice),
            cudaSuccess);
  ASSERT_EQ(::cudaGraphAddMemcpyNode1D(&out, made, &in, 1, to, x, 64, cudaMemcpyDeviceToHost),
            cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cuda.cudaGraphInstantiate(&exec, made, 0), cudaSuccess);
  cuda.cudaGraphLaunch(exec, a);
  cuda.cudaStreamSynchronize(a);
  EXPECT_EQ(to[2], 4);
  EXPECT_EQ(::cudaGraphExecMemcpyNodeSetParams1D(exec, in, x, next, 64, cudaMemcpyHostToDevice),
            cudaSuccess);
  std::vector<float> pageable(16);
  EXPECT_EQ(::cudaGraphExecMemcpyNodeSetParams1D(exec, in, x, pageable.data(), 64,
                                                 cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  cuda.cudaGraphLaunch(exec, a);
  cuda.cudaStreamSynchronize(a);
  EXPECT_EQ(to[2], 8);
  EXPECT_EQ(Count(""), 0u) << First();
}

TEST_F(CaptureRules, EveryEdgeThatIsLeftOutIsARaceOrImplied) {
  for (int edge = 1; edge <= 4; ++edge) {
    Configure("eagerness=0,drop_edge=" + std::to_string(edge));
    cudaGraph_t made = nullptr;
    cudaGraphNode_t n[3];
    float* h = Pinned(16);
    x = Malloc(64);
    a = Stream();
    ::cudaGraphCreate(&made, 0);
    ::cudaGraphAddMemcpyNode1D(&n[0], made, nullptr, 0, x, h, 64, cudaMemcpyHostToDevice);
    ::cudaGraphAddEmptyNode(&n[1], made, n, 1);
    // After both: the edge from n[0] is implied by the other.
    ::cudaGraphAddMemcpyNode1D(&n[2], made, n, 2, x, h, 64, cudaMemcpyHostToDevice);
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cuda.cudaGraphInstantiate(&exec, made, 0), cudaSuccess);
    EXPECT_EQ(autopar_fake_stat("edges"), 3u);
    cuda.cudaGraphLaunch(exec, a);
    // Edges: 1 is n0 -> n1, 2 is n0 -> n2, 3 is n1 -> n2.
    EXPECT_EQ(Count("race:"), 0u) << "either way n0 comes before n2";
    EXPECT_EQ(autopar_fake_stat("dropped_and_implied"), edge == 2 ? 1u : 0u);
  }
}

}  // namespace
}  // namespace fake_test
