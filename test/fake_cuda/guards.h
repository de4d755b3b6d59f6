// Kernels between guards: a run on copies of the operands, so that a kernel which leaves its
// declared ranges, or writes what it only reads, is caught without a sanitizer.
#ifndef AUTOPAR_TEST_FAKE_CUDA_GUARDS_H_
#define AUTOPAR_TEST_FAKE_CUDA_GUARDS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "test/fake_cuda/kernels.h"

namespace fake {

// Copies each group of overlapping operands to a place of its own: known bytes around it, and an
// unreadable page as close behind its end as its alignment (64 bytes, kept) allows. Runs the kernel
// there and copies the written operands back. Returns what is wrong: "writes 4 bytes before
// parameter 2", …; "" if nothing is. A *read* or write that reaches the unreadable page ends the
// process with a sentence (host_faults.h). A null buffer is one of no bytes.
std::string RunGuarded(const KernelCodeOnHost& kernel, const std::vector<std::byte*>& buffers);

// The kernel that runs between guards on this thread, if `address` is one of its guard pages; ""
// otherwise.
std::string GuardedKernelAt(const void* address);

}  // namespace fake

#endif  // AUTOPAR_TEST_FAKE_CUDA_GUARDS_H_
