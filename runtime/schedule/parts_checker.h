// The first part of the checker: what a schedule has beside its functions.
#ifndef AUTOPAR_RUNTIME_SCHEDULE_PARTS_CHECKER_H_
#define AUTOPAR_RUNTIME_SCHEDULE_PARTS_CHECKER_H_

#include "absl/status/status.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

// Machine, modules and kernels, each by itself, and the names of kernels and functions.
absl::Status CheckScheduleParts(const Schedule& schedule);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_SCHEDULE_PARTS_CHECKER_H_
