// Matrix products on the CPU: oneDNN's matmul primitive, single-threaded, tile by tile. The only
// file that knows oneDNN.
//
// A tile is a block of rows and a block of columns of one batch item. Blocks of columns are cut at
// multiples of tile_n, so each element is computed by the same code, in the same order, however the
// tiles are dealt to threads and however the rows are cut.
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
