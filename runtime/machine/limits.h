// The limits of a machine's numbers, shared by the reader of the machine file and CheckMachine.
// Private to this folder.
#ifndef AUTOPAR_RUNTIME_MACHINE_LIMITS_H_
#define AUTOPAR_RUNTIME_MACHINE_LIMITS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace autopar {

struct Limits {
  int64_t min = 0;
  int64_t max = 0;
  const char* unit = "";  // " of bytes"
};

inline constexpr size_t kMaxDevices = 4096;
inline constexpr Limits kHostLimits = {0, 65535, ""};
inline constexpr Limits kCoreLimits = {1, 65536, ""};
inline constexpr Limits kFirstCoreLimits = {-1, 65535, ""};
inline constexpr Limits kStreamLimits = {1, 1024, ""};
inline constexpr Limits kMemoryLimits = {0, int64_t{1} << 60, " of bytes"};
inline constexpr Limits kMemoryRateLimits = {0, 1'000'000'000'000'000'000, " of bytes per second"};
inline constexpr Limits kLinkRateLimits = {1, 1'000'000'000'000'000'000, " of bytes per second"};
inline constexpr Limits kTimeLimits = {0, 1'000'000'000'000'000, " of nanoseconds"};

inline std::string OutOfLimits(std::string_view field, std::string_view value,
                               const Limits& limits) {
  return absl::StrCat(std::string(field), ": ", std::string(value),
                      " is out of range; give a whole number", limits.unit, " from ", limits.min,
                      " to ", limits.max);
}

template <class Number>
absl::Status CheckLimits(const std::string& field, Number value, const Limits& limits) {
  const bool too_small =
      std::is_signed_v<Number>
          ? static_cast<int64_t>(value) < limits.min
          : static_cast<uint64_t>(value) < static_cast<uint64_t>(limits.min < 0 ? 0 : limits.min);
  const bool too_big =
      value > Number{} && static_cast<uint64_t>(value) > static_cast<uint64_t>(limits.max);
  if (!too_small && !too_big) return absl::OkStatus();
  return absl::InvalidArgumentError(OutOfLimits(field, absl::StrCat(value), limits));
}

// A key that only devices on this host's cores have.
inline absl::Status NoCoresOfGpu(const std::string& field) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": only a device of kind cpu or virtual has cores; leave it out"));
}

// A text from outside, cut and without control characters, for use in a message of one line.
inline std::string PrintableText(std::string_view text) {
  std::string result;
  for (char c : text.substr(0, 64)) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  if (text.size() > 64) result += "...";
  return result;
}

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_MACHINE_LIMITS_H_
