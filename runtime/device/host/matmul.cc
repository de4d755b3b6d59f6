#include "runtime/device/host/matmul.h"

#include <dlfcn.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/base/status.h"

namespace autopar {
namespace {

// oneDNN of the distributions is built on OpenMP. Our own threads split the work, so each of them
// tells OpenMP that it is alone; the setting is the calling thread's own.
class OneOpenMpThread {
 public:
  OneOpenMpThread() : before_(Get() == nullptr ? 1 : Get()()) {
    if (Set() != nullptr) Set()(1);
  }
  ~OneOpenMpThread() {
    if (Set() != nullptr) Set()(before_);
  }
  static void Keep() {
    if (Set() != nullptr) Set()(1);
  }

 private:
  // Looked up by name: OpenMP may be absent (a oneDNN built without it), or another one.
  static void (*Set())(int) {
    static auto* function =
        reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
    return function;
  }
  static int (*Get())() {
    static auto* function = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
    return function;
  }
  int before_;
};

// What makes two primitives the same. A is m x k, B is k x n or stored as n x k, C is m x n; all dense.
struct TileShape {
  int64_t m, n, k;
  bool transpose_b;
  auto operator<=>(const TileShape&) const = default;
};

struct TilePrimitive {
  dnnl::memory::desc a, b, c, scratch;
  dnnl::matmul primitive;
};

dnnl::memory::desc Matrix(int64_t rows, int64_t columns, bool transposed) {
  dnnl::memory::dims strides =
      transposed ? dnnl::memory::dims{1, rows} : dnnl::memory::dims{columns, 1};
  return {{rows, columns}, dnnl::memory::data_type::f32, strides};
}

TilePrimitive CompilePrimitive(const TileShape& shape, const dnnl::engine& engine) {
  TilePrimitive result;
  result.a = Matrix(shape.m, shape.k, false);
  result.b = Matrix(shape.k, shape.n, shape.transpose_b);
  result.c = Matrix(shape.m, shape.n, false);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  // Whatever the environment says: f32 means f32.
  attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
  dnnl::matmul::primitive_desc description({result.a, result.b, result.c}, attributes, engine);
  result.scratch = description.scratchpad_desc();
  result.primitive = dnnl::matmul(description);
  return result;
}

// Bytes of the dense copies that tiles of a product need; 0 where the operand is dense as it stands.
struct PackedBytes {
  size_t a = 0, b = 0, c = 0;
};

PackedBytes PackedBytesOf(const MatmulPlan& plan) {
  const MatmulParams& p = plan.params;
  size_t rows = static_cast<size_t>(std::min(p.m, p.tile_m));
  size_t columns = static_cast<size_t>(std::min(p.n, p.tile_n));
  size_t k = static_cast<size_t>(p.k);
  bool cut = plan.column_blocks > 1;
  return {.a = p.transpose_a ? rows * k * sizeof(float) : 0,
          .b = cut && !p.transpose_b ? k * columns * sizeof(float) : 0,
          .c = cut ? rows * columns * sizeof(float) : 0};
}

// to[i][j] = from[j][i] for a block of a result with `to_stride` elements a row.
void TransposeBlock(const float* from, int64_t from_stride, float* to, int64_t to_stride,
                    int64_t rows, int64_t columns) {
  int64_t i = 0;
#if defined(__SSE__)
  for (; i + 4 <= rows; i += 4) {
    int64_t j = 0;
    for (; j + 4 <= columns; j += 4) {
      const float* source = from + j * from_stride + i;
      __m128 r0 = _mm_loadu_ps(source), r1 = _mm_loadu_ps(source + from_stride);
      __m128 r2 = _mm_loadu_ps(source + 2 * from_stride), r3 = _mm_loadu_ps(source + 3 * from_stride);
      _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
      float* target = to + i * to_stride + j;
      _mm_storeu_ps(target, r0);
      _mm_storeu_ps(target + to_stride, r1);
      _mm_storeu_ps(target + 2 * to_stride, r2);
      _mm_storeu_ps(target + 3 * to_stride, r3);
    }
    for (; j < columns; ++j) {
      for (int64_t r = i; r < i + 4; ++r) to[r * to_stride + j] = from[j * from_stride + r];
    }
  }
#endif
  for (; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[i * to_stride + j] = from[j * from_stride + i];
  }
}

// to[i][j] = from[j][i] for a dense `rows` x `columns` result; `stride` elements between rows of `from`.
// Block by block of a cache line's width: rows whose length is a power of two share their places in
// the first-level cache, so a line must be used up while it is there. Rows of `from`, which may lie
// on a page each, are gone through once.
void Transpose(const float* from, int64_t stride, float* to, int64_t rows, int64_t columns) {
  constexpr int64_t kBlock = 16;
  for (int64_t j = 0; j < columns; j += kBlock) {
    for (int64_t i = 0; i < rows; i += kBlock) {
      TransposeBlock(from + j * stride + i, stride, to + i * columns + j, columns,
                     std::min(kBlock, rows - i), std::min(kBlock, columns - j));
    }
  }
}

void CopyRows(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t rows,
              int64_t columns) {
  for (int64_t i = 0; i < rows; ++i) {
    std::memcpy(to + i * to_stride, from + i * from_stride,
                static_cast<size_t>(columns) * sizeof(float));
  }
}

int64_t Blocks(int64_t size, int64_t block) { return (size + block - 1) / block; }

// Size of block number `index`; `is_last` says which of the two kinds it is.
int64_t BlockSize(int64_t size, int64_t block, bool is_last) {
  return is_last ? size - (Blocks(size, block) - 1) * block : block;
}

absl::Status CheckParams(const MatmulParams& p, const std::string& name) {
  const char* problem = nullptr;
  if (p.batch < 0 || p.m < 0 || p.n < 0 || p.k < 0) {
    problem = "has a negative size";
  } else if (p.tile_m <= 0 || p.tile_n <= 0) {
    problem = "has tiles without elements";
  } else if ((p.a_batch != 1 && p.a_batch != p.batch) || (p.b_batch != 1 && p.b_batch != p.batch)) {
    problem = "has an operand whose batch is neither 1 nor the product's";
  }
  if (problem == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("matmul kernel '", name, "' ", problem));
}

}  // namespace

struct MatmulLibrary::Impl {
  dnnl::engine engine;  // made by the first product
  std::vector<TilePrimitive> primitives;
  std::map<TileShape, uint32_t> index;
  PackedBytes packed;  // the most that any product needs
};

MatmulLibrary::MatmulLibrary() : impl_(std::make_unique<Impl>()) {}
MatmulLibrary::~MatmulLibrary() = default;

absl::StatusOr<MatmulPlan> MatmulLibrary::Prepare(const MatmulParams& p, EpilogueFn epilogue,
                                                  const std::string& name) {
  AUTOPAR_RETURN_IF_ERROR(CheckParams(p, name));
  MatmulPlan plan{.params = p, .epilogue = epilogue};
  plan.row_blocks = Blocks(p.m, p.tile_m);
  plan.column_blocks = Blocks(p.n, p.tile_n);
  plan.tiles = p.batch * plan.row_blocks * plan.column_blocks;
  if (plan.tiles == 0 || p.k == 0) return plan;
  PackedBytes packed = PackedBytesOf(plan);
  impl_->packed = {.a = std::max(impl_->packed.a, packed.a),
                   .b = std::max(impl_->packed.b, packed.b),
                   .c = std::max(impl_->packed.c, packed.c)};
  try {
    OneOpenMpThread alone;
    if (!impl_->engine) impl_->engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
    for (bool last_row : {false, true}) {
      for (bool last_column : {false, true}) {
        if ((!last_row && plan.row_blocks == 1) || (!last_column && plan.column_blocks == 1)) {
          continue;
        }
        TileShape shape{.m = BlockSize(p.m, p.tile_m, last_row),
                        .n = BlockSize(p.n, p.tile_n, last_column),
                        .k = p.k,
                        .transpose_b = p.transpose_b};
        auto [entry, is_new] =
            impl_->index.try_emplace(shape, static_cast<uint32_t>(impl_->primitives.size()));
        if (is_new) impl_->primitives.push_back(CompilePrimitive(shape, impl_->engine));
        plan.primitives[last_row][last_column] = entry->second;
      }
    }
  } catch (const dnnl::error& error) {
    return absl::InternalError(
        absl::StrCat("matmul kernel '", name, "' cannot be compiled by oneDNN: ", error.what()));
  }
  return plan;
}

// Page-aligned memory that grows by being replaced; empty until allocated.
struct Scratch {
  std::unique_ptr<std::byte, decltype(&std::free)> bytes{nullptr, &std::free};

