// Exported: streams, events, host functions.
#include "test/fake_cuda/api.h"
#include "test/fake_cuda/graph.h"

using namespace fake;

namespace {

cudaError_t NoStream(World& world, const char* name) {
  return world.Refuse(cudaErrorInvalidResourceHandle,
                      std::string(name) + ": no such stream, or destroyed");
}
cudaError_t NoEvent(World& world, const char* name) {
  return world.Refuse(cudaErrorInvalidResourceHandle,
                      std::string(name) + ": no such event, or destroyed");
}

cudaError_t CreateStream(World& world, cudaStream_t* handle, unsigned flags) {
  if ((flags & ~cudaStreamNonBlocking) != 0) return cudaErrorInvalidValue;
  auto stream = std::make_unique<Stream>();
  stream->number = world.streams.size() + 1;
  stream->device = CurrentDevice();
  stream->is_blocking = (flags & cudaStreamNonBlocking) == 0;
  stream->chain = world.NewChain();
  *handle = reinterpret_cast<cudaStream_t>(world.streams.emplace_back(std::move(stream)).get());
  return cudaSuccess;
}

cudaError_t CreateEvent(World& world, cudaEvent_t* handle, unsigned flags) {
  auto event = std::make_unique<Event>();
  event->number = world.events.size() + 1;
  event->device = CurrentDevice();
  event->has_timing = (flags & cudaEventDisableTiming) == 0;
  *handle = reinterpret_cast<cudaEvent_t>(world.events.emplace_back(std::move(event)).get());
  return cudaSuccess;
}

cudaError_t RecordEvent(World& world, cudaEvent_t handle, cudaStream_t stream_handle,
                        unsigned flags) {
  Stream* stream = world.FindStream(stream_handle);
  Event* event = world.FindEvent(handle);
  if (stream == nullptr) return NoStream(world, "record");
  if (event == nullptr) return NoEvent(world, "record");
  // H:2839: "The event and stream must be on the same device".
  if (event->device != stream->device) {
    return world.Refuse(cudaErrorInvalidResourceHandle,
                        event->Describe() + " of gpu " + std::to_string(event->device) +
                            " is recorded on " + stream->Describe());
  }
  if (stream->capture != nullptr)
    return CaptureRecord(world, stream, event, (flags & cudaEventRecordExternal) != 0);
  OperationPtr issued;
  if (cudaError_t error = Enqueue(world, stream, Work(), "record " + event->Describe(), &issued);
      error != cudaSuccess)
    return error;
  event->recorded = issued;
  event->capture = nullptr;
  return cudaSuccess;
}

// Whether a host wait number `drop_sync` is to be left out.
bool IsDroppedSync(World& world) { return ++world.stats.syncs == world.options.drop_sync; }

// H:2345: a query that says "ready" is a synchronisation; 600 is no error.
cudaError_t QueryOperation(World& world, const OperationPtr& operation, int device) {
  if (world.random.Percent(50)) world.RunOne();
  if (operation != nullptr && !operation->is_done) return cudaErrorNotReady;
  world.WaitFor(operation);
  return Sticky(world, device);
}

}  // namespace

FAKE_EXPORT cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return Call({"cudaStreamCreate"},
              [&](World& world) { return CreateStream(world, stream, cudaStreamDefault); });
}

FAKE_EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return Call({"cudaStreamCreateWithFlags"},
              [&](World& world) { return CreateStream(world, stream, flags); });
}

FAKE_EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return Call({"cudaStreamCreateWithPriority"},
              [&](World& world) { return CreateStream(world, stream, flags); });
}

// H:2190: returns at once; work that is pending completes.
FAKE_EXPORT cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return Call({"cudaStreamDestroy"}, [&](World& world) {
    Stream* stream = world.FindStream(handle);
    if (stream == nullptr || stream->number == 0) return NoStream(world, "cudaStreamDestroy");
    if (stream->capture != nullptr) {
      return Prohibit(world, stream->capture, cudaErrorStreamCaptureUnsupported,
                      stream->Describe() + " is destroyed while it is captured");
    }
    if (stream->last != nullptr && !world.host.Covers(stream->last->chain, stream->last->count)) {
      world.Note(ReportKind::kMisuse,
                 stream->Describe() + " is destroyed before its work is known to be finished: " +
                     *stream->last->label);
    }
    stream->is_destroyed = true;
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return Call({"cudaStreamSynchronize", InCapture::kUnsafe}, [&](World& world) {
    Stream* stream = world.FindStream(handle);
    if (stream == nullptr) return NoStream(world, "cudaStreamSynchronize");
    if (stream->capture != nullptr) {
      return Prohibit(world, stream->capture, cudaErrorStreamCaptureUnsupported,
                      "a captured stream is synchronised");
    }
    if (IsDroppedSync(world)) return cudaSuccess;
    for (const OperationPtr& operation : world.LegacyPredecessors(stream)) {
      if (stream->number == 0) world.WaitFor(operation);
    }
    world.WaitForStream(stream);
    return Sticky(world, stream->device);
  });
}

FAKE_EXPORT cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return Call({"cudaStreamQuery", InCapture::kUnsafe}, [&](World& world) {
    Stream* stream = world.FindStream(handle);
    if (stream == nullptr) return NoStream(world, "cudaStreamQuery");
    if (stream->capture != nullptr) {
      return Prohibit(world, stream->capture, cudaErrorStreamCaptureUnsupported,
                      "a captured stream is queried");
    }
    return QueryOperation(world, stream->last, stream->device);
  });
}

