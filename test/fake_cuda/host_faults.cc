#include "test/fake_cuda/host_faults.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "test/fake_cuda/guards.h"
#include "test/fake_cuda/memory.h"
#include "test/fake_cuda/world.h"

namespace fake {
namespace {

struct sigaction previous;

void CallPrevious(int signal, siginfo_t* info, void* context) {
  if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
    return previous.sa_sigaction(signal, info, context);
  }
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
    return previous.sa_handler(signal);
  // As if there had been no handler: the access is repeated and kills the process.
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGSEGV, &standard, nullptr);
}

// Bit 1 of the processor's error code. Elsewhere every access counts as a write.
bool IsWrite(void* context) {
#if defined(__x86_64__)
  return (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  return true;
#endif
}

[[noreturn]] void EndProcess(World& world) {
  world.reports.Write(world.stats);
  _exit(kHostFaultStatus);
}

// The fault is synchronous and comes from the program's own code (or a kernel's), not from the
// midst of an allocation: taking the lock and allocating here is safe enough for a test.
void OnSegv(int signal, siginfo_t* info, void* context) {
  std::lock_guard<std::recursive_mutex> lock(WorldMutex());
  World& world = World::Get();
  const void* address = info->si_addr;
  std::string guarded = GuardedKernelAt(address);
  if (!guarded.empty()) {
    world.Note(ReportKind::kRange, guarded);
    EndProcess(world);
  }
  if (!Memory::IsOurs(address)) return CallPrevious(signal, info, context);
  if (AllocationPtr freed = world.memory.FindFreed(address)) {
    world.Note(ReportKind::kHostAccess,
               "the host touches " + freed->Describe() + ", which was freed");
    EndProcess(world);
  }
  AllocationPtr allocation;
  for (const auto& [start, candidate] : world.memory.live()) {
    if (candidate->Contains(address)) allocation = candidate;
  }
  if (allocation == nullptr) return CallPrevious(signal, info, context);
  uint64_t offset =
      static_cast<uint64_t>(static_cast<const std::byte*>(address) - allocation->user);
  std::string what =
      "the host touches byte " + std::to_string(offset) + " of " + allocation->Describe();
  if (allocation->is_host()) {
    std::string who = world.PendingUserOf(*allocation, offset, IsWrite(context));
    if (who.empty())
      return allocation->Unprotect(
          address);  // a neighbour on the page is in use, these bytes are not
    what += ", which is in use by " + who + ", not finished";
  } else {
    what += ": device memory cannot be accessed by the host";
  }
  world.Note(ReportKind::kHostAccess, what);
  if (world.options.on_fault == OnFault::kExit) EndProcess(world);
  allocation->Unprotect(address);
}

}  // namespace

void InstallHostFaultHandler() {
  struct sigaction action = {};
  action.sa_sigaction = OnSegv;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previous);
}

}  // namespace fake