  absl::Status Allocate(size_t count) {
    constexpr size_t kPage = 4096;
    if (count == 0) return absl::OkStatus();
    count = (count + kPage - 1) / kPage * kPage;
    bytes.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, count)));
    if (bytes != nullptr) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", count, " bytes of scratch for matrix products"));
  }
  float* floats() const { return reinterpret_cast<float*>(bytes.get()); }
};

struct MatmulThread::Impl {
  // A primitive with this thread's handles.
  struct Entry {
    dnnl_primitive_t primitive = nullptr;
    dnnl::memory a, b, c, scratch;
    std::array<dnnl_exec_arg_t, 4> arguments;
  };
  dnnl::stream stream;
  Scratch workspace, packed_a, packed_b, packed_c;
  std::vector<Entry> entries;

  // One tile; `b` is dense.
  dnnl_status_t Multiply(uint32_t primitive, const float* a, const float* b, float* c) {
    Entry& entry = entries[primitive];
    dnnl_memory_set_data_handle(entry.arguments[0].memory, const_cast<float*>(a));
    dnnl_memory_set_data_handle(entry.arguments[1].memory, const_cast<float*>(b));
    dnnl_memory_set_data_handle(entry.arguments[2].memory, c);
    return dnnl_primitive_execute(entry.primitive, stream.get(),
                                  static_cast<int>(entry.arguments.size()), entry.arguments.data());
  }
};

MatmulThread::~MatmulThread() = default;