// H:2221: the wait is for the event's most recent record at this call; later records do not change
// it. One that was never recorded is an empty set of work. Streams and events of other devices are
// allowed.
FAKE_EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t stream_handle, cudaEvent_t handle,
                                            unsigned flags) {
  return Call({"cudaStreamWaitEvent"}, [&](World& world) {
    Stream* stream = world.FindStream(stream_handle);
    Event* event = world.FindEvent(handle);
    if (stream == nullptr) return NoStream(world, "cudaStreamWaitEvent");
    if (event == nullptr) return NoEvent(world, "cudaStreamWaitEvent");
    bool is_dropped = ++world.stats.waits == world.options.drop_wait;
    bool is_external = (flags & cudaEventWaitExternal) != 0;
    if (stream->capture != nullptr || event->capture != nullptr) {
      return is_dropped ? cudaSuccess : CaptureWait(world, stream, event, is_external);
    }
    if (event->recorded == nullptr) {
      world.Note(ReportKind::kMisuse, stream->Describe() + " waits for " + event->Describe() +
                                          ", which was never recorded: CUDA waits for nothing");
      return cudaSuccess;
    }
    bool is_implied = world.IsImplied(stream, event->recorded);
    if (is_implied) ++world.stats.implied_waits;
    if (is_dropped) {
      world.stats.dropped_and_implied += is_implied;
      return cudaSuccess;
    }
    if (cudaError_t error = Sticky(world, stream->device); error != cudaSuccess) return error;
    world.Issue(stream, Work(), "wait for " + event->Describe(), {event->recorded});
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return Call({"cudaStreamGetDevice"}, [&](World& world) {
    Stream* stream = world.FindStream(handle);
    if (stream == nullptr) return NoStream(world, "cudaStreamGetDevice");
    return *device = stream->device, cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return Call({"cudaEventCreate"},
              [&](World& world) { return CreateEvent(world, event, cudaEventDefault); });
}

FAKE_EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return Call({"cudaEventCreateWithFlags"},
              [&](World& world) { return CreateEvent(world, event, flags); });
}

FAKE_EXPORT cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return Call({"cudaEventDestroy"}, [&](World& world) {
    Event* event = world.FindEvent(handle);
    if (event == nullptr) return NoEvent(world, "cudaEventDestroy");
    event->is_destroyed = true;
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return Call({"cudaEventRecord"},
              [&](World& world) { return RecordEvent(world, event, stream, 0); });
}

FAKE_EXPORT cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                                 unsigned flags) {
  return Call({"cudaEventRecordWithFlags"},
              [&](World& world) { return RecordEvent(world, event, stream, flags); });
}

FAKE_EXPORT cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return Call({"cudaEventQuery", InCapture::kUnsafe}, [&](World& world) {
    Event* event = world.FindEvent(handle);
    if (event == nullptr) return NoEvent(world, "cudaEventQuery");
    if (event->capture != nullptr)
      return Prohibit(world, event->capture, cudaErrorCapturedEvent, "a captured event is queried");
    return QueryOperation(world, event->recorded, event->device);
  });
}

// Of any device, whichever is current; never recorded: success (H:2839).
FAKE_EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return Call({"cudaEventSynchronize", InCapture::kUnsafe}, [&](World& world) {
    Event* event = world.FindEvent(handle);
    if (event == nullptr) return NoEvent(world, "cudaEventSynchronize");
    // H:2560 and seen in practice: 907 until it is recorded outside of a capture again.
    if (event->capture != nullptr)
      return Prohibit(world, event->capture, cudaErrorCapturedEvent,
                      "a captured event is synchronised");
    if (IsDroppedSync(world)) return cudaSuccess;
    world.WaitFor(event->recorded);
    return Sticky(world, event->device);
  });
}

// H:3029: both recorded, of one device, with timing; 600 if one has not happened. A thousand
// operations are a millisecond.
FAKE_EXPORT cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start,
                                             cudaEvent_t end) {
  return Call({"cudaEventElapsedTime"}, [&](World& world) {
    Event *a = world.FindEvent(start), *b = world.FindEvent(end);
    if (a == nullptr || b == nullptr) return NoEvent(world, "cudaEventElapsedTime");
    if (a->recorded == nullptr || b->recorded == nullptr || !a->has_timing || !b->has_timing ||
        a->device != b->device) {
      return world.Refuse(cudaErrorInvalidResourceHandle,
                          "the time between events that have none, or of two devices");
    }
    if (!a->recorded->is_done || !b->recorded->is_done) return cudaErrorNotReady;
    *milliseconds =
        static_cast<float>(static_cast<int64_t>(b->recorded->done_at - a->recorded->done_at)) *
        1e-3f;
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  return Call({"cudaLaunchHostFunc"}, [&](World& world) {
    Stream* stream = world.FindStream(handle);
    if (stream == nullptr) return NoStream(world, "cudaLaunchHostFunc");
    if (function == nullptr) return cudaErrorInvalidValue;
    Work work;
    work.kind = WorkKind::kHost;
    work.host = {function, data};
    return Enqueue(world, stream, std::move(work), "host function");
  });
}
