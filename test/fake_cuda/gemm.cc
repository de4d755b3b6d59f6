#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "test/fake_cuda/blas.h"

namespace fake {
namespace {

// TF32 keeps 10 of the 23 bits of the fraction (round to nearest, ties away, as cvt.rna.tf32.f32).
float Round(float value, bool tf32) {
  if (!tf32) return value;
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7f800000u) != 0x7f800000u) bits = (bits + 0x1000u) & ~0x1fffu;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}
double Round(double value, bool) { return value; }

// Column by column of C; within one, k runs outside so that the inner loop is contiguous.
template <class T>
void Gemm(const GemmWork& g) {
  std::vector<T> packed_a;  // op(A), m x k, column-major, when A is transposed or rounded
  std::vector<T> column(static_cast<size_t>(g.m));
  for (int64_t item = 0; item < g.batch; ++item) {
    const T* a = static_cast<const T*>(g.a) + item * g.stride_a;
    const T* b = static_cast<const T*>(g.b) + item * g.stride_b;
    T* c = static_cast<T*>(g.c) + item * g.stride_c;
    int64_t lda = g.lda;
    if (g.transpose_a || g.tf32) {
      packed_a.resize(static_cast<size_t>(g.m * g.k));
      for (int64_t p = 0; p < g.k; ++p) {
        for (int64_t i = 0; i < g.m; ++i) {
          packed_a[static_cast<size_t>(p * g.m + i)] =
              Round(g.transpose_a ? a[i * g.lda + p] : a[p * g.lda + i], g.tf32);
        }
      }
      a = packed_a.data();
      lda = g.m;
    }
    for (int64_t j = 0; j < g.n; ++j) {
      std::fill(column.begin(), column.end(), T(0));
      for (int64_t p = 0; p < g.k && g.alpha != 0; ++p) {
        const T factor = Round(g.transpose_b ? b[p * g.ldb + j] : b[j * g.ldb + p], g.tf32);
        const T* from = a + p * lda;
        for (int64_t i = 0; i < g.m; ++i) column[static_cast<size_t>(i)] += from[i] * factor;
      }
      T* to = c + j * g.ldc;
      for (int64_t i = 0; i < g.m; ++i) {
        T value = static_cast<T>(g.alpha) * column[static_cast<size_t>(i)];
        // beta == 0 means that C is not read: it may hold NaN (BLAS, cublas<t>gemm).
        to[i] = g.beta == 0 ? value : value + static_cast<T>(g.beta) * to[i];
      }
    }
  }
}

}  // namespace

void RunGemm(const GemmWork& work) { work.is_double ? Gemm<double>(work) : Gemm<float>(work); }

}  // namespace fake
