// A call as a picture: the trace format of Chrome (JSON), which Perfetto (ui.perfetto.dev) opens.
#ifndef AUTOPAR_RUNTIME_TRACE_CHROME_TRACE_H_
#define AUTOPAR_RUNTIME_TRACE_CHROME_TRACE_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

// One launch or copy as it ran: index into Function::commands, nanoseconds from the start of the
// call.
struct MeasuredSpan {
  uint32_t command = 0;
  int64_t start_ns = 0, finish_ns = 0;
};

// One process per device, two rows per stream that does something: "compute 0 measured" and, right
// below, "compute 0 predicted", both from the start of the call. Arrows on the measured rows go
// from what a wait waits for to what it holds back and carry the wait's reason. `function` belongs
// to `schedule`; spans may come in any order, those of unknown commands are left out. Pure;
// thread-free.
std::string ChromeTrace(const Schedule& schedule, const Function& function,
                        absl::Span<const MeasuredSpan> measured);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_TRACE_CHROME_TRACE_H_
