// Issuing: predecessors, clocks, races.
#include <utility>

#include "test/fake_cuda/world.h"

namespace fake {

// STREAM (docs.nvidia.com/cuda/cuda-driver-api/stream-sync-behavior.html): the legacy stream waits
// for all blocking streams of its context, and they wait for it; non-blocking ones are outside.
std::vector<OperationPtr> World::LegacyPredecessors(Stream* stream) const {
  std::vector<OperationPtr> result;
  Stream* legacy = devices[stream->device].legacy.get();
  if (stream == legacy) {
    for (const auto& other : streams) {
      if (other->device == stream->device && other->is_blocking && other->last != nullptr)
        result.push_back(other->last);
    }
  } else if (stream->is_blocking && legacy->last != nullptr) {
    result.push_back(legacy->last);
  }
  return result;
}

OperationPtr World::Issue(Stream* stream, Work work, const std::string& label,
                          const std::vector<OperationPtr>& after) {
  std::vector<OperationPtr> predecessors = LegacyPredecessors(stream);
  if (stream->last != nullptr) predecessors.push_back(stream->last);
  predecessors.insert(predecessors.end(), after.begin(), after.end());
  stream->last = IssueOnChain(stream->chain, stream->device, std::move(work),
                              label + " on " + stream->Describe(), predecessors);
  return stream->last;
}

OperationPtr World::IssueOnChain(uint32_t chain, int device, Work work, const std::string& label,
                                 const std::vector<OperationPtr>& after) {
  auto operation = std::make_shared<Operation>();
  operation->number = ++issued_;
  operation->device = device;
  operation->work = std::move(work);
  operation->label =
      std::make_shared<std::string>("#" + std::to_string(operation->number) + " " + label);
  operation->chain = chain;
  operation->count = ++chain_counts_[chain];
  // The caller has resolved it once already: what is wrong with it was returned then.
  ResolveWork(*this, device, &operation->work, &operation->accesses);
  if (operation->work.kind == WorkKind::kKernel || operation->work.kind == WorkKind::kGemm) {
    ++stats.kernels;
    if (++launches == options.kernel_fault) {
      operation->work.fault = cudaErrorIllegalAddress;
      operation->work.fault_text = *operation->label + ": an injected illegal address";
    }
  }
  Prepare(operation.get(), after);
  CheckAccesses(*operation);
  for (const Access& access : operation->accesses)
    access.allocation->Pend(access.begin, access.end(), access.writes, 1);
  for (const OperationPtr& predecessor : after) {
    if (predecessor->is_done) continue;
    predecessor->successors.push_back(operation);
    ++operation->missing;
  }
  if (operation->missing == 0) ready_.push_back(operation);
  pending_[operation->number] = operation;
  return operation;
}

void World::Prepare(Operation* operation, const std::vector<OperationPtr>& after) {
  // What the host has waited for is before everything that it issues afterwards.
  operation->clock = host;
  for (const OperationPtr& predecessor : after) operation->clock.Join(predecessor->clock);
  operation->clock.Set(operation->chain, operation->count);
}

bool World::IsImplied(const Stream* stream, const OperationPtr& operation) const {
  Clock now = host;
  if (stream->last != nullptr) now.Join(stream->last->clock);
  return now.Covers(operation->chain, operation->count);
}

std::string World::PendingUserOf(const Allocation& allocation, uint64_t offset,
                                 bool is_write) const {
  for (const auto& [number, operation] : pending_) {
    for (const Access& access : operation->accesses) {
      if (access.allocation.get() != &allocation || offset < access.begin || offset >= access.end())
        continue;
      if (!access.writes && !is_write) continue;  // two may read
      if (access.rows == 1 || (offset - access.begin) % access.stride < access.row_bytes)
        return *operation->label;
    }
  }
  return "";
}

void World::CheckAccesses(const Operation& operation) {
  Accessor who{operation.chain, operation.count, operation.label};
  for (const Access& access : operation.accesses) {
    Shadow& shadow = access.allocation->shadow;
    for (uint64_t row = 0; row < access.rows; ++row) {
      uint64_t begin = access.begin + row * access.stride, end = begin + access.row_bytes,
               missing = 0;
      Shadow::Conflict conflict;
      if (options.uninitialised && access.reads && !access.allocation->is_host() &&
          !shadow.IsWritten(begin, end, &missing)) {
        Note(ReportKind::kUninitialised,
             *operation.label + " reads byte " + std::to_string(missing) + " of " +
                 access.allocation->Describe() + ", which nothing wrote");
        row = access.rows;  // once is enough
      }
      bool races = access.reads && shadow.Read(begin, end, who, operation.clock, &conflict);
      if (access.writes && !races)
        races = shadow.Write(begin, end, who, operation.clock, &conflict);
      if (!races) continue;
      Note(ReportKind::kRace,
           *operation.label + (access.writes ? " writes" : " reads") + " bytes [" +
               std::to_string(conflict.begin) + ", " + std::to_string(conflict.end) + ") of " +
               access.allocation->Describe() + ", which " + *conflict.earlier.label +
               (conflict.earlier_wrote ? " writes" : " reads") + ", and nothing orders them");
      break;
    }
  }
}

}  // namespace fake
