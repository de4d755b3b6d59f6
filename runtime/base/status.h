// Two macros that Abseil of this age lacks. Both return early from a function that returns
// absl::Status or StatusOr.
#ifndef AUTOPAR_RUNTIME_BASE_STATUS_H_
#define AUTOPAR_RUNTIME_BASE_STATUS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// AUTOPAR_RETURN_IF_ERROR(Check(x));
#define AUTOPAR_RETURN_IF_ERROR(expression)          \
  do {                                               \
    absl::Status autopar_status = (expression);      \
    if (!autopar_status.ok()) return autopar_status; \
  } while (false)

// AUTOPAR_ASSIGN_OR_RETURN(auto value, MakeValue());  -- evaluates the expression once.
#define AUTOPAR_ASSIGN_OR_RETURN(target, expression) \
  AUTOPAR_ASSIGN_OR_RETURN_IMPL(AUTOPAR_STATUS_JOIN(autopar_result_, __LINE__), target, expression)
#define AUTOPAR_ASSIGN_OR_RETURN_IMPL(result, target, expression) \
  auto result = (expression);                                     \
  if (!result.ok()) return result.status();                       \
  target = std::move(result).value()
#define AUTOPAR_STATUS_JOIN(a, b) AUTOPAR_STATUS_JOIN_IMPL(a, b)
#define AUTOPAR_STATUS_JOIN_IMPL(a, b) a##b

#endif  // AUTOPAR_RUNTIME_BASE_STATUS_H_
