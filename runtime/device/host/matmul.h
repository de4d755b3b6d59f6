// Matrix products on the CPU: oneDNN's matmul primitive, single-threaded, tile by tile. The only
// file that knows oneDNN.
//
// A tile is a block of rows and a block of columns of one batch item. Blocks of columns are cut at
// multiples of tile_n; the bits of an element depend on the width of its block and on k, never on how
// the rows are cut or which thread computes it.
//
// That holds for oneDNN's `brg` implementation, which asks for dense operands. For others oneDNN falls
// back to `gemm:jit`, whose bits change when a tile has few rows (1 to 15, over 1,000 shapes tried), and
// which is slower (1024 columns in blocks of 256: 105 GFLOP/s instead of 116; transposed B: 88 instead
// of 112). So everything is made dense first: a block of columns of B and a transposed block of A are
// copied to the thread's scratch, a block of columns of C is computed there and copied out.
#ifndef AUTOPAR_RUNTIME_DEVICE_HOST_MATMUL_H_
#define AUTOPAR_RUNTIME_DEVICE_HOST_MATMUL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

// One product, cut into tiles. Immutable once made.
struct MatmulPlan {
  MatmulParams params;
  EpilogueFn epilogue = nullptr;
  int64_t row_blocks = 0, column_blocks = 0;
  int64_t tiles = 0;  // batch * row_blocks * column_blocks
  // Index of the primitive for [is the last row block][is the last column block].
  uint32_t primitives[2][2] = {};
};

// The compiled primitives of a program; filled at load, then read by any number of threads.
class MatmulLibrary {
 public:
  MatmulLibrary();
  ~MatmulLibrary();

  // InvalidArgument for sizes that make no product. Compiles what is not there yet.
  absl::StatusOr<MatmulPlan> Prepare(const MatmulParams& params, EpilogueFn epilogue,
                                     const std::string& name);

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// What one thread needs to execute the primitives of a library: scratch memory and handles, all
// allocated here. Made on the thread that uses it, after the last Prepare.
class MatmulThread {
 public:
  static absl::StatusOr<std::unique_ptr<MatmulThread>> Create(const MatmulLibrary& library);
  ~MatmulThread();

  // Tiles [tile_begin, tile_end) of the plan, each with its epilogue. `buffers` are the launch's:
  // A, B, further reads, C, scratch; `result` is the index of C. Allocates nothing.
  absl::Status Run(const MatmulPlan& plan, void* const* buffers, uint32_t result,
                   int64_t tile_begin, int64_t tile_end);

 private:
  MatmulThread() = default;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_HOST_MATMUL_H_
