// Exported: capture and graphs.
#include <cstring>
#include <utility>

#include "test/fake_cuda/api.h"
#include "test/fake_cuda/graph.h"
#include "test/fake_cuda/launch.h"

namespace fake {
extern thread_local cudaStreamCaptureMode thread_capture_mode;
}

using namespace fake;

namespace {

cudaError_t NoGraph(World& world, const char* name) {
  return world.Refuse(cudaErrorInvalidValue, std::string(name) + ": no such graph, or destroyed");
}

// Appends a node that an explicit call describes.
cudaError_t Append(World& world, cudaGraphNode_t* result, cudaGraph_t handle,
                   const cudaGraphNode_t* after, size_t count, Work work,
                   const std::string& label) {
  Graph* graph = FindGraph(world, handle);
  if (graph == nullptr) return NoGraph(world, "a new node");
  std::vector<Access> accesses;
  if (cudaError_t error = ResolveWork(world, CurrentDevice(), &work, &accesses);
      error != cudaSuccess)
    return error;
  work.fault = cudaSuccess;
  std::vector<GraphNode*> before;
  for (size_t i = 0; i < count; ++i) {
    auto* node = reinterpret_cast<GraphNode*>(after[i]);
    if (node == nullptr || node->graph != graph)
      return world.Refuse(cudaErrorInvalidValue, "a new node comes after one of another graph");
    before.push_back(node);
  }
  *result = reinterpret_cast<cudaGraphNode_t>(
      AddNode(graph, CurrentDevice(), std::move(work), label, std::move(before)));
  return cudaSuccess;
}

cudaError_t KernelWorkOf(World& world, const cudaKernelNodeParams* p, Work* work) {
  return MakeKernelWork(world, CurrentDevice(), p->func, p->gridDim, p->blockDim, p->kernelParams,
                        p->sharedMemBytes, work);
}

Work CopyWorkOf(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
  Work work;
  work.kind = WorkKind::kCopy;
  work.copy.target = target;
  work.copy.source = source;
  work.copy.target_pitch = work.copy.source_pitch = work.copy.width = bytes;
  work.copy.kind = kind;
  return work;
}

// The node of an executable graph that was made from `node`.
GraphExec::Node* NodeOf(GraphExec* exec, cudaGraphNode_t node) {
  for (size_t i = 0; i < exec->origins.size(); ++i) {
    if (exec->origins[i] == reinterpret_cast<GraphNode*>(node)) return &exec->nodes[i];
  }
  return nullptr;
}

cudaError_t InstantiateGraph(World& world, cudaGraphExec_t* result, cudaGraph_t handle) {
  Graph* graph = FindGraph(world, handle);
  if (graph == nullptr) return NoGraph(world, "cudaGraphInstantiate");
  GraphExec* exec = nullptr;
  cudaError_t error = Instantiate(world, *graph, &exec);
  if (error == cudaSuccess) *result = reinterpret_cast<cudaGraphExec_t>(exec);
  return error;
}

}  // namespace

FAKE_EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return Call({"cudaStreamBeginCapture"}, [&](World& world) {
    Stream* stream = world.FindStream(handle);
    if (stream == nullptr)
      return world.Refuse(cudaErrorInvalidResourceHandle, "cudaStreamBeginCapture: no such stream");
    return BeginCapture(world, stream, mode);
  });
}

FAKE_EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  std::lock_guard<std::recursive_mutex> lock(WorldMutex());
  cudaError_t error = Call({"cudaStreamEndCapture"}, [&](World& world) {
    Stream* stream = world.FindStream(handle);
    if (stream == nullptr)
      return world.Refuse(cudaErrorInvalidResourceHandle, "cudaStreamEndCapture: no such stream");
    return EndCapture(world, stream, graph);
  });
  // GRAPH: it ends the capture even if it fails; an injected or sticky error is no exception.
  if (error != cudaSuccess) AbandonCapture(World::Get(), handle);
  return error;
}

