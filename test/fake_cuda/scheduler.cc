// Running: which operation next, and what the host learns by waiting.
#include <algorithm>
#include <utility>

#include "test/fake_cuda/api.h"
#include "test/fake_cuda/world.h"

namespace fake {

OperationPtr World::PickReady() {
  if (ready_.empty()) return nullptr;
  size_t pick = random.Below(ready_.size());
  if (options.policy == Policy::kNewestFirst) {
    for (size_t i = 0; i < ready_.size(); ++i) {
      if (ready_[i]->number > ready_[pick]->number) pick = i;
    }
  } else if (options.policy == Policy::kStarveOne) {
    // One chain of three runs only if nothing else can.
    for (size_t i = 0; i < ready_.size() && ready_[pick]->chain % 3 == options.seed % 3; ++i) {
      pick = (pick + 1) % ready_.size();
    }
  }
  std::swap(ready_[pick], ready_.back());
  OperationPtr operation = std::move(ready_.back());
  ready_.pop_back();
  return operation;
}

bool World::RunOne() {
  OperationPtr operation = PickReady();
  if (operation == nullptr) return false;
  Run(operation);
  return true;
}

void World::Run(const OperationPtr& operation) {
  Device& device = devices[operation->device];
  // A broken context runs nothing any more; host functions are not called either (H:4145).
  if (device.sticky == cudaSuccess) {
    if (operation->work.fault != cudaSuccess) {
      Break(operation->device, operation->work.fault,
            *operation->label + ": " + operation->work.fault_text);
    } else {
      RunWork(*this, operation->device, *operation->label, operation->work, operation->accesses);
    }
  }
  ++stats.operations;
  for (const Access& access : operation->accesses)
    access.allocation->Pend(access.begin, access.end(), access.writes, -1);
  operation->accesses.clear();
  operation->work = Work();
  operation->is_done = true;
  pending_.erase(operation->number);
  operation->done_at = ++done_;
  for (OperationPtr& successor : operation->successors) {
    if (--successor->missing == 0) ready_.push_back(std::move(successor));
  }
  operation->successors.clear();
}

void World::WaitFor(const OperationPtr& operation) {
  if (operation == nullptr) return;
  while (!operation->is_done && RunOne()) {
  }
  host.Join(operation->clock);
}

void World::WaitForDevice(int device) {
  WaitFor(devices[device].legacy->last);
  for (const auto& stream : streams) {
    if (stream->device == device) WaitFor(stream->last);
  }
}

void World::Progress() {
  while (random.Percent(options.eagerness) && RunOne()) {
  }
}

}  // namespace fake
