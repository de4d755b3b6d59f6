#include "runtime/schedule/schedule.h"

namespace autopar {

const Function* Schedule::FindFunction(std::string_view name) const {
  for (const Function& function : functions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

std::optional<int64_t> MatmulTileCount(const MatmulParams& matmul) {
  if (matmul.batch < 0 || matmul.m < 0 || matmul.n < 0 || matmul.tile_m <= 0 ||
      matmul.tile_n <= 0) {
    return std::nullopt;
  }
  const int64_t row_tiles = matmul.m / matmul.tile_m + (matmul.m % matmul.tile_m != 0);
  const int64_t column_tiles = matmul.n / matmul.tile_n + (matmul.n % matmul.tile_n != 0);
  int64_t count = 0;
  if (__builtin_mul_overflow(row_tiles, column_tiles, &count) ||
      __builtin_mul_overflow(count, matmul.batch, &count)) {
    return std::nullopt;
  }
  return count;
}

}  // namespace autopar
