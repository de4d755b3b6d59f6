// The second part of the checker: everything that can be said about a function without asking what
// is ordered before what. After it passed, ids can be followed and sizes added without looking
// again.
#ifndef AUTOPAR_RUNTIME_SCHEDULE_STRUCTURE_CHECKER_H_
#define AUTOPAR_RUNTIME_SCHEDULE_STRUCTURE_CHECKER_H_

#include "absl/status/status.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

// Most streams of one function: bounds the vector clocks that a small file can ask for.
inline constexpr size_t kMaxStreams = 4096;

// Ports, spaces, streams, regions, and every command by itself: ids, operand counts and sizes,
// devices; each event is recorded once and waited for only later in issue order; token edges lead
// forward. The schedule must have passed CheckScheduleParts.
absl::Status CheckFunctionStructure(const Schedule& schedule, const Function& function,
                                    uint64_t constants_bytes);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_SCHEDULE_STRUCTURE_CHECKER_H_
