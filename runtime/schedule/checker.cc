#include "runtime/schedule/checker.h"

#include "runtime/base/status.h"
#include "runtime/schedule/order_checker.h"
#include "runtime/schedule/parts_checker.h"
#include "runtime/schedule/structure_checker.h"

namespace autopar {

absl::Status CheckSchedule(const Schedule& schedule, uint64_t constants_bytes) {
  AUTOPAR_RETURN_IF_ERROR(CheckScheduleParts(schedule));
  for (const Function& function : schedule.functions) {
    AUTOPAR_RETURN_IF_ERROR(CheckFunctionStructure(schedule, function, constants_bytes));
    AUTOPAR_RETURN_IF_ERROR(CheckFunctionOrder(schedule, function));
  }
  return absl::OkStatus();
}

}  // namespace autopar