absl::StatusOr<std::unique_ptr<MatmulThread>> MatmulThread::Create(const MatmulLibrary& library) {
  std::unique_ptr<MatmulThread> thread(new MatmulThread);
  thread->impl_ = std::make_unique<Impl>();
  Impl& impl = *thread->impl_;
  const MatmulLibrary::Impl& shared = library.impl();
  if (shared.primitives.empty()) return thread;
  OneOpenMpThread::Keep();
  size_t scratch_bytes = 64;
  for (const TilePrimitive& tile : shared.primitives) {
    scratch_bytes = std::max(scratch_bytes, tile.scratch.get_size());
  }
  AUTOPAR_RETURN_IF_ERROR(impl.workspace.Allocate(scratch_bytes));
  AUTOPAR_RETURN_IF_ERROR(impl.packed_a.Allocate(shared.packed.a));
  AUTOPAR_RETURN_IF_ERROR(impl.packed_b.Allocate(shared.packed.b));
  AUTOPAR_RETURN_IF_ERROR(impl.packed_c.Allocate(shared.packed.c));
  try {
    impl.stream = dnnl::stream(shared.engine);
    impl.entries.resize(shared.primitives.size());
    for (size_t i = 0; i < impl.entries.size(); ++i) {
      const TilePrimitive& tile = shared.primitives[i];
      Impl::Entry& entry = impl.entries[i];
      entry.primitive = tile.primitive.get();
      entry.a = dnnl::memory(tile.a, shared.engine, DNNL_MEMORY_NONE);
      entry.b = dnnl::memory(tile.b, shared.engine, DNNL_MEMORY_NONE);
      entry.c = dnnl::memory(tile.c, shared.engine, DNNL_MEMORY_NONE);
      entry.scratch = dnnl::memory(tile.scratch, shared.engine, impl.workspace.bytes.get());
      entry.arguments = {{{DNNL_ARG_SRC, entry.a.get()},
                          {DNNL_ARG_WEIGHTS, entry.b.get()},
                          {DNNL_ARG_DST, entry.c.get()},
                          {DNNL_ARG_SCRATCHPAD, entry.scratch.get()}}};
    }
  } catch (const dnnl::error& error) {
    return absl::InternalError(absl::StrCat("oneDNN cannot start a thread: ", error.what()));
  }
  return thread;
}

absl::Status MatmulThread::Run(const MatmulPlan& plan, void* const* buffers, uint32_t result,
                               int64_t tile_begin, int64_t tile_end) {
  const MatmulParams& p = plan.params;
  const float* a = static_cast<const float*>(buffers[0]);
  const float* b = static_cast<const float*>(buffers[1]);
  float* c = static_cast<float*>(buffers[result]);
  const bool cut = plan.column_blocks > 1;
  int64_t packed_block = -1;  // batch item and block of columns whose B is packed
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    // Rows run fastest: neighbouring tiles share their block of B, which is packed once.
    int64_t row_block = tile % plan.row_blocks;
    int64_t block = tile / plan.row_blocks;
    int64_t column_block = block % plan.column_blocks;
    int64_t batch = block / plan.column_blocks;
    bool last_row = row_block == plan.row_blocks - 1;
    bool last_column = column_block == plan.column_blocks - 1;
    int64_t row = row_block * p.tile_m, column = column_block * p.tile_n;
    int64_t rows = last_row ? p.m - row : p.tile_m;
    int64_t columns = last_column ? p.n - column : p.tile_n;
    float* c_tile = c + (batch * p.m + row) * p.n + column;
    if (p.k == 0) {
      for (int64_t i = 0; i < rows; ++i) std::fill_n(c_tile + i * p.n, columns, 0.0f);
    } else {
      const float* a_tile = a + (p.a_batch == 1 ? 0 : batch) * p.m * p.k;
      const float* b_tile = b + (p.b_batch == 1 ? 0 : batch) * p.k * p.n;
      if (p.transpose_a) {
        Transpose(a_tile + row, p.m, impl_->packed_a.floats(), rows, p.k);
        a_tile = impl_->packed_a.floats();
      } else {
        a_tile += row * p.k;
      }
      if (p.transpose_b) {
        b_tile += column * p.k;
      } else if (cut) {
        if (packed_block != block) {
          CopyRows(b_tile + column, p.n, impl_->packed_b.floats(), columns, p.k, columns);
        }
        packed_block = block;
        b_tile = impl_->packed_b.floats();
      }
      float* dense_c = cut ? impl_->packed_c.floats() : c_tile;
      dnnl_status_t status =
          impl_->Multiply(plan.primitives[last_row][last_column], a_tile, b_tile, dense_c);
      if (status != dnnl_success) {
        return absl::InternalError(absl::StrCat("oneDNN's matmul failed with status ", status));
      }
      if (cut) CopyRows(dense_c, columns, c_tile, p.n, rows, columns);
    }
    if (plan.epilogue != nullptr) {
      plan.epilogue(buffers, batch * p.m + row, batch * p.m + row + rows, column, column + columns);
    }
  }
  return absl::OkStatus();
}

}  // namespace autopar
