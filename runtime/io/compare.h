// Is a result what was expected?
#ifndef AUTOPAR_RUNTIME_IO_COMPARE_H_
#define AUTOPAR_RUNTIME_IO_COMPARE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/io/tensor.h"

namespace autopar {

// |actual - expected| <= atol + rtol * |expected|, as numpy.allclose. Floats only: whole numbers
// must be equal.
struct Tolerance {
  double rtol = 1e-5;
  double atol = 1e-8;
};

// OK, or FailedPrecondition with one sentence: how many elements of how many differ, the first of
// them, and the one that differs most, each with its index, its value and the expected one. NaN
// equals NaN; an infinity equals only itself; types and shapes must be equal. `name` ("result 0")
// begins the sentence.
absl::Status CompareTensors(const std::string& name, const Tensor& actual, const Tensor& expected,
                            const Tolerance& tolerance);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_IO_COMPARE_H_