FAKE_EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t handle,
                                              cudaStreamCaptureStatus* status) {
  return Call({"cudaStreamIsCapturing"}, [&](World& world) {
    Stream* stream = world.FindStream(handle);
    if (stream == nullptr)
      return world.Refuse(cudaErrorInvalidResourceHandle, "cudaStreamIsCapturing: no such stream");
    *status = stream->capture == nullptr    ? cudaStreamCaptureStatusNone
              : stream->capture->is_invalid ? cudaStreamCaptureStatusInvalidated
                                            : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return Call({"cudaThreadExchangeStreamCaptureMode"},
              [&](World&) { return std::swap(*mode, thread_capture_mode), cudaSuccess; });
}

FAKE_EXPORT cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return Call({"cudaGraphCreate"}, [&](World& world) {
    if (flags != 0) return cudaErrorInvalidValue;
    *graph =
        reinterpret_cast<cudaGraph_t>(world.graphs.emplace_back(std::make_unique<Graph>()).get());
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  return Call({"cudaGraphDestroy"}, [&](World& world) {
    Graph* graph = FindGraph(world, handle);
    if (graph == nullptr) return NoGraph(world, "cudaGraphDestroy");
    graph->is_destroyed = true;
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes,
                                          size_t* count) {
  return Call({"cudaGraphGetNodes"}, [&](World& world) {
    Graph* graph = FindGraph(world, handle);
    if (graph == nullptr) return NoGraph(world, "cudaGraphGetNodes");
    if (nodes != nullptr) {
      for (size_t i = 0; i < *count; ++i) {
        nodes[i] = i < graph->nodes.size()
                       ? reinterpret_cast<cudaGraphNode_t>(graph->nodes[i].get())
                       : nullptr;
      }
    }
    *count = nodes == nullptr ? graph->nodes.size() : std::min(*count, graph->nodes.size());
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t* after, size_t count) {
  return Call({"cudaGraphAddEmptyNode"}, [&](World& world) {
    return Append(world, node, graph, after, count, Work(), "empty");
  });
}

FAKE_EXPORT cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                               const cudaGraphNode_t* after, size_t count,
                                               const cudaKernelNodeParams* params) {
  return Call({"cudaGraphAddKernelNode"}, [&](World& world) {
    Work work;
    if (cudaError_t error = KernelWorkOf(world, params, &work); error != cudaSuccess) return error;
    LoadedKernel* kernel = world.FindKernel(params->func);
    UseKernel(world, kernel, CurrentDevice(), false, true);
    return Append(world, node, graph, after, count, std::move(work),
                  "kernel " + kernel->entry.name);
  });
}

FAKE_EXPORT cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                                 const cudaGraphNode_t* after, size_t count,
                                                 void* target, const void* source, size_t bytes,
                                                 cudaMemcpyKind kind) {
  return Call({"cudaGraphAddMemcpyNode1D"}, [&](World& world) {
    return Append(world, node, graph, after, count, CopyWorkOf(target, source, bytes, kind),
                  "copy of " + std::to_string(bytes) + " bytes");
  });
}

FAKE_EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                             unsigned long long) {
  return Call({"cudaGraphInstantiate"},
              [&](World& world) { return InstantiateGraph(world, exec, graph); });
}

FAKE_EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                      unsigned long long) {
  return Call({"cudaGraphInstantiateWithFlags"},
              [&](World& world) { return InstantiateGraph(world, exec, graph); });
}

FAKE_EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  return Call({"cudaGraphLaunch"}, [&](World& world) {
    GraphExec* exec = FindExec(world, handle);
    Stream* stream = world.FindStream(stream_handle);
    if (exec == nullptr) return NoGraph(world, "cudaGraphLaunch");
    if (stream == nullptr)
      return world.Refuse(cudaErrorInvalidResourceHandle, "cudaGraphLaunch: no such stream");
    return Launch(world, exec, stream);
  });
}

FAKE_EXPORT cudaError_t cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t) {
  return Call({"cudaGraphUpload"}, [&](World& world) {
    return FindExec(world, handle) != nullptr ? cudaSuccess : NoGraph(world, "cudaGraphUpload");
  });
}

FAKE_EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  return Call({"cudaGraphExecDestroy"}, [&](World& world) {
    GraphExec* exec = FindExec(world, handle);
    if (exec == nullptr) return NoGraph(world, "cudaGraphExecDestroy");
    for (const OperationPtr& end : exec->last_launch) {
      if (!world.host.Covers(end->chain, end->count)) {
        world.Note(ReportKind::kMisuse,
                   "an executable graph is destroyed before its launch is known to be finished");
      }
    }
    exec->is_destroyed = true;
    return cudaSuccess;
  });
}

FAKE_EXPORT cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec_handle, cudaGraph_t handle,
                                            cudaGraphExecUpdateResultInfo* info) {
  return Call({"cudaGraphExecUpdate"}, [&](World& world) {
    GraphExec* exec = FindExec(world, exec_handle);
    Graph* graph = FindGraph(world, handle);
    if (exec == nullptr || graph == nullptr) return NoGraph(world, "cudaGraphExecUpdate");
    std::memset(info, 0, sizeof *info);
    return Update(world, exec, *graph, &info->result);
  });
}

FAKE_EXPORT cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t handle,
                                                         cudaGraphNode_t node_handle,
                                                         const cudaKernelNodeParams* params) {
  return Call({"cudaGraphExecKernelNodeSetParams"}, [&](World& world) {
    GraphExec* exec = FindExec(world, handle);
    GraphExec::Node* node = exec == nullptr ? nullptr : NodeOf(exec, node_handle);
    if (node == nullptr) return NoGraph(world, "cudaGraphExecKernelNodeSetParams");
    Work work;
    if (cudaError_t error = KernelWorkOf(world, params, &work); error != cudaSuccess) return error;
    return UpdateNode(world, node, work, CurrentDevice());
  });
}

FAKE_EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t handle,
                                                           cudaGraphNode_t node_handle,
                                                           void* target, const void* source,
                                                           size_t bytes, cudaMemcpyKind kind) {
  return Call({"cudaGraphExecMemcpyNodeSetParams1D"}, [&](World& world) {
    GraphExec* exec = FindExec(world, handle);
    GraphExec::Node* node = exec == nullptr ? nullptr : NodeOf(exec, node_handle);
    if (node == nullptr) return NoGraph(world, "cudaGraphExecMemcpyNodeSetParams1D");
    return UpdateNode(world, node, CopyWorkOf(target, source, bytes, kind), CurrentDevice());
  });
}
