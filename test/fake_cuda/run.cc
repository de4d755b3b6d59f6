// What operations do to bytes.
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "test/fake_cuda/api.h"
#include "test/fake_cuda/blas.h"
#include "test/fake_cuda/guards.h"
#include "test/fake_cuda/work.h"
#include "test/fake_cuda/world.h"

namespace fake {
namespace {

// Bytes at the start of its workspace that a product changes.
constexpr uint64_t kUsedWorkspace = 4096;

// The internal view of a program's pointer; pageable memory has only itself. `accesses` keep memory
// that was freed while the operation was pending.
std::byte* Internal(const void* pointer, const std::vector<Access>& accesses) {
  for (const Access& access : accesses) {
    const Allocation& a = *access.allocation;
    if (a.Contains(pointer)) return a.internal + (static_cast<const std::byte*>(pointer) - a.user);
  }
  return nullptr;
}

void RunCopy(World& world, const std::string& label, const CopyWork& c,
             const std::vector<Access>& accesses) {
  if (c.is_dropped) return;
  std::byte* target = Internal(c.target, accesses);
  const std::byte* source = c.staged != nullptr ? c.staged->data() : Internal(c.source, accesses);
  uint64_t source_pitch = c.staged != nullptr ? c.width : c.source_pitch;
  std::vector<std::byte> row(target == nullptr || source == nullptr ? c.width : 0);
  for (uint64_t i = 0; i < c.height; ++i) {
    const std::byte* from = source == nullptr ? nullptr : source + i * source_pitch;
    if (from == nullptr) {
      if (!ReadHost(row.data(), static_cast<const std::byte*>(c.source) + i * c.source_pitch,
                    c.width)) {
        return world.Note(ReportKind::kHostAccess,
                          label + ": its pageable source is no longer readable");
      }
      from = row.data();
    }
    if (target != nullptr) {
      std::memmove(target + i * c.target_pitch, from, c.width);
    } else if (!WriteHost(static_cast<std::byte*>(c.target) + i * c.target_pitch, from, c.width)) {
      return world.Note(ReportKind::kHostAccess,
                        label + ": its pageable target is no longer writable");
    }
  }
}

void RunKernel(World& world, const std::string& label, const KernelWork& k,
               const std::vector<Access>& accesses) {
  const KernelCodeOnHost& host = *k.kernel->host;
  std::vector<std::byte*> buffers;
  for (void* argument : k.arguments) buffers.push_back(Internal(argument, accesses));
  for (const Access& access : accesses) {
    if (access.is_undefined_before)
      std::memset(access.allocation->internal + access.begin, 0xff, access.row_bytes);
  }
  if (world.random.Percent(world.options.guard)) {
    std::string problem = RunGuarded(host, buffers);
    if (!problem.empty()) world.Note(ReportKind::kRange, label + " " + problem);
  } else {
    host.run(reinterpret_cast<void* const*>(buffers.data()));
  }
}

void RunGemmWork(const GemmWork& g, const std::vector<Access>& accesses) {
  GemmWork internal = g;
  internal.a = Internal(g.a, accesses);
  internal.b = Internal(g.b, accesses);
  internal.c = Internal(g.c, accesses);
  if (g.workspace_bytes > 0) {
    // A product leaves something in its workspace.
    std::memset(Internal(g.workspace, accesses), 0x5a,
                std::min<uint64_t>(g.workspace_bytes, kUsedWorkspace));
  }
  RunGemm(internal);
}

}  // namespace

void RunWork(World& world, int device, const std::string& label, const Work& work,
             const std::vector<Access>& accesses) {
  for (const Access& access : accesses) {
    bool is_workspace = work.kind == WorkKind::kGemm && access.is_undefined_before;
    uint64_t end =
        is_workspace ? std::min(access.end(), access.begin + kUsedWorkspace) : access.end();
    access.allocation->Fill(access.begin, end);
  }
  switch (work.kind) {
    case WorkKind::kNothing:
      break;
    case WorkKind::kCopy:
      RunCopy(world, label, work.copy, accesses);
      break;
    case WorkKind::kSet:
      if (work.set.bytes > 0)
        std::memset(Internal(work.set.target, accesses), work.set.value, work.set.bytes);
      break;
    case WorkKind::kKernel:
      RunKernel(world, label, work.kernel, accesses);
      break;
    case WorkKind::kGemm:
      if (work.gemm.m > 0 && work.gemm.n > 0) RunGemmWork(work.gemm, accesses);
      break;
    case WorkKind::kHost: {
      InHostFunction in;
      work.host.function(work.host.data);
      break;
    }
  }
}

bool ReadHost(void* target, const void* source, uint64_t bytes) {
  iovec local{target, bytes}, remote{const_cast<void*>(source), bytes};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

bool WriteHost(void* target, const void* source, uint64_t bytes) {
  iovec local{const_cast<void*>(source), bytes}, remote{target, bytes};
  return process_vm_writev(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

}  // namespace fake
