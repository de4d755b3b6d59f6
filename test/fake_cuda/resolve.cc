// From a work's pointers to the allocations and ranges that it touches.
#include <string>

#include "test/fake_cuda/work.h"
#include "test/fake_cuda/world.h"

namespace fake {
namespace {

std::string Hex(const void* pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", pointer);
  return text;
}

// Why a pointer to `bytes` bytes is no good.
std::string WhyNot(World& world, const void* pointer, uint64_t bytes) {
  if (AllocationPtr freed = world.memory.FindFreed(pointer)) {
    return Hex(pointer) + " is in " + freed->Describe() + ", which was freed";
  }
  if (AllocationPtr found = world.memory.Find(pointer, 0)) {
    return std::to_string(bytes) + " bytes at " + Hex(pointer) + " reach beyond the end of " +
           found->Describe();
  }
  return Hex(pointer) + " is in no allocation";
}

class Resolver {
 public:
  Resolver(World& world, int device, Work* work, std::vector<Access>* accesses)
      : world_(world), device_(device), work_(work), accesses_(accesses) {}

  cudaError_t Copy() {
    const CopyWork& c = work_->copy;
    if (c.width == 0 || c.height == 0) return cudaSuccess;
    cudaError_t error = CopyOperand(c.target, c.target_pitch, true);
    if (error == cudaSuccess && c.staged == nullptr)
      error = CopyOperand(c.source, c.source_pitch, false);
    return error;
  }

  cudaError_t Set() {
    const SetWork& s = work_->set;
    if (s.bytes == 0) return cudaSuccess;
    AllocationPtr allocation = world_.memory.Find(s.target, s.bytes);
    if (allocation == nullptr)
      return world_.Refuse(cudaErrorInvalidValue, "memset: " + WhyNot(world_, s.target, s.bytes));
    Add(allocation, s.target, s.bytes, s.bytes, 1, false, true);
    return cudaSuccess;
  }

  void Kernel() {
    const KernelWork& k = work_->kernel;
    const KernelCodeOnHost* host = k.kernel->host;
    if (host == nullptr) return;
    for (size_t i = 0; i < host->operands.size(); ++i) {
      const OperandShape& shape = host->operands[i];
      if (shape.bytes == 0 || !(shape.reads || shape.writes)) continue;
      std::string what = "kernel " + host->name + ", parameter " + std::to_string(i);
      // ld.global.v4 traps on an address that is no multiple of its size (PTX ISA, "Addresses as
      // Operands").
      if (reinterpret_cast<uintptr_t>(k.arguments[i]) % 16 != 0) {
        Fault(cudaErrorMisalignedAddress,
              what + ": " + Hex(k.arguments[i]) + " is no multiple of 16");
      }
      DeviceOperand(what, k.arguments[i], shape.bytes, shape.bytes, 1, shape.reads, shape.writes,
                    shape.is_scratch);
    }
  }

  void Gemm() {
    const GemmWork& g = work_->gemm;
    const uint64_t item = g.is_double ? 8 : 4;
    if (g.m == 0 || g.n == 0 || g.batch == 0) return;
    for (int64_t b = 0; b < g.batch; ++b) {
      auto matrix = [&](const char* name, const void* base, int64_t stride, int64_t rows,
                        int64_t columns, int64_t ld, bool reads, bool writes) {
        if (rows == 0 || columns == 0 || (b > 0 && stride == 0)) return;
        const auto* start =
            static_cast<const std::byte*>(base) + b * stride * static_cast<int64_t>(item);
        DeviceOperand(std::string("cublas gemm, ") + name, start, rows * item, ld * item, columns,
                      reads, writes, false);
      };
      if (g.alpha != 0) {
        matrix("A", g.a, g.stride_a, g.transpose_a ? g.k : g.m, g.transpose_a ? g.m : g.k, g.lda,
               true, false);
        matrix("B", g.b, g.stride_b, g.transpose_b ? g.n : g.k, g.transpose_b ? g.k : g.n, g.ldb,
               true, false);
      }
      matrix("C", g.c, g.stride_c, g.m, g.n, g.ldc, g.beta != 0, true);
    }
    // docs.nvidia.com/cuda/cublas 2.4.8: the workspace is the user's; two products that share it
    // must be ordered.
    if (g.workspace_bytes > 0) {
      DeviceOperand("cublas workspace", g.workspace, g.workspace_bytes, g.workspace_bytes, 1, false,
                    true, true);
    } else if (g.pool != nullptr) {
      Add(g.pool, g.pool->user, g.pool->bytes, g.pool->bytes, 1, false, true, true);
    }
  }

