#include "test/compiler/codegen/kernel_harness.h"

#include "compiler/Passes.h"
#include "compiler/codegen/Linker.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace mlir;

namespace autopar::codegen_test {
namespace {
constexpr size_t gapBytes = 256;
constexpr uint8_t poison = 0xA5;

int64_t elementBytes(const std::string &element) { return element == "i1" ? 1 : 4; }

/// Bytes with a poisoned gap on both sides; the data start `offset` bytes after a 64-byte boundary.
struct Guarded {
  std::vector<uint8_t> memory;
  size_t start = 0, bytes = 0;

  explicit Guarded(size_t bytes) : memory(bytes + 2 * gapBytes + 64, poison), bytes(bytes) {
    auto address = reinterpret_cast<uintptr_t>(memory.data());
    start = (address + gapBytes + 63) / 64 * 64 - address;
  }
  uint8_t *data() { return memory.data() + start; }
  bool isIntact() const {
    for (size_t at = 0; at < memory.size(); ++at)
      if ((at < start || at >= start + bytes) && memory[at] != poison)
        return false;
    return true;
  }
};

/// Loads an image under a name that no other library of this process has.
std::shared_ptr<void> loadImage(StringRef image, std::string &error) {
  int file = memfd_create("kernels", 0);
  if (file < 0 || write(file, image.data(), image.size()) != static_cast<ssize_t>(image.size())) {
    error = "cannot write the image";
    return {};
  }
  // The descriptor stays open: glibc compares names, and a closed one's number would come back.
  void *handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    error = dlerror();
    close(file);
    return {};
  }
  return std::shared_ptr<void>(handle, [file](void *library) {
    dlclose(library);
    close(file);
  });
}
} // namespace

Tensor::Tensor(std::string element, std::vector<int64_t> shape) : element(std::move(element)), shape(std::move(shape)) {
  bytes.resize(size() * elementBytes(this->element));
}

Tensor Tensor::f32(std::vector<int64_t> shape, const std::vector<float> &values) {
  Tensor tensor("f32", std::move(shape));
  std::copy(values.begin(), values.begin() + tensor.size(), tensor.floats());
  return tensor;
}

Tensor Tensor::i32(std::vector<int64_t> shape, const std::vector<int32_t> &values) {
  Tensor tensor("i32", std::move(shape));
  std::copy(values.begin(), values.begin() + tensor.size(), tensor.ints());
  return tensor;
}

Tensor Tensor::i1(std::vector<int64_t> shape, const std::vector<uint8_t> &values) {
  Tensor tensor("i1", std::move(shape));
  std::copy(values.begin(), values.begin() + tensor.size(), tensor.bytes.begin());
  return tensor;
}

int64_t Tensor::size() const {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

std::string Tensor::type() const {
  std::string text = "tensor<";
  for (int64_t dim : shape)
    text += std::to_string(dim) + "x";
  return text + element + ">";
}

CompiledTask::CompiledTask(const std::vector<Tensor> &inputs, const std::vector<Tensor> &results,
                           const std::string &body, const std::string &cpu)
    : results_(results) {
  std::string parameters, bindings, types, resultTypes, values;
  for (size_t number = 0; number < inputs.size(); ++number) {
    std::string comma = number ? ", " : "", name = std::to_string(number);
    parameters += comma + "%a" + name + ": " + inputs[number].type();
    bindings += comma + "%" + name + " = %a" + name;
    types += comma + inputs[number].type();
  }
  for (size_t number = 0; number < results.size(); ++number) {
    std::string comma = number ? ", " : "";
    resultTypes += comma + results[number].type();
    values += comma + "%r#" + std::to_string(number);
  }
  std::string text = "func.func @main(" + parameters + ") -> (" + resultTypes + ") {\n  %r:" +
                     std::to_string(results.size()) + " = autopar.task(" + bindings + ") \"t\" : (" + types + ") -> (" +
                     resultTypes + ") {\n" + body + "\n  }\n  return " + values + " : " + resultTypes + "\n}\n";

  DialectRegistry registry;
  registry.insert<mlir::autopar::AutoparDialect, func::FuncDialect>();
  MLIRContext context(registry);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error_ += diagnostic.str() + "\n";
    return success();
  });
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    error_ += "in:\n" + text;
    return;
  }
  PassManager passes(&context);
  passes.addPass(mlir::autopar::createOutlineKernelsPass());
  mlir::autopar::CompileKernelsPassOptions options;
  options.targetCpu = cpu;
  passes.addPass(mlir::autopar::createCompileKernelsPass(options));
  if (failed(passes.run(*module))) {
    error_ += "compilation failed in:\n" + text;
    return;
  }
  auto kernel = *module->getOps<mlir::autopar::KernelOp>().begin();
  tileCount_ = kernel.getTileCount();
  reads_.assign(kernel.getReads().begin(), kernel.getReads().end());
  if (auto product = kernel.getProduct()) {
    hasProduct_ = true;
    product_ = {product->getBatch(),  product->getM(),     product->getN(),     product->getK(),          product->getABatch(),
                product->getBBatch(), product->getTileM(), product->getTileN(), product->getTransposeA(), product->getTransposeB()};
  }
  if (!kernel.hasCode())
    return;
  auto code = *module->getOps<mlir::autopar::CodeOp>().begin();
  library_ = loadImage(code.getImage(), error_);
  if (library_) {
    symbol_ = dlsym(library_.get(), kernel.getSymName().str().c_str());
    if (!symbol_)
      error_ = "no symbol " + kernel.getSymName().str();
  }
}

