// Stream capture: from streams and events to a graph's nodes.
#include <algorithm>
#include <set>
#include <utility>

#include "test/fake_cuda/api.h"
#include "test/fake_cuda/graph.h"

namespace fake {

// How this thread wants to be protected from its own unsafe calls
// (cudaThreadExchangeStreamCaptureMode, H:2560).
thread_local cudaStreamCaptureMode thread_capture_mode = cudaStreamCaptureModeGlobal;

namespace {

void Close(World& world, const std::shared_ptr<Capture>& capture) {
  for (Stream* stream : capture->streams) {
    stream->capture = nullptr;
    stream->capture_last.clear();
  }
  auto& open = world.captures;
  open.erase(std::remove(open.begin(), open.end(), capture), open.end());
}

bool IsOpen(const World& world, const std::shared_ptr<Capture>& capture) {
  return std::find(world.captures.begin(), world.captures.end(), capture) != world.captures.end();
}

std::set<GraphNode*> AncestorsOf(const std::vector<GraphNode*>& last) {
  std::set<GraphNode*> found;
  std::vector<GraphNode*> work = last;
  while (!work.empty()) {
    GraphNode* node = work.back();
    work.pop_back();
    if (found.insert(node).second) work.insert(work.end(), node->after.begin(), node->after.end());
  }
  return found;
}

}  // namespace

cudaError_t Prohibit(World& world, const std::shared_ptr<Capture>& capture, cudaError_t code,
                     const std::string& why) {
  // GRAPH: "When an invalid operation is attempted during stream capture, any associated capture
  // graphs are invalidated"; every further use of its streams is an error until
  // cudaStreamEndCapture, which returns an error and a NULL graph.
  if (capture != nullptr) capture->is_invalid = true;
  return world.Refuse(code, why);
}

cudaError_t RefuseUnsafeCall(World& world, const char* name) {
  cudaStreamCaptureMode mode = thread_capture_mode;
  if (mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  for (const auto& capture : world.captures) {
    bool is_mine = capture->thread == std::this_thread::get_id();
    bool prohibits = is_mine ? capture->mode != cudaStreamCaptureModeRelaxed
                             : capture->mode == cudaStreamCaptureModeGlobal &&
                                   mode == cudaStreamCaptureModeGlobal;
    if (!prohibits) continue;
    return Prohibit(
        world, capture, cudaErrorStreamCaptureUnsupported,
        std::string(name) + " while a stream is captured (H:2560: a potentially unsafe call)");
  }
  return cudaSuccess;
}

cudaError_t RefuseImplicit(World& world, Stream* stream) {
  if (stream->number != 0) return cudaSuccess;
  // GRAPH, prohibited: the legacy stream would have to wait for the blocking streams that are
  // captured.
  for (const auto& capture : world.captures) {
    for (const Stream* captured : capture->streams) {
      if (captured->is_blocking && captured->device == stream->device) {
        return Prohibit(world, capture, cudaErrorStreamCaptureImplicit,
                        "the legacy stream is used while " + captured->Describe() +
                            ", which synchronises with it, is captured");
      }
    }
  }
  return cudaSuccess;
}

cudaError_t CaptureWork(World& world, Stream* stream, Work work, const std::string& label) {
  Capture& capture = *stream->capture;
  if (capture.is_invalid)
    return world.Refuse(cudaErrorStreamCaptureInvalidated,
                        label + ": its capture is invalid already");
  std::vector<Access> accesses;
  if (cudaError_t error = ResolveWork(world, stream->device, &work, &accesses);
      error != cudaSuccess) {
    capture.is_invalid = true;
    return error;
  }
  work.fault = cudaSuccess;
  stream->capture_last = {
      AddNode(capture.graph, stream->device, std::move(work), label, stream->capture_last)};
  return cudaSuccess;
}

cudaError_t BeginCapture(World& world, Stream* stream, cudaStreamCaptureMode mode) {
  if (stream->number == 0) {
    // H:2468: "Capture must not be initiated if stream is cudaStreamLegacy".
    return world.Refuse(cudaErrorStreamCaptureUnsupported, "the legacy stream cannot be captured");
  }
  if (stream->capture != nullptr)
    return world.Refuse(cudaErrorIllegalState, stream->Describe() + " is being captured already");
  auto capture = std::make_shared<Capture>();
  capture->graph = world.graphs.emplace_back(std::make_unique<Graph>()).get();
  capture->graph->is_destroyed = true;  // nobody's until the end of the capture
  capture->origin = stream;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->streams = {stream};
  stream->capture = capture;
  stream->capture_last.clear();
  world.captures.push_back(capture);
  return cudaSuccess;
}

cudaError_t EndCapture(World& world, Stream* stream, cudaGraph_t* graph) {
  std::shared_ptr<Capture> capture = stream->capture;
  *graph = nullptr;
  if (capture == nullptr)
    return world.Refuse(cudaErrorIllegalState, stream->Describe() + " is not being captured");
  if (capture->origin != stream) {
    return Prohibit(world, capture, cudaErrorStreamCaptureUnmatched,
                    "the capture began on " + capture->origin->Describe() + ", and is ended on " +
                        stream->Describe());
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id()) {
    return Prohibit(world, capture, cudaErrorStreamCaptureWrongThread,
                    "a capture is ended by another thread");
  }
  cudaError_t error = cudaSuccess;
  if (capture->is_invalid) {
    error = world.Refuse(cudaErrorStreamCaptureInvalidated,
                         "the capture was invalidated by an earlier call");
  } else {
    // GRAPH: all streams that were pulled in have to be joined to the origin.
    std::set<GraphNode*> joined = AncestorsOf(stream->capture_last);
    for (const Stream* other : capture->streams) {
      for (GraphNode* node : other->capture_last) {
        if (error != cudaSuccess || joined.count(node) > 0) continue;
        error = world.Refuse(cudaErrorStreamCaptureUnjoined,
                             other->Describe() + " is not joined to the capture's origin");
      }
    }
  }
  Close(world, capture);
  if (error != cudaSuccess) return error;
  capture->graph->is_destroyed = false;
  *graph = reinterpret_cast<cudaGraph_t>(capture->graph);
  return cudaSuccess;
}

void AbandonCapture(World& world, cudaStream_t handle) {
  if (world.devices.empty() || handle == nullptr) return;
  Stream* stream = world.FindStream(handle);
  std::shared_ptr<Capture> capture = stream == nullptr ? nullptr : stream->capture;
  if (capture == nullptr || capture->origin != stream) return;
  bool is_ours = capture->mode == cudaStreamCaptureModeRelaxed ||
                 capture->thread == std::this_thread::get_id();
  if (is_ours) Close(world, capture);
}

cudaError_t CaptureRecord(World& world, Stream* stream, Event* event, bool is_external) {
  Capture& capture = *stream->capture;
  if (capture.is_invalid)
    return world.Refuse(cudaErrorStreamCaptureInvalidated,
                        "record: the capture is invalid already");
  if (is_external) {
    GraphNode* node = AddNode(capture.graph, stream->device, Work(), "record " + event->Describe(),
                              stream->capture_last);
    node->records = event;
    stream->capture_last = {node};
    return cudaSuccess;
  }
  event->recorded = nullptr;
  event->capture = stream->capture;
  event->captured_nodes = stream->capture_last;
  return cudaSuccess;
}

cudaError_t CaptureWait(World& world, Stream* stream, Event* event, bool is_external) {
  if (event->capture != nullptr && !IsOpen(world, event->capture)) {
    return Prohibit(world, stream->capture, cudaErrorCapturedEvent,
                    event->Describe() + " was last recorded in a capture that has ended");
  }
  if (is_external && stream->capture != nullptr) {
    GraphNode* node = AddNode(stream->capture->graph, stream->device, Work(),
                              "wait for " + event->Describe(), stream->capture_last);
    node->waits_for = event;
    stream->capture_last = {node};
    return cudaSuccess;
  }
  if (event->capture == nullptr) {
    return Prohibit(world, stream->capture, cudaErrorStreamCaptureIsolation,
                    "a captured stream waits for " + event->Describe() +
                        ", which was recorded outside of the capture");
  }
  if (event->capture->is_invalid)
    return world.Refuse(cudaErrorStreamCaptureInvalidated, "wait: the capture is invalid already");
  if (stream->capture != nullptr && stream->capture != event->capture) {
    event->capture->is_invalid = true;
    return Prohibit(world, stream->capture, cudaErrorStreamCaptureMerge,
                    "a wait would merge two captures");
  }
  if (stream->capture == nullptr) {
    if (stream->number == 0)
      return Prohibit(world, event->capture, cudaErrorStreamCaptureImplicit,
                      "the legacy stream waits for a captured event");
    stream->capture = event->capture;
    stream->capture_last.clear();
    event->capture->streams.push_back(stream);
  }
  for (GraphNode* node : event->captured_nodes) {
    if (std::find(stream->capture_last.begin(), stream->capture_last.end(), node) ==
        stream->capture_last.end()) {
      stream->capture_last.push_back(node);
    }
  }
  return cudaSuccess;
}

}  // namespace fake
