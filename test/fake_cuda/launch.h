// What launches into streams and kernel nodes of graphs share.
#ifndef AUTOPAR_TEST_FAKE_CUDA_LAUNCH_H_
#define AUTOPAR_TEST_FAKE_CUDA_LAUNCH_H_

#include "test/fake_cuda/world.h"

namespace fake {

// Notes a kernel's use on a device, and its loading if it is the first one.
void UseKernel(World& world, LoadedKernel* kernel, int device, bool is_launch, bool is_captured);

// Checks a launch and copies its arguments.
cudaError_t MakeKernelWork(World& world, int device, const void* function, dim3 grid, dim3 block,
                           void** arguments, size_t shared_bytes, Work* work);

}  // namespace fake

#endif  // AUTOPAR_TEST_FAKE_CUDA_LAUNCH_H_