void CompiledTask::runTiles(void *const *buffers, Split split) const {
  auto entry = reinterpret_cast<void (*)(void *const *, int64_t, int64_t)>(symbol_);
  if (!entry)
    return;
  if (split == Split::Whole)
    entry(buffers, 0, tileCount_);
  for (int64_t tile = 0; split != Split::Whole && tile < tileCount_; ++tile) {
    int64_t chosen = split == Split::Backwards ? tileCount_ - 1 - tile : tile;
    entry(buffers, chosen, chosen + 1);
  }
}

void CompiledTask::multiply(void *const *buffers, Split split) const {
  const Product &p = product_;
  auto a = static_cast<const float *>(buffers[0]), b = static_cast<const float *>(buffers[1]);
  auto c = static_cast<float *>(buffers[reads_.size()]);
  for (int64_t batch = 0; batch < p.batch; ++batch)
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        const float *left = a + (p.lhsBatch == 1 ? 0 : batch * p.m * p.k);
        const float *right = b + (p.rhsBatch == 1 ? 0 : batch * p.n * p.k);
        for (int64_t k = 0; k < p.k; ++k)
          sum += double(left[p.transposeA ? k * p.m + i : i * p.k + k]) *
                 right[p.transposeB ? j * p.k + k : k * p.n + j];
        c[(batch * p.m + i) * p.n + j] = static_cast<float>(sum);
      }
  auto entry = reinterpret_cast<void (*)(void *const *, int64_t, int64_t, int64_t, int64_t)>(symbol_);
  if (!entry)
    return;
  int64_t tileM = split == Split::Whole ? p.m : std::min<int64_t>(p.tileM, 3), tileN = split == Split::Whole ? p.n : 5;
  for (int64_t batch = 0; batch < p.batch; ++batch)
    for (int64_t row = 0; row < p.m; row += tileM)
      for (int64_t column = 0; column < p.n; column += tileN)
        entry(buffers, batch * p.m + row, batch * p.m + std::min(row + tileM, p.m), column,
              std::min(column + tileN, p.n));
}

std::vector<Tensor> CompiledTask::run(const std::vector<Tensor> &inputs, Split split) const {
  std::vector<std::unique_ptr<Guarded>> memory;
  std::vector<void *> buffers;
  std::vector<Guarded *> ofInput(inputs.size());
  for (int64_t read : reads_) {
    if (!ofInput[read]) {
      memory.push_back(std::make_unique<Guarded>(inputs[read].bytes.size()));
      std::copy(inputs[read].bytes.begin(), inputs[read].bytes.end(), memory.back()->data());
      ofInput[read] = memory.back().get();
    }
    buffers.push_back(ofInput[read]->data());
  }
  size_t firstResult = memory.size();
  for (const Tensor &result : results_) {
    memory.push_back(std::make_unique<Guarded>(result.bytes.size()));
    buffers.push_back(memory.back()->data());
  }
  if (hasProduct_)
    multiply(buffers.data(), split);
  else
    runTiles(buffers.data(), split);
  std::vector<Tensor> results = results_;
  for (size_t number = 0; number < memory.size(); ++number)
    EXPECT_TRUE(memory[number]->isIntact()) << "buffer " << number << " was left";
  for (size_t number = 0; number < results.size(); ++number) {
    Guarded &from = *memory[firstResult + number];
    std::copy(from.data(), from.data() + from.bytes, results[number].bytes.begin());
  }
  for (size_t number = 0; number < inputs.size(); ++number)
    if (ofInput[number]) {
      EXPECT_TRUE(std::equal(inputs[number].bytes.begin(), inputs[number].bytes.end(), ofInput[number]->data()))
          << "operand " << number << " was changed";
    }
  return results;
}