 private:
  void Add(const AllocationPtr& allocation, const void* pointer, uint64_t row_bytes,
           uint64_t stride, uint64_t rows, bool reads, bool writes, bool is_scratch = false) {
    uint64_t begin =
        static_cast<uint64_t>(static_cast<const std::byte*>(pointer) - allocation->user);
    if (rows > 1 && stride == row_bytes) {
      row_bytes *= rows;
      rows = 1;
    }
    accesses_->push_back({allocation, begin, row_bytes, stride, rows, reads, writes, is_scratch});
  }

  void Fault(cudaError_t code, std::string text) {
    if (work_->fault != cudaSuccess) return;
    work_->fault = code;
    work_->fault_text = std::move(text);
  }

  void DeviceOperand(const std::string& what, const void* pointer, uint64_t row_bytes,
                     uint64_t stride, uint64_t rows, bool reads, bool writes, bool is_scratch) {
    uint64_t extent = (rows - 1) * stride + row_bytes;
    AllocationPtr allocation = world_.memory.Find(pointer, extent);
    if (allocation == nullptr) {
      // An address that is mapped on no device: error 700, sticky (driver_types.h,
      // cudaErrorIllegalAddress).
      return Fault(cudaErrorIllegalAddress, what + ": " + WhyNot(world_, pointer, extent));
    }
    // Programming guide, multi-GPU systems, 3.4.2: another device's memory needs peer access, which
    // is one-way.
    if (!allocation->is_host() && allocation->device != device_ &&
        world_.devices[device_].peers.count(allocation->device) == 0) {
      return Fault(cudaErrorIllegalAddress, what + " is " + allocation->Describe() + ", and gpu " +
                                                std::to_string(device_) +
                                                " has no peer access to it");
    }
    Add(allocation, pointer, row_bytes, stride, rows, reads, writes, is_scratch);
  }

  cudaError_t CopyOperand(const void* pointer, uint64_t pitch, bool writes) {
    const CopyWork& c = work_->copy;
    const char* side = writes ? "target" : "source";
    uint64_t extent = (c.height - 1) * pitch + c.width;
    AllocationPtr allocation = world_.memory.Find(pointer, extent);
    bool must_be_device =
        writes ? c.kind == cudaMemcpyHostToDevice || c.kind == cudaMemcpyDeviceToDevice
               : c.kind == cudaMemcpyDeviceToHost || c.kind == cudaMemcpyDeviceToDevice;
    bool must_be_host = writes ? c.kind == cudaMemcpyDeviceToHost || c.kind == cudaMemcpyHostToHost
                               : c.kind == cudaMemcpyHostToDevice || c.kind == cudaMemcpyHostToHost;
    if (allocation == nullptr && (must_be_device || Memory::IsOurs(pointer))) {
      return world_.Refuse(cudaErrorInvalidValue, std::string("copy: the ") + side + " " +
                                                      WhyNot(world_, pointer, extent));
    }
    if (allocation == nullptr && pointer == nullptr) {
      return world_.Refuse(cudaErrorInvalidValue, std::string("copy: the ") + side + " is null");
    }
    if (allocation == nullptr) return cudaSuccess;  // pageable: not tracked
    if ((must_be_device && allocation->is_host()) || (must_be_host && !allocation->is_host())) {
      return world_.Refuse(cudaErrorInvalidValue, std::string("copy: the ") + side + " is " +
                                                      allocation->Describe() +
                                                      ", against the copy's kind");
    }
    Add(allocation, pointer, c.width, pitch, c.height, !writes, writes);
    return cudaSuccess;
  }

  World& world_;
  int device_;
  Work* work_;
  std::vector<Access>* accesses_;
};

}  // namespace

cudaError_t ResolveWork(World& world, int device, Work* work, std::vector<Access>* accesses) {
  Resolver resolver(world, device, work, accesses);
  switch (work->kind) {
    case WorkKind::kCopy:
      return resolver.Copy();
    case WorkKind::kSet:
      return resolver.Set();
    case WorkKind::kKernel:
      resolver.Kernel();
      break;
    case WorkKind::kGemm:
      resolver.Gemm();
      break;
    case WorkKind::kNothing:
    case WorkKind::kHost:
      break;
  }
  return cudaSuccess;
}

Place PlaceOf(World& world, const void* pointer) {
  AllocationPtr allocation = world.memory.Find(pointer, 0);
  if (allocation == nullptr) return Place::kPageable;
  return allocation->is_host() ? Place::kPinned : Place::kDevice;
}

}  // namespace fake
