// The yardstick of the first table: a bare loop, pinned to one core, over the oneDNN calls that a device makes for
// COUNT products of N x N (tiles of 128 x 256, one matmul primitive a tile shape), with nothing around them.
//
//   bare_matmul N COUNT CALLS CORE     prints time_ms min= median= max= calls=
#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>
#include <vector>

#include "dnnl.hpp"

namespace {

constexpr int64_t kTileM = 128, kTileN = 256;


class TileLoop {
 public:
  explicit TileLoop(int64_t n) : n_(n), engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    for (int64_t rows : {kTileM, n % kTileM})
      for (int64_t columns : {kTileN, n % kTileN})
        if (rows != 0 && columns != 0) Make(std::min(rows, n), std::min(columns, n));
  }

  void Run(const float* a, const float* b, float* c) {
    for (int64_t row = 0; row < n_; row += kTileM) {
      for (int64_t column = 0; column < n_; column += kTileN) {
        Tile& tile = tiles_.at(Key(std::min(kTileM, n_ - row), std::min(kTileN, n_ - column)));
        tile.a.set_data_handle(const_cast<float*>(a + row * n_));
        tile.b.set_data_handle(const_cast<float*>(b + column));
        tile.c.set_data_handle(c + row * n_ + column);
        tile.primitive.execute(stream_, tile.arguments);
      }
    }
  }

 private:
  struct Tile {
    dnnl::matmul primitive;
    dnnl::memory a, b, c;
    std::unordered_map<int, dnnl::memory> arguments;
  };

  static int64_t Key(int64_t rows, int64_t columns) { return rows * 4096 + columns; }

  void Make(int64_t rows, int64_t columns) {
    using Md = dnnl::memory::desc;
    const auto f32 = dnnl::memory::data_type::f32;
    Md a({rows, n_}, f32, {n_, 1}), b({n_, columns}, f32, {n_, 1}), c({rows, columns}, f32, {n_, 1});
    dnnl::matmul::desc description(a, b, c);
    dnnl::matmul::primitive_desc primitive(description, engine_);
    Tile tile{dnnl::matmul(primitive), dnnl::memory(a, engine_, nullptr), dnnl::memory(b, engine_, nullptr),
              dnnl::memory(c, engine_, nullptr), {}};
    tile.arguments = {{DNNL_ARG_SRC, tile.a}, {DNNL_ARG_WEIGHTS, tile.b}, {DNNL_ARG_DST, tile.c}};
    tiles_.emplace(Key(rows, columns), std::move(tile));
  }

  int64_t n_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  std::unordered_map<int64_t, Tile> tiles_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: bare_matmul N COUNT CALLS CORE\n");
    return 1;
  }
  const int64_t n = std::atoll(argv[1]);
  const int count = std::atoi(argv[2]), calls = std::atoi(argv[3]), core = std::atoi(argv[4]);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (n < 1 || count < 1 || calls < 1 || sched_setaffinity(0, sizeof(set), &set) != 0) {
    std::fprintf(stderr, "bare_matmul: sizes must be positive and the core one of this machine's\n");
    return 1;
  }
  omp_set_num_threads(1);
  std::vector<std::vector<float>> operands(count), results(count);
  for (int i = 0; i < count; ++i) {
    operands[i].assign(n * n, 0.5f + 0.001f * static_cast<float>(i));
    results[i].assign(n * n, 0.0f);
  }
  TileLoop loop(n);
  std::vector<double> times;
  for (int call = 0; call <= calls; ++call) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) loop.Run(operands[i].data(), operands[i].data(), results[i].data());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (call > 0) times.push_back(took.count());  // the first one is warm-up
  }
  std::sort(times.begin(), times.end());
  std::printf("time_ms min=%.3f median=%.3f max=%.3f calls=%d\n", times.front(), times[times.size() / 2], times.back(),
              calls);
  return 0;
}