std::vector<Tensor> evaluate(const std::vector<Tensor> &inputs, const std::vector<Tensor> &results,
                             const std::string &body, const std::string &cpu) {
  CompiledTask task(inputs, results, body, cpu);
  EXPECT_TRUE(task.ok()) << task.error();
  if (!task.ok())
    return results;
  std::vector<Tensor> whole = task.run(inputs);
  for (Split split : {Split::TileByTile, Split::Backwards}) {
    std::vector<Tensor> other = task.run(inputs, split);
    for (size_t number = 0; number < whole.size(); ++number)
      EXPECT_EQ(whole[number].bytes, other[number].bytes) << "tiles change result " << number << " of:\n" << body;
  }
  return whole;
}

Tensor evaluateOne(const std::vector<Tensor> &inputs, const Tensor &result, const std::string &body,
                   const std::string &cpu) {
  return evaluate(inputs, {result}, body, cpu)[0];
}

std::vector<float> anyFloats(int64_t count, uint64_t seed) {
  constexpr float special[] = {0.0f,     -0.0f,  1.0f,    -1.0f,  std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(),
                               1e-40f,   -1e-45f, 3.4e38f, -3.4e38f, 0.5f, -0.5f, 2.5f, -3.0f, 1.17549435e-38f, 2.0f,
                               1e10f, -1e10f, 2147483648.0f, -2147483648.0f, 2147483520.0f, 16777217.0f, 88.7f, -104.0f};
  std::mt19937_64 random(seed);
  std::vector<float> values(count);
  for (int64_t at = 0; at < count; ++at) {
    if (at < static_cast<int64_t>(std::size(special)))
      values[at] = special[at];
    else if (at % 2)
      values[at] = std::bit_cast<float>(static_cast<uint32_t>(random()));
    else
      values[at] = static_cast<float>(static_cast<int64_t>(random() % 20001) - 10000) / 500.0f;
  }
  return values;
}

std::vector<float> floatsIn(int64_t count, float low, float high, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> values(count);
  for (float &value : values)
    value = low + (high - low) * (static_cast<float>(random() >> 40) * 0x1p-24f);
  return values;
}

std::vector<int32_t> anyInts(int64_t count, uint64_t seed) {
  constexpr int32_t special[] = {0, 1, -1, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(),
                                 2, -2, 7, -7, 16777217};
  std::mt19937_64 random(seed);
  std::vector<int32_t> values(count);
  for (int64_t at = 0; at < count; ++at) {
    if (at < static_cast<int64_t>(std::size(special)))
      values[at] = special[at];
    else
      values[at] = static_cast<int32_t>(random()) >> (random() % 32);
  }
  return values;
}

double ulpsFrom(float value, double exact) {
  float nearest = static_cast<float>(exact);
  if (std::isnan(value) || std::isnan(nearest))
    return std::isnan(value) && std::isnan(nearest) ? 0 : std::numeric_limits<double>::infinity();
  if (std::isinf(value) || std::isinf(nearest))
    return value == nearest ? 0
                            : (std::isinf(value) && std::isinf(nearest) ? std::numeric_limits<double>::infinity()
                               : std::abs(std::isinf(value) ? nearest : value) > 3.4028e38f
                                   ? 1
                                   : std::numeric_limits<double>::infinity());
  double spacing = std::ldexp(1.0, std::max(std::ilogb(nearest == 0 ? 1e-45f : nearest) - 23, -149));
  return std::abs(static_cast<double>(value) - exact) / spacing;
}

bool sameFloat(float left, float right) {
  return (std::isnan(left) && std::isnan(right)) || std::bit_cast<uint32_t>(left) == std::bit_cast<uint32_t>(right);
}

} // namespace autopar::codegen_test

// The linker is this program again: see compiler/codegen/Linker.h.
int main(int argc, char **argv) {
  if (std::optional<int> status = mlir::autopar::maybeRunLinker(argc, argv))
    return *status;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
