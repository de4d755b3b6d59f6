// Short forms of CUDA calls for the tests of single rules. Every call goes through the runtime's
// table where it has the name, and to the linked library (the same one) where it has not.
#ifndef AUTOPAR_TEST_FAKE_CUDA_FIXTURE_H_
#define AUTOPAR_TEST_FAKE_CUDA_FIXTURE_H_

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "test/fake_cuda/fake_cuda.h"
#include "test/fake_cuda/pipeline.h"

namespace fake_test {

class Rules : public testing::Test {
 protected:
  void Configure(const std::string& options) {
    ASSERT_EQ(autopar_fake_configure(("fault=continue,report=/dev/null,seed=1," + options).c_str()),
              0);
    cuda.cudaGetLastError();
  }
  void SetUp() override { Configure("devices=2,eagerness=0"); }

  void* Malloc(size_t bytes, int device = 0) {
    EXPECT_EQ(cuda.cudaSetDevice(device), cudaSuccess);
    void* pointer = nullptr;
    EXPECT_EQ(cuda.cudaMalloc(&pointer, bytes), cudaSuccess);
    return pointer;
  }
  template <class T = float>
  T* Pinned(size_t count) {
    void* pointer = nullptr;
    EXPECT_EQ(cuda.cudaHostAlloc(&pointer, count * sizeof(T), cudaHostAllocPortable), cudaSuccess);
    return static_cast<T*>(pointer);
  }
  cudaStream_t Stream(int device = 0, unsigned flags = cudaStreamNonBlocking) {
    EXPECT_EQ(cuda.cudaSetDevice(device), cudaSuccess);
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cuda.cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
    return stream;
  }
  cudaEvent_t Event(int device = 0, unsigned flags = cudaEventDisableTiming) {
    EXPECT_EQ(cuda.cudaSetDevice(device), cudaSuccess);
    cudaEvent_t event = nullptr;
    EXPECT_EQ(cuda.cudaEventCreateWithFlags(&event, flags), cudaSuccess);
    return event;
  }
  // Writes bytes of device memory on a stream.
  cudaError_t Write(void* target, size_t bytes, cudaStream_t stream) {
    return cuda.cudaMemsetAsync(target, 1, bytes, stream);
  }
  // A kernel of the test's with these operands, loaded.
  cudaKernel_t Kernel(const std::string& name, const std::vector<autopar_fake_operand>& operands,
                      void (*run)(void* const*)) {
    autopar_fake_register_kernel(name.c_str(), operands.data(), operands.size(), run);
    std::string ptx =
        ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry " + name + "(";
    for (size_t i = 0; i < operands.size(); ++i)
      ptx += (i > 0 ? ", " : "") + std::string(".param .u64 p") + std::to_string(i);
    ptx += ")\n.maxntid 128, 1, 1\n{ ret; }\n";
    cudaLibrary_t library = nullptr;
    EXPECT_EQ(
        cuda.cudaLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        cudaSuccess);
    cudaKernel_t kernel = nullptr;
    EXPECT_EQ(cuda.cudaLibraryGetKernel(&kernel, library, name.c_str()), cudaSuccess);
    return kernel;
  }
  cudaError_t Launch(cudaKernel_t kernel, std::vector<void*> arguments, cudaStream_t stream,
                     dim3 grid = dim3(1), dim3 block = dim3(32)) {
    std::vector<void*> pointers;
    for (void*& argument : arguments) pointers.push_back(&argument);
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.stream = stream;
    return cuda.cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel),
                                    pointers.data());
  }
  size_t Count(const char* prefix) { return autopar_fake_count(prefix); }
  std::string First(const char* prefix = "") {
    const char* text = autopar_fake_report(prefix, 0);
    return text == nullptr ? "" : text;
  }

  autopar::CudaApi& cuda = Cuda();
  const autopar::CublasCalls& cublas = Cublas();
};

}  // namespace fake_test

#endif  // AUTOPAR_TEST_FAKE_CUDA_FIXTURE_H_
