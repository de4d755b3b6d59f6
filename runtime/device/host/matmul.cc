#include "runtime/device/host/matmul.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
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

// What makes two primitives the same. Leading dimensions count: oneDNN compiles them in.
struct TileShape {
  int64_t m, n, k;                 // of the tile
  int64_t a_stride, b_stride, c_stride;  // elements between two stored rows
  bool transpose_a, transpose_b;
  auto operator<=>(const TileShape&) const = default;
};

struct TilePrimitive {
  dnnl::memory::desc a, b, c, scratch;
  dnnl::matmul primitive;
};

dnnl::memory::desc Matrix(int64_t rows, int64_t columns, int64_t stride, bool transposed) {
  dnnl::memory::dims strides =
      transposed ? dnnl::memory::dims{1, stride} : dnnl::memory::dims{stride, 1};
  return {{rows, columns}, dnnl::memory::data_type::f32, strides};
}

TilePrimitive CompilePrimitive(const TileShape& shape, const dnnl::engine& engine) {
  TilePrimitive result;
  result.a = Matrix(shape.m, shape.k, shape.a_stride, shape.transpose_a);
  result.b = Matrix(shape.k, shape.n, shape.b_stride, shape.transpose_b);
  result.c = Matrix(shape.m, shape.n, shape.c_stride, false);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  // Whatever the environment says: f32 means f32.
  attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
  dnnl::matmul::primitive_desc description({result.a, result.b, result.c}, attributes, engine);
  result.scratch = description.scratchpad_desc();
  result.primitive = dnnl::matmul(description);
  return result;
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
                        .a_stride = p.transpose_a ? p.m : p.k,
                        .b_stride = p.transpose_b ? p.k : p.n,
                        .c_stride = p.n,
                        .transpose_a = p.transpose_a,
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

struct MatmulThread::Impl {
  // A primitive with this thread's handles.
  struct Entry {
    dnnl_primitive_t primitive = nullptr;
    dnnl::memory a, b, c, scratch;
    std::array<dnnl_exec_arg_t, 4> arguments;
  };
  dnnl::stream stream;
  std::unique_ptr<std::byte, decltype(&std::free)> scratch{nullptr, &std::free};
  std::vector<Entry> entries;
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
  constexpr size_t kPage = 4096;
  scratch_bytes = (scratch_bytes + kPage - 1) / kPage * kPage;
  impl.scratch.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, scratch_bytes)));
  if (impl.scratch == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", scratch_bytes, " bytes of scratch for matrix products"));
  }
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
      entry.scratch = dnnl::memory(tile.scratch, shared.engine, impl.scratch.get());
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
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    // Rows run fastest: neighbouring tiles share their block of B, which is the larger one.
    int64_t row_block = tile % plan.row_blocks;
    int64_t column_block = tile / plan.row_blocks % plan.column_blocks;
    int64_t batch = tile / plan.row_blocks / plan.column_blocks;
    bool last_row = row_block == plan.row_blocks - 1;
    bool last_column = column_block == plan.column_blocks - 1;
    int64_t row = row_block * p.tile_m, column = column_block * p.tile_n;
    int64_t row_end = last_row ? p.m : row + p.tile_m;
    int64_t column_end = last_column ? p.n : column + p.tile_n;
    float* c_tile = c + (batch * p.m + row) * p.n + column;
    if (p.k == 0) {
      for (int64_t i = row; i < row_end; ++i, c_tile += p.n) {
        std::memset(c_tile, 0, static_cast<size_t>(column_end - column) * sizeof(float));
      }
    } else {
      const float* a_tile = a + (p.a_batch == 1 ? 0 : batch) * p.m * p.k;
      const float* b_tile = b + (p.b_batch == 1 ? 0 : batch) * p.k * p.n;
      a_tile += p.transpose_a ? row : row * p.k;
      b_tile += p.transpose_b ? column * p.k : column;
      Impl::Entry& entry = impl_->entries[plan.primitives[last_row][last_column]];
      dnnl_memory_set_data_handle(entry.arguments[0].memory, const_cast<float*>(a_tile));
      dnnl_memory_set_data_handle(entry.arguments[1].memory, const_cast<float*>(b_tile));
      dnnl_memory_set_data_handle(entry.arguments[2].memory, c_tile);
      dnnl_status_t status = dnnl_primitive_execute(
          entry.primitive, impl_->stream.get(), static_cast<int>(entry.arguments.size()),
          entry.arguments.data());
      if (status != dnnl_success) {
        return absl::InternalError(absl::StrCat("oneDNN's matmul failed with status ", status));
      }
    }
    if (plan.epilogue != nullptr) {
      plan.epilogue(buffers, batch * p.m + row, batch * p.m + row_end, column, column_end);
    }
  }
  return absl::OkStatus();
}

}  // namespace autopar
