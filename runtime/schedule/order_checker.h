// The last part of the checker: what is ordered before what, and which bytes hold something.
#ifndef AUTOPAR_RUNTIME_SCHEDULE_ORDER_CHECKER_H_
#define AUTOPAR_RUNTIME_SCHEDULE_ORDER_CHECKER_H_

#include "absl/status/status.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

// Proves that accesses to the same bytes are ordered where one of them writes, that no byte is read
// before it was written, that the regions of one command do not overlap, that token edges are kept
// and that results are written. The function must have passed CheckFunctionStructure.
absl::Status CheckFunctionOrder(const Schedule& schedule, const Function& function);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_SCHEDULE_ORDER_CHECKER_H_
