#include "runtime/io/compare.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "runtime/io/tensor_text.h"

namespace autopar {
namespace {

// "[1,2]"; "[]" for rank 0.
std::string IndexText(const TensorType& type, int64_t element) {
  std::string text;
  for (size_t axis = type.shape.size(); axis-- > 0;) {
    text = absl::StrCat(element % type.shape[axis], text.empty() ? "" : ",", text);
    element /= type.shape[axis];
  }
  return "[" + text + "]";
}

// How far apart two elements are; 0 if they count as equal. NaN against a number and unequal
// infinities: infinitely far.
double FloatDistance(double actual, double expected, const Tolerance& tolerance) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return 0;
  if (std::isnan(actual) || std::isnan(expected) || std::isinf(actual) || std::isinf(expected)) {
    return std::numeric_limits<double>::infinity();
  }
  const double distance = std::fabs(actual - expected);
  return distance <= tolerance.atol + tolerance.rtol * std::fabs(expected) ? 0 : distance;
}

double IntDistance(int64_t actual, int64_t expected) {
  if (actual == expected) return 0;
  // The difference of two 64-bit numbers needs 65 bits; as unsigned it is exact.
  const uint64_t distance = actual > expected
                                ? static_cast<uint64_t>(actual) - static_cast<uint64_t>(expected)
                                : static_cast<uint64_t>(expected) - static_cast<uint64_t>(actual);
  return static_cast<double>(distance);
}

std::string Number(double value) {
  char buffer[32];
  snprintf(buffer, sizeof(buffer), "%.6g", value);
  return buffer;
}

}  // namespace

absl::Status CompareTensors(const std::string& name, const Tensor& actual, const Tensor& expected,
                            const Tolerance& tolerance) {
  const TensorType& type = actual.type();
  if (type != expected.type()) {
    return absl::FailedPreconditionError(absl::StrCat(name, " has type ", type.ToString(), ", but ",
                                                      expected.type().ToString(), " is expected"));
  }
  const bool is_float = IsFloat(type.element);
  const int64_t elements = type.elements();
  int64_t differing = 0, first = -1, worst = -1;
  double worst_distance = 0;
  for (int64_t i = 0; i < elements; ++i) {
    const double distance = is_float
                                ? FloatDistance(actual.FloatAt(i), expected.FloatAt(i), tolerance)
                                : IntDistance(actual.IntAt(i), expected.IntAt(i));
    if (distance == 0) continue;
    if (differing++ == 0) first = i;
    if (distance > worst_distance) {
      worst_distance = distance;
      worst = i;
    }
  }
  if (differing == 0) return absl::OkStatus();
  const auto describe = [&](int64_t element) {
    return absl::StrCat(IndexText(type, element), " is ",
                        PrintElement(type, actual.bytes(), element), " instead of ",
                        PrintElement(type, expected.bytes(), element));
  };
  std::string message = absl::StrCat(name, " (", type.ToString(), "): ", differing, " of ",
                                     elements, elements == 1 ? " element" : " elements",
                                     differing == 1 ? " differs" : " differ");
  if (is_float)
    absl::StrAppend(&message, " (rtol ", Number(tolerance.rtol), ", atol ", Number(tolerance.atol),
                    ")");
  absl::StrAppend(&message, "; ", differing == 1 ? "" : "first ", describe(first));
  if (worst != first) {
    absl::StrAppend(&message, ", worst ", describe(worst));
  } else if (differing > 1) {
    absl::StrAppend(&message, ", also the worst");
  }
  absl::StrAppend(&message, " (off by ", Number(worst_distance), ")");
  return absl::FailedPreconditionError(message);
}

}  // namespace autopar
