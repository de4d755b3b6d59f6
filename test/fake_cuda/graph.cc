// Graphs: instances, launches, updates.
#include "test/fake_cuda/graph.h"

#include <algorithm>
#include <utility>

#include "test/fake_cuda/api.h"

namespace fake {
namespace {

std::vector<Place> PlacesOf(World& world, const Work& work) {
  if (work.kind != WorkKind::kCopy) return {};
  return {PlaceOf(world, work.copy.target), PlaceOf(world, work.copy.source)};
}

bool Reaches(const std::vector<GraphExec::Node>& nodes, size_t from, size_t to) {
  std::vector<bool> seen(nodes.size());
  std::vector<size_t> work = {from};
  while (!work.empty()) {
    size_t node = work.back();
    work.pop_back();
    for (size_t before : nodes[node].after) {
      if (before == to) return true;
      if (!seen[before]) work.push_back(before);
      seen[before] = true;
    }
  }
  return false;
}

// Cuts the graph into chains, greedily: a node continues the chain of a predecessor that no other
// node continues.
void AssignChains(World& world, std::vector<GraphExec::Node>* nodes) {
  std::vector<bool> is_continued(nodes->size());
  for (GraphExec::Node& node : *nodes) {
    auto tail = std::find_if(node.after.begin(), node.after.end(),
                             [&](size_t before) { return !is_continued[before]; });
    if (tail == node.after.end()) {
      node.chain = world.NewChain();
    } else {
      node.chain = (*nodes)[*tail].chain;
      is_continued[*tail] = true;
    }
  }
}

}  // namespace

Graph* FindGraph(World& world, cudaGraph_t handle) {
  for (const auto& graph : world.graphs) {
    if (graph.get() == reinterpret_cast<Graph*>(handle) && !graph->is_destroyed) return graph.get();
  }
  return nullptr;
}

GraphExec* FindExec(World& world, cudaGraphExec_t handle) {
  for (const auto& exec : world.execs) {
    if (exec.get() == reinterpret_cast<GraphExec*>(handle) && !exec->is_destroyed)
      return exec.get();
  }
  return nullptr;
}

GraphNode* AddNode(Graph* graph, int device, Work work, const std::string& label,
                   std::vector<GraphNode*> after) {
  auto node = std::make_unique<GraphNode>();
  node->graph = graph;
  node->index = graph->nodes.size();
  node->device = device;
  node->work = std::move(work);
  node->label = label;
  node->after = std::move(after);
  return graph->nodes.emplace_back(std::move(node)).get();
}

cudaError_t Instantiate(World& world, const Graph& graph, GraphExec** result) {
  auto exec = std::make_unique<GraphExec>();
  for (const auto& node : graph.nodes) {
    GraphExec::Node copy;
    copy.device = node->device;
    copy.work = node->work;
    copy.label = node->label;
    copy.records = node->records;
    copy.waits_for = node->waits_for;
    copy.places = PlacesOf(world, node->work);
    size_t dropped = graph.nodes.size();
    for (const GraphNode* before : node->after) {
      if (before->index >= node->index) {
        return world.Refuse(cudaErrorInvalidValue,
                            "a graph's node comes after one that was added later");
      }
      if (++world.stats.edges == world.options.drop_edge) {
        dropped = before->index;
      } else {
        copy.after.push_back(before->index);
      }
    }
    exec->nodes.push_back(std::move(copy));
    exec->origins.push_back(node.get());
    if (dropped < graph.nodes.size() && Reaches(exec->nodes, node->index, dropped))
      ++world.stats.dropped_and_implied;
  }
  AssignChains(world, &exec->nodes);
  *result = world.execs.emplace_back(std::move(exec)).get();
  return cudaSuccess;
}

cudaError_t Launch(World& world, GraphExec* exec, Stream* stream) {
  if (stream->capture != nullptr) {
    return Prohibit(world, stream->capture, cudaErrorNotSupported,
                    "the fake does not capture launches of graphs");
  }
  if (cudaError_t error = Sticky(world, stream->device); error != cudaSuccess) return error;
  if (cudaError_t error = RefuseImplicit(world, stream); error != cudaSuccess) return error;
  for (GraphExec::Node& node : exec->nodes) {
    std::vector<Access> accesses;
    if (cudaError_t error = ResolveWork(world, node.device, &node.work, &accesses);
        error != cudaSuccess)
      return error;
    node.work.fault = cudaSuccess;
  }
  ++world.stats.graph_launches;
  // H:12660: "Each launch is ordered behind both any previous work in stream and any previous
  // launches of graphExec".
  std::vector<OperationPtr> before = world.LegacyPredecessors(stream);
  if (stream->last != nullptr) before.push_back(stream->last);
  before.insert(before.end(), exec->last_launch.begin(), exec->last_launch.end());
  std::vector<OperationPtr> issued;
  for (const GraphExec::Node& node : exec->nodes) {
    std::vector<OperationPtr> after;
    for (size_t index : node.after) after.push_back(issued[index]);
    if (node.after.empty()) after = before;
    if (node.waits_for != nullptr && node.waits_for->recorded != nullptr)
      after.push_back(node.waits_for->recorded);
    issued.push_back(world.IssueOnChain(
        node.chain, node.device, node.work,
        node.label + ", node " + std::to_string(issued.size()) + " of a graph", after));
    if (node.records != nullptr) {
      node.records->recorded = issued.back();
      node.records->capture = nullptr;
    }
  }
  OperationPtr end = world.Issue(stream, Work(), "end of a graph", issued);
  exec->last_launch = {end};
  return cudaSuccess;
}

cudaError_t UpdateNode(World& world, GraphExec::Node* node, const Work& work, int device) {
  if (node->work.kind != work.kind)
    return world.Refuse(cudaErrorInvalidValue, "update of a graph: a node changes its kind");
  if (work.kind == WorkKind::kKernel && node->device != device) {
    // H:11874: "The owning device of the function cannot change".
    return world.Refuse(cudaErrorInvalidValue, "update of a graph: a kernel changes its device");
  }
  std::vector<Place> places = PlacesOf(world, work);
  if (work.kind == WorkKind::kCopy) {
    // H:11925, H:12104 and GRAPH 4.2.3.4: same memory types, one dimension only, not of zero
    // length.
    if (places != node->places) {
      return world.Refuse(
          cudaErrorInvalidValue,
          "update of a graph: a copy changes the kind of its memory (pageable, pinned, device)");
    }
    bool is_same =
        work.copy.target == node->work.copy.target && work.copy.source == node->work.copy.source;
    if (!is_same && (work.copy.height > 1 || node->work.copy.height > 1)) {
      return world.Refuse(cudaErrorInvalidValue,
                          "update of a graph: a copy of several rows cannot be changed");
    }
    if (work.copy.width == 0)
      return world.Refuse(cudaErrorInvalidValue, "update of a graph: a copy of no bytes");
    // Its memory must stay in the same context.
    auto device_of = [&](const void* pointer) {
      AllocationPtr allocation = world.memory.Find(pointer, 0);
      return allocation == nullptr || allocation->is_host() ? -1 : allocation->device;
    };
    if (device_of(work.copy.target) != device_of(node->work.copy.target) ||
        device_of(work.copy.source) != device_of(node->work.copy.source)) {
      return world.Refuse(cudaErrorInvalidValue, "update of a graph: a copy changes its device");
    }
  }
  node->work = work;
  return cudaSuccess;
}

cudaError_t Update(World& world, GraphExec* exec, const Graph& graph,
                   cudaGraphExecUpdateResult* result) {
  // GRAPH 4.2.3.1: same topology and same order of the calls that made it.
  *result = cudaGraphExecUpdateErrorTopologyChanged;
  if (graph.nodes.size() != exec->nodes.size()) {
    return world.Refuse(cudaErrorGraphExecUpdateFailure,
                        "update of a graph: the number of nodes differs");
  }
  for (size_t i = 0; i < exec->nodes.size(); ++i) {
    std::vector<size_t> after;
    for (const GraphNode* before : graph.nodes[i]->after) after.push_back(before->index);
    if (after == exec->nodes[i].after || world.options.drop_edge != 0) continue;
    return world.Refuse(cudaErrorGraphExecUpdateFailure,
                        "update of a graph: node " + std::to_string(i) + " has other predecessors");
  }
  *result = cudaGraphExecUpdateErrorParametersChanged;
  for (size_t i = 0; i < exec->nodes.size(); ++i) {
    if (UpdateNode(world, &exec->nodes[i], graph.nodes[i]->work, graph.nodes[i]->device) !=
        cudaSuccess) {
      return cudaErrorGraphExecUpdateFailure;
    }
  }
  *result = cudaGraphExecUpdateSuccess;
  return cudaSuccess;
}

}  // namespace fake
