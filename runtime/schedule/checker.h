// The independent proof that a schedule is safe. Shares no code with the planner; the compiler calls it before it writes
// a file, the runtime calls it when it loads one.
//
// What is proved, for every function, with one vector clock per stream (Mattern 1989; a record publishes its stream's
// clock, a wait joins it): every two accesses to overlapping bytes of which one writes are ordered; every byte read was
// written before (or its space is defined on entry); arguments and constants are never written; every result byte is
// written; every token edge is kept; all ids and regions are in bounds and launches match their kernels' operands;
// each event is recorded once, and waits follow their record in issue order; the operands of one command share bytes
// only where both are read, or where a native or synthetic kernel overwrites exactly a region that it reads. Scratch is
// a write that leaves its bytes undefined. Strided regions are compared byte for byte (access_map.h has the one limit).
// What is not proved: that kernels keep to their declared regions (tested apart).
//
// Cost: n log n in the number of commands for disjoint-or-equal regions. Thread-compatible, no state.
#ifndef AUTOPAR_RUNTIME_SCHEDULE_CHECKER_H_
#define AUTOPAR_RUNTIME_SCHEDULE_CHECKER_H_

#include "absl/status/status.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

// OK, or InvalidArgument with one sentence that names the function, the command number(s) and the bytes.
// `constants_bytes`: size of the constants segment that constant spaces point into.
absl::Status CheckSchedule(const Schedule& schedule, uint64_t constants_bytes);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_SCHEDULE_CHECKER_H_
