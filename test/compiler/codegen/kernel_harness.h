// Compiles one task body to machine code, loads it and runs it on guarded memory, for the tests of the code generator.
#ifndef AUTOPAR_TEST_COMPILER_CODEGEN_KERNEL_HARNESS_H
#define AUTOPAR_TEST_COMPILER_CODEGEN_KERNEL_HARNESS_H

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace autopar::codegen_test {

/// Row-major values: f32 and i32 take 4 bytes an element, i1 one.
struct Tensor {
  std::string element; ///< "f32", "i32" or "i1"
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  Tensor() = default;
  Tensor(std::string element, std::vector<int64_t> shape);
  static Tensor f32(std::vector<int64_t> shape, const std::vector<float> &values);
  static Tensor i32(std::vector<int64_t> shape, const std::vector<int32_t> &values);
  static Tensor i1(std::vector<int64_t> shape, const std::vector<uint8_t> &values);

  int64_t size() const;
  std::string type() const; ///< "tensor<2x3xf32>"
  float *floats() { return reinterpret_cast<float *>(bytes.data()); }
  const float *floats() const { return reinterpret_cast<const float *>(bytes.data()); }
  int32_t *ints() { return reinterpret_cast<int32_t *>(bytes.data()); }
  const int32_t *ints() const { return reinterpret_cast<const int32_t *>(bytes.data()); }
};

/// How a launch is cut.
enum class Split { Whole, TileByTile, Backwards };

/// One compiled task. Copies share the loaded code.
class CompiledTask {
public:
  /// `body` names its arguments %0, %1, ... of the types of `inputs` and yields values of the types of `results`.
  CompiledTask(const std::vector<Tensor> &inputs, const std::vector<Tensor> &results, const std::string &body,
               const std::string &cpu = "native");

  bool ok() const { return error_.empty(); }
  const std::string &error() const { return error_; }
  int64_t tileCount() const { return tileCount_; }
  /// The products of matmul kernels are made by plain loops, the epilogue tile by tile. Returns the results; a byte that
  /// was written outside of them, or an operand that was changed, is a test failure.
  std::vector<Tensor> run(const std::vector<Tensor> &inputs, Split split = Split::Whole) const;
  void *symbol() const { return symbol_; }

private:
  struct Product {
    int64_t batch, m, n, k, lhsBatch, rhsBatch, tileM, tileN;
    bool transposeA, transposeB;
  };
  void runTiles(void *const *buffers, Split split) const;
  void multiply(void *const *buffers, Split split) const;

  std::vector<Tensor> results_;
  std::vector<int64_t> reads_;
  std::shared_ptr<void> library_;
  void *symbol_ = nullptr;
  bool hasProduct_ = false;
  Product product_{};
  int64_t tileCount_ = 0;
  std::string error_;
};

/// Compiles and runs once, whole; checks that every other split gives the same bits.
std::vector<Tensor> evaluate(const std::vector<Tensor> &inputs, const std::vector<Tensor> &results,
                             const std::string &body, const std::string &cpu = "native");
/// The same for one result.
Tensor evaluateOne(const std::vector<Tensor> &inputs, const Tensor &result, const std::string &body,
                   const std::string &cpu = "native");

/// Repeatable values: special ones first (zeros, infinities, NaN, denormals, limits), then of all magnitudes.
std::vector<float> anyFloats(int64_t count, uint64_t seed);
/// In [low, high).
std::vector<float> floatsIn(int64_t count, float low, float high, uint64_t seed);
std::vector<int32_t> anyInts(int64_t count, uint64_t seed);

/// Distance in units in the last place of the f32 nearest to `exact`; 0 if both are NaN or the same infinity.
double ulpsFrom(float value, double exact);
/// Equal bits, or both NaN.
bool sameFloat(float left, float right);

} // namespace autopar::codegen_test

#endif // AUTOPAR_TEST_COMPILER_CODEGEN_KERNEL_HARNESS_H
