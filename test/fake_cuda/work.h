// What an operation does, as data: so that a graph can keep it, change it and launch it again.
// Pointers are the program's; they become allocations when the work is issued (ResolveWork), and
// bytes when it runs (RunWork).
#ifndef AUTOPAR_TEST_FAKE_CUDA_WORK_H_
#define AUTOPAR_TEST_FAKE_CUDA_WORK_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "test/fake_cuda/memory.h"

namespace fake {

class World;
struct LoadedKernel;

enum class WorkKind { kNothing, kCopy, kSet, kKernel, kGemm, kHost };

// Rows of `width` bytes, `pitch` bytes apart.
struct CopyWork {
  void* target = nullptr;
  const void* source = nullptr;
  uint64_t target_pitch = 0, source_pitch = 0, width = 0, height = 1;
  cudaMemcpyKind kind = cudaMemcpyDefault;
  std::shared_ptr<std::vector<std::byte>>
      staged;  // the source's bytes (dense), taken at the call; null: read when it runs
  bool is_dropped = false;  // an injected hardware fault: nothing arrives
};

struct SetWork {
  void* target = nullptr;
  int value = 0;
  uint64_t bytes = 0;
};

struct KernelWork {
  const LoadedKernel* kernel = nullptr;
  std::vector<void*> arguments;  // copied at the call
};

// C = alpha * op(A) * op(B) + beta * C per batch item, column-major.
struct GemmWork {
  bool is_double = false, transpose_a = false, transpose_b = false;
  int64_t m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldc = 0;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0, batch = 1;  // strides in elements
  double alpha = 1, beta = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  void* workspace = nullptr;  // the handle's, written by every product; null: the library's own
  uint64_t workspace_bytes = 0;
  AllocationPtr pool;  // the handle's default pool, if it serves
  bool tf32 = false;   // factors are rounded to 10 bits of fraction first
};

struct HostWork {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
};

struct Work {
  WorkKind kind = WorkKind::kNothing;
  CopyWork copy;
  SetWork set;
  KernelWork kernel;
  GemmWork gemm;
  HostWork host;
  // The work breaks the rules in a way that shows only when it runs: the context error and the
  // sentence.
  cudaError_t fault = cudaSuccess;
  std::string fault_text;
};

// Bytes of one allocation that an operation touches: rows of row_bytes from `begin`, `stride`
// apart.
struct Access {
  AllocationPtr allocation;
  uint64_t begin = 0, row_bytes = 0, stride = 0, rows = 1;
  bool reads = false, writes = false;
  bool is_undefined_before = false;  // scratch: its old bytes mean nothing
  uint64_t end() const { return rows == 0 ? begin : begin + (rows - 1) * stride + row_bytes; }
};

// What the work touches when it runs on `device`. Faults of kernels (addresses that are nobody's,
// another device's memory without peer access) are noted in the work; those of copies are returned,
// with a sentence noted.
cudaError_t ResolveWork(World& world, int device, Work* work, std::vector<Access>* accesses);

// Runs it, through the internal views.
void RunWork(World& world, int device, const std::string& label, const Work& work,
             const std::vector<Access>& accesses);

// Where the memory of a pointer is, for the direction of a copy and the rules of graph updates.
enum class Place { kDevice, kPinned, kPageable };
Place PlaceOf(World& world, const void* pointer);

// Reads pageable memory that may have vanished meanwhile; false if it has.
bool ReadHost(void* target, const void* source, uint64_t bytes);
bool WriteHost(void* target, const void* source, uint64_t bytes);

}  // namespace fake

#endif  // AUTOPAR_TEST_FAKE_CUDA_WORK_H_
