// Stream capture and graphs.
//
// A graph is a list of nodes, each with work, a device and the nodes before it. Capture appends
// nodes instead of issuing operations; explicit calls append them too. An executable graph is a
// copy whose work may be replaced; launching it issues its nodes as operations on chains of its
// own. GRAPH in the comments is
// docs.nvidia.com/cuda/cuda-programming-guide/04-special-topics/cuda-graphs.html, H:n a line of
// cuda_runtime_api.h 13.0.
#ifndef AUTOPAR_TEST_FAKE_CUDA_GRAPH_H_
#define AUTOPAR_TEST_FAKE_CUDA_GRAPH_H_

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "test/fake_cuda/work.h"
#include "test/fake_cuda/world.h"

namespace fake {

struct GraphNode {
  Graph* graph = nullptr;
  size_t index = 0;
  int device = 0;
  Work work;
  std::string label;
  std::vector<GraphNode*> after;
  Event* records = nullptr;    // event record node
  Event* waits_for = nullptr;  // external event wait node
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;  // each after those that it depends on
  bool is_destroyed = false;
};

struct GraphExec {
  struct Node {
    int device = 0;
    Work work;
    std::string label;
    std::vector<size_t> after;  // indices
    uint32_t chain = 0;
    Event* records = nullptr;
    Event* waits_for = nullptr;
    std::vector<Place> places;  // copies: of target and source, which updates must keep
  };
  std::vector<Node> nodes;
  std::vector<const GraphNode*> origins;  // whose copy each node is
  std::vector<OperationPtr> last_launch;  // its final operations
  bool is_destroyed = false;
};

// One cudaStreamBeginCapture until its end.
struct Capture {
  Graph* graph = nullptr;
  Stream* origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  std::vector<Stream*> streams;
  bool is_invalid = false;
};

// ---- capture (capture.cc) ----
// Appends work of a capturing stream to the graph.
cudaError_t CaptureWork(World& world, Stream* stream, Work work, const std::string& label);
// 900 if an unsafe call is made while a capture forbids it, which invalidates the capture.
cudaError_t RefuseUnsafeCall(World& world, const char* name);
// 906 if the legacy stream is used while a blocking stream of its device is captured.
cudaError_t RefuseImplicit(World& world, Stream* stream);
// A call that is prohibited on a capturing stream: invalidates the capture and says why.
cudaError_t Prohibit(World& world, const std::shared_ptr<Capture>& capture, cudaError_t code,
                     const std::string& why);
cudaError_t BeginCapture(World& world, Stream* stream, cudaStreamCaptureMode mode);
cudaError_t EndCapture(World& world, Stream* stream, cudaGraph_t* graph);
// Ends the capture that began on this stream and was not ended by its own thread yet, if there is
// one.
void AbandonCapture(World& world, cudaStream_t handle);
cudaError_t CaptureRecord(World& world, Stream* stream, Event* event, bool is_external);
cudaError_t CaptureWait(World& world, Stream* stream, Event* event, bool is_external);

// ---- graphs (graph.cc) ----
Graph* FindGraph(World& world, cudaGraph_t handle);
GraphExec* FindExec(World& world, cudaGraphExec_t handle);
GraphNode* AddNode(Graph* graph, int device, Work work, const std::string& label,
                   std::vector<GraphNode*> after);
cudaError_t Instantiate(World& world, const Graph& graph, GraphExec** exec);
cudaError_t Launch(World& world, GraphExec* exec, Stream* stream);
// Replaces the work of all nodes by that of a graph of the same shape.
cudaError_t Update(World& world, GraphExec* exec, const Graph& graph,
                   cudaGraphExecUpdateResult* result);
// Replaces the work of one node, if the rules of updates allow it.
cudaError_t UpdateNode(World& world, GraphExec::Node* node, const Work& work, int device);

}  // namespace fake

#endif  // AUTOPAR_TEST_FAKE_CUDA_GRAPH_H_
